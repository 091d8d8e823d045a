/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frames that are searched where they are others than those that are measured: a ring of padded
 * frames beside the engine's own, and what filling it takes. Without a filter all stays zeroed. The
 * pipeline's thread.
 */
#ifndef GPUME_GPU_PREFILTERING_H
#define GPUME_GPU_PREFILTERING_H

#include "gpu/k.h"

struct gpume_prefiltering {
    struct gpume_buffer staging, tables; /* as the host and as kernels see them */
    struct gpume_buffer *planes;         /* plan.batch: filtered, not yet padded */
    struct gpume_buffer *ring;           /* as the engine's own */
    uint32_t plane_count, ring_count;
    bool tables_sent;
    uint64_t host_bytes, device_bytes;
};

/* Of a zeroed one. On failure destroy it all the same. */
int gpume_prefiltering_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_prefiltering *filtering);
void gpume_prefiltering_destroy(struct gpume_gpu *gpu, struct gpume_prefiltering *filtering);

/* Records the filtering of frames whose upload has been recorded. Gives work as the search is to
 * see it. */
struct gpume_work gpume_prefiltering_record(struct gpume_prefiltering *filtering,
    const struct gpume_kernels *kernels, const struct gpume_work *work,
    struct gpume_frame *const *frames, uint32_t count);

#endif
