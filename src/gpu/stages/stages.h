/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stages of a field, in the order in which the engine strings them together. create builds a
 * stage's pipelines for a plan; record writes commands and nothing else: no submission, no waiting,
 * no allocation. Each stage ends with its writes not yet visible: the engine places the barriers
 * between stages, stages those inside.
 *
 *            reads                               writes
 *   upload   upload memory of one pool frame     one padded frame of the ring
 *   prefilter a padded frame, tables             a plane, which upload pads into another ring
 *   boxes    padded frames                       sums of quarter and of sixteenth blocks, patches
 *   sieve    patches, sums                       vectors, costs, counts, blocks left over
 *   sift     padded frames, sums of quarters     the same, in its place where windows are small
 *   match    padded frames (blocks left over)    vectors, costs
 *   predict  padded frames, vectors              predicted, partial sums
 *   reduce   partial sums                        sums
 *   rank     costs                               ranks, by k_sort.h
 *   readback results                             host copy of the results
 */
#ifndef GPUME_GPU_STAGES_STAGES_H
#define GPUME_GPU_STAGES_STAGES_H

#include "gpu/arrays/sort.h"
#include "gpu/tune/variant.h"
#include "gpu/work.h"

/* Blocks of one band: first, first + step and so on. */
struct gpume_block_range {
    uint32_t band, first, step, count;
};

/* The full search: tiles where the variant has them, quads for what they leave. */
struct gpume_match {
    struct gpume_tile tile; /* all zero: quads alone */
    bool sieved;            /* only the blocks that the sieve has left over */
    struct gpume_kernel tiles, quads;
};

struct gpume_kernels {
    struct gpume_match match, left; /* all blocks; those that the sieve has left over */
    struct gpume_kernel upload, prefilter, boxes, sieve, predict, reduce;
    struct gpume_k_sort rank;
};

int gpume_k_upload_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_kernel *kernel);
void gpume_k_upload_record(const struct gpume_work *work, const struct gpume_kernel *kernel,
    uint32_t pool_index, uint64_t sequence);

/* A plan without a filter needs no kernel, which then stays zeroed. tables: the words of
 * plan.prefilter from its weights on. */
int gpume_k_prefilter_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_kernel *kernel);
void gpume_k_prefilter_record(const struct gpume_work *work, const struct gpume_kernel *kernel,
    const struct gpume_buffer *tables, uint64_t sequence, const struct gpume_buffer *plane);

/* Successive elimination before match, where layout.boxes_bytes > 0. */
int gpume_k_boxes_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_kernel *kernel);
/* Of the first `count` frames that the task table lists for it. */
void gpume_k_boxes_record(
    const struct gpume_work *work, const struct gpume_kernel *kernel, uint32_t count);
/* In the form that suits the plan: gpume_sieve_sifts. */
int gpume_k_sieve_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_kernel *kernel);
/* Zeroes the counts, which the sieve adds to. */
void gpume_k_sieve_clear(const struct gpume_work *work);
void gpume_k_sieve_record(const struct gpume_work *work, const struct gpume_kernel *kernel);

/* sieved: only the blocks that the sieve has left over. tile: of the variant, as it suits the plan.
 * A kernel that has nothing to do stays zeroed. On failure destroy it all the same. */
int gpume_k_match_create(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_match_variant *variant, const struct gpume_tile *tile, bool sieved,
    struct gpume_match *match);
void gpume_k_match_record(const struct gpume_work *work, const struct gpume_match *match);
void gpume_k_match_destroy(struct gpume_gpu *gpu, struct gpume_match *match);

/* Its parts: every block of a band by tiles but those that they leave, and any blocks. */
int gpume_k_tile_create(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    enum gpume_tile_words words, const struct gpume_tile *tile, bool sieved,
    struct gpume_kernel *kernel);
void gpume_k_tile_record(const struct gpume_work *work, const struct gpume_kernel *kernel,
    const struct gpume_tile *tile, bool sieved, uint32_t band);
int gpume_k_quads_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, bool sieved, struct gpume_kernel *kernel);
void gpume_k_quads_record(const struct gpume_work *work, const struct gpume_kernel *kernel,
    const struct gpume_block_range *range);

int gpume_k_predict_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_kernel *kernel);
void gpume_k_predict_record(const struct gpume_work *work, const struct gpume_kernel *kernel);

int gpume_k_reduce_create(struct gpume_gpu *gpu, struct gpume_kernel *kernel);
void gpume_k_reduce_record(const struct gpume_work *work, const struct gpume_kernel *kernel);

/* Bytes of scratch memory, of a whole batch. */
VkDeviceSize gpume_k_rank_scratch(struct gpume_gpu *gpu, const struct gpume_plan *plan);
int gpume_k_rank_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_k_sort *sort);
void gpume_k_rank_record(const struct gpume_work *work, const struct gpume_k_sort *sort);

void gpume_k_readback_record(const struct gpume_work *work);

/* Calls of gpume_slot_bind that a stage makes at most: for a frame, for a band, for a submission.
 */
uint32_t gpume_k_upload_binds(const struct gpume_plan *plan);
uint32_t gpume_k_prefilter_binds(const struct gpume_plan *plan);
#define GPUME_K_BAND_BINDS 4u /* tiles, quads twice, predict */
#define GPUME_K_REDUCE_BINDS 1u

/* A stage's two variants, for 8-bit and 16-bit samples. */
struct gpume_k_code {
    const uint32_t *words8, *words16;
    size_t bytes8, bytes16;
    uint32_t buffer_count, push_bytes;
    bool tasks; /* it reads the task table */
};

/* That of the arrays of words called name8 and name16; push: the type of its push constants. */
#define GPUME_K_CODE(name, buffers, push)                                                          \
    .words8 = name##8, .words16 = name##16, .bytes8 = sizeof(name##8),                             \
    .bytes16 = sizeof(name##16), .buffer_count = (buffers), .push_bytes = sizeof(push)
/* The same for a kernel of frames, and for one that reads the task table. */
#define GPUME_K_FRAME_CODE(name, buffers, push)                                                    \
    {                                                                                              \
        GPUME_K_CODE(name, buffers, push)                                                          \
    }
#define GPUME_K_TASK_CODE(name, buffers, push)                                                     \
    {                                                                                              \
        GPUME_K_CODE(name, buffers, push), .tasks = true                                           \
    }

/* The variant for the plan's samples; constants NULL: those of the plan. */
int gpume_k_create(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_k_code *code, const uint32_t *constants, struct gpume_kernel *kernel);

/* The specialisation constants of a plan, by id; those of one kernel alone are 0. */
void gpume_k_constants(const struct gpume_plan *plan, uint32_t constants[GPUME_SPEC_COUNT]);

/* Blocks that one dispatch may take where each costs so many pixel differences, so that none keeps
 * the device busy for long. */
uint32_t gpume_k_blocks_per_dispatch(const struct gpume_plan *plan, uint64_t block_work);

#endif
