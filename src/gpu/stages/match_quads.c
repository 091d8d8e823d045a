/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The full search of any blocks. A job is four neighbouring dx at CHUNK neighbouring dy; a team of
 * invocations shares a block's jobs. One dispatch gives no invocation more loop iterations than
 * GPUME_ITERATIONS_MAX, so wide windows over large blocks take several, each starting from the best
 * so far.
 */
#include "base/grid.h"
#include "gpu/stages/match.h"

#define CHUNK_MAX 5u /* neighbouring dy: more sums leave no registers on processors */

/* Invocations of a team at most, and of a workgroup. */
#define TEAM_GPU 128u
#define LOCAL_GPU 128u

/* On a software driver a workgroup runs on one core, some invocations in step, and every barrier is
 * expensive: one invocation per block is best, twice as fast on llvmpipe, if there are blocks for
 * all cores. */
#define TEAM_CPU 8u
#define LOCAL_CPU 16u
#define BLOCKS_CPU 1024u

_Static_assert(sizeof(struct gpume_quads_push) <= 128, "every device has 128 bytes");
_Static_assert(sizeof(struct gpume_quads_push) == 15 * 4, "words without gaps, as GLSL lays them");

#include "quads16.inc"
#include "quads8.inc"

/* How the jobs of a block are shared out. */
struct jobs {
    uint32_t chunk;
    uint32_t count; /* at most 257 * 205 */
    uint32_t team, local;
    uint32_t step; /* jobs of one dispatch */
};

static uint32_t team_max(const struct gpume_gpu *gpu, const struct gpume_shape *layer)
{
    if (gpu->properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU) {
        return TEAM_GPU;
    }
    return layer->blocks < BLOCKS_CPU ? TEAM_CPU : 1;
}

static struct jobs jobs_of(const struct gpume_stage_setup *setup)
{
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    bool processor = setup->gpu->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    uint32_t span_y = 2 * setup->plan->params.window_y + 1;
    uint32_t chunks = (uint32_t)gpume_div_up(span_y, CHUNK_MAX);
    struct jobs jobs = {.chunk = (uint32_t)gpume_div_up(span_y, chunks), .team = 1};
    jobs.count = setup->plan->dx_quads * chunks;
    while (jobs.team < jobs.count && jobs.team < team_max(setup->gpu, layer)) {
        jobs.team *= 2;
    }
    jobs.local = processor ? LOCAL_CPU : LOCAL_GPU;
    /* A job loops over block rows and over the quads of a row; 8 more for what surrounds them. At
     * least one fits: 128 * 33 + 8 is far below the limit. */
    uint32_t iterations = layer->block_h * (layer->block_w / 4 + 1) + 8;
    jobs.step = GPUME_ITERATIONS_MAX / iterations * jobs.team;
    return jobs;
}

int gpume_match_quads_create(
    const struct gpume_stage_setup *setup, bool fallback, struct gpume_kernel *kernel)
{
    static const struct gpume_kernel_code code =
        GPUME_TASK_CODE(quads, GPUME_SEARCH_VIEWS, struct gpume_quads_push);
    struct jobs jobs = jobs_of(setup);
    /* (0,0) is 0, the last one as many as there are candidates */
    uint32_t order_bits = gpume_bit_width(setup->plan->candidates);
    bool one_word = gpume_stage_layer(setup)->cost_bits + order_bits <= 32;
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(setup, constants);
    constants[GPUME_SPEC_FALLBACK] = fallback;
    constants[GPUME_SPEC_TEAM] = jobs.team;
    constants[GPUME_SPEC_LOCAL] = jobs.local;
    constants[GPUME_SPEC_CHUNK] = jobs.chunk;
    constants[GPUME_SPEC_KEY_BITS] = one_word ? order_bits : 0;
    return gpume_stage_kernel(setup, &code, constants, kernel);
}

/* Every job of the push's blocks. */
static void record_blocks(const struct gpume_work *work, const struct gpume_kernel *kernel,
    const struct jobs *jobs, struct gpume_quads_push *push)
{
    uint64_t groups = gpume_div_up(push->block_count, jobs->local / jobs->team);
    for (uint32_t job = 0; job < jobs->count; job += jobs->step) {
        if (job > 0) {
            gpume_barrier_kernel_to_kernel(work->slot);
        }
        push->job_first = job;
        push->job_end = (uint32_t)gpume_min_u64((uint64_t)job + jobs->step, jobs->count);
        gpume_slot_dispatch_many(
            work->slot, kernel, push, groups, gpume_work_pairs(work->plan, work->task_count));
    }
}

void gpume_match_quads_record(const struct gpume_work *work, const struct gpume_stage_setup *setup,
    const struct gpume_kernel *kernel, const struct gpume_block_range *range)
{
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    const struct jobs jobs = jobs_of(setup);
    struct gpume_quads_push push = {
        .layer = gpume_work_layer(setup->plan, layer),
        .block_step = range->step,
    };
    struct gpume_view views[GPUME_SEARCH_VIEWS];
    gpume_stage_search_views(work, setup, range->band, views, &push.frames);
    gpume_slot_bind(work->slot, kernel, views);
    uint64_t job_pixels = 4ull * jobs.chunk * layer->block_w * layer->block_h;
    uint32_t step =
        gpume_stage_blocks_per_dispatch(setup, gpume_min_u64(jobs.count, jobs.step) * job_pixels);
    for (uint64_t done = 0; done < range->count; done += step) {
        push.block_first = (uint32_t)(range->first + done * range->step);
        push.block_count = (uint32_t)gpume_min_u64(step, range->count - done);
        record_blocks(work, kernel, &jobs, &push);
    }
}
