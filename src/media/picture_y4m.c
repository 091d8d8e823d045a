/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Y4M writer: a line of text, then rows. It does without libavformat because nothing needs to
 * be encoded. Depths for which Y4M has no name are written as 16 bits. Samples above 8 bits are
 * little-endian and unscaled. Colours become YUV 4:4:4 in BT.601, limited range, which readers
 * assume.
 */
#include "base/status.h"
#include "files/out.h"
#include "media/picture_kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/intreadwrite.h>

struct y4m {
    struct gpume_out *out;
    uint8_t *row;
    uint32_t width, height;
    bool colour;
};

static void y4m_close(void *state)
{
    struct y4m *y4m = state;
    if (y4m) {
        gpume_out_close(&y4m->out);
        free(y4m->row);
        free(y4m);
    }
}

static int write_header(struct y4m *y4m, const struct gpume_picture_options *options)
{
    static const char *const spaces[17] = {
        [8] = "mono", [9] = "mono9", [10] = "mono10", [12] = "mono12"};
    const char *gray = options->bits <= 16 ? spaces[options->bits] : NULL;
    const char *space = options->colour ? "444" : gray;
    bool known = options->rate_num > 0 && options->rate_den > 0;
    char header[160];
    int bytes = snprintf(header, sizeof header,
        "YUV4MPEG2 W%" PRIu32 " H%" PRIu32 " F%" PRIu32 ":%" PRIu32 " Ip A0:0 C%s XCOLORRANGE=%s\n",
        options->width, options->height, known ? options->rate_num : 25,
        known ? options->rate_den : 1, space ? space : "mono16",
        options->full_range && !options->colour ? "FULL" : "LIMITED");
    return gpume_out_write(y4m->out, header, (size_t)bytes);
}

static int y4m_open(void **state, const struct gpume_picture_options *options)
{
    int status = GPUME_OK;
    struct y4m *y4m = calloc(1, sizeof *y4m);
    uint8_t *row = malloc((size_t)options->width * 2);
    if (!y4m || !row) {
        free(y4m);
        free(row);
        return gpume_log_nomem(&options->log, options->path);
    }
    y4m->row = row;
    y4m->width = options->width;
    y4m->height = options->height;
    y4m->colour = options->colour;
    GPUME_TRY(gpume_out_open_in(&y4m->out, options->set, options->path, &options->log));
    if (!gpume_out_is_continued(y4m->out)) {
        GPUME_TRY(write_header(y4m, options));
    }
    *state = y4m;
    return GPUME_OK;
fail:
    y4m_close(y4m);
    return status;
}

/* Weights of R, G and B (0 to 255) in Y, Cb and Cr, in units of 1/65536: luma has 219 steps, chroma
 * 224. Each row sums to exactly 219 or 0 steps, so that white and gray are exact. */
static const struct {
    int32_t r, g, b, base;
} weights[3] = {
    {16829, 33039, 6416, 16},
    {-9714, -19070, 28784, 128},
    {28784, -24103, -4681, 128},
};

static int write_colours(struct y4m *y4m, const struct gpume_plane *plane)
{
    int status = GPUME_OK;
    for (uint64_t i = 0; i < 3 * (uint64_t)y4m->height && status == GPUME_OK; i++) {
        const size_t c = i / y4m->height;
        const uint8_t *from =
            (const uint8_t *)plane->data + (ptrdiff_t)(i % y4m->height) * plane->stride;
        for (uint32_t x = 0; x < y4m->width; x++, from += 3) {
            const int32_t sum =
                weights[c].r * from[0] + weights[c].g * from[1] + weights[c].b * from[2];
            y4m->row[x] = (uint8_t)((sum + (weights[c].base << 16) + (1 << 15)) >> 16);
        }
        status = gpume_out_write(y4m->out, y4m->row, y4m->width);
    }
    return status;
}

static int y4m_write(void *state, const struct gpume_plane *plane, uint64_t index, int64_t time_us)
{
    (void)index;
    (void)time_us;
    struct y4m *y4m = state;
    int status = gpume_out_write(y4m->out, "FRAME\n", strlen("FRAME\n"));
    if (y4m->colour) {
        return status == GPUME_OK ? write_colours(y4m, plane) : status;
    }
    for (uint32_t y = 0; y < y4m->height && status == GPUME_OK; y++) {
        const uint8_t *row = (const uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
        if (plane->bits == 8) {
            status = gpume_out_write(y4m->out, row, y4m->width);
            continue;
        }
        const uint16_t *samples = (const uint16_t *)(const void *)row;
        for (uint32_t x = 0; x < y4m->width; x++) {
            AV_WL16(y4m->row + 2 * x, samples[x]);
        }
        status = gpume_out_write(y4m->out, y4m->row, (size_t)y4m->width * 2);
    }
    return status;
}

static int y4m_finish(void *state)
{
    struct y4m *y4m = state;
    return gpume_out_finish(y4m->out);
}

const struct gpume_picture_writer gpume_picture_y4m = {
    .open = y4m_open,
    .write = y4m_write,
    .finish = y4m_finish,
    .close = y4m_close,
};
