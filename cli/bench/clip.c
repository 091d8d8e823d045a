/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/timing.h"

#include "base/status.h"
#include "console.h"

#include <stdlib.h>

#define CELL 16u   /* pixels between grid points of the texture's coarse part */
#define GROUND_X 3 /* pixels per frame, to the right */
#define GROUND_Y (-2)
#define OBJECT_X (-5)
#define OBJECT_Y 1

static uint32_t hash(uint32_t x, uint32_t y, uint32_t seed)
{
    uint32_t h = x * 0x9E3779B1u ^ y * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    h = (h ^ h >> 12) * 0x297A2D39u;
    return h ^ h >> 15;
}

/* 0 to 255: three quarters interpolated between the corners of cells, one quarter finer grain. */
static uint32_t texture(uint32_t x, uint32_t y)
{
    const uint32_t cx = x / CELL, cy = y / CELL, fx = x % CELL, fy = y % CELL;
    const uint32_t top = (hash(cx, cy, 1) & 255) * (CELL - fx) + (hash(cx + 1, cy, 1) & 255) * fx;
    const uint32_t bottom =
        (hash(cx, cy + 1, 1) & 255) * (CELL - fx) + (hash(cx + 1, cy + 1, 1) & 255) * fx;
    const uint32_t coarse = (top * (CELL - fy) + bottom * fy) / (CELL * CELL);
    return (3 * coarse + (hash(x / 2, y / 2, 2) & 255)) / 4;
}

static uint32_t motion_sample(
    const struct gpume_plane *plane, uint32_t x, uint32_t y, uint32_t frame)
{
    const uint32_t far = 1u << 20; /* coordinates stay positive */
    const bool object = x >= plane->width / 3 && x < plane->width / 3 * 2 &&
                        y >= plane->height / 3 && y < plane->height / 3 * 2;
    const int32_t dx = object ? OBJECT_X : GROUND_X, dy = object ? OBJECT_Y : GROUND_Y;
    const uint32_t value = texture(far + x - frame * (uint32_t)dx, far + y - frame * (uint32_t)dy);
    const uint32_t peak = (1u << plane->bits) - 1;
    const uint32_t noise = hash(x, y, frame + 100) & 3;
    return (value * 252 / 255 + noise) * peak / 255;
}

static void fill_frame(struct gpume_plane *plane, enum gpume_bench_content content, uint32_t frame)
{
    const uint32_t peak = (1u << plane->bits) - 1;
    for (uint32_t y = 0; y < plane->height; y++) {
        void *row = (uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
        for (uint32_t x = 0; x < plane->width; x++) {
            const uint32_t value = content == GPUME_BENCH_NOISE ? hash(x, y, frame + 1) & peak
                                                                : motion_sample(plane, x, y, frame);
            if (plane->bits > 8) {
                ((uint16_t *)row)[x] = (uint16_t)value;
            } else {
                ((uint8_t *)row)[x] = (uint8_t)value;
            }
        }
    }
}

int gpume_bench_clip_add(
    struct gpume_bench_clip *clip, uint32_t width, uint32_t height, uint32_t bits)
{
    const size_t stride = (size_t)width * (bits > 8 ? 2 : 1);
    void *data = calloc(height, stride);
    if (!data) {
        return gpume_refuse(
            GPUME_NOMEM, "out of memory for a frame of %zu MiB", (stride * height >> 20) + 1);
    }
    clip->planes[clip->count++] = (struct gpume_plane){
        .data = data, .stride = (ptrdiff_t)stride, .width = width, .height = height, .bits = bits};
    return GPUME_OK;
}

int gpume_bench_clip_make(struct gpume_bench_clip *clip, enum gpume_bench_content content,
    uint32_t width, uint32_t height, uint32_t bits, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        GPUME_CHECK(gpume_bench_clip_add(clip, width, height, bits));
        fill_frame(&clip->planes[i], content, i);
    }
    return GPUME_OK;
}

void gpume_bench_clip_free(struct gpume_bench_clip *clip)
{
    for (uint32_t i = 0; i < clip->count; i++) {
        free(clip->planes[i].data);
    }
    clip->count = 0;
}
