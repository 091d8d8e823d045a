/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .mvf, gpume's own: a head of 64 bytes, and for each field a head of 48 and its blocks in raster
 * order. Every head says its own length and that of what follows, so that readers can pass over
 * fields, and over what later versions put behind.
 */
#include "base/status.h"
#include "files/little_endian.h"
#include "vectors/format.h"

#include <inttypes.h>
#include <string.h>

#define HEAD_BYTES 64u
#define FIELD_BYTES 48u
#define HEAD_BYTES_MAX 65536u /* of a later version's */
#define VERSION 1u
#define UNKNOWN UINT32_MAX
#define COLUMNS (GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK | GPUME_VECTORS_TIME)

static const unsigned char magic[8] = {'G', 'P', 'U', 'M', 'E', 'M', 'V', 'F'};
static const unsigned char field_magic[4] = {'F', 'I', 'E', 'L'};

/* Of a block in bytes: dx, dy, and cost and rank where they are known. */
static uint32_t block_bytes(unsigned columns)
{
    return 4u + (columns & GPUME_VECTORS_COST ? 4u : 0) + (columns & GPUME_VECTORS_RANK ? 4u : 0);
}

static size_t mvf_head(void *state, uint64_t rows, char to[GPUME_VECTORS_HEAD_BYTES])
{
    const struct gpume_vectors_info *info = *(const struct gpume_vectors_info **)state;
    unsigned char *at = (unsigned char *)to;
    (void)rows;
    memset(at, 0, HEAD_BYTES);
    memcpy(at, magic, sizeof(magic));
    at = gpume_le_put32(at + sizeof(magic), VERSION);
    at = gpume_le_put32(at, HEAD_BYTES);
    at = gpume_le_put32(at, info->width);
    at = gpume_le_put32(at, info->height);
    at = gpume_le_put32(at, info->block);
    at = gpume_le_put32(at, info->columns);
    at = gpume_le_put32(at, block_bytes(info->columns));
    at = gpume_le_put32(at, info->has_search ? info->bits : UNKNOWN);
    at = gpume_le_put32(at, info->has_search ? info->window_x : UNKNOWN);
    at = gpume_le_put32(at, info->has_search ? info->window_y : UNKNOWN);
    at = gpume_le_put32(at, info->has_search ? (uint32_t)info->edge : UNKNOWN);
    (void)gpume_le_put32(at, info->has_search ? (uint32_t)info->metric : UNKNOWN);
    return HEAD_BYTES;
}

static int mvf_open(void *state, const struct gpume_vectors_info *info)
{
    *(const struct gpume_vectors_info **)state = info;
    return GPUME_OK;
}

static size_t mvf_begin(
    void *state, const struct gpume_vectors_field *field, char to[GPUME_VECTORS_HEAD_BYTES])
{
    const struct gpume_vectors_info *info = *(const struct gpume_vectors_info **)state;
    unsigned char *at = (unsigned char *)to;
    memcpy(at, field_magic, sizeof(field_magic));
    at = gpume_le_put32(at + sizeof(field_magic), FIELD_BYTES);
    at = gpume_le_put64(at, (uint64_t)field->count * block_bytes(info->columns));
    at = gpume_le_put64(at, field->frame);
    at = gpume_le_put64(at, info->columns & GPUME_VECTORS_REF ? field->ref : 0);
    at = gpume_le_put64(at, info->columns & GPUME_VECTORS_TIME ? (uint64_t)field->time_us : 0);
    at = gpume_le_put32(at, gpume_vectors_along(info->width, info->block));
    (void)gpume_le_put32(at, gpume_vectors_along(info->height, info->block));
    return FIELD_BYTES;
}

