/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Means (params.bidirectional): reads the searched surface, PREDICTORS and MEANS, which choose has
 * started; writes MEANS and results of a layer, turn by turn.
 */
#include "base/grid.h"
#include "gpu/general/boxes.h"

#include "mean16.inc"
#include "mean8.inc"
#include "mean_half8.inc"

#define mean_half16 mean16 /* half floats are for 8 bits */

#define TURNS (2 * GPUME_MEAN_ROUNDS)
#define CLOSING_PLACES 3u

_Static_assert(sizeof(struct gpume_mean_push) == 20 * 4, "words without gaps");

static bool wanted(const struct gpume_stage_setup *setup)
{
    return setup->plan->params.bidirectional;
}

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    needs->arrays[GPUME_ARRAY_MEANS][0] =
        (VkDeviceSize)setup->plan->batch * setup->plan->blocks * GPUME_MEAN_WORDS * 4;
}

/* Enough to share out the vector that moves and its neighbours. */
static uint32_t local_of(const struct gpume_stage_setup *setup)
{
    return (uint32_t)gpume_max_u64(gpume_general_local(setup), 16);
}

static int create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code codes[] = {
        GPUME_FRAME_CODE(mean, 0, struct gpume_mean_push),
        GPUME_FRAME_CODE(mean_half, 0, struct gpume_mean_push),
    };
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(&stage->setup, constants);
    constants[GPUME_SPEC_LOCAL] = local_of(&stage->setup);
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
    uint32_t places = gpume_general_places(setup->plan);
    uint32_t step = gpume_general_places_per_dispatch(setup), local = local_of(setup);
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

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    struct gpume_mean_push push = {
        .general = gpume_general_push_make(work, gpume_stage_layer(&stage->setup))};
    push.general.coarse = gpume_general_coarse(&stage->setup);
    gpume_slot_bind(work->slot, &stage->kernels[0], NULL);
    for (push.turn = 0; push.turn < TURNS; push.turn++) {
        record_turn(stage, work, &push);
    }
}

const struct gpume_stage_ops gpume_stage_means = {
    .name = "means",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = wanted,
    .needs = needs,
    .create = create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};
