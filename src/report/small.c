/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/small.h"

#include "base/grid.h"
#include "base/status.h"
#include "media/picture.h"

#include <stdlib.h>
#include <string.h>

struct gpume_report_small {
    const char *label;
    struct gpume_log log;
    struct gpume_report_size size;
    struct gpume_still *still;
    uint32_t *sums;
    unsigned char *samples;
};

struct gpume_report_size gpume_report_size_of(
    uint32_t width, uint32_t height, uint32_t side_max, uint64_t lossless_max)
{
    const uint32_t scale = (uint32_t)gpume_div_up(gpume_max_u32(width, height), side_max);
    struct gpume_report_size size = {
        scale, (width + scale - 1) / scale, (height + scale - 1) / scale, false};
    size.lossless = (uint64_t)size.width * size.height <= lossless_max;
    return size;
}

/* Adds a row of bytes to the sums. Without aliasing, so that the compiler can vectorize it. */
static void add_row(uint32_t *restrict sums, const uint8_t *restrict from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sums[i] += from[i];
    }
}

/* One of the three colours: the sums of `rows` rows, into one row of the page's picture. */
static void reduce_row(const struct gpume_report_size *size, const uint32_t *sums,
    uint32_t video_width, uint32_t rows, uint32_t colour, unsigned char *to)
{
    for (uint32_t column = 0; column < size->width; column++) {
        const uint32_t left = column * size->scale;
        const uint32_t right = gpume_min_u32(left + size->scale, video_width);
        const uint32_t samples = rows * (right - left);
        uint32_t sum = samples / 2;
        for (uint32_t x = left; x < right; x++) {
            sum += sums[3 * (size_t)x + colour];
        }
        to[3 * (size_t)column + colour] = (unsigned char)(sum / samples);
    }
}

void gpume_report_reduce_colours(const struct gpume_report_size *size,
    const struct gpume_plane *rgb, uint32_t *sums, unsigned char *to)
{
    const size_t count = 3 * (size_t)rgb->width;
    for (uint32_t row = 0; row < size->height; row++) {
        const uint32_t top = row * size->scale;
        const uint32_t rows = gpume_min_u32(rgb->height - top, size->scale);
        memset(sums, 0, count * sizeof(*sums));
        for (uint32_t y = top; y < top + rows; y++) {
            const char *from = (const char *)rgb->data + (ptrdiff_t)y * rgb->stride;
            add_row(sums, (const uint8_t *)from, count);
        }
        for (uint32_t colour = 0; colour < 3; colour++) {
            reduce_row(size, sums, rgb->width, rows, colour, to + 3 * (size_t)row * size->width);
        }
    }
}

int gpume_report_small_open(struct gpume_report_small **small, const char *label, uint32_t width,
    uint32_t height, const struct gpume_log *log)
{
    struct gpume_report_small *self = calloc(1, sizeof(*self));
    if (!self) {
        return gpume_log_nomem(log, label);
    }
    *small = self;
    self->label = label;
    self->log = *log;
    self->size =
        gpume_report_size_of(width, height, GPUME_REPORT_COLOUR_SIDE, GPUME_REPORT_COLOUR_LOSSLESS);
    const struct gpume_report_size *size = &self->size;
    self->sums = malloc(3 * (size_t)width * sizeof(*self->sums));
    self->samples = malloc(3 * (size_t)size->width * size->height);
    const int status = self->sums && self->samples
                           ? gpume_still_open(&self->still, label, size->width, size->height, true,
                                 size->lossless, log)
                           : gpume_log_nomem(log, label);
    if (status != GPUME_OK) {
        gpume_report_small_close(small);
    }
    return status;
}

int gpume_report_small_encode(
    struct gpume_report_small *small, const struct gpume_plane *rgb, struct gpume_bytes *bytes)
{
    const struct gpume_report_size *size = &small->size;
    const struct gpume_plane plane = {
        .data = small->samples,
        .stride = 3 * (ptrdiff_t)size->width,
        .width = size->width,
        .height = size->height,
        .bits = 8,
    };
    const unsigned char *data;
    size_t count;
    gpume_report_reduce_colours(size, rgb, small->sums, small->samples);
    const int status = gpume_still_encode(small->still, &plane, &data, &count);
    if (status != GPUME_OK) {
        return status;
    }
    gpume_bytes_put(bytes, data, count);
    return bytes->failed ? gpume_log_nomem(&small->log, small->label) : GPUME_OK;
}

struct gpume_report_size gpume_report_small_size(const struct gpume_report_small *small)
{
    return small->size;
}

void gpume_report_small_close(struct gpume_report_small **small)
{
    if (*small) {
        gpume_still_close(&(*small)->still);
        free((*small)->sums);
        free((*small)->samples);
        free(*small);
        *small = NULL;
    }
}
