/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Successive elimination: box sums of every frame once, as it arrives, and the sieve before the
 * full search, which then sees only the blocks left over. Results are the same with it and without.
 */
#include "base/grid.h"
#include "gpu/k.h"

_Static_assert(sizeof(struct gpume_box_push) == 5 * 4, "words without gaps, as GLSL lays them");
_Static_assert(sizeof(struct gpume_sieve_push) == 14 * 4, "words without gaps, as GLSL lays them");

#define WORTH                                                                                      \
    8u /* a block in which more than one candidate in so many passes is searched in full */

static const uint32_t boxes8[] =
#include "boxes8.inc"
    ;
static const uint32_t boxes16[] =
#include "boxes16.inc"
    ;
static const uint32_t sieve8[] =
#include "sieve8.inc"
    ;
static const uint32_t sieve16[] =
#include "sieve16.inc"
    ;

int gpume_k_boxes_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_kernel *kernel)
{
    static const struct gpume_k_code code = {
        .words8 = boxes8,
        .words16 = boxes16,
        .bytes8 = sizeof(boxes8),
        .bytes16 = sizeof(boxes16),
        .buffer_count = 2,
        .push_bytes = sizeof(struct gpume_box_push),
    };
    return gpume_k_create(gpu, plan, &code, NULL, kernel);
}

void gpume_k_boxes_record(
    const struct gpume_work *work, const struct gpume_kernel *kernel, uint64_t sequence)
{
    const struct gpume_plan *plan = work->plan;
    if (plan->padded_rows < plan->params.block / 2) {
        return; /* every block is cut */
    }
    struct gpume_box_push push = {
        .frame = (uint32_t)(sequence % plan->ring),
        .frame_quads = (uint32_t)(plan->padded_bytes / gpume_quad_bytes(plan)),
        .stride = plan->padded_stride / 4,
        .columns = plan->padded_stride - (plan->params.block / 2 - 1),
        .rows = plan->padded_rows - (plan->params.block / 2 - 1),
    };
    struct gpume_view views[] = {
        gpume_buffer_view(&work->ring[0]),
        gpume_buffer_view(work->boxes),
    };
    gpume_slot_bind(work->slot, kernel, views);
    gpume_slot_dispatch(work->slot, kernel, &push,
        (uint32_t)gpume_div_up(push.columns, GPUME_BOX_LOCAL),
        (uint32_t)gpume_div_up(push.rows, GPUME_BOX_ROWS), 1);
}

int gpume_k_sieve_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_kernel *kernel)
{
    static const struct gpume_k_code code = {
        .words8 = sieve8,
        .words16 = sieve16,
        .bytes8 = sizeof(sieve8),
        .bytes16 = sizeof(sieve16),
        .buffer_count = 5,
        .push_bytes = sizeof(struct gpume_sieve_push),
    };
    return gpume_k_create(gpu, plan, &code, NULL, kernel);
}

/* Rounds of full comparisons that a block is worth: a fraction of comparing all of its candidates,
 * and no more than the loop limit allows beside the two passes over the candidates. A round
 * loops over the block's quads and 9 times more; at least one fits: 128 * 33 + 2 * 8209 + 9. */
static uint32_t rounds_max(const struct gpume_plan *plan)
{
    uint32_t passes = (uint32_t)gpume_div_up(plan->candidates, GPUME_SIEVE_LOCAL);
    uint32_t block = plan->params.block;
    uint32_t affordable = (GPUME_ITERATIONS_MAX - 2 * passes) / (block * (block / 4 + 1) + 9) - 2;
    return (uint32_t)gpume_min_u64(affordable, passes / WORTH + 1);
}

void gpume_k_sieve_record(const struct gpume_work *work, const struct gpume_kernel *kernel)
{
    const struct gpume_plan *plan = work->plan;
    VkDeviceSize words = (VkDeviceSize)work->field_count * plan->blocks * 4;
    struct gpume_pair_push pair;
    struct gpume_view views[5];
    gpume_work_pair(work, 0, &views[0], &views[1], &pair);
    struct gpume_sieve_push push = {
        .pair = pair,
        .width = plan->params.width,
        .height = plan->params.height,
        .blocks_x = plan->blocks_x,
        .blocks = plan->blocks,
        .rounds = rounds_max(plan),
    };
    views[1] = gpume_buffer_view(work->boxes);
    views[2] = gpume_view_part(work->results, work->layout->vectors, words);
    views[3] = gpume_view_part(work->results, work->layout->costs, words);
    views[4] = gpume_view_part(work->scratch, work->layout->todo, words);
    gpume_slot_bind(work->slot, kernel, views);
    /* Looking at a candidate twice costs about as much as 64 pixel differences. */
    uint32_t step = gpume_k_blocks_per_dispatch(plan, plan->candidates * 64);
    for (uint64_t block = 0; block < plan->blocks; block += step) {
        push.block_first = (uint32_t)block;
        push.block_end = (uint32_t)gpume_min_u64(block + step, plan->blocks);
        gpume_slot_dispatch_many(
            work->slot, kernel, &push, push.block_end - push.block_first, work->field_count);
    }
}
