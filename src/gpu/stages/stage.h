/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stages: the steps that a submission takes on the device, in the order of one table. The engine,
 * its memory, its statistics and its log walk that table. Stages that work on the same things share
 * a file. Some stages run once for every layer of blocks.
 *
 *               reads                               writes
 *   upload      upload memory                       surface SOURCE
 *   prefilter   surface SOURCE, tables              planes, then surface FILTERED
 *   block sums  the searched surface                block sums, patches
 *   prune       patches or surface, block sums      vectors, costs, counts, fallback
 *   match       the searched surface                vectors, costs
 *   fallback    the same, fallback                  vectors, costs of the blocks in fallback
 *   predict     the measured surface, vectors       predicted, partials
 *   reduce      partials                            sums
 *   rank        costs                               ranks, or the host does: collect
 *   readback    results                             the host's copy
 */
#ifndef GPUME_GPU_STAGES_STAGE_H
#define GPUME_GPU_STAGES_STAGE_H

#include "gpu/work.h"

struct gpume_cache;
struct gpume_match_choice;

/* What a stage is made for; all pointers outlive it. */
struct gpume_stage_setup {
    struct gpume_gpu *gpu;
    const struct gpume_plan *plan;
    const struct gpume_layout *layout;
    uint32_t layer;                          /* of the stages that run once per layer, else 0 */
    const struct gpume_match_choice *choice; /* the layer's search; NULL until it is made */
    const struct gpume_cache *cache;
};

#define GPUME_STAGE_KERNELS_MAX 3u

struct gpume_gpu_stage {
    const struct gpume_stage_ops *ops; /* NULL: nothing to create, wait for or destroy */
    struct gpume_stage_setup setup;
    struct gpume_kernel kernels[GPUME_STAGE_KERNELS_MAX]; /* those not needed stay zeroed */
    void *own;                                            /* the stage's, freed with it */
};

struct gpume_stage_ops {
    const char *name;
    enum gpume_gpu_row row; /* that its time is added to */
    bool of_frames;         /* it runs for the frames of a submission, else for its tasks */
    bool of_layers;         /* once per layer */
    uint32_t binds;         /* calls of gpume_slot_bind, beside those that needs declares */
    /* Whether a run has it at all. NULL: every run. */
    bool (*wanted)(const struct gpume_stage_setup *setup);
    /* Declares memory and descriptors. Arithmetic alone. NULL: it needs none. */
    void (*needs)(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs);
    /* Its only kernel, with the usual constants; or NULL: starts to make its kernels. Both NULL: it
     * has none. It is destroyed after a failure too. */
    const struct gpume_kernel_code *code;
    int (*create)(struct gpume_gpu_stage *stage);
    /* NULL: the kernels are all that there is to wait for, and to destroy. */
    int (*wait)(struct gpume_gpu_stage *stage);
    void (*destroy)(struct gpume_gpu_stage *stage);
    /* Whether this submission takes it. NULL: every submission. */
    bool (*used)(const struct gpume_gpu_stage *stage, const struct gpume_work *work);
    /* The barrier that makes visible what it reads, before all of its layers. NULL: none. */
    void (*before)(struct gpume_slot *slot);
    /* Writes commands and nothing else: no submission, no waiting, no allocation. */
    void (*record)(const struct gpume_gpu_stage *stage, const struct gpume_work *work);
    /* When the results of a task are back: what the host adds to them. NULL: nothing. */
    void (*collect)(const struct gpume_gpu_stage *stage, const struct gpume_results *results);
};

extern const struct gpume_stage_ops gpume_stage_upload, gpume_stage_prefilter,
    gpume_stage_block_sums, gpume_stage_prune_wide, gpume_stage_prune_small, gpume_stage_match,
    gpume_stage_fallback, gpume_stage_predict, gpume_stage_reduce, gpume_stage_rank,
    gpume_stage_readback;

static inline const struct gpume_shape *gpume_stage_layer(const struct gpume_stage_setup *setup)
{
    return &setup->plan->layers[setup->layer];
}

int gpume_stage_create(const struct gpume_stage_ops *ops, const struct gpume_stage_setup *setup,
    struct gpume_gpu_stage *stage);
int gpume_stage_wait(struct gpume_gpu_stage *stage);
/* Whether half float arithmetic pays, for bounds and for 8-bit samples. */
bool gpume_stage_half(const struct gpume_gpu *gpu);

/* Zeroed is fine. */
void gpume_stage_destroy(struct gpume_gpu_stage *stage);

/* A kernel's two variants, for 8-bit and 16-bit samples. */
struct gpume_kernel_code {
    const uint32_t *words8, *words16;
    size_t bytes8, bytes16;
    uint32_t buffer_count, push_bytes;
    bool tasks; /* it reads the task table */
};

/* That of the arrays of words called name8 and name16; push: the type of its push constants. */
#define GPUME_KERNEL_CODE(name, buffers, push)                                                     \
    .words8 = name##8, .words16 = name##16, .bytes8 = sizeof(name##8),                             \
    .bytes16 = sizeof(name##16), .buffer_count = (buffers), .push_bytes = sizeof(push)
/* Of a kernel without the task table, and of one that reads it. */
#define GPUME_FRAME_CODE(name, buffers, push)                                                      \
    {                                                                                              \
        GPUME_KERNEL_CODE(name, buffers, push)                                                     \
    }
#define GPUME_TASK_CODE(name, buffers, push)                                                       \
    {                                                                                              \
        GPUME_KERNEL_CODE(name, buffers, push), .tasks = true                                      \
    }

/* The variant for the plan's samples. constants NULL: those of gpume_stage_constants. */
int gpume_stage_kernel(const struct gpume_stage_setup *setup, const struct gpume_kernel_code *code,
    const uint32_t constants[GPUME_SPEC_COUNT], struct gpume_kernel *kernel);

/* The specialisation constants of the plan and the layer, by id; those of one kernel alone are 0.
 */
void gpume_stage_constants(
    const struct gpume_stage_setup *setup, uint32_t constants[GPUME_SPEC_COUNT]);

/* The blocks that pruning leaves to the full search: GPUME_ARRAY_FALLBACK of a layer has a word for
 * each of its blocks in every pair (1: search it in full), then the number of those blocks, then
 * their indices. Gives the words before that number. */
static inline uint32_t gpume_stage_fallback_list(const struct gpume_stage_setup *setup)
{
    return gpume_work_pairs(setup->plan, setup->plan->batch) * gpume_stage_layer(setup)->blocks;
}

/* Blocks of a layer that one dispatch may take where each costs that many pixel differences, so
 * that none keeps the device busy for long. */
uint32_t gpume_stage_blocks_per_dispatch(
    const struct gpume_stage_setup *setup, uint64_t block_work);

/* Workgroups for a number of rows of the picture: as many as have a quad of samples for each
 * invocation. Each leaves one set of partial sums for every task. */
uint32_t gpume_predict_groups(const struct gpume_plan *plan, uint64_t rows);

/* Sets of partial sums of one task. */
uint32_t gpume_predict_partials(const struct gpume_plan *plan, const struct gpume_shape *layer);

/* Places the block sums of the layers that are pruned: those where it may pay, or (always) all that
 * a kernel suits, of which no part is larger than window_bytes. */
void gpume_prune_plan(const struct gpume_gpu *gpu, bool always, uint64_t window_bytes,
    const struct gpume_plan *plan, struct gpume_layout *layout);

#endif
