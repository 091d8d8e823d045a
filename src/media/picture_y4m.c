/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The y4m writer: a line of text, then rows. Written here rather than by libavformat because there
 * is nothing to encode; depths that the format has no name for go out as 16 bits. Samples above 8
 * bits are little-endian, with their values unscaled. Called through picture_lavf.c.
 */
#include "base/out.h"
#include "base/status.h"
#include "media/picture_kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct y4m {
    struct gpume_out *out;
    uint8_t *row;
    uint32_t width, height;
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
    const char *space = options->bits <= 16 ? spaces[options->bits] : NULL;
    bool known = options->rate_num > 0 && options->rate_den > 0;
    char header[160];
    int bytes = snprintf(header, sizeof header,
        "YUV4MPEG2 W%" PRIu32 " H%" PRIu32 " F%" PRIu32 ":%" PRIu32 " Ip A0:0 C%s XCOLORRANGE=%s\n",
        options->width, options->height, known ? options->rate_num : 25,
        known ? options->rate_den : 1, space ? space : "mono16",
        options->full_range ? "FULL" : "LIMITED");
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
        gpume_log_write(&options->log, GPUME_LOG_ERROR, "%s: out of memory", options->path);
        return GPUME_NOMEM;
    }
    y4m->row = row;
    y4m->width = options->width;
    y4m->height = options->height;
    GPUME_TRY(gpume_out_open(&y4m->out, options->path, options->overwrite, &options->log));
    GPUME_TRY(write_header(y4m, options));
    *state = y4m;
    return GPUME_OK;
fail:
    y4m_close(y4m);
    return status;
}

static int y4m_write(void *state, const struct gpume_plane *plane, uint64_t index, int64_t time_us)
{
    (void)index;
    (void)time_us;
    struct y4m *y4m = state;
    int status = gpume_out_write(y4m->out, "FRAME\n", strlen("FRAME\n"));
    for (uint32_t y = 0; y < y4m->height && status == GPUME_OK; y++) {
        const uint8_t *row = (const uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
        if (plane->bits == 8) {
            status = gpume_out_write(y4m->out, row, y4m->width);
            continue;
        }
        const uint16_t *samples = (const uint16_t *)(const void *)row;
        for (uint32_t x = 0; x < y4m->width; x++) {
            y4m->row[2 * x] = (uint8_t)samples[x];
            y4m->row[2 * x + 1] = (uint8_t)(samples[x] >> 8);
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
