/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernels of one submission work on, and where each thing lies in its buffer.
 */
#ifndef GPUME_GPU_WORK_H
#define GPUME_GPU_WORK_H

#include "common/shared.h"
#include "frame/engine.h"
#include "gpu/vk/slot.h"

/* Byte offsets of a batch's arrays, field after field; the same in the device's result buffer and
 * in the host's copy of it. */
struct gpume_layout {
    VkDeviceSize sums, counts, vectors, costs, ranks, predicted, results_bytes;
    VkDeviceSize partials, ranking, todo, scratch_bytes;
    uint32_t reduce_groups;  /* workgroups that leave partial sums, a band of a field */
    uint32_t partials_count; /* a field */
    /* Sums of quarter blocks, and as much again for those of sixteenths, of the whole ring, then
     * its samples in patches, then the least and the largest of every tile of quarters; of these
     * the first alone where gpume_sieve_sifts; 0: search without elimination. */
    VkDeviceSize box_bytes, patch_bytes, boxes_bytes; /* sums of one kind; patches; all */
};

/* When to drop candidates by box sums before the full search. */
struct gpume_sieve_rule {
    uint64_t candidates_min; /* of a block */
    VkDeviceSize bytes_max;  /* of one part of that of all frames: what a kernel sees at once */
};

/* Pixel differences of one submission: a run can be ended between submissions only. */
uint64_t gpume_work_most(VkPhysicalDeviceType type);

/* ranking_bytes: scratch memory that ranking takes. */
struct gpume_layout gpume_layout_make(
    const struct gpume_plan *plan, const struct gpume_sieve_rule *rule, VkDeviceSize ranking_bytes);

struct gpume_work {
    struct gpume_gpu *gpu;
    const struct gpume_plan *plan;
    const struct gpume_layout *layout;
    struct gpume_slot *slot;
    const struct gpume_buffer *uploads; /* by pool index */
    const struct gpume_buffer *ring;    /* one buffer for all padded frames, or one each */
    const struct gpume_buffer *results, *readback, *scratch;
    /* Sums of quarters of every padded frame, then of sixteenths, where layout.boxes_bytes > 0. */
    const struct gpume_buffer *boxes;
    const struct gpume_task *tasks; /* results of task i lie at index i of every array */
    uint32_t task_count;            /* at most plan.batch */
};

/* Writes the rows of the submission's task table. */
void gpume_work_write_tasks(const struct gpume_work *work);

static inline uint32_t gpume_quad_bytes(const struct gpume_plan *plan)
{
    return 4 * plan->sample_bytes;
}

/* Rows of a frame of box sums, whole tiles, and sums in each of them. */
static inline uint32_t gpume_work_sum_rows(const struct gpume_plan *plan)
{
    return (plan->padded_rows + 3) / 4 * 4;
}
uint32_t gpume_work_sum_stride(const struct gpume_plan *plan);

/* Patches in a row of them, and in a frame. Those right of the last that has samples are read by
 * who takes eight samples at a time, and ignored. */
uint32_t gpume_work_patch_stride(const struct gpume_plan *plan);
uint32_t gpume_work_patches(const struct gpume_plan *plan);

/* All fields' arrays of one kind. */
struct gpume_view gpume_view_part(
    const struct gpume_buffer *buffer, VkDeviceSize offset, VkDeviceSize bytes);

/* Which blocks the sieve leaves over: a word each of the batch, then a list of them. */
struct gpume_view gpume_work_todo(const struct gpume_work *work);

/* Words from its start to that list: their number, then they. */
static inline uint32_t gpume_work_left_list(const struct gpume_plan *plan)
{
    return plan->batch * plan->blocks;
}

/* The place of a frame in the ring. */
static inline uint32_t gpume_work_place(const struct gpume_plan *plan, uint64_t sequence)
{
    return (uint32_t)(sequence % plan->ring);
}

/* The padded frame's rows from `row`, as far as a band needs them. *base: quads from the view's
 * start to the frame's row 0, wrapping below zero. */
struct gpume_view gpume_work_frame(const struct gpume_work *work, uint64_t sequence, uint64_t row,
    uint64_t row_end, uint32_t *base);

/* The frames of all tasks for one band of block rows: the whole ring or, where that does not fit
 * into a window, parts of the only task's frames. */
void gpume_work_frames(const struct gpume_work *work, uint32_t band, struct gpume_view *target,
    struct gpume_view *reference, struct gpume_frames_push *push);

#endif
