/* SPDX-License-Identifier: BSD-2-Clause */
/* .npy: one array of all blocks; its structured type has the columns of vectors.csv as members. */
#include "vectors/formats/npy.h"

#include "base/base.h"
#include "files/bytes.h"
#include "vectors/block_row.h"
#include "vectors/vectors.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- the header, and items */

#define TEXT_BYTES_MAX 16384u /* of the dictionary: 64 members take about 3000 */

void gpume_npy_head(char *at, size_t total, const char *descr, const char *shape)
{
    const size_t text = total - GPUME_NPY_MAGIC_BYTES - 4;
    memcpy(at, GPUME_NPY_MAGIC, GPUME_NPY_MAGIC_BYTES);
    at += GPUME_NPY_MAGIC_BYTES;
    *at++ = 1; /* version 1.0 */
    *at++ = 0;
    at = (char *)gpume_le_put16((unsigned char *)at, (uint16_t)text);
    const int length =
        snprintf(at, text, "{'descr': %s, 'fortran_order': False, 'shape': %s, }", descr, shape);
    assert(length > 0 && (size_t)length < text && total % 64 == 0);
    memset(at + length, ' ', text - (size_t)length - 1);
    at[text - 1] = '\n';
}

unsigned char *gpume_npy_put_pixels(unsigned char *at, const char *type, int64_t quarters)
{
    const int64_t whole = quarters / GPUME_VECTORS_UNITS;
    return type[1] == 'f'   ? gpume_le_put_float(at, (float)quarters / GPUME_VECTORS_UNITS)
           : type[2] == '2' ? gpume_le_put16(at, (uint16_t)whole)
                            : gpume_le_put32(at, (uint32_t)whole);
}

/* A position in the dictionary, which is Python source: strings, tuples, lists, numbers and
 * booleans. A function that does not find what it needs sets `failed`. */
struct walk {
    const char *at;
    bool failed;
};

static bool is_next(struct walk *walk, char wanted)
{
    walk->at += strspn(walk->at, " \n\t");
    if (*walk->at != wanted) {
        return false;
    }
    walk->at++;
    return true;
}

static void need(struct walk *walk, char wanted)
{
    walk->failed = walk->failed || !is_next(walk, wanted);
}

/* Cut to the buffer's size; no name of ours is as long or contains a quote. */
static void take_string(struct walk *walk, char *text, size_t bytes)
{
    text[0] = '\0';
    walk->at += strspn(walk->at, " \n\t");
    const char quote = *walk->at;
    const char *stop = quote == '\'' || quote == '"' ? strchr(walk->at + 1, quote) : NULL;
    if (!stop) {
        walk->failed = true;
        return;
    }
    const size_t length = (size_t)(stop - walk->at - 1);
    snprintf(text, bytes, "%.*s", (int)(length < bytes ? length : bytes - 1), walk->at + 1);
    walk->at = stop + 1;
}

static uint64_t take_number(struct walk *walk)
{
    uint64_t value = 0;
    walk->at += strspn(walk->at, " \n\t");
    const size_t digits = strspn(walk->at, "0123456789");
    walk->failed = walk->failed || digits == 0 || digits > 18; /* below 10^18 */
    for (size_t i = 0; i < digits && !walk->failed; i++) {
        value = value * 10 + (uint64_t)(walk->at[i] - '0');
    }
    walk->at += digits;
    walk->at += *walk->at == 'L'; /* as Python 2 wrote large ones */
    return value;
}

/* Appends a column of a type such as "<i4". */
static void add_type(struct walk *walk, struct gpume_npy *npy, const char *name, const char *type)
{
    struct gpume_npy_column *column = &npy->columns[npy->count];
    const bool text = type[0] == '|' && type[1] == 'S';
    const bool order = text || type[0] == '<' || (type[0] == '|' && type[2] == '1');
    const char *sizes = text ? "123456789" : "1248";
    const char *size = order && type[1] != '\0' ? strchr(sizes, type[2]) : NULL;
    const bool known = order && type[1] != '\0' && (text || strchr("iuf", type[1])) && size &&
                       *size != '\0' && type[3] == '\0' && !(type[1] == 'f' && *size < '4');
    if (!known || npy->count == GPUME_NPY_COLUMNS_MAX) {
        walk->failed = true;
        return;
    }
    snprintf(column->name, sizeof(column->name), "%s", name);
    column->kind = type[1];
    column->bytes = (uint8_t)(type[2] - '0');
    column->offset = npy->item_bytes;
    npy->item_bytes += column->bytes;
    npy->count++;
}

