/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .jsonl: one JSON object per block and line, whose keys are the columns of vectors.csv. The reader
 * accepts the keys in any order and ignores others. It is a parser of its own because a file has
 * millions of such lines.
 */
#include "base/status.h"
#include "files/digits.h"
#include "vectors/block_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Two numbers of 20 digits, four of 10, two of 5, two of 6 characters, and 70 of keys. */
#define ROW_BYTES 200u
#define DEPTH_MAX 64 /* of ignored values */

struct jsonl_writer {
    size_t prefix_length;
    char prefix[80]; /* {"frame":N,"ref":N,"x": with two numbers of 20 digits are 61 bytes */
    struct gpume_digits digits;
};

static int jsonl_open(const struct gpume_vectors_target *target)
{
    gpume_digits_init(&((struct jsonl_writer *)target->state)->digits);
    return GPUME_OK;
}

static size_t jsonl_begin(
    const struct gpume_vectors_target *target, char at[GPUME_VECTORS_HEAD_BYTES])
{
    const struct gpume_vectors_field *field = target->field;
    struct jsonl_writer *self = target->state;
    char ref[40] = "";
    (void)at;
    if (target->info->columns & GPUME_VECTORS_REF) {
        snprintf(ref, sizeof(ref), "\"ref\":%" PRIu64 ",", field->ref);
    }
    self->prefix_length = (size_t)snprintf(
        self->prefix, sizeof(self->prefix), "{\"frame\":%" PRIu64 ",%s\"x\":", field->frame, ref);
    return 0;
}

static inline char *put_text(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}

#define PUT(at, text) put_text(at, text, sizeof(text) - 1)

static char *jsonl_rows(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *blocks, size_t count, char *at)
{
    const struct jsonl_writer *self = target->state;
    const unsigned columns = target->info->columns;
    const struct gpume_digits *digits = &self->digits;
    for (size_t i = 0; i < count; i++) {
        const struct gpume_vectors_block *block = &blocks[i];
        memcpy(at, self->prefix, sizeof(self->prefix));
        at = gpume_digits_put(digits, at + self->prefix_length, block->x);
        at = gpume_digits_put(digits, PUT(at, ",\"y\":"), block->y);
        at = gpume_digits_put(digits, PUT(at, ",\"w\":"), block->w);
        at = gpume_digits_put(digits, PUT(at, ",\"h\":"), block->h);
        at = gpume_digits_put_signed(digits, PUT(at, ",\"dx\":"), block->dx);
        at = gpume_digits_put_signed(digits, PUT(at, ",\"dy\":"), block->dy);
        if (columns & GPUME_VECTORS_COST) {
            at = gpume_digits_put(digits, PUT(at, ",\"cost\":"), block->cost);
        }
        if (columns & GPUME_VECTORS_RANK) {
            at = gpume_digits_put(digits, PUT(at, ",\"rank\":"), block->rank);
        }
        at = PUT(at, "}\n");
    }
    return at;
}

static const struct gpume_vectors_writer_ops writer = {
    .state_bytes = sizeof(struct jsonl_writer),
    .row_bytes = ROW_BYTES,
    .open = jsonl_open,
    .begin = jsonl_begin,
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

/* Returns the end of an integer, or NULL. */
static const char *take_number(const char *at, int64_t *value)
{
    const bool negative = *at == '-';
    int64_t magnitude = 0;
    at += negative;
    const size_t digits = strspn(at, "0123456789");
    if (digits == 0 || digits > 18 || (digits > 1 && *at == '0')) {
        return NULL;
    }
    for (size_t i = 0; i < digits; i++) {
        magnitude = magnitude * 10 + (*at++ - '0');
    }
    *value = negative ? -magnitude : magnitude;
    return strchr(",} \t", *at) && *at != '\0' ? at : NULL;
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
    const struct gpume_block_column_kind *kind = &gpume_block_columns[column];
    *at = take_number(value, &values[column]);
    if (!*at || values[column] < kind->min || values[column] > kind->max) {
        const int length = (int)strcspn(value, ",} \t");
        return gpume_stream_refuse(stream,
            "%s is '%.*s', not an integer from %" PRId64 " to %" PRId64, kind->name,
            length > 40 ? 40 : length, value, kind->min, kind->max);
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
    int64_t values[GPUME_BLOCK_COLUMNS] = {0};
    unsigned seen = 0;
    char *line = NULL;
    int status;
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

const struct gpume_vectors_format gpume_vectors_jsonl = {
    .name = "jsonl",
    .extension = ".jsonl",
    .columns = GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK,
    .probe = jsonl_probe,
    .writer = &writer,
    .reader = &reader,
};
