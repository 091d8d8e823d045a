/* SPDX-License-Identifier: BSD-2-Clause */
/* The stages at the end of a submission: ranks, and the host's copy of all results. */
#include "arrays/host_sort.h"
#include "base/grid.h"
#include "base/status.h"
#include "gpu/arrays/sort.h"
#include "gpu/stages/stage.h"

#include <stdlib.h>

/* --- rank
 *
 * Reads costs, writes ranks of the layer's blocks in every task, by falling cost, then rising
 * block: a sort with a segment for each task, of its best candidates. Costs are visible since
 * predict's barrier. Where the device sorts wrongly, the host ranks what it gets back.
 */

struct ranking {
    struct gpume_k_sort sort;
    uint32_t *scratch; /* of the host; NULL: the device ranks */
};

/* Without addresses. */
static struct gpume_sort_task ranking_task(
    const struct gpume_stage_setup *setup, uint32_t task_count)
{
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    const struct gpume_plan *plan = setup->plan;
    uint32_t stride = plan->kept * plan->blocks;
    return (struct gpume_sort_task){
        .count = (task_count - 1) * stride + layer->blocks,
        .segments = task_count,
        .stride = stride,
        .longest = layer->blocks,
        .key_bits = plan->general ? 32 : (uint32_t)gpume_max_u64(layer->cost_bits, 1),
        .flip = UINT32_MAX, /* falling */
        .ranks = 1,
        .place_bits = layer->index_bits,
    };
}

static void rank_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    struct gpume_k_sort shapes = gpume_k_sort_shapes(setup->gpu, NULL);
    struct gpume_sort_task task = ranking_task(setup, plan->batch);
    needs->arrays[GPUME_ARRAY_RANKS][0] = (VkDeviceSize)plan->batch * plan->kept * plan->blocks * 4;
    needs->arrays[GPUME_ARRAY_RANKING][setup->layer] = gpume_k_sort_scratch(&shapes, &task);
}

static int rank_create(struct gpume_gpu_stage *stage)
{
    struct ranking *ranking = calloc(1, sizeof(*ranking));
    stage->own = ranking;
    if (!ranking) {
        return gpume_log_nomem(stage->setup.gpu->log, "ranking");
    }
    struct gpume_sort_task task = ranking_task(&stage->setup, stage->setup.plan->batch);
    return gpume_k_sort_create(stage->setup.gpu, NULL, &task, &ranking->sort);
}

static int rank_wait(struct gpume_gpu_stage *stage)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    struct ranking *ranking = stage->own;
    struct gpume_sort_task task = ranking_task(setup, setup->plan->batch);
    int status;
    GPUME_TRY(gpume_k_sort_wait(&ranking->sort));
    GPUME_TRY(gpume_sort_check(&ranking->sort, &task, setup->cache));
    if (setup->gpu->sorts_wrongly) {
        ranking->scratch = calloc(
            gpume_stage_layer(setup)->blocks, GPUME_HOST_RANK_WORDS * sizeof(*ranking->scratch));
        status = ranking->scratch ? GPUME_OK : gpume_log_nomem(setup->gpu->log, "ranking");
    }
fail:
    return status;
}

static void rank_destroy(struct gpume_gpu_stage *stage)
{
    struct ranking *ranking = stage->own;
    if (ranking) {
        gpume_k_sort_destroy(&ranking->sort);
        free(ranking->scratch);
    }
}

static bool rank_used(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct ranking *ranking = stage->own;
    (void)work;
    return !ranking->scratch;
}

static void rank_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct ranking *ranking = stage->own;
    const struct gpume_array_places *places = &work->layout->arrays;
    VkDeviceAddress results = gpume_work_buffer(work, GPUME_ARRAY_COSTS)->address +
                              (VkDeviceSize)gpume_stage_layer(setup)->first * 4;
    struct gpume_sort_task task = ranking_task(setup, work->task_count);
    task.keys = results + places->offsets[GPUME_ARRAY_COSTS][0];
    task.ranks = results + places->offsets[GPUME_ARRAY_RANKS][0];
    task.scratch = gpume_work_buffer(work, GPUME_ARRAY_RANKING)->address +
                   places->offsets[GPUME_ARRAY_RANKING][setup->layer];
    if (work->slot->status == GPUME_OK) {
        gpume_k_sort_record(&ranking->sort, work->slot->commands, &task);
    }
}

static void rank_collect(const struct gpume_gpu_stage *stage, const struct gpume_results *results)
{
    const struct ranking *ranking = stage->own;
    const struct gpume_shape *layer = gpume_stage_layer(&stage->setup);
    if (ranking->scratch) {
        /* The mapping is the host's to write. */
        uint32_t *ranks = (uint32_t *)(uintptr_t)results->ranks + layer->first;
        gpume_host_rank(results->costs + layer->first, layer->blocks, 32, ranks, ranking->scratch);
    }
}

const struct gpume_stage_ops gpume_stage_rank = {
    .name = "rank",
    .row = GPUME_ROW_RANK,
    .of_layers = true,
    .needs = rank_needs,
    .create = rank_create,
    .wait = rank_wait,
    .destroy = rank_destroy,
    .used = rank_used,
    .record = rank_record,
    .collect = rank_collect,
};

/* --- readback
 *
 * Reads results, writes the host's copy of them, as far as there are tasks; predicted
 * frames only if they are wanted.
 */

static void readback_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    bool by_pair = gpume_plan_searches_fast(plan);
    VkDeviceSize counted = by_pair ? gpume_work_pairs(plan, plan->batch) : plan->batch;
    needs->arrays[GPUME_ARRAY_COUNTS][0] = counted * GPUME_COUNT_BYTES;
}

static void readback_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    (void)stage;
    const struct gpume_buffer *to = &work->memory->parts[GPUME_MEMORY_READBACK][work->slot_index];
    for (uint32_t array = 0; array < GPUME_ARRAY_RESULTS; array++) {
        struct gpume_view view = gpume_work_array(work, array, 0);
        bool readback_wanted = array != GPUME_ARRAY_PREDICTED || work->plan->params.want_predicted;
        if (readback_wanted && view.bytes > 0) {
            gpume_slot_copy(
                work->slot, gpume_work_buffer(work, array), to, view.offset, view.bytes);
        }
    }
    gpume_barrier_copy_to_host(work->slot);
}

const struct gpume_stage_ops gpume_stage_readback = {
    .name = "readback",
    .row = GPUME_ROW_READBACK,
    .needs = readback_needs,
    .before = gpume_barrier_kernel_to_copy,
    .record = readback_record,
};
