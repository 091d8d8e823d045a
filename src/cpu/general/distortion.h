/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much a block differs from a match, by the run's metric, and from the mean of two matches.
 * These functions define the answer.
 */
#ifndef GPUME_CPU_GENERAL_DISTORTION_H
#define GPUME_CPU_GENERAL_DISTORTION_H

#include "model/plan.h"

/* A block of the target. Planes have the plan's padded stride. */
struct gpume_target {
    const void *samples;    /* its upper left corner */
    const void *other;      /* the other match of a mean; NULL: one match alone */
    ptrdiff_t stride;       /* samples */
    uint32_t width, height; /* visible */
    uint32_t tile;          /* side of the tiles that SATD transforms */
};

/* D of the match that begins at `match`. Where that is more than `limit`, any value above limit. */
typedef uint32_t (*gpume_distortion_fn)(
    const struct gpume_target *target, const void *match, uint32_t limit);

/* For the plan's metric and samples; mean: target->other is set. */
gpume_distortion_fn gpume_distortion_of(const struct gpume_plan *plan, bool mean);

static inline uint32_t gpume_distortion_tile(const struct gpume_shape *shape)
{
    return shape->block_w % 8 == 0 && shape->block_h % 8 == 0 ? 8 : 4;
}

#endif
