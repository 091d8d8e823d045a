/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text with the columns of vectors.csv: that file, one row per block; .jsonl, one JSON object per
 * block and line; and hashes of such rows, one line per field.
 */
#include "vectors/format.h"

#include "base/base.h"
#include "base/params.h"
#include "files/byte_stream.h"
#include "files/bytes.h"

#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

/*
 * --- vectors.csv: one row per block, named columns. For speed, a row is assembled from pieces that
 * are copied with a fixed size, each overwriting the excess of the one before; text that repeats
 * within a field or a row of blocks is formatted once.
 */

/* The longest row: two 20-digit frame numbers, x and y of 10 digits, w and h of 5, dx and dy
 * of 9, cost and rank of 10, ten separators. */
#define CSV_ROW_BYTES 118u

/* "y,w,h,": a number of up to 10 digits and two of up to 5. */
struct middle {
    char text[31];
    uint8_t length;
};

struct csv_prefix {
    uint64_t ref;
    size_t length;
    char text[48]; /* "frame,ref,": two numbers of 20 digits and two commas are 42 bytes */
};

struct csv_writer {
    struct gpume_digits_piece vectors[2 * GPUME_WINDOW_MAX + 1]; /* "-512," to "512," */
};

static int csv_open(const struct gpume_vectors_target *target)
{
    struct csv_writer *self = target->state;
    for (int i = -GPUME_WINDOW_MAX; i <= GPUME_WINDOW_MAX; i++) {
        char text[16];
        struct gpume_digits_piece *piece = &self->vectors[i + GPUME_WINDOW_MAX];
        piece->length = (uint8_t)snprintf(text, sizeof(text), "%d,", i);
        memcpy(piece->text, text, piece->length);
    }
    return GPUME_OK;
}

static size_t csv_head(
    const struct gpume_vectors_target *target, uint64_t rows, char at[GPUME_VECTORS_HEAD_BYTES])
{
    size_t length = 0;
    (void)rows;
    for (unsigned i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        if (gpume_block_has(target->info->columns, i)) {
            length += (size_t)snprintf(at + length, GPUME_VECTORS_HEAD_BYTES - length, "%s%s",
                i > 0 ? "," : "", gpume_block_columns[i].name);
        }
    }
    at[length++] = '\n';
    return length;
}

static struct csv_prefix csv_make_prefix(
    const struct gpume_vectors_target *target, const struct gpume_vectors_block *block)
{
    struct csv_prefix prefix = {.ref = block->ref};
    const uint64_t frame = target->field->frame;
    const bool has_ref = target->info->columns & GPUME_VECTORS_REF;
    prefix.length = has_ref
                        ? (size_t)snprintf(prefix.text, sizeof(prefix.text),
                              "%" PRIu64 ",%" PRIu64 ",", frame, block->ref)
                        : (size_t)snprintf(prefix.text, sizeof(prefix.text), "%" PRIu64 ",", frame);
    return prefix;
}

static struct middle make_middle(const struct gpume_vectors_block *block)
{
    struct middle middle = {0};
    char text[48], *at = text; /* writing a number may touch 7 bytes after it */
    const uint32_t values[] = {block->y, block->w, block->h};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        at = gpume_digits_put(at, values[i]);
        *at++ = ',';
    }
    middle.length = (uint8_t)(at - text);
    memcpy(middle.text, text, middle.length);
    return middle;
}

/* "dx,", from a table for whole pixels within the largest window. */
static inline char *put_vector(const struct csv_writer *self, char *at, int value)
{
    const int pixels = value / GPUME_VECTORS_UNITS;
    if (pixels * GPUME_VECTORS_UNITS == value && pixels >= -GPUME_WINDOW_MAX &&
        pixels <= GPUME_WINDOW_MAX) {
        return gpume_digits_copy(at, &self->vectors[pixels + GPUME_WINDOW_MAX]);
    }
    at = gpume_block_put(at, GPUME_BLOCK_PIXELS, value);
    *at++ = ',';
    return at;
}

static char *csv_put_further(unsigned columns, const struct gpume_vectors_block *block, char *at)
{
    for (unsigned i = GPUME_BLOCK_SHAPE; i < GPUME_BLOCK_COLUMNS; i++) {
        if (gpume_block_has(columns, i)) {
            const int64_t number = gpume_block_number(block, i);
            if (number != GPUME_BLOCK_EMPTY) {
                at = gpume_block_put(at, gpume_block_columns[i].type, number);
            }
            *at++ = ',';
        }
    }
    return at;
}

