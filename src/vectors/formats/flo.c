/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .flo of the Middlebury benchmark (Baker et al., "A database and evaluation methodology for
 * optical flow", 2011; its flow-code's README): one vector of two floats per pixel, the vector of
 * its block, from this frame to its reference.
 */
#include "base/base.h"
#include "files/bytes.h"
#include "vectors/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 12u
#define PIXEL_BYTES 8u
#define UNKNOWN 1e9f /* larger components mean that the vector is unknown */

#define MAGIC "PIEH" /* 202021.25 as a float */
#define MAGIC_BYTES (sizeof(MAGIC) - 1)

struct flo_writer {
    unsigned char *line; /* of pixels */
};

static int flo_open(const struct gpume_vectors_target *target)
{
    struct flo_writer *self = target->state;
    self->line = malloc((size_t)target->info->width * PIXEL_BYTES);
    return self->line ? GPUME_OK : GPUME_NOMEM;
}

static size_t flo_head(
    const struct gpume_vectors_target *target, uint64_t rows, char at[GPUME_VECTORS_HEAD_BYTES])
{
    unsigned char *to = (unsigned char *)at;
    (void)rows;
    memcpy(to, MAGIC, MAGIC_BYTES);
    to = gpume_le_put32(to + MAGIC_BYTES, target->info->width);
    (void)gpume_le_put32(to, target->info->height);
    return HEAD_BYTES;
}

static void put_pixels(unsigned char *at, const struct gpume_vectors_block *block)
{
    unsigned char pixel[PIXEL_BYTES];
    (void)gpume_le_put_float(gpume_le_put_float(pixel, (float)block->dx / GPUME_VECTORS_UNITS),
        (float)block->dy / GPUME_VECTORS_UNITS);
    for (uint32_t i = 0; i < block->w; i++) {
        memcpy(at + (size_t)i * PIXEL_BYTES, pixel, PIXEL_BYTES);
    }
}

/* A row of blocks is one line of pixels, repeated for the height of the blocks. */
static int flo_field(const struct gpume_vectors_target *target, struct gpume_out *out)
{
    const struct flo_writer *self = target->state;
    const struct gpume_vectors_info *info = target->info;
    const struct gpume_vectors_field *field = target->field;
    struct gpume_vectors_block buffer[GPUME_VECTORS_PART];
    const size_t across = gpume_vectors_blocks_x(info);
    int status = GPUME_OK;
    for (size_t first = 0; first < field->count && status == GPUME_OK; first += across) {
        uint16_t height = 0;
        for (size_t done = 0; done < across;) {
            const size_t part =
                across - done < GPUME_VECTORS_PART ? across - done : GPUME_VECTORS_PART;
            const struct gpume_vectors_block *blocks;
            (void)gpume_vectors_take(info, field, first + done, part, buffer, &blocks);
            for (size_t i = 0; i < part; i++) {
                put_pixels(self->line + (size_t)blocks[i].x * PIXEL_BYTES, &blocks[i]);
            }
            height = blocks[0].h;
            done += part;
        }
        for (uint16_t i = 0; i < height && status == GPUME_OK; i++) {
            status = gpume_out_write(out, self->line, (size_t)info->width * PIXEL_BYTES);
        }
    }
    return status;
}

static void flo_close(const struct gpume_vectors_target *target)
{
    free(((struct flo_writer *)target->state)->line);
}

static const struct gpume_vectors_writer_ops writer = {
    .state_bytes = sizeof(struct flo_writer),
    .open = flo_open,
    .head = flo_head,
    .field = flo_field,
    .close = flo_close,
};

/* A vector in the units of the input; dx is INT32_MIN if it is unknown. */
struct pixel {
    int32_t dx, dy;
};

struct flo_input {
    uint32_t width, height, block;
    uint32_t x, y;       /* of the next block */
    struct pixel *strip; /* the vectors of a row of blocks */
    unsigned char *line; /* a row of pixels */
};

static int flo_input_open(struct gpume_vectors_input *input)
{
    struct flo_input *self = input->state;
    unsigned char head[HEAD_BYTES];
    int status;
    GPUME_TRY(gpume_stream_read(input->stream, head, sizeof(head)));
    if (memcmp(head, MAGIC, MAGIC_BYTES) != 0) {
        return gpume_stream_refuse(input->stream, "no .flo header before this position");
    }
    self->width = gpume_le_get32(head + 4);
    self->height = gpume_le_get32(head + 8);
    if (self->width < 1 || self->width > GPUME_READ_SIDE_MAX || self->height < 1 ||
        self->height > GPUME_READ_SIDE_MAX) {
        return gpume_stream_refuse(input->stream,
            "%" PRId32 "x%" PRId32 " is not a picture size; sides are 1 to %d pixels",
            (int32_t)self->width, (int32_t)self->height, GPUME_READ_SIDE_MAX);
    }
    self->block = input->block > 0 ? input->block : 1;
    input->info.width = self->width;
    input->info.height = self->height;
    input->info.block_w = input->info.block_h = self->block;
    self->strip = malloc(gpume_vectors_blocks_x(&input->info) * sizeof(*self->strip));
    self->line = malloc((size_t)self->width * PIXEL_BYTES);
    if (!self->strip || !self->line) {
        status = gpume_log_nomem(&input->log, "motion vectors");
    }
    input->info.columns = input->has_ref ? (unsigned)GPUME_VECTORS_REF : 0;
fail:
    return status;
}

static bool take_pixel(const unsigned char *at, bool fine, struct pixel *pixel)
{
    const float u = gpume_le_get_float(at), v = gpume_le_get_float(at + 4);
    if (fabsf(u) > UNKNOWN || fabsf(v) > UNKNOWN) {
        *pixel = (struct pixel){INT32_MIN, 0};
        return true;
    }
    /* NaN fails these comparisons. */
    if (!(u >= INT16_MIN && u <= INT16_MAX && v >= INT16_MIN && v <= INT16_MAX)) {
        return false;
    }
    if (fine) { /* at most 2^15 pixels of 2^15 units each */
        *pixel = (struct pixel){(int32_t)lrint((double)u * GPUME_VECTORS_FINE),
            (int32_t)lrint((double)v * GPUME_VECTORS_FINE)};
        return true;
    }
    const float dx = GPUME_VECTORS_UNITS * u, dy = GPUME_VECTORS_UNITS * v;
    *pixel = (struct pixel){(int32_t)dx, (int32_t)dy};
    return (float)pixel->dx == dx && (float)pixel->dy == dy;
}

/* Reads the pixels of a row of blocks. */
static int read_strip(struct gpume_vectors_input *input)
{
    struct flo_input *self = input->state;
    const uint32_t left = self->height - self->y;
    const uint32_t lines = left < self->block ? left : self->block;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < lines; i++) {
        GPUME_TRY(gpume_stream_read(input->stream, self->line, (size_t)self->width * PIXEL_BYTES));
        for (uint32_t x = 0; x < self->width; x++) {
            struct pixel pixel, *whole = &self->strip[x / self->block];
            if (!take_pixel(self->line + (size_t)x * PIXEL_BYTES, input->fine, &pixel)) {
                return gpume_stream_refuse(input->stream,
                    "the vector of the pixel at (%" PRIu32 ",%" PRIu32
                    ") does not consist of %s from %d to %d%s",
                    x, self->y + i, input->fine ? "numbers" : "multiples of 0.25", INT16_MIN,
                    INT16_MAX, input->fine ? "" : "; dense flow is compared with --truth alone");
            }
            if (i == 0 && x % self->block == 0) {
                *whole = pixel;
            } else if (whole->dx != pixel.dx || whole->dy != pixel.dy) {
                return gpume_stream_refuse(input->stream,
                    "the pixel at (%" PRIu32 ",%" PRIu32
                    ") has another vector than the rest of its block of %" PRIu32 "x%" PRIu32,
                    x, self->y + i, self->block, self->block);
            }
        }
    }
fail:
    return status;
}

