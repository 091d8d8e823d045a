/* SPDX-License-Identifier: BSD-2-Clause */
/* A match of a block as a row of named columns, which vectors.csv, .jsonl and .npy have in common.
 */
#ifndef GPUME_VECTORS_BLOCK_ROW_H
#define GPUME_VECTORS_BLOCK_ROW_H

#include "files/bytes.h"
#include "vectors/format.h"

enum gpume_block_column {
    GPUME_BLOCK_FRAME,
    GPUME_BLOCK_REF,
    GPUME_BLOCK_X,
    GPUME_BLOCK_Y,
    GPUME_BLOCK_W,
    GPUME_BLOCK_H,
    GPUME_BLOCK_DX,
    GPUME_BLOCK_DY,
    GPUME_BLOCK_COST,
    GPUME_BLOCK_RANK,
    GPUME_BLOCK_SHAPE, /* from here on, written only where a run asks for it */
    GPUME_BLOCK_BITS,
    GPUME_BLOCK_REF2,
    GPUME_BLOCK_DX2,
    GPUME_BLOCK_DY2,
    GPUME_BLOCK_CANDIDATE,
    GPUME_BLOCK_SECOND,
    GPUME_BLOCK_TIES,
    GPUME_BLOCK_TEXTURE,
    GPUME_BLOCK_RETURN,
    GPUME_BLOCK_COLUMNS,
};

/* What a number in a column means, and how text spells it. */
enum gpume_block_type {
    GPUME_BLOCK_NUMBER,
    GPUME_BLOCK_PIXELS,  /* in units of GPUME_VECTORS_UNITS; decimals in shortest form */
    GPUME_BLOCK_OUTLINE, /* width << 16 | height; 16x8 */
};

#define GPUME_BLOCK_EMPTY INT64_MIN /* no value, where a column is optional */

struct gpume_block_column_kind {
    const char *name;
    unsigned flag; /* of enum gpume_vectors_column; 0: every file has this column */
    enum gpume_block_type type;
    bool optional;    /* cells may be empty */
    int64_t min, max; /* accepted from files */
};

extern const struct gpume_block_column_kind gpume_block_columns[GPUME_BLOCK_COLUMNS];

/* Longest text of all columns from SHAPE on, with a comma after each. */
#define GPUME_BLOCK_FURTHER_BYTES 136u

/* Whether files with these columns of enum gpume_vectors_column have it. */
static inline bool gpume_block_has(unsigned columns, enum gpume_block_column column)
{
    const unsigned flag = gpume_block_columns[column].flag;
    return (columns & flag) == flag;
}

/* The number in a column from SHAPE on. */
int64_t gpume_block_number(const struct gpume_vectors_block *block, enum gpume_block_column column);

/* Writes a number that is not empty, and returns its end; may touch 7 bytes after it. */
char *gpume_block_put(char *at, enum gpume_block_type type, int64_t number);

/* The reverse: parses the text up to its end, or up to a character in ",} \t\"". Returns where it
 * stopped, or NULL: it is no number, or out of the column's range. */
const char *gpume_block_parse(enum gpume_block_column column, const char *text, int64_t *number);

/* What the column's text may be, to follow "not ". */
void gpume_block_describe(enum gpume_block_column column, char *text, size_t bytes);

/* Sets all values to what a file without these columns means: 0, or empty if optional. */
void gpume_block_clear(int64_t values[GPUME_BLOCK_COLUMNS]);

/* The block with these values, which are within the limits. */
struct gpume_vectors_row gpume_block_row(const int64_t values[GPUME_BLOCK_COLUMNS]);

#endif