static char *csv_rows(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *blocks, size_t count, char *at)
{
    const struct csv_writer *self = target->state;
    const bool costs = target->info->columns & GPUME_VECTORS_COST;
    const bool ranks = target->info->columns & GPUME_VECTORS_RANK;
    const bool further = target->info->columns & GPUME_VECTORS_FURTHER;
    struct csv_prefix prefix = csv_make_prefix(target, &blocks[0]);
    struct middle middle = make_middle(&blocks[0]);
    uint32_t y = blocks[0].y;
    uint16_t w = blocks[0].w, h = blocks[0].h;
    for (size_t i = 0; i < count; i++) {
        const struct gpume_vectors_block *block = &blocks[i];
        if (block->y != y || block->w != w || block->h != h) {
            middle = make_middle(block);
            y = block->y;
            w = block->w;
            h = block->h;
        }
        if (block->ref != prefix.ref) {
            prefix = csv_make_prefix(target, block);
        }
        memcpy(at, prefix.text, sizeof(prefix.text));
        at = gpume_digits_put(at + prefix.length, block->x);
        *at++ = ',';
        memcpy(at, &middle, sizeof(middle));
        at = put_vector(self, at + middle.length, block->dx);
        at = put_vector(self, at, block->dy);
        if (costs) {
            at = gpume_digits_put(at, block->cost);
            *at++ = ',';
        }
        if (ranks) {
            at = gpume_digits_put(at, block->rank);
            *at++ = ',';
        }
        at = further ? csv_put_further(target->info->columns, block, at) : at;
        at[-1] = '\n';
    }
    return at;
}

static const struct gpume_vectors_writer_ops csv_writer = {
    .state_bytes = sizeof(struct csv_writer),
    .row_bytes = CSV_ROW_BYTES,
    .further = GPUME_BLOCK_FURTHER_BYTES,
    .open = csv_open,
    .head = csv_head,
    .rows = csv_rows,
};

struct csv_input {
    struct gpume_csv_reader csv;
    struct gpume_csv_column columns[GPUME_BLOCK_COLUMNS];
};

static int csv_input_open(struct gpume_vectors_input *input)
{
    struct csv_input *self = input->state;
    input->info.columns = 0;
    for (size_t i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        const struct gpume_block_column_kind *kind = &gpume_block_columns[i];
        self->columns[i] = (struct gpume_csv_column){kind->name, kind->flag != 0};
    }
    const int status =
        gpume_csv_reader_init(&self->csv, input->stream, self->columns, GPUME_BLOCK_COLUMNS);
    for (size_t i = 0; status == GPUME_OK && i < GPUME_BLOCK_COLUMNS; i++) {
        bool has = gpume_csv_reader_has(&self->csv, i);
        input->info.columns |= has ? gpume_block_columns[i].flag : 0;
    }
    return status;
}

static int take_cell(const struct csv_input *self, enum gpume_block_column column, int64_t *value)
{
    const char *cell = self->csv.cells[column];
    const bool optional = gpume_block_columns[column].optional;
    if (!gpume_csv_reader_has(&self->csv, column) || (optional && *cell == '\0')) {
        return GPUME_OK;
    }
    const char *end = gpume_block_parse(column, cell, value);
    if (!end || *end != '\0') {
        char wanted[96];
        gpume_block_describe(column, wanted, sizeof(wanted));
        return gpume_stream_refuse(self->csv.stream, "%s is '%.40s', not %s",
            gpume_block_columns[column].name, cell, wanted);
    }
    return GPUME_OK;
}

static int csv_input_next(struct gpume_vectors_input *input, struct gpume_vectors_row *row)
{
    struct csv_input *self = input->state;
    int64_t values[GPUME_BLOCK_COLUMNS];
    int status;
    gpume_block_clear(values);
    GPUME_TRY(gpume_csv_reader_next(&self->csv));
    for (unsigned i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        GPUME_TRY(take_cell(self, i, &values[i]));
    }
    *row = gpume_block_row(values);
fail:
    return status;
}

static const struct gpume_vectors_reader_ops csv_reader = {
    .state_bytes = sizeof(struct csv_input),
    .open = csv_input_open,
    .next = csv_input_next,
};

#define CSV_FORMAT(ending, kind)                                                                   \
    {                                                                                              \
        .name = "csv" ending, .extension = ".csv" ending,                                          \
        .columns =                                                                                 \
            GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK | GPUME_VECTORS_FURTHER,   \
        .packing = kind, .writer = &csv_writer, .reader = &csv_reader,                             \
    }

