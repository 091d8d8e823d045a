/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of the Vulkan engine: buffers, and arrays that share one. Stages declare what they
 * need, before anything is allocated, so that a plan can be made smaller when it passes what is
 * allowed. Then arrays get their places, and buffers are made.
 */
#ifndef GPUME_GPU_MEMORY_H
#define GPUME_GPU_MEMORY_H

#include "gpu/vk/buffer.h"
#include "model/plan.h"

/* Arrays of one submission, task after task. Results have the same places in the device's buffer
 * and in the host's copy; each holds all layers. Of scratch arrays every layer has its own. */
enum gpume_work_array {
    GPUME_ARRAY_SUMS,    /* GPUME_SUM_WORDS per task and layer */
    GPUME_ARRAY_COUNTS,  /* GPUME_COUNT_BYTES per task, of the fast search per pair */
    GPUME_ARRAY_VECTORS, /* a word per block */
    GPUME_ARRAY_COSTS,   /* a word per block */
    GPUME_ARRAY_RANKS,   /* a word per block */
    GPUME_ARRAY_BITS,    /* these of the general search, see general/shared.h */
    GPUME_ARRAY_REFS,
    GPUME_ARRAY_REFS2,
    GPUME_ARRAY_VECTORS2,
    GPUME_ARRAY_TIES,
    GPUME_ARRAY_TEXTURE,
    GPUME_ARRAY_CHOSEN,
    GPUME_ARRAY_PREDICTED,                      /* a plane per task */
    GPUME_ARRAY_RESULTS,                        /* the number of results: scratch follows */
    GPUME_ARRAY_PARTIALS = GPUME_ARRAY_RESULTS, /* sums of parts of a field */
    GPUME_ARRAY_FALLBACK, /* blocks that pruning leaves to the full search, see match.h */
    GPUME_ARRAY_RANKING,  /* what sorting needs */
    GPUME_ARRAY_GENERAL,  /* from here on of the general search: its table, see general/shared.h */
    GPUME_ARRAY_PREDICTORS,
    GPUME_ARRAY_PAIR_VECTORS,
    GPUME_ARRAY_PAIR_COSTS,
    GPUME_ARRAY_PAIR_TIES,
    GPUME_ARRAY_MEANS,
    GPUME_ARRAY_CELLS,
    GPUME_ARRAY_COUNT,
};

enum gpume_memory_part {
    GPUME_MEMORY_UPLOADS,  /* frames as the host fills them, by pool index; then copies, by slot */
    GPUME_MEMORY_SURFACES, /* one part for each surface: padded frames, all in one buffer or each in
                              one of its own */
    GPUME_MEMORY_BLOCK_SUMS = GPUME_MEMORY_SURFACES + GPUME_SURFACE_COUNT, /* of all layers */
    GPUME_MEMORY_BOXES,    /* of the general search */
    GPUME_MEMORY_RESULTS,  /* by slot, as the two that follow */
    GPUME_MEMORY_READBACK, /* the host's copy of results */
    GPUME_MEMORY_SCRATCH,
    GPUME_MEMORY_FILTER_STAGING, /* tables of a filter, for the host */
    GPUME_MEMORY_FILTER_TABLES,  /* and for kernels */
    GPUME_MEMORY_FILTER_PLANES,  /* filtered frames of a submission, not yet padded */
    GPUME_MEMORY_GENERAL, /* by slot: the table of the general search and given predictors, for the
                             host */
    GPUME_MEMORY_PARTS,
};

struct gpume_memory_need {
    enum gpume_buffer_kind kind;
    VkDeviceSize bytes; /* of each buffer */
    uint32_t count;
};

struct gpume_memory_needs {
    VkDeviceSize arrays[GPUME_ARRAY_COUNT][GPUME_LAYERS_MAX]; /* bytes; results: of layer 0 alone */
    struct gpume_memory_need parts[GPUME_MEMORY_PARTS];
    uint32_t binds; /* calls of gpume_slot_bind in a submission, at most */
};

/* Where arrays lie, in bytes. */
struct gpume_array_places {
    VkDeviceSize offsets[GPUME_ARRAY_COUNT][GPUME_LAYERS_MAX];
    VkDeviceSize bytes[GPUME_ARRAY_COUNT][GPUME_LAYERS_MAX];
};

/* Of buffers in all. */
struct gpume_memory_bytes {
    uint64_t host, device;
};

struct gpume_memory {
    struct gpume_buffer *parts[GPUME_MEMORY_PARTS]; /* by number; NULL where none is needed */
};

#define GPUME_PART_ALIGN 256u /* the largest that a device may ask of storage buffer offsets */

static inline void gpume_need_buffers(struct gpume_memory_needs *needs, uint32_t part,
    enum gpume_buffer_kind kind, VkDeviceSize bytes, uint32_t count)
{
    needs->parts[part] = (struct gpume_memory_need){kind, bytes, count};
}

/* Padded frames of a surface. */
void gpume_need_surface(
    struct gpume_memory_needs *needs, const struct gpume_plan *plan, enum gpume_surface surface);

/* Gives arrays their places, and adds the buffers that hold them, for so many slots. */
struct gpume_array_places gpume_memory_place(struct gpume_memory_needs *needs, uint32_t slots);

struct gpume_memory_bytes gpume_memory_bytes(const struct gpume_memory_needs *needs);

/* The struct is zeroed before. Call destroy after a failure too. */
int gpume_memory_create(
    struct gpume_gpu *gpu, const struct gpume_memory_needs *needs, struct gpume_memory *memory);
void gpume_memory_destroy(
    struct gpume_gpu *gpu, const struct gpume_memory_needs *needs, struct gpume_memory *memory);

#endif
