/* SPDX-License-Identifier: BSD-2-Clause */
/* The general search itself: the passes over a layer, and the search for means. */
#include "gpu/general/general.h"

#include "base/grid.h"
#include "base/status.h"

#include "general16.inc"
#include "general8.inc"
#include "general_half8.inc"
#include "mean16.inc"
#include "mean8.inc"
#include "mean_half8.inc"
#include "median.inc"
#include "refine16.inc"
#include "refine8.inc"

/* --- search
 *
 * For every pass predictors, then one candidate after the other,
 * then their refinement. Reads the searched surface, writes PREDICTORS and PAIR_*.
 */

/* Loop iterations that compare a place, at most, see cost.glsl. */
static uint32_t iterations_of_place(const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    /* A driver need not unroll the loops over a tile: 72 iterations for 64 samples. */
    const struct gpume_params *p = &plan->params;
    bool satd = p->metric == GPUME_METRIC_SATD || gpume_cost_metric(p) == GPUME_METRIC_SATD;
    return satd ? 2 * layer->block_w * layer->block_h
                : layer->block_w / 4 * (layer->block_h + layer->block_h / 4) + 1;
}

#define median8 median /* the depth of samples does not matter */
#define median16 median
#define general_half16 general16 /* half floats are for 8 bits */

enum { MEDIAN, SEARCH, REFINE };

#define LOCAL_GPU 64u     /* measured with windows of 81 and 289 groups, */
#define LOCAL_LARGE 128u  /* and of 1089 */
#define LARGE_WINDOW 512u /* groups */
#define LOCAL_CPU 16u     /* a workgroup of a software driver runs on one core */
#define REFINE_LOCAL 64u
#define NEIGHBOURS 8u
#define SEED_ITERATIONS 16384u /* of an invocation that looks for places to start from */

_Static_assert(sizeof(struct gpume_general_push) == 18 * 4, "words without gaps");

static bool refines(const struct gpume_plan *plan)
{
    return plan->units > 1 && plan->params.subpel_search == GPUME_SUBPEL_REFINE;
}

/* Else the fast search has found all that there is to find. */
static bool search_wanted(const struct gpume_stage_setup *setup)
{
    return gpume_general_wanted(setup) && (!setup->plan->fast_pixels || refines(setup->plan));
}

static uint32_t groups_along(const struct gpume_plan *plan, uint32_t window)
{
    uint32_t pixels = gpume_plan_searches_fractions(plan) ? 1 : GPUME_GROUP_SIDE;
    return (window + pixels - 1) / pixels + 1 + window / pixels;
}

static uint32_t window_groups(const struct gpume_plan *plan)
{
    return groups_along(plan, plan->params.window_x) * groups_along(plan, plan->params.window_y);
}

/* Vectors that a search looks at before it refines: those of whole groups (places.glsl), at most
 * 4100 * 4100. */
static uint32_t places_of(const struct gpume_plan *plan)
{
    uint32_t side = gpume_plan_searches_fractions(plan) ? plan->units : GPUME_GROUP_SIDE;
    return window_groups(plan) * side * side;
}

/* Invocations that search a block: a multiple of a group's places. */
static uint32_t local_of_search(const struct gpume_stage_setup *setup)
{
    bool processor = setup->gpu->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    uint32_t of_gpu = window_groups(setup->plan) < LARGE_WINDOW ? LOCAL_GPU : LOCAL_LARGE;
    uint32_t most = processor ? LOCAL_CPU : of_gpu, local = 1;
    while (local < most && local < places_of(setup->plan)) {
        local *= 2;
    }
    return local;
}

static int create_search_kernel(struct gpume_gpu_stage *stage, uint32_t which, uint32_t local,
    const struct gpume_kernel_code *code)
{
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(&stage->setup, constants);
    constants[GPUME_SPEC_LOCAL] = local;
    constants[GPUME_SPEC_BOX] = gpume_boxes_side(stage->setup.plan);
    return gpume_stage_kernel(&stage->setup, code, constants, &stage->kernels[which]);
}

