/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NumPy's files. .npy: one array of all blocks; its structured type has the columns of vectors.csv
 * as members. .npz: an archive of arrays, each a .npy file.
 */
#include "vectors/format.h"

#include "base/base.h"
#include "files/bytes.h"
#include "files/out.h"
#include "files/path.h"
#include "vectors/vectors.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

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

/* Writes pixels, in units of GPUME_VECTORS_UNITS, as "<f4", "<i2" or "<i4". Returns their end. */
static unsigned char *npy_put_pixels(unsigned char *at, const char *type, int64_t quarters)
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

#define TABLE_HEAD_BYTES 256u   /* the type takes 160, the shape 26 */
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
    return more ? FURTHER_HEAD_BYTES : TABLE_HEAD_BYTES;
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
        at = type == GPUME_BLOCK_OUTLINE ? put_outline(at, number)
             : type == GPUME_BLOCK_PIXELS
                 ? npy_put_pixels(at, npy_type_of(info, i), empty ? -GPUME_VECTORS_UNITS : number)
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
        at = npy_put_pixels(at, vector, block->dx);
        at = npy_put_pixels(at, vector, block->dy);
        at = costs ? gpume_le_put32(at, block->cost) : at;
        at = ranks ? gpume_le_put32(at, block->rank) : at;
        at = further ? npy_put_further(target->info, block, at) : at;
    }
    return (char *)at;
}

static const struct gpume_vectors_writer_ops npy_writer = {
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

static const struct gpume_vectors_reader_ops npy_reader = {
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
    .writer = &npy_writer,
    .reader = &npy_reader,
};

/*
 * --- .npz: NumPy's archive of arrays, each a .npy file. Blocks are in arrays of their own shape,
 * frames x rows x columns. An array must stand in one piece, and the number of frames is known only
 * at the end; so every array grows in an unnamed temporary file and is copied then.
 */

/* --- the archive: members one after the other, stored without compression, in the ZIP64 form, so
 * that neither a member nor the archive is limited to 4 GiB. Nothing is ever rewritten: the length
 * and the checksum of a member are known before its first byte. As the .ZIP File Format
 * Specification (APPNOTE.TXT) 6.3 says; section numbers are of it. */

#define ZIP_MEMBERS_MAX 24u
#define ZIP_NAME_BYTES 24u
#define VERSION 45u          /* 4.5: ZIP64 */
#define DATE 0x21u           /* 1980-01-01: the same bytes on every day */
#define ELSEWHERE UINT32_MAX /* the number is in the ZIP64 field */
#define ZIP64_FIELD 1u       /* its number */

struct zip_member {
    char name[ZIP_NAME_BYTES];
    uint32_t crc;
    uint64_t bytes, at; /* at: the position in the archive */
};

/* Starts as zero but for the output. */
struct zip {
    struct gpume_out *out;
    uint64_t at; /* bytes written */
    struct zip_member members[ZIP_MEMBERS_MAX];
    uint32_t count;
};

static int zip_write(struct zip *zip, const void *data, size_t bytes)
{
    zip->at += bytes;
    return gpume_out_write(zip->out, data, bytes);
}

/* What local (4.3.7) and central (4.3.12) headers have in common, from the version needed to the
 * length of the name; the ZIP64 field has `extra` bytes. */
static unsigned char *zip_put_common(
    unsigned char *at, const struct zip_member *member, uint16_t extra)
{
    at = gpume_le_put16(at, VERSION);
    at = gpume_le_put16(at, 0); /* flags */
    at = gpume_le_put16(at, 0); /* stored */
    at = gpume_le_put16(at, 0); /* time */
    at = gpume_le_put16(at, DATE);
    at = gpume_le_put32(at, member->crc);
    at = gpume_le_put32(at, ELSEWHERE);
    at = gpume_le_put32(at, ELSEWHERE);
    at = gpume_le_put16(at, (uint16_t)strlen(member->name));
    return gpume_le_put16(at, extra);
}

/* The ZIP64 field (4.5.3): both sizes; the central header's also has the position. */
static unsigned char *zip_put_sizes(
    unsigned char *at, const struct zip_member *member, uint16_t bytes)
{
    at = gpume_le_put16(at, ZIP64_FIELD);
    at = gpume_le_put16(at, bytes);
    at = gpume_le_put64(at, member->bytes);
    return gpume_le_put64(at, member->bytes);
}

static unsigned char *zip_put_name(unsigned char *at, const struct zip_member *member)
{
    const size_t length = strlen(member->name);
    memcpy(at, member->name, length);
    return at + length;
}

/* Begins a member; its bytes follow by zip_write, exactly as many as announced. */
static int zip_begin(struct zip *zip, const char *name, uint32_t crc, uint64_t bytes)
{
    unsigned char head[80];
    assert(zip->count < ZIP_MEMBERS_MAX && strlen(name) < ZIP_NAME_BYTES);
    struct zip_member *member = &zip->members[zip->count++];
    *member = (struct zip_member){.crc = crc, .bytes = bytes, .at = zip->at};
    memcpy(member->name, name, strlen(name));
    unsigned char *at = gpume_le_put32(head, 0x04034B50);
    at = zip_put_common(at, member, 4 + 16);
    at = zip_put_name(at, member);
    at = zip_put_sizes(at, member, 16);
    return zip_write(zip, head, (size_t)(at - head));
}

static int zip_write_central(struct zip *zip, const struct zip_member *member)
{
    unsigned char head[112];
    unsigned char *at = gpume_le_put32(head, 0x02014B50);
    at = gpume_le_put16(at, VERSION); /* made by */
    at = zip_put_common(at, member, 4 + 24);
    at = gpume_le_put16(at, 0); /* comment */
    at = gpume_le_put16(at, 0); /* disk */
    at = gpume_le_put16(at, 0); /* attributes */
    at = gpume_le_put32(at, 0);
    at = gpume_le_put32(at, ELSEWHERE); /* position */
    at = zip_put_name(at, member);
    at = zip_put_sizes(at, member, 24);
    at = gpume_le_put64(at, member->at);
    return zip_write(zip, head, (size_t)(at - head));
}

/* The end of the central directory: as ZIP64 (4.3.14), where that lies (4.3.15), and the older form
 * (4.3.16), which refers to them. */
static int zip_write_end(struct zip *zip, uint64_t directory)
{
    const uint64_t end = zip->at;
    unsigned char tail[56 + 20 + 22];
    unsigned char *at = gpume_le_put32(tail, 0x06064B50);
    at = gpume_le_put64(at, 56 - 12); /* bytes that follow */
    at = gpume_le_put16(at, VERSION); /* made by */
    at = gpume_le_put16(at, VERSION);
    at = gpume_le_put32(at, 0); /* disks */
    at = gpume_le_put32(at, 0);
    at = gpume_le_put64(at, zip->count);
    at = gpume_le_put64(at, zip->count);
    at = gpume_le_put64(at, end - directory);
    at = gpume_le_put64(at, directory);
    at = gpume_le_put32(at, 0x07064B50);
    at = gpume_le_put32(at, 0);
    at = gpume_le_put64(at, end);
    at = gpume_le_put32(at, 1);
    at = gpume_le_put32(at, 0x06054B50);
    at = gpume_le_put32(at, 0); /* disks */
    at = gpume_le_put16(at, (uint16_t)zip->count);
    at = gpume_le_put16(at, (uint16_t)zip->count);
    at = gpume_le_put32(at, ELSEWHERE);
    at = gpume_le_put32(at, ELSEWHERE);
    at = gpume_le_put16(at, 0); /* comment */
    assert(at == tail + sizeof(tail));
    return zip_write(zip, tail, sizeof(tail));
}

/* Ends the archive with the list of its members. */
static int zip_finish(struct zip *zip)
{
    const uint64_t directory = zip->at;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < zip->count; i++) {
        GPUME_TRY(zip_write_central(zip, &zip->members[i]));
    }
    GPUME_TRY(zip_write_end(zip, directory));
fail:
    return status;
}

