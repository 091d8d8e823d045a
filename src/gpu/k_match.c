/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The full search. A job is four neighbouring dx at one dy; a team of invocations shares a block's
 * jobs. One dispatch gives no invocation more loop iterations than GPUME_ITERATIONS_MAX, so wide
 * windows over large blocks take several, each starting from the best so far.
 */
#include "base/grid.h"
#include "gpu/k.h"

/* Pixel differences in one dispatch: 20 ms on an NVIDIA H200, and on the slowest GPU still far from
 * the seconds after which desktops give up on a device. */
#define DISPATCH_WORK (1ull << 36)

_Static_assert(sizeof(struct gpume_match_push) <= 128, "every device has 128 bytes");
_Static_assert(sizeof(struct gpume_match_push) == 15 * 4, "words without gaps, as GLSL lays them");

static const uint32_t match8[] =
#include "match8.inc"
    ;
static const uint32_t match16[] =
#include "match16.inc"
    ;

static uint32_t job_count(const struct gpume_plan *plan)
{
    return plan->dx_quads * (2 * plan->params.window_y + 1); /* at most 257 * 1025 */
}

static uint32_t team_size(const struct gpume_plan *plan)
{
    uint32_t team = 1;
    while (team < job_count(plan) && team < GPUME_MATCH_LOCAL) {
        team *= 2;
    }
    return team;
}

/* Jobs that one dispatch may take: a job loops over block rows and over the quads of a row; 8 more
 * for what surrounds them. At least one: 128 * 33 + 8 is far below the limit. */
static uint32_t jobs_per_dispatch(const struct gpume_plan *plan)
{
    uint32_t block = plan->params.block;
    uint32_t iterations = block * (block / 4 + 1) + 8;
    return GPUME_ITERATIONS_MAX / iterations * team_size(plan);
}

int gpume_k_match_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, bool sieved, struct gpume_kernel *kernel)
{
    static const struct gpume_k_code code = {
        .words8 = match8,
        .words16 = match16,
        .bytes8 = sizeof(match8),
        .bytes16 = sizeof(match16),
        .buffer_count = 5,
        .push_bytes = sizeof(struct gpume_match_push),
    };
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_k_constants(plan, constants);
    constants[GPUME_SPEC_TEAM] = team_size(plan);
    constants[GPUME_SPEC_SIEVED] = sieved;
    return gpume_k_create(gpu, plan, &code, constants, kernel);
}

uint32_t gpume_k_blocks_per_dispatch(const struct gpume_plan *plan, uint64_t block_work)
{
    uint64_t blocks = DISPATCH_WORK / (block_work * plan->batch);
    return (uint32_t)gpume_min_u64(gpume_max_u64(blocks, 1), plan->blocks);
}

static uint32_t blocks_per_dispatch(const struct gpume_plan *plan)
{
    uint64_t jobs = gpume_min_u64(job_count(plan), jobs_per_dispatch(plan));
    return gpume_k_blocks_per_dispatch(plan, jobs * 4 * plan->params.block * plan->params.block);
}

/* Every job of the blocks from block_first to block_end. */
static void record_blocks(
    const struct gpume_work *work, const struct gpume_kernel *kernel, struct gpume_match_push *push)
{
    const struct gpume_plan *plan = work->plan;
    uint32_t teams = GPUME_MATCH_LOCAL / team_size(plan);
    uint64_t groups = gpume_div_up(push->block_end - push->block_first, teams);
    uint32_t jobs = job_count(plan), step = jobs_per_dispatch(plan);
    for (uint32_t job = 0; job < jobs; job += step) {
        if (job > 0) {
            gpume_barrier_kernel_to_kernel(work->slot);
        }
        push->job_first = job;
        push->job_end = (uint32_t)gpume_min_u64((uint64_t)job + step, jobs);
        gpume_slot_dispatch_many(work->slot, kernel, push, groups, work->field_count);
    }
}

static void record_band(
    const struct gpume_work *work, const struct gpume_kernel *kernel, uint32_t band)
{
    const struct gpume_plan *plan = work->plan;
    VkDeviceSize words = (VkDeviceSize)work->field_count * plan->blocks * 4;
    struct gpume_match_push push = {
        .width = plan->params.width,
        .height = plan->params.height,
        .blocks_x = plan->blocks_x,
        .blocks = plan->blocks,
    };
    struct gpume_view views[5];
    gpume_work_pair(work, band, &views[0], &views[1], &push.pair);
    views[2] = gpume_view_part(work->results, work->layout->vectors, words);
    views[3] = gpume_view_part(work->results, work->layout->costs, words);
    views[4] = gpume_view_part(work->scratch, work->layout->todo, words);
    gpume_slot_bind(work->slot, kernel, views);
    uint64_t block = (uint64_t)band * plan->band_rows * plan->blocks_x;
    uint64_t end = gpume_min_u64(block + (uint64_t)plan->band_rows * plan->blocks_x, plan->blocks);
    for (; block < end; block = push.block_end) {
        push.block_first = (uint32_t)block;
        push.block_end = (uint32_t)gpume_min_u64(block + blocks_per_dispatch(plan), end);
        record_blocks(work, kernel, &push);
    }
}

void gpume_k_match_record(const struct gpume_work *work, const struct gpume_kernel *kernel)
{
    for (uint32_t band = 0; band < work->plan->band_count; band++) {
        record_band(work, kernel, band);
    }
}
