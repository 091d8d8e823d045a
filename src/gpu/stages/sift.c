/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sieve for small windows: an invocation a block, by sums of quarters alone.
 */
#include "base/grid.h"
#include "gpu/stages/sieve.h"
#include "gpu/tune/sieve_shape.h"

_Static_assert(sizeof(struct gpume_sift_push) == 12 * 4, "words without gaps, as GLSL lays them");

static const uint32_t sift8[] =
#include "sift8.inc"
    ;
static const uint32_t sift16[] =
#include "sift16.inc"
    ;
static const uint32_t sift_half8[] =
#include "sift_half8.inc"
    ;
static const uint32_t sift_half16[] =
#include "sift_half16.inc"
    ;

int gpume_k_sift_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_kernel *kernel)
{
    static const struct gpume_k_code codes[] = {
        GPUME_K_TASK_CODE(sift, 6, struct gpume_sift_push),
        GPUME_K_TASK_CODE(sift_half, 6, struct gpume_sift_push),
    };
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_k_sieve_constants(plan, constants);
    constants[GPUME_SPEC_KEY_BITS] = gpume_bit_width(plan->candidates);
    return gpume_k_create(gpu, plan, &codes[gpume_k_sieve_half(gpu)], constants, kernel);
}

void gpume_k_sift_record(const struct gpume_work *work, const struct gpume_kernel *kernel)
{
    const struct gpume_plan *plan = work->plan;
    uint32_t local = gpume_sieve_shape_make(plan).local;
    struct gpume_frames_push frames;
    struct gpume_view views[2 + GPUME_K_SIEVE_RESULTS], reference;
    gpume_work_frames(work, 0, &views[0], &reference, &frames); /* both the ring's whole */
    struct gpume_sift_push push = {
        .frames = frames,
        .width = plan->params.width,
        .height = plan->params.height,
        .blocks_x = plan->layers[0].blocks_x,
        .blocks = plan->blocks,
        .left_list = gpume_work_left_list(plan),
        .sum_stride = gpume_work_sum_stride(plan) / 8,
        .sum_eights = gpume_work_sum_rows(plan) * (gpume_work_sum_stride(plan) / 8),
    };
    views[1] = gpume_view_part(work->boxes, 0, work->layout->box_bytes);
    gpume_k_sieve_results(work, &views[2]);
    gpume_slot_bind(work->slot, kernel, views);
    uint32_t step =
        (uint32_t)gpume_min_u64(gpume_k_sieve_blocks(plan), GPUME_SIEVE_BLOCKS_MAX * local);
    step = step > local ? step / local * local : local;
    for (; push.block_first < plan->blocks; push.block_first += step) {
        uint64_t blocks = gpume_min_u64(step, plan->blocks - push.block_first);
        gpume_slot_dispatch(
            work->slot, kernel, &push, (uint32_t)gpume_div_up(blocks, local), 1, work->task_count);
    }
}