const struct gpume_vectors_format gpume_vectors_csv = CSV_FORMAT("", GPUME_PACKING_NONE);
const struct gpume_vectors_format gpume_vectors_csv_gz = CSV_FORMAT(".gz", GPUME_PACKING_GZIP);
const struct gpume_vectors_format gpume_vectors_csv_zst = CSV_FORMAT(".zst", GPUME_PACKING_ZSTD);

/*
 * --- .jsonl: one JSON object per block and line, whose keys are the columns of vectors.csv. The
 * reader accepts the keys in any order and ignores others. It has its own parser because a file has
 * millions of such lines.
 */

/* Two numbers of 20 digits, four of 10, two of 5, two of 9 characters, and 70 of keys. */
#define JSONL_ROW_BYTES 206u
#define JSONL_FURTHER_BYTES (GPUME_BLOCK_FURTHER_BYTES + 100u) /* keys and quotes take 86 */
#define DEPTH_MAX 64                                           /* of ignored values */

struct jsonl_prefix {
    uint64_t ref;
    size_t length;
    char text[80]; /* {"frame":N,"ref":N,"x": with two numbers of 20 digits are 61 bytes */
};

static struct jsonl_prefix jsonl_make_prefix(
    const struct gpume_vectors_target *target, const struct gpume_vectors_block *block)
{
    struct jsonl_prefix prefix = {.ref = block->ref};
    char ref[40] = "";
    if (target->info->columns & GPUME_VECTORS_REF) {
        snprintf(ref, sizeof(ref), "\"ref\":%" PRIu64 ",", block->ref);
    }
    prefix.length = (size_t)snprintf(prefix.text, sizeof(prefix.text),
        "{\"frame\":%" PRIu64 ",%s\"x\":", target->field->frame, ref);
    return prefix;
}

static inline char *put_text(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}

#define PUT(at, text) put_text(at, text, sizeof(text) - 1)

static char *jsonl_put_further(unsigned columns, const struct gpume_vectors_block *block, char *at)
{
    for (unsigned i = GPUME_BLOCK_SHAPE; i < GPUME_BLOCK_COLUMNS; i++) {
        const struct gpume_block_column_kind *kind = &gpume_block_columns[i];
        if (!gpume_block_has(columns, i)) {
            continue;
        }
        const int64_t number = gpume_block_number(block, i);
        const bool quoted = kind->type == GPUME_BLOCK_OUTLINE;
        at = PUT(put_text(PUT(at, ",\""), kind->name, strlen(kind->name)), "\":");
        if (number == GPUME_BLOCK_EMPTY) {
            at = PUT(at, "null");
        } else {
            at = quoted ? PUT(at, "\"") : at;
            at = gpume_block_put(at, kind->type, number);
            at = quoted ? PUT(at, "\"") : at;
        }
    }
    return at;
}

static char *jsonl_rows(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *blocks, size_t count, char *at)
{
    const unsigned columns = target->info->columns;
    struct jsonl_prefix prefix = jsonl_make_prefix(target, &blocks[0]);
    for (size_t i = 0; i < count; i++) {
        const struct gpume_vectors_block *block = &blocks[i];
        if (block->ref != prefix.ref) {
            prefix = jsonl_make_prefix(target, block);
        }
        memcpy(at, prefix.text, sizeof(prefix.text));
        at = gpume_digits_put(at + prefix.length, block->x);
        at = gpume_digits_put(PUT(at, ",\"y\":"), block->y);
        at = gpume_digits_put(PUT(at, ",\"w\":"), block->w);
        at = gpume_digits_put(PUT(at, ",\"h\":"), block->h);
        at = gpume_block_put(PUT(at, ",\"dx\":"), GPUME_BLOCK_PIXELS, block->dx);
        at = gpume_block_put(PUT(at, ",\"dy\":"), GPUME_BLOCK_PIXELS, block->dy);
        if (columns & GPUME_VECTORS_COST) {
            at = gpume_digits_put(PUT(at, ",\"cost\":"), block->cost);
        }
        if (columns & GPUME_VECTORS_RANK) {
            at = gpume_digits_put(PUT(at, ",\"rank\":"), block->rank);
        }
        at = jsonl_put_further(columns, block, at);
        at = PUT(at, "}\n");
    }
    return at;
}

static const struct gpume_vectors_writer_ops jsonl_writer = {
    .row_bytes = JSONL_ROW_BYTES,
    .further = JSONL_FURTHER_BYTES,
    .rows = jsonl_rows,
};

