/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects the blocks that a format reads into fields and checks their order. A file may hold
 * several arrays in sequence, and a pattern names several files: either is read as one sequence of
 * fields.
 */
#include "vectors/vectors.h"

#include "base/base.h"
#include "files/pack.h"
#include "files/path.h"
#include "vectors/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BLOCKS_FIRST 4096u /* initial capacity */
#define PROBE_BYTES 1024u  /* that formats are recognised by */

_Static_assert(sizeof(struct gpume_vectors_block) == 88, "as --max-memory of commands documents");

/* The blocks of a field. */
struct reader_part {
    struct gpume_vectors_block *blocks;
    size_t count, capacity;
    bool mixed; /* not yet in raster order, as decoders write them */
};

struct gpume_vectors_reader {
    struct gpume_vectors_source source; /* path is a copy */
    const struct gpume_vectors_format *format;
    struct gpume_vectors_input input;
    bool is_open;                          /* the format is reading an array */
    bool has_first;                        /* field.columns is set; all files must match it */
    struct gpume_pattern_numbers *numbers; /* in the files' names; NULL: one file */
    size_t files, file;                    /* number of files; the next one */
    struct gpume_vectors_field field;
    struct reader_part parts[2]; /* formats in any order: past and future; others: the first */
    bool has_second;             /* the frame's second field has been read, not yet returned */
    bool divided; /* the field's blocks of several shapes are in no raster order: a partition */
    struct gpume_vectors_row ahead; /* the row after the field's last */
    bool has_ahead;
};

static int open_stream(struct gpume_vectors_reader *reader)
{
    const struct gpume_vectors_source *source = &reader->source;
    struct gpume_vectors_input *input = &reader->input;
    if (!reader->numbers) {
        return gpume_stream_open(&input->stream, source->path, &source->log);
    }
    const struct gpume_pattern_numbers numbers = reader->numbers[reader->file];
    char *name = gpume_pattern_name_pair(source->path, numbers);
    if (!name) {
        return gpume_log_nomem(&source->log, source->path);
    }
    const int status = gpume_stream_open(&input->stream, name, &source->log);
    free(name);
    input->frame = numbers.first;
    input->ref = numbers.second;
    return status;
}

static int choose_format(struct gpume_vectors_reader *reader)
{
    const unsigned char *head;
    size_t bytes;
    int status;
    GPUME_TRY(gpume_stream_peek(reader->input.stream, PROBE_BYTES, &head, &bytes));
    if (bytes == 0) {
        return gpume_stream_refuse_whole(reader->input.stream, "is empty");
    }
    reader->format = gpume_vectors_format_probe(head, bytes);
    if (reader->format == &gpume_vectors_csv && memchr(head, 0, bytes)) {
        return gpume_stream_refuse_whole(reader->input.stream,
            "is not a file of vectors; 'gpume vectors' extracts those of a coded video");
    }
    if (!reader->format->reader) {
        return gpume_stream_refuse_whole(reader->input.stream, reader->format->unread);
    }
fail:
    return status;
}

/* Starts reading an array at the stream's position. */
static int open_array(struct gpume_vectors_reader *reader)
{
    struct gpume_vectors_input *input = &reader->input;
    const struct gpume_vectors_reader_ops *ops = reader->format->reader;
    if (!input->state) {
        input->state = malloc(ops->state_bytes);
        if (!input->state) {
            return gpume_log_nomem(&input->log, reader->source.path);
        }
    }
    memset(input->state, 0, ops->state_bytes);
    reader->is_open = true;
    return ops->open(input);
}

static void close_array(struct gpume_vectors_reader *reader)
{
    if (reader->is_open && reader->format->reader->close) {
        reader->format->reader->close(&reader->input);
    }
    reader->is_open = false;
}

