/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frames that are searched where they are others than those that are measured: a ring of padded
 * frames beside the engine's own is filled with them. Without a filter it does nothing. The
 * pipeline's thread.
 */
#ifndef GPUME_GPU_STAGES_PREFILTERING_H
#define GPUME_GPU_STAGES_PREFILTERING_H

#include "gpu/memory.h"
#include "gpu/stages/stages.h"

#include <stddef.h>

/* Weights and likeness, one behind the other. */
#define GPUME_PREFILTERING_TABLES_START offsetof(struct gpume_prefilter_tables, weights)
#define GPUME_PREFILTERING_TABLES_BYTES                                                            \
    (sizeof(struct gpume_prefilter_tables) - GPUME_PREFILTERING_TABLES_START)

struct gpume_prefiltering {
    const struct gpume_memory *memory;
    bool tables_sent;
};

/* memory: outlives it. */
void gpume_prefiltering_init(const struct gpume_plan *plan, const struct gpume_memory *memory,
    struct gpume_prefiltering *filtering);

/* Records the filtering of frames whose upload has been recorded. Gives work as the search is to
 * see it. */
struct gpume_work gpume_prefiltering_record(struct gpume_prefiltering *filtering,
    const struct gpume_kernels *kernels, const struct gpume_work *work,
    struct gpume_frame *const *frames, uint32_t count);

#endif
