/* SPDX-License-Identifier: BSD-2-Clause */
#include "synth.h"

#include "harness.h"

#include <stdlib.h>

struct gpume_plane synth_plane(uint32_t width, uint32_t height, uint32_t bits)
{
    size_t stride = (width + 5u) * (bits > 8 ? 2u : 1u);
    return (struct gpume_plane){.data = calloc(height, stride),
        .stride = (ptrdiff_t)stride,
        .width = width,
        .height = height,
        .bits = bits};
}

void synth_put(struct gpume_plane *plane, uint32_t x, uint32_t y, uint32_t value)
{
    uint8_t *row = (uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
    if (plane->bits > 8) {
        ((uint16_t *)(void *)row)[x] = (uint16_t)value;
    } else {
        row[x] = (uint8_t)value;
    }
}

uint32_t synth_sample(const struct gpume_plane *plane, int64_t x, int64_t y)
{
    const uint8_t *row = (const uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
    return plane->bits > 8 ? ((const uint16_t *)(const void *)row)[x] : row[x];
}

/* A pseudo-random value that depends on the position only. */
static uint32_t texture(int64_t x, int64_t y, uint64_t seed)
{
    uint64_t state = seed ^ (uint64_t)(x + 100000) * 0x9E3779B97F4A7C15ull ^
                     (uint64_t)(y + 100000) * 0xC2B2AE3D27D4EB4Full;
    state |= 1;
    harness_random(&state);
    return harness_random(&state);
}

static uint32_t value_at(enum synth_content content, uint32_t peak, uint32_t x, uint32_t y,
    uint32_t index, uint64_t seed, uint64_t *state)
{
    switch (content) {
    case SYNTH_TIES:
        return peak / 2 + harness_random(state) % 2;
    case SYNTH_FLAT:
        return (index * 37) & peak;
    case SYNTH_EXTREME:
        return (x / 3 + y / 5 + index) % 2 ? peak : 0;
    case SYNTH_OPPOSITE:
        return index % 2 ? peak : 0;
    case SYNTH_SLOPE:
        return (x / 5 + y / 7 + index * 3 + harness_random(state) % 16 / 15) & peak;
    case SYNTH_SPECKS:
        return peak / 2 + 1 - harness_random(state) % 16 / 15;
    case SYNTH_CHECKERS:
        return (x + y + index) % 2 ? peak : 0;
    case SYNTH_PAN:
    case SYNTH_GRAIN:
        return ((uint32_t)texture((int64_t)x - (int64_t)index * SYNTH_PAN_X,
                    (int64_t)y - (int64_t)index * SYNTH_PAN_Y, seed) ^
                   (content == SYNTH_GRAIN ? harness_random(state) & 3 : 0)) &
               peak;
    default:
        return harness_random(state) & peak;
    }
}

void synth_fill(
    struct gpume_plane *plane, enum synth_content content, uint32_t index, uint64_t seed)
{
    uint64_t state = (seed + 1) * 1000003u + index;
    uint32_t bits = content != SYNTH_OVERFULL ? plane->bits : plane->bits > 8 ? 16 : 8;
    uint32_t peak = (1u << bits) - 1;
    for (uint32_t y = 0; y < plane->height; y++) {
        for (uint32_t x = 0; x < plane->width; x++) {
            synth_put(plane, x, y, value_at(content, peak, x, y, index, seed, &state));
        }
    }
}