static char *mvf_rows(
    const void *state, const struct gpume_vectors_block *blocks, size_t count, char *to)
{
    const struct gpume_vectors_info *info = *(const struct gpume_vectors_info *const *)state;
    const bool costs = info->columns & GPUME_VECTORS_COST;
    const bool ranks = info->columns & GPUME_VECTORS_RANK;
    unsigned char *at = (unsigned char *)to;
    for (size_t i = 0; i < count; i++) {
        at = gpume_le_put16(at, (uint16_t)blocks[i].dx);
        at = gpume_le_put16(at, (uint16_t)blocks[i].dy);
        at = costs ? gpume_le_put32(at, blocks[i].cost) : at;
        at = ranks ? gpume_le_put32(at, blocks[i].rank) : at;
    }
    return (char *)at;
}

static const struct gpume_vectors_writer_ops writer = {
    .state_bytes = sizeof(const struct gpume_vectors_info *),
    .row_bytes = 12,
    .open = mvf_open,
    .head = mvf_head,
    .begin = mvf_begin,
    .rows = mvf_rows,
};

struct mvf_input {
    uint32_t along, rows; /* blocks of the grid */
    uint32_t block_bytes; /* of the file, maybe a later version's */
    uint32_t column, row; /* of the next block; row: `rows` before a field's head */
    uint64_t frame, ref;  /* of the field */
    int64_t time_us;
};

static bool mvf_probe(const unsigned char *head, size_t bytes)
{
    return bytes >= sizeof(magic) && memcmp(head, magic, sizeof(magic)) == 0;
}

static int take_head(struct gpume_vectors_input *input, const unsigned char *head)
{
    struct mvf_input *self = input->state;
    struct gpume_vectors_info *info = &input->info;
    const uint32_t version = gpume_le_get32(head + 8), bytes = gpume_le_get32(head + 12);
    info->width = gpume_le_get32(head + 16);
    info->height = gpume_le_get32(head + 20);
    info->block = gpume_le_get32(head + 24);
    info->columns = gpume_le_get32(head + 28) & COLUMNS;
    self->block_bytes = gpume_le_get32(head + 32);
    info->bits = gpume_le_get32(head + 36);
    info->window_x = gpume_le_get32(head + 40);
    info->window_y = gpume_le_get32(head + 44);
    const uint32_t edge = gpume_le_get32(head + 48), metric = gpume_le_get32(head + 52);
    if (version != VERSION) {
        return gpume_stream_refuse(
            input->stream, "version %" PRIu32 " of .mvf is not known", version);
    }
    if (bytes < HEAD_BYTES || bytes > HEAD_BYTES_MAX || info->width < 1 ||
        info->width > GPUME_READ_SIDE_MAX || info->height < 1 ||
        info->height > GPUME_READ_SIDE_MAX || info->block < 1 ||
        info->block > GPUME_READ_BLOCK_MAX || self->block_bytes < block_bytes(info->columns) ||
        self->block_bytes > 1024) {
        return gpume_stream_refuse(input->stream,
            "the head before here says %" PRIu32 "x%" PRIu32 " pixels, blocks of %" PRIu32
            " in %" PRIu32 " bytes, which cannot be",
            info->width, info->height, info->block, self->block_bytes);
    }
    info->has_search = info->bits >= 8 && info->bits <= 16 && info->window_x <= INT16_MAX &&
                       info->window_y <= INT16_MAX && edge <= GPUME_EDGE_INSIDE &&
                       metric == GPUME_METRIC_SAD;
    info->edge = info->has_search ? (enum gpume_edge)edge : GPUME_EDGE_EXTEND;
    info->metric = GPUME_METRIC_SAD;
    return gpume_stream_skip(input->stream, bytes - HEAD_BYTES);
}

static int mvf_input_open(struct gpume_vectors_input *input)
{
    struct mvf_input *self = input->state;
    unsigned char head[HEAD_BYTES];
    int status;
    GPUME_TRY(gpume_stream_read(input->stream, head, sizeof(head)));
    if (!mvf_probe(head, sizeof(head))) {
        return gpume_stream_refuse(input->stream, "no .mvf begins before here");
    }
    GPUME_TRY(take_head(input, head));
    self->along = gpume_vectors_along(input->info.width, input->info.block);
    self->rows = gpume_vectors_along(input->info.height, input->info.block);
    self->row = self->rows;
fail:
    return status;
}

