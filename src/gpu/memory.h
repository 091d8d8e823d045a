/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The buffers of the Vulkan engine: how large they are is one table, made before any of them is
 * there, so that a plan can be made smaller when it passes what is allowed.
 */
#ifndef GPUME_GPU_MEMORY_H
#define GPUME_GPU_MEMORY_H

#include "gpu/work.h"

enum gpume_memory_part {
    GPUME_MEMORY_UPLOADS,        /* plan.pool frames as they come */
    GPUME_MEMORY_RING,           /* padded frames: one buffer for all, or one each */
    GPUME_MEMORY_BOXES,          /* their sums, where layout.boxes_bytes > 0 */
    GPUME_MEMORY_RESULTS,        /* by slot, as all that follow but filters' */
    GPUME_MEMORY_READBACK,       /* the host's copy of results */
    GPUME_MEMORY_SCRATCH,        /* of stages */
    GPUME_MEMORY_FILTER_STAGING, /* tables of a filter, as the host sees them */
    GPUME_MEMORY_FILTER_TABLES,  /* and as kernels do */
    GPUME_MEMORY_FILTER_PLANES,  /* plan.batch frames: filtered, not yet padded */
    GPUME_MEMORY_FILTER_RING,    /* as RING */
    GPUME_MEMORY_PARTS,
};

struct gpume_memory_need {
    enum gpume_buffer_kind kind;
    VkDeviceSize bytes; /* of each buffer */
    uint32_t count;
};

struct gpume_memory_needs {
    struct gpume_memory_need parts[GPUME_MEMORY_PARTS];
    uint64_t host_bytes, device_bytes; /* of all */
};

struct gpume_memory {
    struct gpume_buffer *parts[GPUME_MEMORY_PARTS]; /* by number; NULL where none is needed */
};

/* Arithmetic alone. */
struct gpume_memory_needs gpume_memory_needs(
    const struct gpume_plan *plan, const struct gpume_layout *layout);

/* Of a zeroed one. On failure destroy it all the same. */
int gpume_memory_create(
    struct gpume_gpu *gpu, const struct gpume_memory_needs *needs, struct gpume_memory *memory);
void gpume_memory_destroy(
    struct gpume_gpu *gpu, const struct gpume_memory_needs *needs, struct gpume_memory *memory);

#endif
