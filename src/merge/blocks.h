/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the blocks of a file of vectors whose blocks have rows of unknown number. All of the file
 * is read. */
#ifndef GPUME_MERGE_BLOCKS_H
#define GPUME_MERGE_BLOCKS_H

#include "merge/part.h"

struct gpume_merge_blocks {
    uint64_t rows, blocks;
    uint64_t frames; /* of targets */
    bool cut;        /* the last block lacks candidates */
};

/* Every candidate of a block has a row. Failures are logged, as those of vectors/reader.h. */
int gpume_merge_blocks_of_candidates(struct gpume_merge_blocks *found, const char *path,
    const struct gpume_merge_part *part, const struct gpume_log *log);

/* A table in the format extract_mvs, where each of two matches of a block has a row. Nothing tells
 * whether the last block had another one. */
int gpume_merge_blocks_of_matches(
    struct gpume_merge_blocks *found, const char *path, const struct gpume_log *log);

#endif
