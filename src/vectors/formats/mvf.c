/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .mvf, gpume's own binary format: a header of 64 bytes, then for each field a header of 48 bytes
 * and its blocks in raster order. Headers state their own length and that of the data, so that
 * readers can skip fields and members that later versions append.
 */
#include "base/status.h"
#include "files/little_endian.h"
#include "vectors/format.h"

#include <inttypes.h>
#include <string.h>

#define HEAD_BYTES 64u
#define FIELD_BYTES 48u
#define HEAD_BYTES_MAX 65536u /* in later versions */
#define VERSION 1u
#define VERSION_FRACTIONS 2u /* vectors count in the header's units of a pixel */
#define UNKNOWN UINT32_MAX
#define COLUMNS (GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK | GPUME_VECTORS_TIME)

#define MAGIC "GPUMEMVF"
#define MAGIC_BYTES (sizeof(MAGIC) - 1)
static const unsigned char field_magic[4] = {'F', 'I', 'E', 'L'};

/* Size of a block: dx, dy, and cost and rank if they are known. */
static uint32_t block_bytes(unsigned columns)
{
    return 4u + (columns & GPUME_VECTORS_COST ? 4u : 0) + (columns & GPUME_VECTORS_RANK ? 4u : 0);
}

static size_t mvf_head(
    const struct gpume_vectors_target *target, uint64_t rows, char to[GPUME_VECTORS_HEAD_BYTES])
{
    const struct gpume_vectors_info *info = target->info;
    unsigned char *at = (unsigned char *)to;
    (void)rows;
    memset(at, 0, HEAD_BYTES);
    memcpy(at, MAGIC, MAGIC_BYTES);
    at = gpume_le_put32(at + MAGIC_BYTES, info->units > 1 ? VERSION_FRACTIONS : VERSION);
    at = gpume_le_put32(at, HEAD_BYTES);
    at = gpume_le_put32(at, info->width);
    at = gpume_le_put32(at, info->height);
    at = gpume_le_put32(at, info->block_w);
    at = gpume_le_put32(at, info->columns);
    at = gpume_le_put32(at, block_bytes(info->columns));
    at = gpume_le_put32(at, info->has_search ? info->bits : UNKNOWN);
    at = gpume_le_put32(at, info->has_search ? info->window_x : UNKNOWN);
    at = gpume_le_put32(at, info->has_search ? info->window_y : UNKNOWN);
    at = gpume_le_put32(at, info->has_search ? (uint32_t)info->edge : UNKNOWN);
    at = gpume_le_put32(at, info->has_search ? (uint32_t)info->metric : UNKNOWN);
    at = gpume_le_put32(at, info->block_h == info->block_w ? 0 : info->block_h);
    (void)gpume_le_put32(at, info->units > 1 ? info->units : 0);
    return HEAD_BYTES;
}

static size_t mvf_begin(
    const struct gpume_vectors_target *target, char to[GPUME_VECTORS_HEAD_BYTES])
{
    const struct gpume_vectors_info *info = target->info;
    const struct gpume_vectors_field *field = target->field;
    unsigned char *at = (unsigned char *)to;
    memcpy(at, field_magic, sizeof(field_magic));
    at = gpume_le_put32(at + sizeof(field_magic), FIELD_BYTES);
    at = gpume_le_put64(at, (uint64_t)field->count * block_bytes(info->columns));
    at = gpume_le_put64(at, field->frame);
    at = gpume_le_put64(at, info->columns & GPUME_VECTORS_REF ? field->ref : 0);
    at = gpume_le_put64(at, info->columns & GPUME_VECTORS_TIME ? (uint64_t)field->time_us : 0);
    at = gpume_le_put32(at, gpume_vectors_blocks_x(info));
    (void)gpume_le_put32(at, gpume_vectors_blocks_y(info));
    return FIELD_BYTES;
}

static char *mvf_rows(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *blocks, size_t count, char *to)
{
    const struct gpume_vectors_info *info = target->info;
    const bool costs = info->columns & GPUME_VECTORS_COST;
    const bool ranks = info->columns & GPUME_VECTORS_RANK;
    const int32_t divisor = GPUME_VECTORS_UNITS / (int32_t)info->units;
    unsigned char *at = (unsigned char *)to;
    for (size_t i = 0; i < count; i++) {
        at = gpume_le_put16(at, (uint16_t)(blocks[i].dx / divisor));
        at = gpume_le_put16(at, (uint16_t)(blocks[i].dy / divisor));
        at = costs ? gpume_le_put32(at, blocks[i].cost) : at;
        at = ranks ? gpume_le_put32(at, blocks[i].rank) : at;
    }
    return (char *)at;
}

static const struct gpume_vectors_writer_ops writer = {
    .row_bytes = 12,
    .head = mvf_head,
    .begin = mvf_begin,
    .rows = mvf_rows,
};

struct mvf_input {
    uint32_t across, rows; /* of blocks */
    uint32_t block_bytes;  /* in this file, perhaps of a later version */
    uint32_t column, row;  /* of the next block; row == rows: a field's header comes next */
    uint64_t frame, ref;   /* of the field */
    int64_t time_us;
};

