/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranks of the blocks of every field, by falling cost, then rising block: the sort's, with a field
 * a segment.
 */
#include "base/grid.h"
#include "gpu/stages/stages.h"

/* Without addresses. */
static struct gpume_sort_task task_of(const struct gpume_plan *plan, uint32_t field_count)
{
    return (struct gpume_sort_task){
        .count = field_count * plan->blocks,
        .segments = field_count,
        .stride = plan->blocks,
        .longest = plan->blocks,
        .key_bits = (uint32_t)gpume_max_u64(plan->layers[0].cost_bits, 1),
        .flip = UINT32_MAX, /* falling */
        .ranks = 1,
        .place_bits = plan->layers[0].index_bits,
    };
}

VkDeviceSize gpume_k_rank_scratch(struct gpume_gpu *gpu, const struct gpume_plan *plan)
{
    struct gpume_k_sort shapes = gpume_k_sort_shapes(gpu, NULL);
    struct gpume_sort_task task = task_of(plan, plan->batch);
    return gpume_k_sort_scratch(&shapes, &task);
}

int gpume_k_rank_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_k_sort *sort)
{
    struct gpume_sort_task task = task_of(plan, plan->batch);
    return gpume_k_sort_create_for(gpu, NULL, &task, sort);
}

void gpume_k_rank_record(const struct gpume_work *work, const struct gpume_k_sort *sort)
{
    struct gpume_sort_task task = task_of(work->plan, work->task_count);
    task.keys = work->results->address + work->layout->costs;
    task.ranks = work->results->address + work->layout->ranks;
    task.scratch = work->scratch->address + work->layout->ranking;
    if (work->slot->status == GPUME_OK) {
        gpume_k_sort_record(sort, work->slot->commands, &task);
    }
}
