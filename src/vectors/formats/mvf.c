/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .mvf, gpume's own binary format: a header of 64 bytes, then for each field a header of 48 bytes
 * and its records. In a grid there is one record for each block, in raster order; in a list, which
 * blocks of several shapes or with several matches form, each record has its place. Headers state
 * their own length and that of the data, so that readers can skip fields and members that later
 * versions append.
 */
#include "base/base.h"
#include "base/params.h"
#include "files/bytes.h"
#include "vectors/format.h"

#include <inttypes.h>
#include <string.h>

#define HEAD_BYTES 64u
#define FIELD_BYTES 48u
#define HEAD_BYTES_MAX 65536u /* in later versions */
#define VERSION 1u
#define VERSION_FRACTIONS 2u /* vectors count in the header's units of a pixel */
#define VERSION_MEMBERS 3u   /* records have members besides those of COLUMNS */
#define UNKNOWN UINT32_MAX
#define COLUMNS                                                                                    \
    ((unsigned)(GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK | GPUME_VECTORS_TIME))

/* Members that are no columns. */
#define PLACE (1u << 12) /* the field is a list */
#define REFS (1u << 13)  /* blocks of a field have their own references */
#define MEMBERS (COLUMNS | GPUME_VECTORS_FURTHER | PLACE | REFS)

/* Longest record: dx, dy, cost, rank, place and reference; then the other columns. */
#define ROW_BYTES 28u
#define FURTHER_BYTES 40u
#define RECORD_BYTES_MAX (ROW_BYTES + FURTHER_BYTES)

#define SIDE_BITS 20 /* GPUME_READ_SIDE_MAX - 1 fits */
#define EDGE_BITS 10 /* GPUME_READ_BLOCK_MAX - 1 fits */
#define LIST_SIDE_MAX (GPUME_READ_SIDE_MAX + GPUME_READ_BLOCK_MAX)

#define MAGIC "GPUMEMVF"
#define MAGIC_BYTES (sizeof(MAGIC) - 1)
static const unsigned char field_magic[4] = {'F', 'I', 'E', 'L'};

static bool is_list(const struct gpume_vectors_info *info)
{
    return info->block_w == 0 || info->columns & (GPUME_VECTORS_SHAPE | GPUME_VECTORS_CANDIDATE);
}

/* What the records and headers of a file hold. */
static unsigned members(const struct gpume_vectors_info *info)
{
    const bool refs = info->joined && info->columns & GPUME_VECTORS_REF;
    return info->columns | (is_list(info) ? PLACE : 0) | (refs ? REFS : 0);
}

/* Size of a record: dx, dy, and what else is known, in this order. */
static uint32_t record_bytes(unsigned known)
{
    static const struct {
        unsigned member;
        uint32_t bytes;
    } all[] = {{GPUME_VECTORS_COST, 4}, {GPUME_VECTORS_RANK, 4}, {PLACE, 8}, {REFS, 8},
        {GPUME_VECTORS_SHAPE, 4}, {GPUME_VECTORS_BITS, 4}, {GPUME_VECTORS_REF2, 12},
        {GPUME_VECTORS_CANDIDATE, 4}, {GPUME_VECTORS_SECOND, 4}, {GPUME_VECTORS_TIES, 4},
        {GPUME_VECTORS_TEXTURE, 4}, {GPUME_VECTORS_RETURN, 4}};
    uint32_t bytes = 4;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        bytes += known & all[i].member ? all[i].bytes : 0;
    }
    return bytes;
}