static int take_head(struct gpume_vectors_input *input, const unsigned char *head)
{
    struct mvf_input *self = input->state;
    struct gpume_vectors_info *info = &input->info;
    const uint32_t version = gpume_le_get32(head + 8), bytes = gpume_le_get32(head + 12);
    info->width = gpume_le_get32(head + 16);
    info->height = gpume_le_get32(head + 20);
    info->block_w = gpume_le_get32(head + 24);
    info->columns = gpume_le_get32(head + 28) & COLUMNS;
    self->block_bytes = gpume_le_get32(head + 32);
    info->bits = gpume_le_get32(head + 36);
    info->window_x = gpume_le_get32(head + 40);
    info->window_y = gpume_le_get32(head + 44);
    const uint32_t edge = gpume_le_get32(head + 48), metric = gpume_le_get32(head + 52);
    const uint32_t block_h = gpume_le_get32(head + 56); /* 0: the blocks are squares */
    info->block_h = block_h > 0 ? block_h : info->block_w;
    const uint32_t units = gpume_le_get32(head + 60);
    info->units = version == VERSION_FRACTIONS ? units : 1;
    if (version != VERSION && version != VERSION_FRACTIONS) {
        return gpume_stream_refuse(input->stream, "unknown version %" PRIu32 " of .mvf", version);
    }
    if (bytes < HEAD_BYTES || bytes > HEAD_BYTES_MAX || info->width < 1 ||
        info->width > GPUME_READ_SIDE_MAX || info->height < 1 ||
        info->height > GPUME_READ_SIDE_MAX || info->block_w < 1 ||
        info->block_w > GPUME_READ_BLOCK_MAX || info->block_h > GPUME_READ_BLOCK_MAX ||
        (info->units != 1 && info->units != 2 && info->units != 4) ||
        self->block_bytes < block_bytes(info->columns) || self->block_bytes > 1024) {
        return gpume_stream_refuse(input->stream,
            "impossible header before this position: %" PRIu32 "x%" PRIu32
            " pixels, blocks of %" PRIu32 "x%" PRIu32 " in %" PRIu32 " bytes",
            info->width, info->height, info->block_w, info->block_h, self->block_bytes);
    }
    info->has_search = info->bits >= 8 && info->bits <= 16 && info->window_x <= INT16_MAX &&
                       info->window_y <= INT16_MAX && edge <= GPUME_EDGE_INSIDE &&
                       metric <= GPUME_METRIC_SSD;
    info->edge = info->has_search ? (enum gpume_edge)edge : GPUME_EDGE_EXTEND;
    info->metric = info->has_search ? (enum gpume_metric)metric : GPUME_METRIC_SAD;
    return gpume_stream_skip(input->stream, bytes - HEAD_BYTES);
}

static int mvf_input_open(struct gpume_vectors_input *input)
{
    struct mvf_input *self = input->state;
    unsigned char head[HEAD_BYTES];
    int status;
    GPUME_TRY(gpume_stream_read(input->stream, head, sizeof(head)));
    if (memcmp(head, MAGIC, MAGIC_BYTES) != 0) {
        return gpume_stream_refuse(input->stream, "no .mvf header before this position");
    }
    GPUME_TRY(take_head(input, head));
    self->across = gpume_vectors_blocks_x(&input->info);
    self->rows = gpume_vectors_blocks_y(&input->info);
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
        return gpume_stream_refuse(
            input->stream, "no header of a motion field before this position");
    }
    if (bytes < FIELD_BYTES || bytes > HEAD_BYTES_MAX ||
        payload != (uint64_t)self->across * self->rows * self->block_bytes ||
        gpume_le_get32(head + 40) != self->across || gpume_le_get32(head + 44) != self->rows ||
        self->frame > GPUME_READ_NUMBER_MAX || self->ref > GPUME_READ_NUMBER_MAX) {
        return gpume_stream_refuse(input->stream,
            "the motion field's header before this position (frame %" PRIu64 ", %" PRIu32
            "x%" PRIu32 " blocks in %" PRIu64 " bytes) does not fit the file's header",
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
    const int32_t scale = GPUME_VECTORS_UNITS / (int32_t)info->units;
    const unsigned char *at = bytes + 4;
    GPUME_TRY(gpume_stream_read(input->stream, bytes, known));
    GPUME_TRY(gpume_stream_skip(input->stream, self->block_bytes - known));
    const uint32_t x = self->column * info->block_w, y = self->row * info->block_h;
    const uint32_t w = info->width - x, h = info->height - y;
    *row = (struct gpume_vectors_row){
        .frame = self->frame,
        .ref = self->ref,
        .time_us = self->time_us,
        .block = {.x = x,
            .y = y,
            .w = (uint16_t)(w < info->block_w ? w : info->block_w),
            .h = (uint16_t)(h < info->block_h ? h : info->block_h),
            .dx = scale * (int16_t)gpume_le_get16(bytes),
            .dy = scale * (int16_t)gpume_le_get16(bytes + 2),
            .ref = self->ref},
    };
    if (info->columns & GPUME_VECTORS_COST) {
        row->block.cost = gpume_le_get32(at);
        at += 4;
    }
    row->block.rank = info->columns & GPUME_VECTORS_RANK ? gpume_le_get32(at) : 0;
    self->column = self->column + 1 == self->across ? 0 : self->column + 1;
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
    .binary = true,
    .begins = MAGIC,
    .fixed_units = true,
    .writer = &writer,
    .reader = &reader,
};
