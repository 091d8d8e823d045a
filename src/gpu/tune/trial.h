/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long variants of the match stage take on this device: a small picture of noise, where nothing
 * can be skipped, searched a few times by each in turn. The engine's thread, as it opens.
 */
#ifndef GPUME_GPU_TUNE_TRIAL_H
#define GPUME_GPU_TUNE_TRIAL_H

#include "gpu/stages/stage.h"

struct gpume_contender {
    const struct gpume_match_variant *variant;
    struct gpume_tile tile; /* completed for the plan */
    uint64_t ns;            /* per field, in the best run; 0: not timed */
};

/* Fills in the contenders' times, from the last to the first, as far as time allows and if the plan
 * is large enough to tell. A failure is logged. */
int gpume_trial_run(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, struct gpume_contender *contenders, uint32_t count);

#endif