/* --- the arrays */

#define ARRAY_HEAD_BYTES 128u
#define ITEM_BYTES_MAX 8u /* of a block or of a frame */

/* Whether an array has one item per block, or one per frame. */
enum items { BLOCKS, FRAMES };

enum array {
    VECTORS,
    COSTS,
    RANKS,
    BITS,
    SECOND,
    TIES,
    TEXTURE,
    RETURNS,
    FRAME,
    REF,
    TIME,
    ARRAYS,
};

static const struct {
    const char *name;
    unsigned column; /* that it needs; 0: none */
    enum items of;
    const char *type, *fine; /* fine: where the run has fractions of a pixel */
} arrays[ARRAYS] = {
    [VECTORS] = {"vectors", 0, BLOCKS, "<i2", "<f4"},
    [COSTS] = {"costs", GPUME_VECTORS_COST, BLOCKS, "<u4", "<u4"},
    [RANKS] = {"ranks", GPUME_VECTORS_RANK, BLOCKS, "<u4", "<u4"},
    [BITS] = {"bits", GPUME_VECTORS_BITS, BLOCKS, "<u4", "<u4"},
    [SECOND] = {"second", GPUME_VECTORS_SECOND, BLOCKS, "<i8", "<i8"},
    [TIES] = {"ties", GPUME_VECTORS_TIES, BLOCKS, "<u4", "<u4"},
    [TEXTURE] = {"texture", GPUME_VECTORS_TEXTURE, BLOCKS, "<u4", "<u4"},
    [RETURNS] = {"returns", GPUME_VECTORS_RETURN, BLOCKS, "<i4", "<f4"},
    [FRAME] = {"frames", 0, FRAMES, "<i8", "<i8"},
    [REF] = {"refs", GPUME_VECTORS_REF, FRAMES, "<i8", "<i8"},
    [TIME] = {"times", GPUME_VECTORS_TIME, FRAMES, "<f8", "<f8"},
};

