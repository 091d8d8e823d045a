/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The general search (plan.general): every metric, fraction, rate, reference and candidate, after
 * the surfaces are there. Its kernels reach surfaces and arrays by address, so that no window,
 * band or range limits them (shaders/general/shared.h has the layout).
 *
 *               reads                               writes
 *   pairs       the host's table, predictors        GENERAL, PREDICTORS
 *   fractions   plane 0 of the surfaces             their other planes
 *   boxes       the searched surface                BOXES: sums and their ranges
 *   search      the searched surface, PREDICTORS    PREDICTORS, PAIR_*; a layer's passes. With
 *               plan.fast_pixels it only refines what the fast search has found: PAIR_* with
 *               several references, else results, and then there is no choose
 *   choose      PAIR_*, PREDICTORS                  results, MEANS
 *   means       the searched surface, PREDICTORS,   MEANS, results
 *               MEANS
 *   texture     the measured surface                TEXTURE
 *   partition   COSTS, BITS                         CHOSEN, CELLS
 *   measure     the measured surface, results,      PREDICTED, PARTIALS, SUMS
 *               CELLS
 */
#ifndef GPUME_GPU_GENERAL_GENERAL_H
#define GPUME_GPU_GENERAL_GENERAL_H

#include "general/shared.h"
#include "gpu/stages/stage.h"

extern const struct gpume_stage_ops gpume_stage_pairs, gpume_stage_fractions, gpume_stage_boxes,
    gpume_stage_general_search, gpume_stage_choose, gpume_stage_means, gpume_stage_texture,
    gpume_stage_partition, gpume_stage_measure;

/* Whether there are results of pairs, to choose those of tasks from. */
static inline bool gpume_general_chooses(const struct gpume_plan *plan)
{
    return plan->general && (!plan->fast_pixels || plan->references > 1);
}

bool gpume_general_wanted(const struct gpume_stage_setup *setup);

/* What all kernels need to know. */
struct gpume_general_push gpume_general_push_make(
    const struct gpume_work *work, const struct gpume_shape *layer);

#endif