static int search_create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code of_median = GPUME_FRAME_CODE(
                                              median, 0, struct gpume_general_push),
                                          of_search = GPUME_FRAME_CODE(
                                              general, 0, struct gpume_general_push),
                                          of_half_search = GPUME_FRAME_CODE(
                                              general_half, 0, struct gpume_general_push),
                                          of_refine = GPUME_FRAME_CODE(
                                              refine, 0, struct gpume_general_push);
    const struct gpume_plan *plan = stage->setup.plan;
    bool half = gpume_stage_half(stage->setup.gpu);
    int status = GPUME_OK;
    if (!plan->fast_pixels) {
        GPUME_TRY(create_search_kernel(
            stage, SEARCH, local_of_search(&stage->setup), half ? &of_half_search : &of_search));
    }
    if (plan->passes > 1) {
        GPUME_TRY(create_search_kernel(stage, MEDIAN, 0, &of_median));
    }
    if (refines(plan)) {
        GPUME_TRY(create_search_kernel(stage, REFINE, REFINE_LOCAL, &of_refine));
    }
fail:
    return status;
}

/* Workgroups, each for `share` of a layer's blocks, in dispatches that none take long. work:
 * samples that are compared for a block. */
static void record_layer_blocks(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    uint32_t which, struct gpume_general_push *push, uint64_t block_work)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_kernel *kernel = &stage->kernels[which];
    uint32_t pairs = gpume_work_pairs(setup->plan, work->task_count);
    uint32_t step = gpume_stage_blocks_per_dispatch(setup, block_work * setup->plan->references);
    gpume_slot_bind(work->slot, kernel, NULL);
    for (push->block_first = 0; push->block_first < push->layer.blocks; push->block_first += step) {
        uint64_t groups = gpume_min_u64(step, push->layer.blocks - push->block_first);
        push->block_end = push->block_first + (uint32_t)groups;
        if (which == REFINE) {
            groups = gpume_div_up(groups * push->end, REFINE_LOCAL / NEIGHBOURS);
        }
        gpume_slot_dispatch_many(work->slot, kernel, push, groups, pairs);
    }
}

/* Loop iterations that bound a place, at most, see bound.glsl. */
static uint32_t iterations_of_bound(const struct gpume_shape *layer)
{
    return (layer->block_w / 4 + 1) * (layer->block_h / 4) + GPUME_CANDIDATES_MAX + 1;
}

/* How many places one dispatch may take of every block, so that no invocation's loops are too
 * long: with some left for what kernels do besides. */
static uint32_t places_per_dispatch(const struct gpume_stage_setup *setup)
{
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    uint32_t of_place =
        iterations_of_place(setup->plan, layer) + 2 * iterations_of_bound(layer) + 8;
    uint32_t iterations = GPUME_ITERATIONS_MAX - SEED_ITERATIONS - 4096;
    return iterations / of_place * local_of_search(setup); /* a multiple of a group's places */
}

/* One in this many groups may be where a pruned search starts: all of them, if that keeps its loops
 * short enough. */
static uint32_t coarse_step(const struct gpume_stage_setup *setup)
{
    uint64_t each = SEED_ITERATIONS / iterations_of_bound(gpume_stage_layer(setup));
    return (uint32_t)gpume_div_up(window_groups(setup->plan), each * local_of_search(setup));
}

static void record_candidate(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    struct gpume_general_push *push, uint32_t candidate)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    uint32_t places = places_of(setup->plan), step = places_per_dispatch(setup);
    push->candidate = candidate;
    for (push->first = 0; push->first < places; push->first += step) {
        push->end = (uint32_t)gpume_min_u64((uint64_t)push->first + step, places);
        uint64_t count = push->end - push->first;
        record_layer_blocks(stage, work, SEARCH, push, count * layer->block_w * layer->block_h);
        gpume_barrier_kernel_to_kernel(work->slot);
    }
}

static void record_median(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    const struct gpume_general_push *push)
{
    gpume_slot_bind(work->slot, &stage->kernels[MEDIAN], NULL);
    gpume_slot_dispatch_many(work->slot, &stage->kernels[MEDIAN], push,
        gpume_div_up(push->layer.blocks, GPUME_GENERAL_LOCAL),
        gpume_work_pairs(work->plan, work->task_count));
    gpume_barrier_kernel_to_kernel(work->slot);
}

/* push->end: how many candidates of a block are refined. */
static void record_refine(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    struct gpume_general_push *push, uint32_t candidates)
{
    const struct gpume_shape *layer = gpume_stage_layer(&stage->setup);
    push->end = candidates;
    record_layer_blocks(stage, work, REFINE, push,
        2ull * NEIGHBOURS * candidates * layer->block_w * layer->block_h);
    gpume_barrier_kernel_to_kernel(work->slot);
}