struct npz {
    FILE *files[ARRAYS]; /* NULL: the run has no such array, or no field came */
    uint32_t crcs[ARRAYS];
    uint64_t bytes[ARRAYS];
    uint64_t frames;
    struct zip zip;
};

static bool has(const struct gpume_vectors_info *info, enum array i)
{
    return (info->columns & arrays[i].column) == arrays[i].column;
}

static int npz_refuse(const struct gpume_vectors_target *target)
{
    return gpume_log_fail(target->log, GPUME_IO, "a temporary file cannot be used: %s; %s",
        strerror(errno), gpume_remedy(errno, "make room in /tmp, or choose npy"));
}

static int append(const struct gpume_vectors_target *target, enum array i,
    const unsigned char *data, size_t bytes)
{
    struct npz *self = target->state;
    if (!self->files[i] && !(self->files[i] = tmpfile())) {
        return npz_refuse(target);
    }
    self->crcs[i] = (uint32_t)crc32_z(self->crcs[i], data, bytes);
    self->bytes[i] += bytes;
    return fwrite(data, 1, bytes, self->files[i]) == bytes ? GPUME_OK : npz_refuse(target);
}

/* Writes the item of a block; empty values are -1. */
static unsigned char *put_block(
    unsigned char *at, enum array i, const char *type, const struct gpume_vectors_block *block)
{
    switch (i) {
    case VECTORS:
        return npy_put_pixels(npy_put_pixels(at, type, block->dx), type, block->dy);
    case COSTS:
        return gpume_le_put32(at, block->cost);
    case RANKS:
        return gpume_le_put32(at, block->rank);
    case BITS:
        return gpume_le_put32(at, block->bits);
    case SECOND:
        return gpume_le_put64(at, block->second == GPUME_NONE ? UINT64_MAX : block->second);
    case TIES:
        return gpume_le_put32(at, block->ties);
    case TEXTURE:
        return gpume_le_put32(at, block->texture);
    default:
        return npy_put_pixels(at, type,
            block->returns == GPUME_NONE ? -GPUME_VECTORS_UNITS : (int64_t)block->returns);
    }
}

static const char *npz_type_of(const struct gpume_vectors_info *info, enum array i)
{
    return info->units > 1 ? arrays[i].fine : arrays[i].type;
}

/* Appends some blocks to every array. */
static int append_blocks(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *blocks, size_t count)
{
    unsigned char data[GPUME_VECTORS_PART * ITEM_BYTES_MAX];
    for (enum array i = 0; i < ARRAYS; i++) {
        unsigned char *at = data;
        if (arrays[i].of == FRAMES || !has(target->info, i)) {
            continue;
        }
        for (size_t j = 0; j < count; j++) {
            at = put_block(at, i, npz_type_of(target->info, i), &blocks[j]);
        }
        GPUME_CHECK(append(target, i, data, (size_t)(at - data)));
    }
    return GPUME_OK;
}

static int append_frame(const struct gpume_vectors_target *target)
{
    const double seconds = (double)target->field->time_us / 1e6;
    uint64_t values[ARRAYS] = {[FRAME] = target->field->frame, [REF] = target->field->ref};
    unsigned char data[8];
    memcpy(&values[TIME], &seconds, sizeof(seconds));
    for (enum array i = FRAME; i < ARRAYS; i++) {
        if (has(target->info, i)) {
            (void)gpume_le_put64(data, values[i]);
            GPUME_CHECK(append(target, i, data, sizeof(data)));
        }
    }
    return GPUME_OK;
}

static int npz_field(const struct gpume_vectors_target *target, struct gpume_out *out)
{
    struct npz *self = target->state;
    struct gpume_vectors_block room[GPUME_VECTORS_PART];
    const struct gpume_vectors_block *blocks;
    (void)out;
    for (size_t first = 0; first < target->field->count; first += GPUME_VECTORS_PART) {
        const size_t rest = target->field->count - first;
        const size_t part = rest < GPUME_VECTORS_PART ? rest : GPUME_VECTORS_PART;
        const size_t count =
            gpume_vectors_take(target->info, target->field, first, part, room, &blocks);
        GPUME_CHECK(append_blocks(target, blocks, count));
    }
    self->frames++;
    return append_frame(target);
}

