/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The header of a .npy file, as NumPy's numpy.lib.format describes it: magic, version, length, and
 * a Python dictionary of type, order and shape.
 */
#ifndef GPUME_VECTORS_FORMATS_NPY_H
#define GPUME_VECTORS_FORMATS_NPY_H

#include "files/byte_stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUME_NPY_MAGIC "\x93NUMPY"
#define GPUME_NPY_MAGIC_BYTES 6u
#define GPUME_NPY_COLUMNS_MAX 64u
#define GPUME_NPY_NAME_BYTES 32u
#define GPUME_NPY_TEXT_BYTES_MAX 9u   /* of a column with text */
#define GPUME_NPY_ITEM_BYTES_MAX 576u /* 64 columns of 9 bytes */

/* A member of a structured type; a plain type has one member without a name. */
struct gpume_npy_column {
    char name[GPUME_NPY_NAME_BYTES];
    char kind;     /* 'i', 'u', 'f', or 'S' for text */
    uint8_t bytes; /* 1, 2, 4 or 8; of text: 1 to 9 */
    size_t offset; /* in the item */
};

struct gpume_npy {
    struct gpume_npy_column columns[GPUME_NPY_COLUMNS_MAX];
    size_t count;
    size_t item_bytes;
    uint32_t dimensions; /* 1 or 2 */
    uint64_t shape[2];
};

/* Writes a header of exactly `total` bytes, a multiple of 64. descr: the type in Python's notation.
 * shape: a tuple in that notation, too, such as "(4, 10)". */
void gpume_npy_head(char *at, size_t total, const char *descr, const char *shape);

/* Writes pixels, in units of GPUME_VECTORS_UNITS, as "<f4", "<i2" or "<i4". Returns their end. */
unsigned char *gpume_npy_put_pixels(unsigned char *at, const char *type, int64_t quarters);

/* Reads the header. Refuses types other than little-endian numbers, tables in Fortran order, and
 * more than two dimensions. */
int gpume_npy_read(struct gpume_stream *stream, struct gpume_npy *npy);

/* Reads a column of an item. False: not an integer, or it does not fit an int64_t. */
bool gpume_npy_int(
    const struct gpume_npy_column *column, const unsigned char *item, int64_t *value);

#endif
