/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One submission as its stages see it: frames to bring, tasks to search, and where everything of
 * theirs lies, in the memory of the Vulkan engine.
 */
#ifndef GPUME_GPU_WORK_H
#define GPUME_GPU_WORK_H

#include "common/shared.h"
#include "frame/engine.h"
#include "gpu/vk/buffer.h"
#include "gpu/vk/slot.h"
#include "model/plan.h"

/* --- memory
 *
 * The memory of the Vulkan engine: buffers, and arrays that share one. Stages declare what they
 * need, before anything is allocated, so that a plan can be made smaller when it passes what is
 * allowed. Then arrays get their places, and buffers are made.
 */

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
                              its own */
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

/* The struct is zeroed before. Call destroy after a failure too. */
int gpume_memory_create(
    struct gpume_gpu *gpu, const struct gpume_memory_needs *needs, struct gpume_memory *memory);
void gpume_memory_destroy(
    struct gpume_gpu *gpu, const struct gpume_memory_needs *needs, struct gpume_memory *memory);

/* --- a submission */

/* What pruning reads: sums of quarter blocks and of sixteenths, the least and the largest quarter
 * of every tile of them, and samples in patches. Where gpume_prune_in_rows, the first alone. */
enum gpume_prune_part {
    GPUME_PRUNE_QUARTERS,
    GPUME_PRUNE_SIXTEENTHS,
    GPUME_PRUNE_GROUPS,
    GPUME_PRUNE_PATCHES,
    GPUME_PRUNE_PARTS,
};

/* Where they lie for a layer, each for the whole ring, in GPUME_MEMORY_BLOCK_SUMS. Layers share the
 * patches, and the sixteenths of a layer may be the quarters of another: `makes` tells which parts
 * are written for this layer. It makes none: the layer is searched without pruning. */
struct gpume_pruning_layout {
    bool makes[GPUME_PRUNE_PARTS];
    VkDeviceSize offset[GPUME_PRUNE_PARTS], bytes[GPUME_PRUNE_PARTS];
};

static inline bool gpume_pruning_used(const struct gpume_pruning_layout *layout)
{
    return layout->makes[GPUME_PRUNE_QUARTERS];
}

struct gpume_layout {
    struct gpume_array_places arrays;
    struct gpume_pruning_layout pruning[GPUME_LAYERS_MAX];
    VkDeviceSize pruning_bytes; /* of all layers */
};

struct gpume_work {
    const struct gpume_plan *plan;
    const struct gpume_layout *layout;
    const struct gpume_memory *memory;
    struct gpume_slot *slot;
    uint32_t slot_index;
    struct gpume_frame *const *frames;
    const uint32_t *uploads; /* of every frame: the upload buffer that holds it */
    uint32_t frame_count;
    const struct gpume_task *tasks;         /* results of task i lie at index i of every array */
    struct gpume_vector *const *predictors; /* of every task; NULL entries: none are given */
    uint32_t task_count;                    /* at most plan.batch */
    bool pruned;                            /* layers that can be are */
};

/* Frame pairs of a number of tasks: pair i * references + j is task i in its reference j. */
static inline uint32_t gpume_work_pairs(const struct gpume_plan *plan, uint32_t tasks)
{
    return tasks * plan->references;
}

/* The reference j of a task, which may have fewer than others: then the target itself. */
static inline uint64_t gpume_work_reference(const struct gpume_task *task, uint32_t j)
{
    return j == 0 ? task->reference : j <= task->more_count ? task->more[j - 1] : task->target;
}

/* Upload buffers for copies of frames that lie in other engines' memory. */
static inline uint32_t gpume_work_copies(const struct gpume_plan *plan)
{
    return plan->params.devices ? plan->slots * plan->batch : 0;
}

static inline uint32_t gpume_quad_bytes(const struct gpume_plan *plan)
{
    return 4 * plan->sample_bytes;
}

/* Bytes from one plane of a frame to the next. Where one buffer holds the ring, plane 0 of all
 * frames comes first, which the fast search binds, then plane 1 of all. */
static inline uint64_t gpume_work_plane_bytes(const struct gpume_plan *plan)
{
    return plan->one_window ? plan->ring * plan->padded_bytes : plan->padded_bytes;
}

/* The place of a frame in the ring. */
static inline uint32_t gpume_work_place(const struct gpume_plan *plan, uint64_t sequence)
{
    return (uint32_t)(sequence % plan->ring);
}

/* Writes the rows of the submission's task table. */
void gpume_work_write_tasks(const struct gpume_work *work);

struct gpume_view gpume_view_part(
    const struct gpume_buffer *buffer, VkDeviceSize offset, VkDeviceSize bytes);

/* The slot's buffer of results or of scratch memory. */
const struct gpume_buffer *gpume_work_buffer(
    const struct gpume_work *work, enum gpume_work_array array);

/* An array of the slot. Of results, where layer is 0, what the tasks take: each an equal share. */
struct gpume_view gpume_work_array(
    const struct gpume_work *work, enum gpume_work_array array, uint32_t layer);

/* GPUME_ARRAY_VECTORS or _COSTS as the fast search writes them: those of pairs, where a task has
 * several. */
enum gpume_work_array gpume_work_found(const struct gpume_plan *plan, enum gpume_work_array array);

/* A frame on a surface: plane 0, padded row 0. */
VkDeviceAddress gpume_work_frame_address(
    const struct gpume_work *work, enum gpume_surface surface, uint64_t sequence);

/* Rows `row` to `row_end` of a frame on a surface. *base: quads from the view's start to the
 * frame's row 0, wrapping below zero. */
struct gpume_view gpume_work_rows(const struct gpume_work *work, enum gpume_surface surface,
    uint64_t sequence, uint64_t row, uint64_t row_end, uint32_t *base);

/* The frames of all tasks on a surface, for one band of a layer's block rows: the whole ring or,
 * where that does not fit into a window, parts of the only task's frames. */
void gpume_work_frames(const struct gpume_work *work, enum gpume_surface surface,
    const struct gpume_shape *layer, uint32_t band, struct gpume_view *target,
    struct gpume_view *reference, struct gpume_frames_push *push);

/* What kernels know of the picture and a layer. */
struct gpume_layer_push gpume_work_layer(
    const struct gpume_plan *plan, const struct gpume_shape *layer);

#endif
