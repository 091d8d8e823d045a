/* SPDX-License-Identifier: BSD-2-Clause */
/* The stages at the end of a submission: what predictions leave, as sums of the differences before
 * and after; ranks; and the host's copy of all results. */
#include "arrays/host_sort.h"
#include "base/base.h"
#include "gpu/arrays/sort.h"
#include "gpu/stages/stage.h"
#include "model/plan.h"

#include "measure16.inc"
#include "measure8.inc"
#include "predict16.inc"
#include "predict8.inc"
#include "reduce.inc"

#include <stdlib.h>

/* --- predict
 *
 * Reads the measured surface and the layer's vectors, writes partial sums and, of the
 * first layer, the predicted frames; a pass over the pixels, once per layer.
 */

_Static_assert(
    sizeof(struct gpume_predict_push) == 16 * 4, "words without gaps, as GLSL lays them");

/* The general search measures in its own way. */
static bool is_not_general(const struct gpume_stage_setup *setup)
{
    return !setup->plan->general;
}

uint32_t gpume_predict_groups(const struct gpume_plan *plan, uint64_t rows)
{
    uint64_t quads = gpume_min_u64(rows, plan->params.height) * gpume_div_up(plan->params.width, 4);
    return (uint32_t)gpume_min_u64(gpume_div_up(quads, GPUME_REDUCE_LOCAL), GPUME_REDUCE_GROUPS);
}

static uint32_t band_groups(const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    return gpume_predict_groups(plan, (uint64_t)layer->band_rows * layer->block_h);
}

uint32_t gpume_predict_partials(const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    return layer->band_count * band_groups(plan, layer);
}

static bool predicts(const struct gpume_stage_setup *setup)
{
    return setup->plan->params.want_predicted && setup->layer == 0;
}

static void predict_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    needs->arrays[GPUME_ARRAY_PARTIALS][setup->layer] =
        (VkDeviceSize)plan->batch * gpume_predict_partials(plan, layer) * GPUME_SUM_WORDS * 4;
    /* The kernel binds it even if there is nothing to store. */
    needs->arrays[GPUME_ARRAY_PREDICTED][0] =
        plan->batch * (plan->params.want_predicted ? plan->plane_bytes : 4);
    needs->binds += layer->band_count;
}

static int predict_create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code code =
        GPUME_TASK_CODE(predict, 5, struct gpume_predict_push);
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(&stage->setup, constants);
    constants[GPUME_SPEC_PREDICTED] = predicts(&stage->setup);
    return gpume_stage_kernel(&stage->setup, &code, constants, &stage->kernels[0]);
}

/* Where the band's rows of predicted frames go. */
static struct gpume_view predicted_view(const struct gpume_gpu_stage *stage,
    const struct gpume_work *work, uint32_t row_first, uint32_t row_end)
{
    const struct gpume_plan *plan = stage->setup.plan;
    struct gpume_view view = gpume_work_array(work, GPUME_ARRAY_PREDICTED, 0);
    if (predicts(&stage->setup) && gpume_stage_layer(&stage->setup)->band_count > 1) {
        view.offset += (VkDeviceSize)row_first * plan->plane_stride;
        view.bytes = (VkDeviceSize)(row_end - row_first) * plan->plane_stride;
    }
    return view;
}

static void record_band(
    const struct gpume_gpu_stage *stage, const struct gpume_work *work, uint32_t band)
{
    const struct gpume_plan *plan = work->plan;
    const struct gpume_shape *layer = gpume_stage_layer(&stage->setup);
    uint32_t rows = layer->band_rows * layer->block_h, groups = band_groups(plan, layer);
    struct gpume_predict_push push = {
        .layer = gpume_work_layer(plan, layer),
        .row_first = band * rows,
        .row_end = (uint32_t)gpume_min_u64((uint64_t)(band + 1) * rows, plan->params.height),
        .predicted_stride = plan->plane_stride / gpume_quad_bytes(plan),
        .predicted_quads = (uint32_t)(plan->plane_bytes / gpume_quad_bytes(plan)),
        .partial_first = band * groups,
        .partials = gpume_predict_partials(plan, layer),
    };
    struct gpume_view views[5];
    gpume_work_frames(work, plan->measured, layer, band, &views[0], &views[1], &push.frames);
    views[2] = gpume_work_array(work, GPUME_ARRAY_VECTORS, 0);
    views[3] = gpume_work_array(work, GPUME_ARRAY_PARTIALS, stage->setup.layer);
    views[4] = predicted_view(stage, work, push.row_first, push.row_end);
    gpume_slot_bind(work->slot, &stage->kernels[0], views);
    gpume_slot_dispatch(work->slot, &stage->kernels[0], &push, groups, 1, work->task_count);
}

static void predict_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    for (uint32_t band = 0; band < gpume_stage_layer(&stage->setup)->band_count; band++) {
        record_band(stage, work, band);
    }
}