struct jsonl_input {
    bool started; /* info.columns is set by the first line; all others must match it */
};

static bool jsonl_probe(const unsigned char *head, size_t bytes)
{
    size_t at = 0;
    while (at < bytes && (head[at] == ' ' || head[at] == '\n' || head[at] == '\r')) {
        at++;
    }
    return at < bytes && head[at] == '{';
}

static int jsonl_input_open(struct gpume_vectors_input *input)
{
    input->info.columns = 0;
    return GPUME_OK;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Returns the end of the string at `at`, or NULL. */
static const char *skip_string(const char *at)
{
    if (*at++ != '"') {
        return NULL;
    }
    for (; *at && *at != '"'; at++) {
        at += *at == '\\' && at[1] != '\0';
    }
    return *at == '"' ? at + 1 : NULL;
}

/* Returns the end of any value, or NULL. Does not check that brackets match in kind. */
static const char *skip_value(const char *at)
{
    int depth = 0;
    do {
        at = skip_blanks(at);
        if (*at == '"') {
            at = skip_string(at);
            if (!at) {
                return NULL;
            }
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if ((*at == '}' || *at == ']') && depth > 0) {
            depth--;
            at++;
        } else {
            const size_t length = strcspn(at, "\"{}[], \t");
            if (length == 0 && !(depth > 0 && *at == ',')) {
                return NULL;
            }
            at += length > 0 ? length : 1;
        }
    } while (depth > 0 && depth <= DEPTH_MAX);
    return depth == 0 ? at : NULL;
}

/* Returns the end of a value of the column, or NULL. */
static const char *jsonl_take_value(enum gpume_block_column column, const char *at, int64_t *value)
{
    const struct gpume_block_column_kind *kind = &gpume_block_columns[column];
    if (kind->optional && strncmp(at, "null", 4) == 0) {
        *value = GPUME_BLOCK_EMPTY;
        return at + 4;
    }
    if (kind->type == GPUME_BLOCK_OUTLINE) {
        at = *at == '"' ? gpume_block_parse(column, at + 1, value) : NULL;
        return at && *at == '"' ? at + 1 : NULL;
    }
    at = *at == '0' && at[1] >= '0' && at[1] <= '9' ? NULL : gpume_block_parse(column, at, value);
    return at && *at != '\0' && *at != '"' ? at : NULL;
}

static enum gpume_block_column find_key(const char *at, size_t length)
{
    for (unsigned i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        if (strlen(gpume_block_columns[i].name) == length &&
            memcmp(gpume_block_columns[i].name, at, length) == 0) {
            return (enum gpume_block_column)i;
        }
    }
    return GPUME_BLOCK_COLUMNS;
}

/* Parses one "key": value and moves *at to its end. */
static int take_member(struct gpume_stream *stream, const char **at,
    int64_t values[GPUME_BLOCK_COLUMNS], unsigned *seen)
{
    const char *key = *at, *end = skip_string(key);
    const char *value = end ? skip_blanks(end) : NULL;
    if (!value || *value != ':') {
        return gpume_stream_refuse(stream, "is not a JSON object: no key at '%.20s'", key);
    }
    value = skip_blanks(value + 1);
    const enum gpume_block_column column = find_key(key + 1, (size_t)(end - key - 2));
    if (column == GPUME_BLOCK_COLUMNS) {
        *at = skip_value(value);
        return *at ? GPUME_OK
                   : gpume_stream_refuse(
                         stream, "is not a JSON object: no value at '%.20s'", value);
    }
    *at = jsonl_take_value(column, value, &values[column]);
    if (!*at) {
        const int length = (int)strcspn(value, ",} \t");
        char wanted[96];
        gpume_block_describe(column, wanted, sizeof(wanted));
        return gpume_stream_refuse(stream, "%s is '%.*s', not %s", gpume_block_columns[column].name,
            length > 40 ? 40 : length, value, wanted);
    }
    *seen |= 1u << column;
    return GPUME_OK;
}

static int take_object(struct gpume_stream *stream, const char *at,
    int64_t values[GPUME_BLOCK_COLUMNS], unsigned *seen)
{
    int status = GPUME_OK;
    at = skip_blanks(at);
    if (*at++ != '{') {
        return gpume_stream_refuse(stream, "is not a JSON object");
    }
    at = skip_blanks(at);
    while (*at != '}') {
        GPUME_TRY(take_member(stream, &at, values, seen));
        at = skip_blanks(at);
        if (*at == ',') {
            at = skip_blanks(at + 1);
            at += *at == '}' ? strlen(at) : 0; /* only a key may follow a comma */
        } else if (*at != '}') {
            return gpume_stream_refuse(
                stream, "is not a JSON object: neither , nor } at '%.20s'", at);
        }
    }
    if (*skip_blanks(at + 1) != '\0') {
        return gpume_stream_refuse(stream, "continues after its JSON object: '%.20s'", at + 1);
    }
fail:
    return status;
}

static int check_keys(struct gpume_vectors_input *input, unsigned seen)
{
    struct jsonl_input *self = input->state;
    unsigned columns = 0;
    for (unsigned i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        const struct gpume_block_column_kind *kind = &gpume_block_columns[i];
        const bool wanted =
            self->started ? (input->info.columns & kind->flag) == kind->flag : kind->flag == 0;
        if (wanted && !(seen >> i & 1)) {
            return gpume_stream_refuse(input->stream, "has no key '%s'", kind->name);
        }
        columns |= seen >> i & 1 ? kind->flag : 0;
    }
    if (!self->started) {
        input->info.columns = columns;
        self->started = true;
    }
    return GPUME_OK;
}

static int jsonl_input_next(struct gpume_vectors_input *input, struct gpume_vectors_row *row)
{
    int64_t values[GPUME_BLOCK_COLUMNS];
    unsigned seen = 0;
    char *line = NULL;
    int status;
    gpume_block_clear(values);
    do { /* skips blank lines */
        GPUME_TRY(gpume_stream_line(input->stream, &line));
    } while (*skip_blanks(line) == '\0');
    GPUME_TRY(take_object(input->stream, line, values, &seen));
    GPUME_TRY(check_keys(input, seen));
    *row = gpume_block_row(values);
fail:
    return status;
}

static const struct gpume_vectors_reader_ops jsonl_reader = {
    .state_bytes = sizeof(struct jsonl_input),
    .open = jsonl_input_open,
    .next = jsonl_input_next,
};

#define JSONL_FORMAT(ending, kind)                                                                 \
    {                                                                                              \
        .name = "jsonl" ending, .extension = ".jsonl" ending,                                      \
        .columns =                                                                                 \
            GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK | GPUME_VECTORS_FURTHER,   \
        .packing = kind, .probe = jsonl_probe, .writer = &jsonl_writer, .reader = &jsonl_reader,   \
    }

const struct gpume_vectors_format gpume_vectors_jsonl = JSONL_FORMAT("", GPUME_PACKING_NONE);
const struct gpume_vectors_format gpume_vectors_jsonl_gz = JSONL_FORMAT(".gz", GPUME_PACKING_GZIP);
const struct gpume_vectors_format gpume_vectors_jsonl_zst =
    JSONL_FORMAT(".zst", GPUME_PACKING_ZSTD);

/*
 * --- One line per field with the SHA-256 of its vectors and costs, like FFmpeg's framehash, so
 * that diff shows whether two runs agree. The hash covers the rows in the order of vectors.csv: dx
 * and dy in units of the run as 16-bit and the cost as a 32-bit little-endian number, then as
 * 64-bit numbers the reference, where blocks of a frame differ in theirs, and each further column
 * that the run asks for.
 */

#define HASH_ROW_BYTES (16u + 8u * (GPUME_BLOCK_COLUMNS - GPUME_BLOCK_SHAPE))
#define FIRST_LINE "#format: gpume field hashes\n"

/* The parameters that determine the vectors; engines and devices do not. */
static size_t hash_head(
    const struct gpume_vectors_target *target, uint64_t rows, char at[GPUME_VECTORS_HEAD_BYTES])
{
    const struct gpume_vectors_info *info = target->info;
    (void)rows;
    char block[48] = "";
    if (info->block_h != info->block_w) {
        snprintf(block, sizeof(block), "#block: %" PRIu32 "x%" PRIu32 "\n", info->block_w,
            info->block_h);
    } else if (info->block_w > 0) { /* blocks of one shape */
        snprintf(block, sizeof(block), "#block: %" PRIu32 "\n", info->block_w);
    }
    int length = snprintf(at, GPUME_VECTORS_HEAD_BYTES,
        FIRST_LINE "#version: 1\n#hash: SHA256\n"
                   "#size: %" PRIu32 "x%" PRIu32 "\n%s",
        info->width, info->height, block);
    if (info->has_search) {
        length += snprintf(at + length, GPUME_VECTORS_HEAD_BYTES - (size_t)length,
            "#bits: %" PRIu32 "\n#window: %" PRIu32 "x%" PRIu32
            "\n#edge: %s\n#metric: %s\n#prefilter: %.1000s\n",
            info->bits, info->window_x, info->window_y, gpume_names_edge[info->edge],
            gpume_names_metric[info->metric], info->prefilter ? info->prefilter : "none");
    }
    length += snprintf(
        at + length, GPUME_VECTORS_HEAD_BYTES - (size_t)length, "#frame,ref,blocks,hash\n");
    return (size_t)length;
}

static unsigned char *hash_put_row(const struct gpume_vectors_info *info,
    const struct gpume_vectors_block *block, unsigned char *at)
{
    const int32_t divisor = GPUME_VECTORS_UNITS / (int32_t)info->units;
    at = gpume_le_put16(at, (uint16_t)(block->dx / divisor));
    at = gpume_le_put16(at, (uint16_t)(block->dy / divisor));
    at = gpume_le_put32(at, block->cost);
    at = info->joined ? gpume_le_put64(at, block->ref) : at;
    for (unsigned i = GPUME_BLOCK_SHAPE; i < GPUME_BLOCK_COLUMNS; i++) {
        if (gpume_block_has(info->columns, i)) {
            at = gpume_le_put64(at, (uint64_t)gpume_block_number(block, i));
        }
    }
    return at;
}

static unsigned char *put_plain(
    const struct gpume_layer *layer, size_t index, size_t count, unsigned char *at)
{
    for (size_t i = index; i < index + count; i++) {
        at = gpume_le_put16(at, (uint16_t)layer->vectors[i].dx);
        at = gpume_le_put16(at, (uint16_t)layer->vectors[i].dy);
        at = gpume_le_put32(at, layer->costs[i]);
    }
    return at;
}

static void digest(const struct gpume_vectors_target *target, uint8_t sum[SHA256_DIGEST_SIZE])
{
    const struct gpume_vectors_field *field = target->field;
    const struct gpume_vectors_block *blocks;
    struct gpume_vectors_block buffer[GPUME_VECTORS_PART];
    unsigned char bytes[GPUME_VECTORS_PART * HASH_ROW_BYTES];
    const size_t most = GPUME_VECTORS_PART / target->info->candidates;
    const struct gpume_layer *plain = gpume_vectors_plain(target->info, field);
    struct sha256_ctx context;
    sha256_init(&context);
    for (size_t first = 0; first < field->count; first += most) {
        const size_t left = field->count - first, part = left < most ? left : most;
        const size_t count =
            plain ? 0 : gpume_vectors_take(target->info, field, first, part, buffer, &blocks);
        unsigned char *at = plain ? put_plain(plain, first, part, bytes) : bytes;
        for (size_t i = 0; i < count; i++) {
            at = hash_put_row(target->info, &blocks[i], at);
        }
        sha256_update(&context, (size_t)(at - bytes), bytes);
    }
    sha256_digest(&context, SHA256_DIGEST_SIZE, sum);
}

static size_t hash_whole(const struct gpume_vectors_target *target, char *at)
{
    const struct gpume_vectors_field *field = target->field;
    uint8_t sum[SHA256_DIGEST_SIZE];
    char ref[24] = "";
    digest(target, sum);
    if (field->columns & GPUME_VECTORS_REF) {
        snprintf(ref, sizeof(ref), "%" PRIu64, field->ref);
    }
    size_t length = (size_t)snprintf(
        at, GPUME_VECTORS_HEAD_BYTES, "%" PRIu64 ",%s,%zu,", field->frame, ref, field->count);
    for (size_t i = 0; i < SHA256_DIGEST_SIZE; i++) {
        length += (size_t)snprintf(at + length, GPUME_VECTORS_HEAD_BYTES - length, "%02x", sum[i]);
    }
    at[length++] = '\n';
    return length;
}

static const struct gpume_vectors_writer_ops hash_writer = {
    .head = hash_head,
    .whole = hash_whole,
};

const struct gpume_vectors_format gpume_vectors_hash = {
    .name = "hash",
    .extension = ".hash",
    .columns = GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_FURTHER,
    .needs = GPUME_VECTORS_COST,
    .begins = FIRST_LINE,
    .fixed_units = true,
    .writer = &hash_writer,
    .unread = "holds hashes of motion fields, not vectors; compare two such files with diff",
};