/* 'TYPE', or a list of ('NAME', 'TYPE'). */
static void take_descr(struct walk *walk, struct gpume_npy *npy)
{
    char name[GPUME_NPY_NAME_BYTES] = "", type[16] = "";
    if (!is_next(walk, '[')) {
        take_string(walk, type, sizeof(type));
        add_type(walk, npy, name, type);
        return;
    }
    while (!walk->failed && !is_next(walk, ']')) {
        need(walk, '(');
        take_string(walk, name, sizeof(name));
        need(walk, ',');
        take_string(walk, type, sizeof(type));
        add_type(walk, npy, name, type);
        (void)is_next(walk, ',');
        need(walk, ')');
        (void)is_next(walk, ',');
    }
}

static void npy_take_shape(struct walk *walk, struct gpume_npy *npy)
{
    need(walk, '(');
    while (!walk->failed && !is_next(walk, ')')) {
        const uint64_t size = take_number(walk);
        if (npy->dimensions == 2) {
            walk->failed = true;
            return;
        }
        npy->shape[npy->dimensions++] = size;
        (void)is_next(walk, ',');
    }
}

static void take_dictionary(struct walk *walk, struct gpume_npy *npy)
{
    bool fortran = false, has_fortran = false;
    need(walk, '{');
    while (!walk->failed && !is_next(walk, '}')) {
        char key[16];
        take_string(walk, key, sizeof(key));
        need(walk, ':');
        walk->at += strspn(walk->at, " ");
        if (strcmp(key, "descr") == 0 && npy->count == 0) {
            take_descr(walk, npy);
        } else if (strcmp(key, "shape") == 0 && npy->dimensions == 0) {
            npy_take_shape(walk, npy);
        } else if (strcmp(key, "fortran_order") == 0 && !has_fortran) {
            has_fortran = true;
            fortran = strncmp(walk->at, "True", 4) == 0;
            walk->failed = walk->failed || (!fortran && strncmp(walk->at, "False", 5) != 0);
            walk->at += walk->failed ? 0 : fortran ? 4 : 5;
        } else {
            walk->failed = true;
        }
        (void)is_next(walk, ',');
    }
    const bool table = npy->dimensions == 2 && npy->shape[0] > 1 && npy->shape[1] > 1;
    walk->failed = walk->failed || npy->count == 0 || npy->dimensions == 0 || !has_fortran ||
                   npy->item_bytes > GPUME_NPY_ITEM_BYTES_MAX || (fortran && table);
}

int gpume_npy_read(struct gpume_stream *stream, struct gpume_npy *npy)
{
    char text[TEXT_BYTES_MAX + 1];
    unsigned char fixed[GPUME_NPY_MAGIC_BYTES + 6];
    int status;
    *npy = (struct gpume_npy){0};
    GPUME_TRY(gpume_stream_read(stream, fixed, GPUME_NPY_MAGIC_BYTES + 4));
    if (memcmp(fixed, GPUME_NPY_MAGIC, GPUME_NPY_MAGIC_BYTES) != 0) {
        return gpume_stream_refuse(stream, "no .npy header before this position");
    }
    const unsigned version = fixed[GPUME_NPY_MAGIC_BYTES];
    uint32_t length = gpume_le_get16(fixed + GPUME_NPY_MAGIC_BYTES + 2);
    if (version < 1 || version > 3) {
        return gpume_stream_refuse(stream, "unknown version %u of .npy", version);
    }
    if (version > 1) {
        GPUME_TRY(gpume_stream_read(stream, fixed + GPUME_NPY_MAGIC_BYTES + 4, 2));
        length = gpume_le_get32(fixed + GPUME_NPY_MAGIC_BYTES + 2);
    }
    if (length > TEXT_BYTES_MAX) {
        return gpume_stream_refuse(stream, "a header of %" PRIu32 " bytes is too long", length);
    }
    GPUME_TRY(gpume_stream_read(stream, text, length));
    text[length] = '\0';
    struct walk walk = {.at = text};
    take_dictionary(&walk, npy);
    if (walk.failed) {
        return gpume_stream_refuse(stream,
            "the header before this position does not describe an array of little-endian numbers "
            "in "
            "rows: %.200s",
            text);
    }
fail:
    return status;
}

