/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .jsonl: one JSON object per block and line, whose keys are the columns of vectors.csv. The reader
 * accepts the keys in any order and ignores others. It has its own parser because a file has
 * millions of such lines.
 */
#include "base/base.h"
#include "files/bytes.h"
#include "vectors/block_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Two numbers of 20 digits, four of 10, two of 5, two of 9 characters, and 70 of keys. */
#define ROW_BYTES 206u
#define FURTHER_BYTES (GPUME_BLOCK_FURTHER_BYTES + 100u) /* keys and quotes take 86 */
#define DEPTH_MAX 64                                     /* of ignored values */

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

static const struct gpume_vectors_writer_ops writer = {
    .row_bytes = ROW_BYTES,
    .further = FURTHER_BYTES,
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

static const struct gpume_vectors_reader_ops reader = {
    .state_bytes = sizeof(struct jsonl_input),
    .open = jsonl_input_open,
    .next = jsonl_input_next,
};

#define JSONL_FORMAT(ending, kind)                                                                 \
    {                                                                                              \
        .name = "jsonl" ending, .extension = ".jsonl" ending,                                      \
        .columns =                                                                                 \
            GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK | GPUME_VECTORS_FURTHER,   \
        .packing = kind, .probe = jsonl_probe, .writer = &writer, .reader = &reader,               \
    }

const struct gpume_vectors_format gpume_vectors_jsonl = JSONL_FORMAT("", GPUME_PACKING_NONE);
const struct gpume_vectors_format gpume_vectors_jsonl_gz = JSONL_FORMAT(".gz", GPUME_PACKING_GZIP);
const struct gpume_vectors_format gpume_vectors_jsonl_zst =
    JSONL_FORMAT(".zst", GPUME_PACKING_ZSTD);
