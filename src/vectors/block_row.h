/* SPDX-License-Identifier: BSD-2-Clause */
/* A block as a row of named columns, which vectors.csv, .jsonl and .npy have in common. */
#ifndef GPUME_VECTORS_BLOCK_ROW_H
#define GPUME_VECTORS_BLOCK_ROW_H

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
    GPUME_BLOCK_COLUMNS,
};

struct gpume_block_column_kind {
    const char *name;
    unsigned flag;    /* of enum gpume_vectors_column; 0: every file has this column */
    int64_t min, max; /* accepted from files */
};

extern const struct gpume_block_column_kind gpume_block_columns[GPUME_BLOCK_COLUMNS];

/* The block with these values, which are within the limits, and 0 for missing columns. */
struct gpume_vectors_row gpume_block_row(const int64_t values[GPUME_BLOCK_COLUMNS]);

#endif