/* The member of that name, or NULL. */
static const struct gpume_npy_column *npy_find(const struct gpume_npy *npy, const char *name)
{
    for (size_t i = 0; i < npy->count; i++) {
        if (strcmp(npy->columns[i].name, name) == 0) {
            return &npy->columns[i];
        }
    }
    return NULL;
}

static bool whole(double value, int64_t *result)
{
    if (!(value >= -9e18 && value <= 9e18)) {
        return false;
    }
    *result = (int64_t)value;
    return (double)*result == value;
}

/* The same for a number times `scale`, which must be an integer. */
static bool npy_scaled(
    const struct gpume_npy_column *column, const unsigned char *item, int scale, int64_t *value)
{
    const unsigned char *at = item + column->offset;
    uint64_t bits = 0;
    if (column->kind == 'S') {
        return false;
    }
    for (unsigned i = 0; i < column->bytes; i++) {
        bits |= (uint64_t)at[i] << 8 * i;
    }
    if (column->kind == 'f') {
        double real;
        memcpy(&real, &bits, sizeof(real));
        return whole(scale * (column->bytes == 4 ? (double)gpume_le_get_float(at) : real), value);
    }
    const unsigned unused = 64u - 8u * column->bytes;
    const int64_t number =
        column->kind == 'i' ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
    if ((column->kind == 'u' && bits > INT64_MAX) || number > INT64_MAX / scale ||
        number < INT64_MIN / scale) {
        return false;
    }
    *value = scale * number;
    return true;
}

bool gpume_npy_int(const struct gpume_npy_column *column, const unsigned char *item, int64_t *value)
{
    return npy_scaled(column, item, 1, value);
}

/* Reads a column with text. False: it holds numbers. */
static bool npy_text(const struct gpume_npy_column *column, const unsigned char *item,
    char text[GPUME_NPY_TEXT_BYTES_MAX + 1])
{
    memcpy(text, item + column->offset, column->bytes);
    text[column->bytes] = '\0';
    return column->kind == 'S';
}

/* --- a file of blocks */

#define HEAD_BYTES 256u         /* the type takes 160, the shape 26 */
#define FURTHER_HEAD_BYTES 640u /* with all columns, the type takes 430 */
#define OUTLINE_BYTES 9u        /* of "1024x1024" */

/* The pixels of vectors are floats where a run searches fractions. */
static const char *const types[GPUME_BLOCK_COLUMNS] = {
    [GPUME_BLOCK_FRAME] = "<i8",
    [GPUME_BLOCK_REF] = "<i8",
    [GPUME_BLOCK_X] = "<i4",
    [GPUME_BLOCK_Y] = "<i4",
    [GPUME_BLOCK_W] = "<i2",
    [GPUME_BLOCK_H] = "<i2",
    [GPUME_BLOCK_DX] = "<i2",
    [GPUME_BLOCK_DY] = "<i2",
    [GPUME_BLOCK_COST] = "<u4",
    [GPUME_BLOCK_RANK] = "<u4",
    [GPUME_BLOCK_SHAPE] = "|S9",
    [GPUME_BLOCK_BITS] = "<u4",
    [GPUME_BLOCK_REF2] = "<i8", /* -1: empty, as below */
    [GPUME_BLOCK_DX2] = "<i2",
    [GPUME_BLOCK_DY2] = "<i2",
    [GPUME_BLOCK_CANDIDATE] = "<u4",
    [GPUME_BLOCK_SECOND] = "<i8",
    [GPUME_BLOCK_TIES] = "<u4",
    [GPUME_BLOCK_TEXTURE] = "<u4",
    [GPUME_BLOCK_RETURN] = "<i4",
};

static const char *npy_type_of(const struct gpume_vectors_info *info, unsigned column)
{
    const bool pixels = gpume_block_columns[column].type == GPUME_BLOCK_PIXELS;
    return pixels && info->units > 1 ? "<f4" : types[column];
}

static size_t head_bytes(const struct gpume_vectors_info *info)
{
    const bool more = info->columns & GPUME_VECTORS_FURTHER || info->units > 1;
    return more ? FURTHER_HEAD_BYTES : HEAD_BYTES;
}

static size_t npy_head(
    const struct gpume_vectors_target *target, uint64_t rows, char at[GPUME_VECTORS_HEAD_BYTES])
{
    char descr[FURTHER_HEAD_BYTES] = "[", shape[32];
    size_t length = 1;
    for (unsigned i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        if (gpume_block_has(target->info->columns, i)) {
            length += (size_t)snprintf(descr + length, sizeof(descr) - length, "%s('%s', '%s')",
                length > 1 ? ", " : "", gpume_block_columns[i].name, npy_type_of(target->info, i));
        }
    }
    snprintf(descr + length, sizeof(descr) - length, "]");
    snprintf(shape, sizeof(shape), "(%" PRIu64 ",)", rows);
    gpume_npy_head(at, head_bytes(target->info), descr, shape);
    return head_bytes(target->info);
}