static size_t mvf_head(
    const struct gpume_vectors_target *target, uint64_t rows, char to[GPUME_VECTORS_HEAD_BYTES])
{
    const struct gpume_vectors_info *info = target->info;
    const unsigned known = members(info);
    const bool more = known & ~COLUMNS, fractions = info->units > 1;
    unsigned char *at = (unsigned char *)to;
    (void)rows;
    memset(at, 0, HEAD_BYTES);
    memcpy(at, MAGIC, MAGIC_BYTES);
    at = gpume_le_put32(at + MAGIC_BYTES, more        ? VERSION_MEMBERS
                                          : fractions ? VERSION_FRACTIONS
                                                      : VERSION);
    at = gpume_le_put32(at, HEAD_BYTES);
    at = gpume_le_put32(at, info->width);
    at = gpume_le_put32(at, info->height);
    at = gpume_le_put32(at, known & PLACE ? 0 : info->block_w);
    at = gpume_le_put32(at, known);
    at = gpume_le_put32(at, record_bytes(known));
    at = gpume_le_put32(at, info->has_search ? info->bits : UNKNOWN);
    at = gpume_le_put32(at, info->has_search ? info->window_x : UNKNOWN);
    at = gpume_le_put32(at, info->has_search ? info->window_y : UNKNOWN);
    at = gpume_le_put32(at, info->has_search ? (uint32_t)info->edge : UNKNOWN);
    at = gpume_le_put32(at, info->has_search ? (uint32_t)info->metric : UNKNOWN);
    at = gpume_le_put32(at, known & PLACE || info->block_h == info->block_w ? 0 : info->block_h);
    (void)gpume_le_put32(at, more || fractions ? info->units : 0);
    return HEAD_BYTES;
}

static size_t mvf_begin(
    const struct gpume_vectors_target *target, char to[GPUME_VECTORS_HEAD_BYTES])
{
    const struct gpume_vectors_info *info = target->info;
    const struct gpume_vectors_field *field = target->field;
    const bool list = is_list(info);
    const size_t records = gpume_vectors_rows(info, field);
    unsigned char *at = (unsigned char *)to;
    memcpy(at, field_magic, sizeof(field_magic));
    at = gpume_le_put32(at + sizeof(field_magic), FIELD_BYTES);
    at = gpume_le_put64(at, (uint64_t)records * record_bytes(members(info)));
    at = gpume_le_put64(at, field->frame);
    at = gpume_le_put64(at, info->columns & GPUME_VECTORS_REF ? field->ref : 0);
    at = gpume_le_put64(at, info->columns & GPUME_VECTORS_TIME ? (uint64_t)field->time_us : 0);
    at = gpume_le_put32(at, list ? (uint32_t)records : gpume_vectors_blocks_x(info));
    (void)gpume_le_put32(at, list ? 1 : gpume_vectors_blocks_y(info));
    return FIELD_BYTES;
}

static uint64_t pack_place(const struct gpume_vectors_block *block)
{
    return block->x | (uint64_t)block->y << SIDE_BITS |
           (uint64_t)(block->w - 1u) << (2 * SIDE_BITS) |
           (uint64_t)(block->h - 1u) << (2 * SIDE_BITS + EDGE_BITS);
}

/* The members that version 3 adds. */
static unsigned char *mvf_put_further(
    unsigned known, int32_t divisor, const struct gpume_vectors_block *block, unsigned char *at)
{
    at = known & PLACE ? gpume_le_put64(at, pack_place(block)) : at;
    at = known & REFS ? gpume_le_put64(at, block->ref) : at;
    if (known & GPUME_VECTORS_SHAPE) {
        at = gpume_le_put16(gpume_le_put16(at, block->shape_w), block->shape_h);
    }
    at = known & GPUME_VECTORS_BITS ? gpume_le_put32(at, block->bits) : at;
    if (known & GPUME_VECTORS_REF2) {
        at = gpume_le_put64(at, block->ref2);
        at = gpume_le_put16(at, (uint16_t)(block->dx2 / divisor));
        at = gpume_le_put16(at, (uint16_t)(block->dy2 / divisor));
    }
    at = known & GPUME_VECTORS_CANDIDATE ? gpume_le_put32(at, block->candidate) : at;
    at = known & GPUME_VECTORS_SECOND ? gpume_le_put32(at, block->second) : at;
    at = known & GPUME_VECTORS_TIES ? gpume_le_put32(at, block->ties) : at;
    at = known & GPUME_VECTORS_TEXTURE ? gpume_le_put32(at, block->texture) : at;
    return known & GPUME_VECTORS_RETURN ? gpume_le_put32(at, block->returns) : at;
}