static int flo_input_next(struct gpume_vectors_input *input, struct gpume_vectors_row *row)
{
    struct flo_input *self = input->state;
    int status = GPUME_OK;
    for (;;) {
        if (self->y >= self->height) {
            return GPUME_EOF;
        }
        if (self->x == 0) {
            GPUME_TRY(read_strip(input));
        }
        const uint32_t x = self->x, y = self->y, block = self->block;
        const uint32_t w = self->width - x, h = self->height - y;
        const struct pixel pixel = self->strip[x / block];
        const bool last = w <= block;
        self->x = last ? 0 : x + block;
        self->y += last ? block : 0;
        if (pixel.dx != INT32_MIN) {
            *row = (struct gpume_vectors_row){
                .frame = input->frame,
                .ref = input->ref,
                .block = {.x = x,
                    .y = y,
                    .w = (uint16_t)(last ? w : block),
                    .h = (uint16_t)(h < block ? h : block),
                    .dx = pixel.dx,
                    .dy = pixel.dy,
                    .ref = input->ref},
            };
            break;
        }
    }
fail:
    return status;
}

static void flo_input_close(struct gpume_vectors_input *input)
{
    struct flo_input *self = input->state;
    free(self->strip);
    free(self->line);
}

static const struct gpume_vectors_reader_ops reader = {
    .state_bytes = sizeof(struct flo_input),
    .open = flo_input_open,
    .next = flo_input_next,
    .close = flo_input_close,
};

const struct gpume_vectors_format gpume_vectors_flo = {
    .name = "flo",
    .extension = ".flo",
    .columns = GPUME_VECTORS_REF,
    .needs_grid = true,
    .numbered = true,
    .one_field = true,
    .binary = true,
    .begins = MAGIC,
    .writer = &writer,
    .reader = &reader,
};