/* Opens the next array, in this file or the next one. GPUME_EOF: no more. */
static int advance(struct gpume_vectors_reader *reader)
{
    struct gpume_vectors_input *input = &reader->input;
    bool ended = true;
    int status = GPUME_OK;
    if (input->stream) {
        GPUME_TRY(gpume_stream_at_end(input->stream, &ended));
    }
    if (!ended) {
        input->frame++;
        return open_array(reader);
    }
    if (reader->file == reader->files) {
        return GPUME_EOF;
    }
    gpume_stream_close(&input->stream);
    GPUME_TRY(open_stream(reader));
    GPUME_TRY(gpume_unpack_stream(input->stream, &input->log));
    reader->file++;
    GPUME_TRY(reader->format ? GPUME_OK : choose_format(reader));
    GPUME_TRY(open_array(reader));
fail:
    return status;
}

static int check_columns(struct gpume_vectors_reader *reader)
{
    const unsigned columns = reader->input.info.columns;
    if (reader->has_first && columns != reader->field.columns) {
        return gpume_stream_refuse(
            reader->input.stream, "has other columns than the files before it");
    }
    reader->has_first = true;
    reader->field.columns = columns;
    reader->field.fine = reader->source.fine && reader->format == &gpume_vectors_flo;
    return GPUME_OK;
}

static int read_row(struct gpume_vectors_reader *reader)
{
    int status = GPUME_OK;
    reader->has_ahead = false;
    for (;;) {
        if (!reader->is_open) {
            GPUME_TRY(advance(reader));
        }
        reader->ahead = (struct gpume_vectors_row){0};
        status = reader->format->reader->next(&reader->input, &reader->ahead);
        if (status == GPUME_EOF) {
            close_array(reader);
        } else if (status != GPUME_AGAIN) {
            break;
        }
    }
    GPUME_TRY(status);
    GPUME_TRY(check_columns(reader));
    reader->has_ahead = true;
fail:
    return status == GPUME_EOF ? GPUME_OK : status;
}

/* How many blocks the memory limit allows this part, given the other one. */
static size_t blocks_allowed(
    const struct gpume_vectors_reader *reader, const struct reader_part *part)
{
    const struct reader_part *other = &reader->parts[part == reader->parts];
    const uint64_t all = reader->source.memory_max / sizeof(*part->blocks);
    if (reader->source.memory_max == 0 || all >= 2 * GPUME_READ_BLOCKS_MAX) {
        return GPUME_READ_BLOCKS_MAX;
    }
    return all > other->count ? (size_t)all - other->count : 0;
}

static int reserve_blocks(struct gpume_vectors_reader *reader, struct reader_part *part)
{
    const size_t most = blocks_allowed(reader, part);
    if (part->count >= GPUME_READ_BLOCKS_MAX) {
        return gpume_stream_refuse(
            reader->input.stream, "more blocks than a motion field can have");
    }
    if (part->count >= most) {
        return gpume_stream_refuse(reader->input.stream,
            "the blocks of frame %" PRIu64 " (counted from 0) take more than the %" PRIu64
            " bytes that --max-memory leaves for them",
            reader->field.frame, reader->source.memory_max);
    }
    if (part->count < part->capacity) {
        return GPUME_OK;
    }
    const size_t wanted = part->capacity > 0 ? 2 * part->capacity : BLOCKS_FIRST;
    const size_t capacity = wanted < most ? wanted : most;
    struct gpume_vectors_block *blocks = NULL;
    if (capacity <= SIZE_MAX / sizeof(*blocks)) { /* 32-bit hosts */
        blocks = realloc(part->blocks, capacity * sizeof(*blocks));
    }
    if (!blocks) {
        return gpume_log_nomem(&reader->source.log, "motion vectors");
    }
    part->blocks = blocks;
    part->capacity = capacity;
    return GPUME_OK;
}

/* Raster order: negative where a comes first, 0 for the same place. */
static int compare_places(const void *left, const void *right)
{
    const struct gpume_vectors_block *a = left, *b = right;
    return a->y != b->y ? (a->y < b->y ? -1 : 1) : a->x != b->x ? (a->x < b->x ? -1 : 1) : 0;
}