static char *mvf_rows(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *blocks, size_t count, char *to)
{
    const struct gpume_vectors_info *info = target->info;
    const bool costs = info->columns & GPUME_VECTORS_COST;
    const bool ranks = info->columns & GPUME_VECTORS_RANK;
    const unsigned known = members(info);
    const bool more = known & ~COLUMNS;
    const int32_t divisor = GPUME_VECTORS_UNITS / (int32_t)info->units;
    unsigned char *at = (unsigned char *)to;
    for (size_t i = 0; i < count; i++) {
        at = gpume_le_put16(at, (uint16_t)(blocks[i].dx / divisor));
        at = gpume_le_put16(at, (uint16_t)(blocks[i].dy / divisor));
        at = costs ? gpume_le_put32(at, blocks[i].cost) : at;
        at = ranks ? gpume_le_put32(at, blocks[i].rank) : at;
        at = more ? mvf_put_further(known, divisor, &blocks[i], at) : at;
    }
    return (char *)at;
}

static char *mvf_plain(const struct gpume_vectors_target *target, const struct gpume_layer *layer,
    size_t index, size_t count, char *to)
{
    const bool ranks = target->info->columns & GPUME_VECTORS_RANK;
    unsigned char *at = (unsigned char *)to;
    for (size_t i = index; i < index + count; i++) {
        at = gpume_le_put16(at, (uint16_t)layer->vectors[i].dx);
        at = gpume_le_put16(at, (uint16_t)layer->vectors[i].dy);
        at = gpume_le_put32(at, layer->costs[i]);
        at = ranks ? gpume_le_put32(at, layer->ranks[i]) : at;
    }
    return (char *)at;
}

static bool is_short(int32_t value, int32_t divisor)
{
    return value / divisor >= INT16_MIN && value / divisor <= INT16_MAX;
}

static const char *mvf_excess(const struct gpume_vectors_target *target)
{
    const struct gpume_vectors_info *info = target->info;
    const struct gpume_vectors_field *field = target->field;
    const int32_t divisor = GPUME_VECTORS_UNITS / (int32_t)info->units;
    const bool two = info->columns & GPUME_VECTORS_REF2;
    bool fits = true;
    if (!is_list(info) && !gpume_vectors_on_grid(info, field)) {
        return "blocks in another grid than the first frame";
    }
    if (!info->joined && gpume_vectors_is_joined(field)) {
        return "blocks with several references, unlike the first frame";
    }
    for (size_t i = 0; i < field->count && fits; i++) {
        const struct gpume_vectors_block *block = &field->blocks[i];
        fits = is_short(block->dx, divisor) && is_short(block->dy, divisor) &&
               (!two || (is_short(block->dx2, divisor) && is_short(block->dy2, divisor)));
    }
    return fits ? NULL : "vectors of more than 16 bits, since others have fractions of a pixel";
}

static const struct gpume_vectors_writer_ops writer = {
    .row_bytes = ROW_BYTES,
    .further = FURTHER_BYTES,
    .excess = mvf_excess,
    .head = mvf_head,
    .begin = mvf_begin,
    .rows = mvf_rows,
    .plain = mvf_plain,
};

struct mvf_input {
    uint32_t across, rows; /* of blocks; of a list: its length, and 1 */
    uint32_t record_bytes; /* in this file, perhaps of a later version */
    uint32_t column, row;  /* of the next block; row == rows: a field's header comes next */
    unsigned members;
    uint64_t frame, ref; /* of the field */
    int64_t time_us;
};

static bool is_between(uint32_t value, uint32_t most)
{
    return value >= 1 && value <= most;
}

static bool is_possible(const struct gpume_vectors_info *info, const struct mvf_input *self)
{
    const bool list = self->members & PLACE;
    const uint32_t side = list ? LIST_SIDE_MAX : GPUME_READ_SIDE_MAX;
    return is_between(info->width, side) && is_between(info->height, side) &&
           (list ? info->block_w == 0 && info->block_h == 0
                 : is_between(info->block_w, GPUME_READ_BLOCK_MAX) &&
                       is_between(info->block_h, GPUME_READ_BLOCK_MAX)) &&
           (info->units == 1 || info->units == 2 || info->units == 4) &&
           (self->members & ~MEMBERS) == 0 && self->record_bytes <= 1024 &&
           self->record_bytes >= record_bytes(self->members);
}

