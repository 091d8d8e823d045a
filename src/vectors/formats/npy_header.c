/* SPDX-License-Identifier: BSD-2-Clause */
#include "vectors/formats/npy_header.h"

#include "base/status.h"
#include "files/little_endian.h"
#include "vectors/vectors.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

const struct gpume_npy_column *gpume_npy_find(const struct gpume_npy *npy, const char *name)
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

bool gpume_npy_scaled(
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
    return gpume_npy_scaled(column, item, 1, value);
}

bool gpume_npy_text(const struct gpume_npy_column *column, const unsigned char *item,
    char text[GPUME_NPY_TEXT_BYTES_MAX + 1])
{
    memcpy(text, item + column->offset, column->bytes);
    text[column->bytes] = '\0';
    return column->kind == 'S';
}
