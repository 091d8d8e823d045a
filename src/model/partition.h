/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which blocks cover the picture at the least price (params.partition). A tree of squares stands on
 * every block of the largest square: a square stays whole, is cut into two halves, or into four
 * quarters, which are squares of the next level. J, in 1/256, is
 *
 *      whole     256 D + lambda (R + 1)
 *      halves    the sum of both, 256 D + lambda R, + lambda * 3
 *      quarters  the sum of all four J + lambda
 *
 * with D = cost - rounded rate, and without the lambda for a smallest square. The least J wins;
 * among equals whole, then halves one above the other, side by side, then quarters. What lies
 * wholly outside the picture adds nothing. Pure arithmetic.
 */
#ifndef GPUME_MODEL_PARTITION_H
#define GPUME_MODEL_PARTITION_H

#include "model/plan.h"

#define GPUME_PARTITION_LEVELS 6u /* sides from 128 down to 4, by halves */

/* Squares of one side: indices of the plan's layers. */
struct gpume_partition_level {
    uint32_t side;
    uint32_t whole;
    uint32_t above;  /* halves one above the other, side x side / 2; GPUME_NONE: there are none */
    uint32_t beside; /* halves side by side, side / 2 x side */
};

/* Levels from the largest square to the smallest, which has no halves. */
struct gpume_partition {
    struct gpume_partition_level levels[GPUME_PARTITION_LEVELS];
    uint32_t level_count;
};

/* Of a plan with params.partition. */
struct gpume_partition gpume_partition_of(const struct gpume_plan *plan);

/* The layer of the smallest squares, of which every chosen block consists. */
static inline const struct gpume_shape *gpume_partition_smallest(const struct gpume_plan *plan)
{
    const struct gpume_partition partition = gpume_partition_of(plan);
    return &plan->layers[partition.levels[partition.level_count - 1].whole];
}

/* Of one block of the largest square, the `root`: sets chosen[i] = 1 for the blocks that cover it.
 * Arrays hold the blocks of all layers; chosen is zeroed before. Roots share no block. */
void gpume_partition_choose(const struct gpume_plan *plan, const struct gpume_partition *partition,
    const uint32_t *costs, const uint32_t *bits, uint32_t root, uint32_t *chosen);

#endif