static void search_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_plan *plan = work->plan;
    struct gpume_general_push push =
        gpume_general_push_make(work, gpume_stage_layer(&stage->setup));
    push.coarse = coarse_step(&stage->setup);
    if (plan->fast_pixels) {
        record_refine(stage, work, &push, 1);
        return;
    }
    for (uint32_t pass = 0; pass < plan->passes; pass++) {
        /* The next pass needs the best vector alone. */
        uint32_t candidates = pass + 1 < plan->passes ? 1 : plan->kept;
        if (pass > 0) {
            record_median(stage, work, &push);
        }
        for (uint32_t i = 0; i < candidates; i++) {
            record_candidate(stage, work, &push, i);
        }
        if (refines(plan)) {
            record_refine(stage, work, &push, candidates);
        }
    }
}

const struct gpume_stage_ops gpume_stage_general_search = {
    .name = "general search",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = search_wanted,
    .create = search_create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = search_record,
};

/* --- means
 *
 * Reads the searched surface, PREDICTORS and MEANS, which choose has
 * started; writes MEANS and results of a layer, turn by turn.
 */

#define mean_half16 mean16 /* half floats are for 8 bits */

#define TURNS (2 * GPUME_MEAN_ROUNDS)
#define CLOSING_PLACES 3u

_Static_assert(sizeof(struct gpume_mean_push) == 20 * 4, "words without gaps");

static bool means_wanted(const struct gpume_stage_setup *setup)
{
    return setup->plan->params.bidirectional;
}

static void means_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    needs->arrays[GPUME_ARRAY_MEANS][0] =
        (VkDeviceSize)setup->plan->batch * setup->plan->blocks * GPUME_MEAN_WORDS * 4;
}

/* Enough to share out the vector that moves and its neighbours. */
static uint32_t local_of_means(const struct gpume_stage_setup *setup)
{
    return (uint32_t)gpume_max_u64(local_of_search(setup), 16);
}

static int means_create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code codes[] = {
        GPUME_FRAME_CODE(mean, 0, struct gpume_mean_push),
        GPUME_FRAME_CODE(mean_half, 0, struct gpume_mean_push),
    };
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(&stage->setup, constants);
    constants[GPUME_SPEC_LOCAL] = local_of_means(&stage->setup);
    constants[GPUME_SPEC_BOX] = gpume_boxes_side(stage->setup.plan);
    return gpume_stage_kernel(
        &stage->setup, &codes[gpume_stage_half(stage->setup.gpu)], constants, &stage->kernels[0]);
}

/* Some places of every block, in dispatches that none take long. */
static void record_places(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    struct gpume_mean_push *push)
{
    const struct gpume_shape *layer = gpume_stage_layer(&stage->setup);
    uint64_t places = push->general.end - push->general.first + CLOSING_PLACES;
    uint32_t step =
        gpume_stage_blocks_per_dispatch(&stage->setup, places * layer->block_w * layer->block_h);
    for (uint32_t first = 0; first < layer->blocks; first += step) {
        uint32_t count = (uint32_t)gpume_min_u64(step, layer->blocks - first);
        push->general.block_first = first;
        push->general.block_end = first + count;
        gpume_slot_dispatch_many(work->slot, &stage->kernels[0], push, count, work->task_count);
    }
    gpume_barrier_kernel_to_kernel(work->slot);
}

/* The places of the window, then what closes a turn: in the same dispatch, if an invocation could
 * take as many places more. */
static void record_turn(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    struct gpume_mean_push *push)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    uint32_t places = places_of(setup->plan);
    uint32_t step = places_per_dispatch(setup), local = local_of_means(setup);
    push->is_last = false;
    for (uint32_t first = 0; !push->is_last; first = push->general.end) {
        push->general.first = first;
        push->general.end = (uint32_t)gpume_min_u64((uint64_t)first + step, places);
        uint32_t left = step - (push->general.end - first);
        push->is_last =
            first == places || (push->general.end == places && left >= CLOSING_PLACES * local);
        record_places(stage, work, push);
    }
}

static void means_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    struct gpume_mean_push push = {
        .general = gpume_general_push_make(work, gpume_stage_layer(&stage->setup))};
    push.general.coarse = coarse_step(&stage->setup);
    gpume_slot_bind(work->slot, &stage->kernels[0], NULL);
    for (push.turn = 0; push.turn < TURNS; push.turn++) {
        record_turn(stage, work, &push);
    }
}

const struct gpume_stage_ops gpume_stage_means = {
    .name = "means",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = means_wanted,
    .needs = means_needs,
    .create = means_create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = means_record,
};