static size_t npy_fixed_bytes(const struct gpume_vectors_target *target)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        if (gpume_block_has(target->info->columns, i)) {
            bytes += (size_t)(npy_type_of(target->info, i)[2] - '0');
        }
    }
    return bytes;
}

static unsigned char *put_number(unsigned char *at, const char *type, int64_t number)
{
    return type[2] == '8' ? gpume_le_put64(at, (uint64_t)number)
                          : gpume_le_put32(at, (uint32_t)number);
}

static unsigned char *put_outline(unsigned char *at, int64_t outline)
{
    char text[2 * OUTLINE_BYTES] = "";
    snprintf(text, sizeof(text), "%ux%u", (unsigned)(outline >> 16), (unsigned)outline & 0xffff);
    memcpy(at, text, OUTLINE_BYTES);
    return at + OUTLINE_BYTES;
}

static unsigned char *npy_put_further(const struct gpume_vectors_info *info,
    const struct gpume_vectors_block *block, unsigned char *at)
{
    for (unsigned i = GPUME_BLOCK_SHAPE; i < GPUME_BLOCK_COLUMNS; i++) {
        if (!gpume_block_has(info->columns, i)) {
            continue;
        }
        const enum gpume_block_type type = gpume_block_columns[i].type;
        const int64_t number = gpume_block_number(block, i);
        const bool empty = number == GPUME_BLOCK_EMPTY;
        at = type == GPUME_BLOCK_OUTLINE  ? put_outline(at, number)
             : type == GPUME_BLOCK_PIXELS ? gpume_npy_put_pixels(at, npy_type_of(info, i),
                                                empty ? -GPUME_VECTORS_UNITS : number)
                                          : put_number(at, types[i], empty ? -1 : number);
    }
    return at;
}

/* Whole pixels, and every column but the further ones: what nearly all files hold. */
static unsigned char *put_usual(
    uint64_t frame, const struct gpume_vectors_block *blocks, size_t count, unsigned char *at)
{
    for (size_t i = 0; i < count; i++) {
        const struct gpume_vectors_block *block = &blocks[i];
        at = gpume_le_put64(at, frame);
        at = gpume_le_put64(at, block->ref);
        at = gpume_le_put32(at, block->x);
        at = gpume_le_put32(at, block->y);
        at = gpume_le_put16(at, block->w);
        at = gpume_le_put16(at, block->h);
        at = gpume_le_put16(at, (uint16_t)(block->dx / GPUME_VECTORS_UNITS));
        at = gpume_le_put16(at, (uint16_t)(block->dy / GPUME_VECTORS_UNITS));
        at = gpume_le_put32(at, block->cost);
        at = gpume_le_put32(at, block->rank);
    }
    return at;
}

static char *npy_rows(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *blocks, size_t count, char *to)
{
    const unsigned columns = target->info->columns;
    const bool refs = columns & GPUME_VECTORS_REF;
    const bool costs = columns & GPUME_VECTORS_COST;
    const bool ranks = columns & GPUME_VECTORS_RANK;
    const bool further = columns & GPUME_VECTORS_FURTHER;
    const char *vector = npy_type_of(target->info, GPUME_BLOCK_DX);
    unsigned char *at = (unsigned char *)to;
    if (refs && costs && ranks && !further && target->info->units == 1) {
        return (char *)put_usual(target->field->frame, blocks, count, at);
    }
    for (size_t i = 0; i < count; i++) {
        const struct gpume_vectors_block *block = &blocks[i];
        at = gpume_le_put64(at, target->field->frame);
        at = refs ? gpume_le_put64(at, block->ref) : at;
        at = gpume_le_put32(at, block->x);
        at = gpume_le_put32(at, block->y);
        at = gpume_le_put16(at, block->w);
        at = gpume_le_put16(at, block->h);
        at = gpume_npy_put_pixels(at, vector, block->dx);
        at = gpume_npy_put_pixels(at, vector, block->dy);
        at = costs ? gpume_le_put32(at, block->cost) : at;
        at = ranks ? gpume_le_put32(at, block->rank) : at;
        at = further ? npy_put_further(target->info, block, at) : at;
    }
    return (char *)at;
}