const struct gpume_stage_ops gpume_stage_predict = {
    .name = "predict",
    .row = GPUME_ROW_REDUCE,
    .of_layers = true,
    .wanted = is_not_general,
    .needs = predict_needs,
    .create = predict_create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = predict_record,
};

/* --- reduce
 *
 * Reads partial sums, writes sums; a workgroup for each task, once per layer.
 */

_Static_assert(sizeof(struct gpume_reduce_push) == 3 * 4, "words without gaps, as GLSL lays them");

#define reduce8 reduce /* the depth of samples does not matter */
#define reduce16 reduce

static const struct gpume_kernel_code reduce_code =
    GPUME_FRAME_CODE(reduce, 2, struct gpume_reduce_push);

static void reduce_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    needs->arrays[GPUME_ARRAY_SUMS][0] =
        (VkDeviceSize)plan->batch * plan->layer_count * GPUME_SUM_WORDS * 4;
}

/* layer: that of the partial sums. */
static void record_reduce(const struct gpume_work *work, const struct gpume_kernel *kernel,
    uint32_t layer, const struct gpume_reduce_push *push)
{
    struct gpume_view views[] = {
        gpume_work_array(work, GPUME_ARRAY_PARTIALS, layer),
        gpume_work_array(work, GPUME_ARRAY_SUMS, 0),
    };
    gpume_slot_bind(work->slot, kernel, views);
    gpume_slot_dispatch(work->slot, kernel, push, work->task_count, 1, 1);
}

static void reduce_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    struct gpume_reduce_push push = {
        .partials = gpume_predict_partials(setup->plan, gpume_stage_layer(setup)),
        .layer = setup->layer,
        .layers = setup->plan->layer_count,
    };
    record_reduce(work, &stage->kernels[0], setup->layer, &push);
}

const struct gpume_stage_ops gpume_stage_reduce = {
    .name = "reduce",
    .row = GPUME_ROW_REDUCE,
    .of_layers = true,
    .wanted = is_not_general,
    .needs = reduce_needs,
    .code = &reduce_code,
    .binds = 1,
    .before = gpume_barrier_kernel_to_kernel,
    .record = reduce_record,
};

/* --- measure
 *
 * Reads the measured surface, results and CELLS; writes predicted frames, partial sums and
 * their sums. What predict and reduce do for other plans, by the first layer or the chosen blocks.
 */

enum { MEASURE, REDUCE };

static void measure_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    VkDeviceSize sums = (VkDeviceSize)plan->batch * GPUME_SUM_WORDS * 4;
    needs->arrays[GPUME_ARRAY_SUMS][0] = sums;
    needs->arrays[GPUME_ARRAY_PARTIALS][0] = sums * gpume_predict_groups(plan, plan->params.height);
    needs->arrays[GPUME_ARRAY_PREDICTED][0] =
        plan->params.want_predicted ? plan->batch * plan->plane_bytes : 0;
}

static int measure_create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code code =
        GPUME_FRAME_CODE(measure, 0, struct gpume_measure_push);
    uint32_t constants[GPUME_SPEC_COUNT];
    int status;
    gpume_stage_constants(&stage->setup, constants);
    constants[GPUME_SPEC_PREDICTED] = stage->setup.plan->params.want_predicted;
    GPUME_TRY(gpume_stage_kernel(&stage->setup, &code, constants, &stage->kernels[MEASURE]));
    GPUME_TRY(gpume_stage_kernel(&stage->setup, &reduce_code, NULL, &stage->kernels[REDUCE]));
fail:
    return status;
}

static void measure_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_plan *plan = work->plan;
    /* The squares or rectangles whose blocks predict: one for each block of this layer, or, with
     * params.partition, one for each of its smallest squares. */
    const struct gpume_shape *cells =
        plan->params.partition ? gpume_partition_smallest(plan) : &plan->layers[0];
    uint32_t groups = gpume_predict_groups(plan, plan->params.height);
    const struct gpume_measure_push push = {
        .general = gpume_general_push_make(work, cells),
        .cell_w = cells->block_w,
        .cell_h = cells->block_h,
        .predicted_stride = plan->plane_stride / gpume_quad_bytes(plan),
        .predicted_quads = (uint32_t)(plan->plane_bytes / gpume_quad_bytes(plan)),
    };
    gpume_slot_bind(work->slot, &stage->kernels[MEASURE], NULL);
    gpume_slot_dispatch(work->slot, &stage->kernels[MEASURE], &push, groups, 1, work->task_count);
    gpume_barrier_kernel_to_kernel(work->slot);
    record_reduce(work, &stage->kernels[REDUCE], 0,
        &(struct gpume_reduce_push){.partials = groups, .layers = 1});
}

const struct gpume_stage_ops gpume_stage_measure = {
    .name = "measure",
    .row = GPUME_ROW_REDUCE,
    .wanted = gpume_general_wanted,
    .needs = measure_needs,
    .create = measure_create,
    .binds = 1,
    .before = gpume_barrier_kernel_to_kernel,
    .record = measure_record,
};

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