/* Appends the row ahead to its part. */
static int add_block(struct gpume_vectors_reader *reader)
{
    const struct gpume_vectors_row *row = &reader->ahead;
    struct reader_part *part = &reader->parts[reader->format->any_order && row->ref > row->frame];
    const int status = reserve_blocks(reader, part);
    if (status == GPUME_OK) {
        const struct gpume_vectors_block *last =
            part->count > 0 ? part->blocks + part->count - 1 : NULL;
        part->mixed = last && reader->format->any_order &&
                      (part->mixed || compare_places(last, &row->block) >= 0);
        part->blocks[part->count++] = row->block;
    }
    return status;
}

static int sort_part(struct gpume_vectors_reader *reader, struct reader_part *part)
{
    if (part->mixed) {
        qsort(part->blocks, part->count, sizeof(*part->blocks), compare_places);
    }
    for (size_t i = 1; part->mixed && i < part->count; i++) {
        const struct gpume_vectors_block *block = &part->blocks[i];
        if (compare_places(block - 1, block) == 0) {
            char what[128];
            snprintf(what, sizeof(what),
                "frame %" PRIu64 " (counted from 0) has two blocks at (%" PRIu32 ",%" PRIu32
                ") in the same direction",
                reader->field.frame, block->x, block->y);
            return gpume_stream_refuse_whole(reader->input.stream, what);
        }
    }
    return GPUME_OK;
}

static bool same_shape(const struct gpume_vectors_block *a, const struct gpume_vectors_block *b)
{
    return a->shape_w == b->shape_w && a->shape_h == b->shape_h;
}

/* Whether this block may come next in the current field. The candidates of one block are
 * consecutive rows. If a field has several shapes, either each shape is a grid that begins at the
 * origin, one grid after the other, or the blocks are the parts of a partition, whose order is
 * free. */
static bool follows(struct gpume_vectors_reader *reader, const struct gpume_vectors_block *block)
{
    const struct reader_part *part = &reader->parts[0];
    const struct gpume_vectors_block *first = part->blocks, *last = first + part->count - 1;
    const int order = compare_places(last, block);
    if (same_shape(last, block) &&
        (order < 0 || (order == 0 && block->candidate > last->candidate))) {
        return true;
    }
    if (!(reader->field.columns & GPUME_VECTORS_SHAPE)) {
        return false;
    }
    if (block->x == 0 && block->y == 0 && block->candidate == 0) { /* where a grid begins */
        return !reader->divided && !same_shape(first, block);
    }
    reader->divided = true;
    return true;
}

/* *belongs: the row ahead is one of the current field or, in formats without order, of its frame.
 * Blocks of a field may differ in their references. */
static int check_order(struct gpume_vectors_reader *reader, bool *belongs)
{
    const struct gpume_vectors_field *field = &reader->field;
    const struct reader_part *part = &reader->parts[0];
    const struct gpume_vectors_row *row = &reader->ahead;
    const bool any_order = reader->format->any_order;
    if (row->frame < field->frame) {
        return gpume_stream_refuse(reader->input.stream, "frames are not in rising order");
    }
    *belongs =
        row->frame == field->frame && !row->begins && (any_order || follows(reader, &row->block));
    if (row->frame == field->frame && !*belongs &&
        (!(field->columns & GPUME_VECTORS_REF) || row->ref == part->blocks[part->count - 1].ref)) {
        return gpume_stream_refuse(reader->input.stream, "blocks are not in raster order");
    }
    return GPUME_OK;
}

/* Presents the part as the field to return. */
static void show(struct gpume_vectors_reader *reader, const struct reader_part *part)
{
    struct gpume_vectors_field *field = &reader->field;
    field->ref = part->blocks[0].ref;
    field->count = part->count;
    field->blocks = part->blocks;
    field->width = field->height = 0;
    for (size_t i = 0; i < part->count; i++) {
        const struct gpume_vectors_block *block = &part->blocks[i];
        const uint32_t right = block->x + block->w, bottom = block->y + block->h;
        field->width = right > field->width ? right : field->width;
        field->height = bottom > field->height ? bottom : field->height;
    }
}

