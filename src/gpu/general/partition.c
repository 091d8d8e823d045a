/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Partition: reads costs and bits, writes CHOSEN and CELLS; a workgroup for each block of the
 * largest square.
 */
#include "model/partition.h"

#include "gpu/general/general.h"

#include "tree.inc"
#define tree8 tree /* the depth of samples does not matter */
#define tree16 tree

_Static_assert(sizeof(struct gpume_tree_push) == 26 * 4, "words without gaps, and one behind");
_Static_assert(GPUME_TREE_LEVELS == GPUME_PARTITION_LEVELS, "as GLSL knows it");

static bool wanted(const struct gpume_stage_setup *setup)
{
    return setup->plan->params.partition;
}

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    needs->arrays[GPUME_ARRAY_CHOSEN][0] = (VkDeviceSize)plan->batch * plan->blocks * 4;
    needs->arrays[GPUME_ARRAY_CELLS][0] =
        (VkDeviceSize)plan->batch * gpume_partition_smallest(plan)->blocks * 4;
}

static int create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code code = GPUME_FRAME_CODE(tree, 0, struct gpume_tree_push);
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(&stage->setup, constants);
    return gpume_stage_kernel(&stage->setup, &code, constants, &stage->kernels[0]);
}

/* GPUME_NONE: the plan lacks that layer. */
static uint32_t first_of(const struct gpume_plan *plan, uint32_t layer)
{
    return layer == GPUME_NONE ? GPUME_NONE : plan->layers[layer].first;
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_plan *plan = work->plan;
    const struct gpume_partition partition = gpume_partition_of(plan);
    struct gpume_tree_push push = {
        .table = gpume_general_push_make(work, &plan->layers[0]).table,
        .width = plan->params.width,
        .height = plan->params.height,
        .field_blocks = plan->blocks,
        .side = partition.levels[0].side,
        .levels = partition.level_count,
    };
    for (uint32_t i = 0; i < partition.level_count; i++) {
        const struct gpume_partition_level *level = &partition.levels[i];
        push.first[GPUME_TREE_SPLITS * i + 0] = first_of(plan, level->whole);
        push.first[GPUME_TREE_SPLITS * i + 1] = first_of(plan, level->above);
        push.first[GPUME_TREE_SPLITS * i + 2] = first_of(plan, level->beside);
    }
    struct gpume_view chosen = gpume_work_array(work, GPUME_ARRAY_CHOSEN, 0);
    gpume_slot_clear(work->slot, &chosen);
    gpume_barrier_clear_to_kernel(work->slot);
    gpume_slot_bind(work->slot, &stage->kernels[0], NULL);
    gpume_slot_dispatch_many(work->slot, &stage->kernels[0], &push,
        plan->layers[partition.levels[0].whole].blocks, work->task_count);
}

const struct gpume_stage_ops gpume_stage_partition = {
    .name = "partition",
    .row = GPUME_ROW_REDUCE,
    .wanted = wanted,
    .needs = needs,
    .create = create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};