static const struct gpume_vectors_writer_ops writer = {
    .row_bytes = 44,
    .further = 69,
    .head = npy_head,
    .rows = npy_rows,
    .fixed_bytes = npy_fixed_bytes,
};

struct npy_input {
    struct gpume_npy npy;
    const struct gpume_npy_column *places[GPUME_BLOCK_COLUMNS]; /* NULL: missing */
    uint64_t left;                                              /* items */
    unsigned char item[GPUME_NPY_ITEM_BYTES_MAX];
};

/* The text of a structured type is a list. */
static bool npy_probe(const unsigned char *head, size_t bytes)
{
    static const char list[] = "'descr': [";
    const size_t length = sizeof(list) - 1;
    if (bytes < GPUME_NPY_MAGIC_BYTES || memcmp(head, GPUME_NPY_MAGIC, GPUME_NPY_MAGIC_BYTES)) {
        return false;
    }
    for (size_t at = 0; at + length <= bytes; at++) {
        if (memcmp(head + at, list, length) == 0) {
            return true;
        }
    }
    return false;
}

static int npy_input_open(struct gpume_vectors_input *input)
{
    struct npy_input *self = input->state;
    const int status = gpume_npy_read(input->stream, &self->npy);
    input->info.columns = 0;
    if (status != GPUME_OK) {
        return status;
    }
    for (size_t i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        const struct gpume_block_column_kind *kind = &gpume_block_columns[i];
        const struct gpume_npy_column *place = npy_find(&self->npy, kind->name);
        if (!place && kind->flag == 0) {
            return gpume_stream_refuse(
                input->stream, "the array's type has no member '%s'", kind->name);
        }
        self->places[i] = place;
        input->info.columns |= place ? kind->flag : 0;
    }
    if (self->npy.dimensions != 1) {
        return gpume_stream_refuse(input->stream, "the array has two dimensions, not one");
    }
    self->left = self->npy.shape[0];
    return GPUME_OK;
}

/* The value of a column in the current item; false: it is none, or out of range. */
static bool npy_take_value(
    const struct npy_input *self, enum gpume_block_column column, int64_t *value)
{
    const struct gpume_block_column_kind *kind = &gpume_block_columns[column];
    const struct gpume_npy_column *place = self->places[column];
    const int64_t units = kind->type == GPUME_BLOCK_PIXELS ? GPUME_VECTORS_UNITS : 1;
    if (kind->type == GPUME_BLOCK_OUTLINE) {
        char text[GPUME_NPY_TEXT_BYTES_MAX + 1];
        const char *end =
            npy_text(place, self->item, text) ? gpume_block_parse(column, text, value) : NULL;
        return end && *end == '\0';
    }
    if (!npy_scaled(place, self->item, (int)units, value)) {
        return false;
    }
    if (kind->optional && kind->min == 0 && *value == -units) {
        *value = GPUME_BLOCK_EMPTY;
        return true;
    }
    return *value >= kind->min && *value <= kind->max;
}

static int npy_input_next(struct gpume_vectors_input *input, struct gpume_vectors_row *row)
{
    struct npy_input *self = input->state;
    int64_t values[GPUME_BLOCK_COLUMNS];
    int status = GPUME_EOF;
    GPUME_TRY(self->left > 0 ? GPUME_OK : GPUME_EOF);
    GPUME_TRY(gpume_stream_read(input->stream, self->item, self->npy.item_bytes));
    self->left--;
    gpume_block_clear(values);
    for (unsigned i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        if (self->places[i] && !npy_take_value(self, i, &values[i])) {
            char wanted[96];
            gpume_block_describe(i, wanted, sizeof(wanted));
            return gpume_stream_refuse(input->stream,
                "'%s' of the item before this position is not %s", gpume_block_columns[i].name,
                wanted);
        }
    }
    *row = gpume_block_row(values);
fail:
    return status;
}

static const struct gpume_vectors_reader_ops reader = {
    .state_bytes = sizeof(struct npy_input),
    .open = npy_input_open,
    .next = npy_input_next,
};

const struct gpume_vectors_format gpume_vectors_npy = {
    .name = "npy",
    .extension = ".npy",
    .columns = GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK | GPUME_VECTORS_FURTHER,
    .counted = true,
    .binary = true,
    .probe = npy_probe,
    .fixed_units = true,
    .writer = &writer,
    .reader = &reader,
};