/* Reads all rows of a field or, in formats without order, of a frame. */
static int read_parts(struct gpume_vectors_reader *reader)
{
    int status = GPUME_OK;
    bool belongs = true;
    reader->parts[0].count = reader->parts[1].count = 0;
    reader->divided = false;
    reader->field.frame = reader->ahead.frame;
    reader->field.time_us = reader->ahead.time_us;
    while (belongs) {
        GPUME_TRY(add_block(reader));
        GPUME_TRY(read_row(reader));
        belongs = false;
        if (reader->has_ahead) {
            GPUME_TRY(check_order(reader, &belongs));
        }
    }
    GPUME_TRY(sort_part(reader, &reader->parts[0]));
    GPUME_TRY(sort_part(reader, &reader->parts[1]));
fail:
    return status;
}

int gpume_vectors_reader_next(
    struct gpume_vectors_reader *reader, const struct gpume_vectors_field **result)
{
    int status = GPUME_OK;
    *result = NULL;
    const bool second = reader->has_second;
    reader->has_second = false;
    if (!second && !reader->has_ahead) {
        return GPUME_OK;
    }
    if (!second) {
        GPUME_TRY(read_parts(reader));
        reader->has_second = reader->parts[0].count > 0 && reader->parts[1].count > 0;
    }
    show(reader, &reader->parts[second || reader->parts[0].count == 0]);
    *result = &reader->field;
fail:
    return status;
}

/* Lists the files of a pattern, unless a file has that very name. */
static int find_files(struct gpume_vectors_reader *reader)
{
    const char *path = reader->source.path;
    struct stat info;
    const enum gpume_pattern_kind kind = gpume_pattern_kind(path);
    reader->files = 1;
    if ((kind != GPUME_PATTERN_NUMBERED && kind != GPUME_PATTERN_PAIR) || stat(path, &info) == 0) {
        return GPUME_OK;
    }
    if (gpume_pattern_list(path, &reader->numbers, &reader->files) != GPUME_OK) {
        return gpume_log_nomem(&reader->source.log, path);
    }
    if (reader->files == 0) {
        return gpume_log_fail(&reader->source.log, GPUME_IO,
            "%s: cannot be opened: no file matches this name; check it", path);
    }
    reader->input.has_ref = kind == GPUME_PATTERN_PAIR;
    return GPUME_OK;
}

int gpume_vectors_reader_open(
    struct gpume_vectors_reader **reader, const struct gpume_vectors_source *source)
{
    int status;
    struct gpume_vectors_reader *self = calloc(1, sizeof(*self));
    char *path = strdup(source->path);
    if (!self || !path) {
        free(path);
        free(self);
        return gpume_log_nomem(&source->log, source->path);
    }
    self->source = *source;
    self->source.path = path;
    self->format = source->format;
    self->input.log = source->log;
    self->input.block = source->block;
    self->input.fine = source->fine;
    self->input.frame = 1; /* if the name has no number: the first that can have a reference */
    GPUME_TRY(find_files(self));
    GPUME_TRY(read_row(self));
    if (!self->has_ahead) {
        status = gpume_stream_refuse_whole(self->input.stream, "contains no vectors");
        goto fail;
    }
    *reader = self;
    return GPUME_OK;
fail:
    gpume_vectors_reader_close(&self);
    return status;
}

const struct gpume_vectors_info *gpume_vectors_reader_info(
    const struct gpume_vectors_reader *reader)
{
    return &reader->input.info;
}

const struct gpume_vectors_format *gpume_vectors_reader_format(
    const struct gpume_vectors_reader *reader)
{
    return reader->format;
}

void gpume_vectors_reader_close(struct gpume_vectors_reader **reader)
{
    struct gpume_vectors_reader *self = *reader;
    if (self) {
        close_array(self);
        gpume_stream_close(&self->input.stream);
        free(self->input.state);
        free((char *)self->source.path);
        free(self->numbers);
        free(self->parts[0].blocks);
        free(self->parts[1].blocks);
        free(self);
        *reader = NULL;
    }
}
