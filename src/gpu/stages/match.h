/* SPDX-License-Identifier: BSD-2-Clause */
/* The two kernels of the full search. */
#ifndef GPUME_GPU_STAGES_MATCH_H
#define GPUME_GPU_STAGES_MATCH_H

#include "gpu/stages/stage.h"

/* Blocks of one band: first, first + step and so on. */
struct gpume_block_range {
    uint32_t band, first, step, count;
};

/* Every block of a band but those that tiles do not take; fallback: of all bands, those listed. */
int gpume_match_tiles_create(const struct gpume_stage_setup *setup, const struct gpume_tile *tile,
    bool fallback, struct gpume_kernel *kernel);
void gpume_match_tiles_record(const struct gpume_work *work, const struct gpume_stage_setup *setup,
    const struct gpume_kernel *kernel, const struct gpume_tile *tile, bool fallback, uint32_t band);

/* Any blocks; fallback: those of them that are listed. */
int gpume_match_quads_create(
    const struct gpume_stage_setup *setup, bool fallback, struct gpume_kernel *kernel);
void gpume_match_quads_record(const struct gpume_work *work, const struct gpume_stage_setup *setup,
    const struct gpume_kernel *kernel, const struct gpume_block_range *range);

#endif