static void take_search(struct gpume_vectors_info *info, const unsigned char *at)
{
    info->bits = gpume_le_get32(at);
    info->window_x = gpume_le_get32(at + 4);
    info->window_y = gpume_le_get32(at + 8);
    const uint32_t edge = gpume_le_get32(at + 12), metric = gpume_le_get32(at + 16);
    info->has_search = info->bits >= 8 && info->bits <= 16 && info->window_x <= INT16_MAX &&
                       info->window_y <= INT16_MAX && edge <= GPUME_PARAM(edge)->most &&
                       metric <= GPUME_PARAM(metric)->most;
    info->edge = info->has_search ? (enum gpume_edge)edge : GPUME_EDGE_EXTEND;
    info->metric = info->has_search ? (enum gpume_metric)metric : GPUME_METRIC_SAD;
}

static int take_head(struct gpume_vectors_input *input, const unsigned char *head)
{
    struct mvf_input *self = input->state;
    struct gpume_vectors_info *info = &input->info;
    const uint32_t version = gpume_le_get32(head + 8), bytes = gpume_le_get32(head + 12);
    info->width = gpume_le_get32(head + 16);
    info->height = gpume_le_get32(head + 20);
    info->block_w = gpume_le_get32(head + 24);
    self->members = gpume_le_get32(head + 28) & (version < VERSION_MEMBERS ? COLUMNS : UINT32_MAX);
    info->columns = self->members & (COLUMNS | GPUME_VECTORS_FURTHER);
    info->joined = self->members & REFS;
    self->record_bytes = gpume_le_get32(head + 32);
    take_search(info, head + 36);
    const uint32_t block_h = gpume_le_get32(head + 56); /* 0: the blocks are squares */
    info->block_h = block_h > 0 ? block_h : info->block_w;
    info->units = version == VERSION ? 1 : gpume_le_get32(head + 60);
    if (version < VERSION || version > VERSION_MEMBERS) {
        return gpume_stream_refuse(input->stream, "unknown version %" PRIu32 " of .mvf", version);
    }
    if (bytes < HEAD_BYTES || bytes > HEAD_BYTES_MAX || !is_possible(info, self)) {
        return gpume_stream_refuse(input->stream,
            "impossible header before this position: %" PRIu32 "x%" PRIu32
            " pixels, blocks of %" PRIu32 "x%" PRIu32 " in %" PRIu32 " bytes",
            info->width, info->height, info->block_w, info->block_h, self->record_bytes);
    }
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
    const bool list = self->members & PLACE;
    self->across = list ? 0 : gpume_vectors_blocks_x(&input->info);
    self->rows = list ? 1 : gpume_vectors_blocks_y(&input->info);
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
    self->across = self->members & PLACE ? gpume_le_get32(head + 40) : self->across;
    if (bytes < FIELD_BYTES || bytes > HEAD_BYTES_MAX || payload == 0 ||
        payload != (uint64_t)self->across * self->rows * self->record_bytes ||
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

/* The place in a grid. */
static void take_position(const struct gpume_vectors_input *input, struct gpume_vectors_block *to)
{
    const struct mvf_input *self = input->state;
    const struct gpume_vectors_info *info = &input->info;
    to->x = self->column * info->block_w;
    to->y = self->row * info->block_h;
    const uint32_t w = info->width - to->x, h = info->height - to->y;
    to->w = (uint16_t)(w < info->block_w ? w : info->block_w);
    to->h = (uint16_t)(h < info->block_h ? h : info->block_h);
}

/* The same in a list. False: impossible. */
static bool mvf_take_place(uint64_t place, struct gpume_vectors_block *to)
{
    const uint32_t side = (1u << SIDE_BITS) - 1, edge = (1u << EDGE_BITS) - 1;
    to->x = (uint32_t)place & side;
    to->y = (uint32_t)(place >> SIDE_BITS) & side;
    to->w = (uint16_t)(((place >> (2 * SIDE_BITS)) & edge) + 1);
    to->h = (uint16_t)(((place >> (2 * SIDE_BITS + EDGE_BITS)) & edge) + 1);
    return place >> (2 * SIDE_BITS + 2 * EDGE_BITS) == 0;
}

static uint32_t next32(const unsigned char **at)
{
    *at += 4;
    return gpume_le_get32(*at - 4);
}

static uint64_t next64(const unsigned char **at)
{
    *at += 8;
    return gpume_le_get64(*at - 8);
}

static bool mvf_take_shape(uint32_t shape, struct gpume_vectors_block *to)
{
    to->shape_w = (uint16_t)shape;
    to->shape_h = (uint16_t)(shape >> 16);
    return is_between(to->shape_w, GPUME_READ_BLOCK_MAX) &&
           is_between(to->shape_h, GPUME_READ_BLOCK_MAX);
}

static bool take_second_match(
    const unsigned char **at, int32_t scale, struct gpume_vectors_block *to)
{
    to->ref2 = next64(at);
    const uint32_t vector = next32(at);
    to->dx2 = scale * (int16_t)(uint16_t)vector;
    to->dy2 = scale * (int16_t)(uint16_t)(vector >> 16);
    return to->ref2 == GPUME_VECTORS_ONE ? vector == 0 : to->ref2 <= GPUME_READ_NUMBER_MAX;
}

/* What put_further has written. False: a number is out of range. */
static bool take_further(
    unsigned known, int32_t scale, const unsigned char *at, struct gpume_vectors_block *to)
{
    bool fits = !(known & PLACE) || mvf_take_place(next64(&at), to);
    to->ref = known & REFS ? next64(&at) : to->ref;
    fits = fits && to->ref <= GPUME_READ_NUMBER_MAX;
    fits = (!(known & GPUME_VECTORS_SHAPE) || mvf_take_shape(next32(&at), to)) && fits;
    to->bits = known & GPUME_VECTORS_BITS ? next32(&at) : 0;
    fits = (!(known & GPUME_VECTORS_REF2) || take_second_match(&at, scale, to)) && fits;
    to->candidate = known & GPUME_VECTORS_CANDIDATE ? next32(&at) : 0;
    to->second = known & GPUME_VECTORS_SECOND ? next32(&at) : GPUME_NONE;
    to->ties = known & GPUME_VECTORS_TIES ? next32(&at) : 0;
    to->texture = known & GPUME_VECTORS_TEXTURE ? next32(&at) : 0;
    to->returns = known & GPUME_VECTORS_RETURN ? next32(&at) : GPUME_NONE;
    return fits &&
           (to->returns == GPUME_NONE || to->returns <= GPUME_VECTORS_UNITS * (uint32_t)UINT16_MAX);
}

/* Makes a block of a record of the file. False: a number is out of range. */
static bool take_record(const struct gpume_vectors_input *input, const unsigned char *at,
    struct gpume_vectors_block *to)
{
    const struct mvf_input *self = input->state;
    const int32_t scale = GPUME_VECTORS_UNITS / (int32_t)input->info.units;
    const uint32_t vector = next32(&at);
    to->dx = scale * (int16_t)(uint16_t)vector;
    to->dy = scale * (int16_t)(uint16_t)(vector >> 16);
    to->ref = self->ref;
    to->ref2 = GPUME_VECTORS_ONE;
    to->cost = self->members & GPUME_VECTORS_COST ? next32(&at) : 0;
    to->rank = self->members & GPUME_VECTORS_RANK ? next32(&at) : 0;
    if (!(self->members & PLACE)) {
        take_position(input, to);
    }
    return take_further(self->members, scale, at, to);
}

static int mvf_input_next(struct gpume_vectors_input *input, struct gpume_vectors_row *row)
{
    struct mvf_input *self = input->state;
    const uint32_t known = record_bytes(self->members);
    unsigned char record[RECORD_BYTES_MAX];
    bool ended = false;
    int status = GPUME_OK;
    row->begins = self->row == self->rows;
    if (row->begins) {
        GPUME_TRY(gpume_stream_at_end(input->stream, &ended));
        GPUME_TRY(ended ? GPUME_EOF : read_field_head(input));
    }
    GPUME_TRY(gpume_stream_read(input->stream, record, known));
    if (!take_record(input, record, &row->block)) {
        return gpume_stream_refuse(
            input->stream, "the block before this position has a number that is out of range");
    }
    GPUME_TRY(gpume_stream_skip(input->stream, self->record_bytes - known));
    row->frame = self->frame;
    row->ref = row->block.ref;
    row->time_us = self->time_us;
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
    .columns = COLUMNS | GPUME_VECTORS_FURTHER,
    .binary = true,
    .begins = MAGIC,
    .fixed_units = true,
    .fixed_refs = true,
    .writer = &writer,
    .reader = &reader,
};
