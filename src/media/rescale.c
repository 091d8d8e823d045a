/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/status.h"
#include "media/ffmpeg.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/mem.h>
#include <libavutil/pixfmt.h>
#include <libswscale/swscale.h>

#define ROW_ALIGN 64u /* bytes that swscale may read and write past the end of a row */
#define DEEP_BITS 16u /* of samples of more than 8 bits while they are scaled */
/* The same values on every processor */
#define FLAGS (SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT)

/* A picture of its own. */
struct scaled {
    uint8_t *samples;
    int stride; /* bytes */
};

struct gpume_rescale {
    uint32_t width, height, bits, to_height;
    struct SwsContext *down, *up;
    struct scaled source, small, restored;
};

static bool make_scaled(struct scaled *scaled, uint32_t width, uint32_t height, uint32_t bits)
{
    const size_t bytes = (size_t)width * (bits > 8 ? 2 : 1) + ROW_ALIGN;
    const size_t stride = (bytes + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    scaled->samples = av_malloc(stride * height + ROW_ALIGN);
    scaled->stride = (int)stride;
    if (scaled->samples) { /* what is read past the end of rows has a value */
        memset(scaled->samples, 0, stride * height + ROW_ALIGN);
    }
    return scaled->samples != NULL;
}

static struct SwsContext *open_scaler(
    uint32_t width, uint32_t height, uint32_t to_width, uint32_t to_height, uint32_t bits)
{
    const enum AVPixelFormat format = bits > 8 ? AV_PIX_FMT_GRAY16 : AV_PIX_FMT_GRAY8;
    return sws_getContext((int)width, (int)height, format, (int)to_width, (int)to_height, format,
        FLAGS, NULL, NULL, NULL);
}

int gpume_rescale_open(struct gpume_rescale **result, uint32_t width, uint32_t height,
    uint32_t bits, uint32_t to_width, uint32_t to_height, const struct gpume_log *log)
{
    struct gpume_rescale *rescale = *result = calloc(1, sizeof(*rescale));
    if (!rescale) {
        return gpume_log_nomem(log, "scaled pictures");
    }
    rescale->width = width;
    rescale->height = height;
    rescale->bits = bits;
    rescale->to_height = to_height;
    if (!make_scaled(&rescale->source, width, height, bits) ||
        !make_scaled(&rescale->small, to_width, to_height, bits) ||
        !make_scaled(&rescale->restored, width, height, bits)) {
        return gpume_log_nomem(log, "scaled pictures");
    }
    rescale->down = open_scaler(width, height, to_width, to_height, bits);
    rescale->up = open_scaler(to_width, to_height, width, height, bits);
    return rescale->down && rescale->up
               ? GPUME_OK
               : gpume_log_fail(log, GPUME_UNSUPPORTED,
                     "FFmpeg does not scale pictures of %ux%u to %ux%u and back", (unsigned)width,
                     (unsigned)height, (unsigned)to_width, (unsigned)to_height);
}

/* Copies the picture, since swscale reads past the end of rows. */
static void take(struct gpume_rescale *rescale, const struct gpume_plane *luma)
{
    for (uint32_t y = 0; y < rescale->height; y++) {
        const uint8_t *from = (const uint8_t *)luma->data + (ptrdiff_t)y * luma->stride;
        uint8_t *to = rescale->source.samples + (ptrdiff_t)y * rescale->source.stride;
        if (rescale->bits == 8) {
            memcpy(to, from, rescale->width);
            continue;
        }
        for (uint32_t x = 0; x < rescale->width; x++) {
            ((uint16_t *)to)[x] =
                (uint16_t)(((const uint16_t *)from)[x] << (DEEP_BITS - rescale->bits));
        }
    }
}

static void rescale_to(
    struct SwsContext *scaler, const struct scaled *from, uint32_t height, const struct scaled *to)
{
    const uint8_t *const planes[4] = {from->samples};
    const int strides[4] = {from->stride}, to_strides[4] = {to->stride};
    uint8_t *const to_planes[4] = {to->samples};
    (void)sws_scale(scaler, planes, strides, 0, (int)height, to_planes, to_strides);
}

static uint64_t row_error(const struct gpume_rescale *rescale, const uint8_t *a, const uint8_t *b)
{
    const uint16_t *deep_a = (const uint16_t *)a, *deep_b = (const uint16_t *)b;
    uint64_t sum = 0;
    for (uint32_t x = 0; x < rescale->width && rescale->bits == 8; x++) {
        const int32_t apart = a[x] - b[x];
        sum += (uint64_t)(apart * apart) << 16;
    }
    for (uint32_t x = 0; x < rescale->width && rescale->bits > 8; x++) {
        const int64_t apart = deep_a[x] - deep_b[x];
        sum += (uint64_t)(apart * apart); /* 2^8 squared is 65536 */
    }
    return sum;
}

uint64_t gpume_rescale_error(struct gpume_rescale *rescale, const struct gpume_plane *luma)
{
    const struct scaled *source = &rescale->source, *restored = &rescale->restored;
    uint64_t sum = 0;
    take(rescale, luma);
    rescale_to(rescale->down, source, rescale->height, &rescale->small);
    rescale_to(rescale->up, &rescale->small, rescale->to_height, restored);
    for (uint32_t y = 0; y < rescale->height; y++) {
        sum += row_error(rescale, source->samples + (ptrdiff_t)y * source->stride,
            restored->samples + (ptrdiff_t)y * restored->stride);
    }
    return sum;
}

void gpume_rescale_close(struct gpume_rescale **pointer)
{
    struct gpume_rescale *rescale = *pointer;
    if (rescale) {
        sws_freeContext(rescale->down);
        sws_freeContext(rescale->up);
        av_free(rescale->source.samples);
        av_free(rescale->small.samples);
        av_free(rescale->restored.samples);
        free(rescale);
        *pointer = NULL;
    }
}
