/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the results of two searches, and counts the work in a frame pair. */
#ifndef GPUME_CLI_BENCH_AGREE_H
#define GPUME_CLI_BENCH_AGREE_H

#include "gpume/gpume.h"

/* Vectors and costs of several frame pairs, one after the other. */
struct gpume_bench_answers {
    uint32_t fields, blocks;
    struct gpume_vector *vectors;
    uint32_t *costs;
};

/* GPUME_NOMEM is logged. */
int gpume_bench_answers_init(struct gpume_bench_answers *answers, uint32_t fields, uint32_t blocks);

void gpume_bench_answers_finish(struct gpume_bench_answers *answers);

/* Index of the first block that differs, or UINT32_MAX. costs NULL: compares vectors only. */
uint32_t gpume_bench_difference(const struct gpume_bench_answers *answers, uint32_t index,
    const struct gpume_vector *vectors, const uint32_t *costs);

/* The cost of a vector by its definition. 8-bit planes; the candidate must lie inside. */
uint32_t gpume_bench_cost(const struct gpume_plane *target, const struct gpume_plane *reference,
    uint32_t block, uint32_t index, struct gpume_vector vector);

/* Blocks of a picture. */
uint32_t gpume_bench_blocks(const struct gpume_params *params);

/* Pixel differences in a frame pair if every candidate of every block is compared in full. */
double gpume_bench_differences(const struct gpume_params *params);

#endif
