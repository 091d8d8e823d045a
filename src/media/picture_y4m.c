/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Y4M writer: a line of text, then rows. It does without libavformat because nothing needs to
 * be encoded. Colours become YUV 4:4:4 in BT.601, limited range, which readers
 * assume.
 */
#include "files/out.h"
#include "media/picture_kind.h"
#include "media/y4m_out.h"

#include <stdlib.h>

struct y4m {
    struct gpume_picture picture;
    struct gpume_out *out;
    uint8_t *row;
};

static void y4m_close(struct gpume_picture *picture)
{
    struct y4m *y4m = (struct y4m *)picture;
    gpume_out_close(&y4m->out);
    free(y4m->row);
}

static int write_head(const struct y4m *y4m)
{
    const struct gpume_picture_options *options = &y4m->picture.options;
    const struct gpume_y4m_head head = {
        .width = options->width,
        .height = options->height,
        .bits = options->bits,
        .rate_num = options->rate_num,
        .rate_den = options->rate_den,
        .aspect_num = options->aspect_num,
        .aspect_den = options->aspect_den,
        .colour = options->colour,
        .full_range = options->full_range,
    };
    return gpume_y4m_write_head(y4m->out, &head);
}

static int y4m_open(struct gpume_picture *picture)
{
    struct y4m *y4m = (struct y4m *)picture;
    const struct gpume_picture_options *options = &picture->options;
    y4m->row = malloc((size_t)options->width * 2);
    if (!y4m->row) {
        return gpume_log_nomem(&options->log, options->path);
    }
    const int status = gpume_out_open_in(&y4m->out, options->set, options->path, &options->log);
    return status || gpume_out_is_continued(y4m->out) ? status : write_head(y4m);
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
    for (uint64_t i = 0; i < 3 * (uint64_t)plane->height && status == GPUME_OK; i++) {
        const size_t c = i / plane->height;
        const uint8_t *from =
            (const uint8_t *)plane->data + (ptrdiff_t)(i % plane->height) * plane->stride;
        for (uint32_t x = 0; x < plane->width; x++, from += 3) {
            const int32_t sum =
                weights[c].r * from[0] + weights[c].g * from[1] + weights[c].b * from[2];
            y4m->row[x] = (uint8_t)((sum + (weights[c].base << 16) + (1 << 15)) >> 16);
        }
        status = gpume_out_write(y4m->out, y4m->row, plane->width);
    }
    return status;
}

static int y4m_write(
    struct gpume_picture *picture, const struct gpume_plane *plane, uint64_t index, int64_t time_us)
{
    (void)index;
    (void)time_us;
    struct y4m *y4m = (struct y4m *)picture;
    const int status = gpume_out_text(y4m->out, "FRAME\n");
    return status                    ? status
           : picture->options.colour ? write_colours(y4m, plane)
                                     : gpume_y4m_write_luma(y4m->out, plane, y4m->row);
}

static int y4m_finish(struct gpume_picture *picture)
{
    return gpume_out_finish(((struct y4m *)picture)->out);
}

const struct gpume_picture_writer gpume_picture_y4m = {
    .bytes = sizeof(struct y4m),
    .open = y4m_open,
    .write = y4m_write,
    .finish = y4m_finish,
    .close = y4m_close,
};