static int read_field_head(struct gpume_vectors_input *input)
{
    struct mvf_input *self = input->state;
    unsigned char head[FIELD_BYTES];
    int status;
    GPUME_TRY(gpume_stream_read(input->stream, head, sizeof(head)));
    const uint32_t bytes = gpume_le_get32(head + 4);
    const uint64_t payload = gpume_le_get64(head + 8);
    self->frame = gpume_le_get64(head + 16);
    self->ref = gpume_le_get64(head + 24);
    self->time_us = (int64_t)gpume_le_get64(head + 32);
    if (memcmp(head, field_magic, sizeof(field_magic)) != 0) {
        return gpume_stream_refuse(input->stream, "no field begins before here");
    }
    if (bytes < FIELD_BYTES || bytes > HEAD_BYTES_MAX ||
        payload != (uint64_t)self->along * self->rows * self->block_bytes ||
        gpume_le_get32(head + 40) != self->along || gpume_le_get32(head + 44) != self->rows ||
        self->frame > GPUME_READ_NUMBER_MAX || self->ref > GPUME_READ_NUMBER_MAX) {
        return gpume_stream_refuse(input->stream,
            "the field's head before here says frame %" PRIu64 " with %" PRIu32 "x%" PRIu32
            " blocks in %" PRIu64 " bytes, which do not fit the file's",
            self->frame, gpume_le_get32(head + 40), gpume_le_get32(head + 44), payload);
    }
    GPUME_TRY(gpume_stream_skip(input->stream, bytes - FIELD_BYTES));
    self->row = self->column = 0;
fail:
    return status;
}

static int mvf_input_next(struct gpume_vectors_input *input, struct gpume_vectors_row *row)
{
    struct mvf_input *self = input->state;
    const struct gpume_vectors_info *info = &input->info;
    unsigned char bytes[12];
    bool ended = false;
    int status = GPUME_OK;
    if (self->row == self->rows) {
        GPUME_TRY(gpume_stream_at_end(input->stream, &ended));
        GPUME_TRY(ended ? GPUME_EOF : read_field_head(input));
    }
    const uint32_t known = block_bytes(info->columns);
    const unsigned char *at = bytes + 4;
    GPUME_TRY(gpume_stream_read(input->stream, bytes, known));
    GPUME_TRY(gpume_stream_skip(input->stream, self->block_bytes - known));
    const uint32_t x = self->column * info->block, y = self->row * info->block;
    const uint32_t w = info->width - x, h = info->height - y;
    *row = (struct gpume_vectors_row){
        .frame = self->frame,
        .ref = self->ref,
        .time_us = self->time_us,
        .block = {x, y, (uint16_t)(w < info->block ? w : info->block),
            (uint16_t)(h < info->block ? h : info->block), (int16_t)gpume_le_get16(bytes),
            (int16_t)gpume_le_get16(bytes + 2), 0, 0},
    };
    if (info->columns & GPUME_VECTORS_COST) {
        row->block.cost = gpume_le_get32(at);
        at += 4;
    }
    row->block.rank = info->columns & GPUME_VECTORS_RANK ? gpume_le_get32(at) : 0;
    self->column = self->column + 1 == self->along ? 0 : self->column + 1;
    self->row += self->column == 0;
fail:
    return status;
}

static const struct gpume_vectors_reader_ops reader = {
    .state_bytes = sizeof(struct mvf_input),
    .open = mvf_input_open,
    .next = mvf_input_next,
};

const struct gpume_vectors_format gpume_vectors_mvf = {
    .name = "mvf",
    .extension = ".mvf",
    .columns = COLUMNS,
    .needs_grid = true,
    .probe = mvf_probe,
    .writer = &writer,
    .reader = &reader,
};