/* Writes the header of a member's array and begins the member. */
static int begin(struct npz *self, const char *name, const char *type, const char *shape,
    uint32_t crc, uint64_t bytes)
{
    char head[ARRAY_HEAD_BYTES], member[ZIP_NAME_BYTES], quoted[8];
    snprintf(quoted, sizeof(quoted), "'%s'", type);
    snprintf(member, sizeof(member), "%s.npy", name);
    gpume_npy_head(head, sizeof(head), quoted, shape);
    crc =
        (uint32_t)crc32_combine(crc32_z(0, (const void *)head, sizeof(head)), crc, (z_off_t)bytes);
    GPUME_CHECK(zip_begin(&self->zip, member, crc, sizeof(head) + bytes));
    return zip_write(&self->zip, head, sizeof(head));
}

/* A member with up to two numbers of the whole file. */
static int write_numbers(
    struct npz *self, const char *name, const char *shape, const uint32_t numbers[2], size_t count)
{
    unsigned char data[8];
    (void)gpume_le_put32(gpume_le_put32(data, numbers[0]), numbers[1]);
    const uint32_t crc = (uint32_t)crc32_z(0, data, 4 * count);
    GPUME_CHECK(begin(self, name, "<i4", shape, crc, 4 * count));
    return zip_write(&self->zip, data, 4 * count);
}

/* Copies a temporary file into the archive. */
static int pour(const struct gpume_vectors_target *target, FILE *file, uint64_t bytes)
{
    struct npz *self = target->state;
    unsigned char part[16384];
    if (fflush(file) != 0 || fseek(file, 0, SEEK_SET) != 0) {
        return npz_refuse(target);
    }
    while (bytes > 0) {
        const size_t wanted = bytes < sizeof(part) ? (size_t)bytes : sizeof(part);
        if (fread(part, 1, wanted, file) != wanted) {
            return npz_refuse(target);
        }
        GPUME_CHECK(zip_write(&self->zip, part, wanted));
        bytes -= wanted;
    }
    return GPUME_OK;
}

static int write_array(const struct gpume_vectors_target *target, enum array i)
{
    struct npz *self = target->state;
    const struct gpume_vectors_info *info = target->info;
    char shape[80];
    if (arrays[i].of == FRAMES) {
        snprintf(shape, sizeof(shape), "(%" PRIu64 ",)", self->frames);
    } else {
        snprintf(shape, sizeof(shape), "(%" PRIu64 ", %" PRIu32 ", %" PRIu32 "%s)", self->frames,
            gpume_vectors_blocks_y(info), gpume_vectors_blocks_x(info), i == VECTORS ? ", 2" : "");
    }
    GPUME_CHECK(
        begin(self, arrays[i].name, npz_type_of(info, i), shape, self->crcs[i], self->bytes[i]));
    return self->files[i] ? pour(target, self->files[i], self->bytes[i]) : GPUME_OK;
}

static int npz_finish(const struct gpume_vectors_target *target, struct gpume_out *out)
{
    struct npz *self = target->state;
    const struct gpume_vectors_info *info = target->info;
    self->zip.out = out;
    for (enum array i = 0; i < ARRAYS; i++) {
        GPUME_CHECK(has(info, i) ? write_array(target, i) : GPUME_OK);
    }
    GPUME_CHECK(
        write_numbers(self, "block", "(2,)", (const uint32_t[]){info->block_w, info->block_h}, 2));
    GPUME_CHECK(
        write_numbers(self, "size", "(2,)", (const uint32_t[]){info->width, info->height}, 2));
    GPUME_CHECK(write_numbers(self, "subpel", "()", (const uint32_t[]){info->units, 0}, 1));
    return zip_finish(&self->zip);
}

static void npz_close(const struct gpume_vectors_target *target)
{
    struct npz *self = target->state;
    for (enum array i = 0; i < ARRAYS; i++) {
        if (self->files[i]) {
            (void)fclose(self->files[i]);
        }
    }
}

static const struct gpume_vectors_writer_ops npz_writer = {
    .state_bytes = sizeof(struct npz),
    .field = npz_field,
    .finish = npz_finish,
    .close = npz_close,
};

const struct gpume_vectors_format gpume_vectors_npz = {
    .name = "npz",
    .extension = ".npz",
    .columns = GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK | GPUME_VECTORS_TIME |
               GPUME_VECTORS_BITS | GPUME_VECTORS_SECOND | GPUME_VECTORS_TIES |
               GPUME_VECTORS_TEXTURE | GPUME_VECTORS_RETURN,
    .needs_grid = true,
    .binary = true,
    .fixed_units = true,
    .at_end = true,
    .begins = "PK\x03\x04",
    .writer = &npz_writer,
    .unread = "is an archive of arrays, which is only written; give a file of another format",
};
