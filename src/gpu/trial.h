/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long variants of the match stage take on this device: a small picture of noise, where nothing
 * can be skipped, searched a few times by each in turn. The engine's thread, as it opens.
 */
#ifndef GPUME_GPU_TRIAL_H
#define GPUME_GPU_TRIAL_H

#include "gpu/k.h"

struct gpume_contender {
    const struct gpume_match_variant *variant;
    struct gpume_tile tile; /* as it suits the plan */
    uint64_t ns; /* of the best run; 0: the device cannot tell time, or not in a short one */
};

/* Fills in every contender's time. A failure is logged. */
int gpume_trial_run(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    struct gpume_contender *contenders, uint32_t count);

#endif
