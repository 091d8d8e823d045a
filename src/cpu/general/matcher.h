/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The general search of one block in one reference: by any metric, with the price of the vector,
 * in whole pixels or fractions, for one match or for several. Vectors count in the plan's units.
 */
#ifndef GPUME_CPU_GENERAL_MATCHER_H
#define GPUME_CPU_GENERAL_MATCHER_H

#include "cpu/general/kernels.h"
#include "model/cost.h"

/* A block to search, and where. */
struct gpume_matcher {
    const struct gpume_plan *plan;
    const struct gpume_general_kernels *kernels;
    struct gpume_target target;
    const uint8_t *reference;        /* plane 0 of the reference, at the block's place */
    const struct gpume_bound *bound; /* NULL: every candidate is compared */
    const uint8_t *sums;             /* of plane 0 of the reference, at the block's place */
    uint32_t x, y;                   /* of the block's upper left corner */
    int32_t predictor_x, predictor_y;
    uint32_t more_bits; /* of the vector that target.other is made of, or 0 */
};

/* layer, index: of the block. target, reference: surfaces, plane 0. */
struct gpume_matcher gpume_matcher_make(const struct gpume_plan *plan,
    const struct gpume_general_kernels *kernels, const struct gpume_shape *layer, uint32_t index,
    const void *target, const void *reference);

/* Where the match of a vector begins. */
const void *gpume_matcher_match(const struct gpume_matcher *matcher, int32_t dx, int32_t dy);

/* D of the match that begins there; where that is more than `limit`, any value above limit. */
uint32_t gpume_matcher_distortion(const struct gpume_matcher *matcher, enum gpume_metric metric,
    const void *match, uint32_t limit);

struct gpume_matcher_counts {
    uint64_t tried, compared; /* candidates, and those that sums of boxes did not exclude */
};

#endif
