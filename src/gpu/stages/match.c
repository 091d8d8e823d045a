/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Match: reads the searched surface, writes vectors and costs; once per layer. Fallback: the same
 * for the blocks that pruning has listed. Tiles search all blocks where the variant has them, quads
 * those that the picture's edge cuts to sizes that tiles do not take. The two write different
 * blocks, so no barrier lies between them.
 */
#include "base/base.h"
#include "gpu/stages/stage.h"
#include "gpu/tune/choice.h"

#include "float16.inc"
#include "float8.inc"
#include "half16.inc"
#include "half8.inc"
#include "int16.inc"
#include "int8.inc"
#include "quads16.inc"
#include "quads8.inc"

/* Blocks of one band: first, first + step and so on. */
struct band_blocks {
    uint32_t band, first, step, count;
};

#define SEARCH_VIEWS 5u

/* What a search sees of a band: target, reference, vectors, costs, fallback. */
static void search_views(const struct gpume_work *work, const struct gpume_stage_setup *setup,
    uint32_t band, struct gpume_view views[SEARCH_VIEWS], struct gpume_frames_push *push)
{
    gpume_work_frames(
        work, setup->plan->searched, gpume_stage_layer(setup), band, &views[0], &views[1], push);
    views[2] = gpume_work_array(work, gpume_work_found(work->plan, GPUME_ARRAY_VECTORS), 0);
    views[3] = gpume_work_array(work, gpume_work_found(work->plan, GPUME_ARRAY_COSTS), 0);
    views[4] = gpume_work_array(work, GPUME_ARRAY_FALLBACK, setup->layer);
}

/* --- quads: any blocks
 *
 * A job is four neighbouring dx at CHUNK neighbouring dy; a team of
 * invocations shares a block's jobs. One dispatch gives no invocation more loop iterations than
 * GPUME_ITERATIONS_MAX, so wide windows over large blocks take several, each starting from the best
 * so far.
 */

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

/* How the jobs of a block are shared out. */
struct jobs {
    uint32_t chunk;
    uint32_t count; /* at most 257 * 205 */
    uint32_t team, local;
    uint32_t step; /* jobs of one dispatch */
};

static struct jobs jobs_of(const struct gpume_stage_setup *setup)
{
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    bool processor = setup->gpu->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    uint32_t span_y = 2 * setup->plan->params.window_y + 1;
    uint32_t chunks = (uint32_t)gpume_div_up(span_y, CHUNK_MAX);
    struct jobs jobs = {.chunk = (uint32_t)gpume_div_up(span_y, chunks), .team = 1};
    jobs.count = setup->plan->dx_quads * chunks;
    uint32_t team_max = !processor ? TEAM_GPU : layer->blocks < BLOCKS_CPU ? TEAM_CPU : 1;
    while (jobs.team < jobs.count && jobs.team < team_max) {
        jobs.team *= 2;
    }
    jobs.local = processor ? LOCAL_CPU : LOCAL_GPU;
    /* A job loops over block rows and over the quads of a row; 8 more for what surrounds them. At
     * least one fits: 128 * 33 + 8 is far below the limit. */
    uint32_t iterations = layer->block_h * (layer->block_w / 4 + 1) + 8;
    jobs.step = GPUME_ITERATIONS_MAX / iterations * jobs.team;
    return jobs;
}

/* Any blocks; fallback: those of them that are listed. */
static int quads_create(
    const struct gpume_stage_setup *setup, bool fallback, struct gpume_kernel *kernel)
{
    static const struct gpume_kernel_code code =
        GPUME_TASK_CODE(quads, SEARCH_VIEWS, struct gpume_quads_push);
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
static void record_jobs(const struct gpume_work *work, const struct gpume_kernel *kernel,
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

static void quads_record(const struct gpume_work *work, const struct gpume_stage_setup *setup,
    const struct gpume_kernel *kernel, const struct band_blocks *range)
{
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    const struct jobs jobs = jobs_of(setup);
    struct gpume_quads_push push = {
        .layer = gpume_work_layer(setup->plan, layer),
        .block_step = range->step,
    };
    struct gpume_view views[SEARCH_VIEWS];
    search_views(work, setup, range->band, views, &push.frames);
    gpume_slot_bind(work->slot, kernel, views);
    uint64_t job_pixels = 4ull * jobs.chunk * layer->block_w * layer->block_h;
    uint32_t step =
        gpume_stage_blocks_per_dispatch(setup, gpume_min_u64(jobs.count, jobs.step) * job_pixels);
    for (uint64_t done = 0; done < range->count; done += step) {
        push.block_first = (uint32_t)(range->first + done * range->step);
        push.block_count = (uint32_t)gpume_min_u64(step, range->count - done);
        record_jobs(work, kernel, &jobs, &push);
    }
}

/* --- tiles of blocks: see match_tiles.comp, and choice.h for their shape */

_Static_assert(sizeof(struct gpume_tile_push) <= 128, "every device has 128 bytes");
_Static_assert(sizeof(struct gpume_tile_push) == 16 * 4, "words without gaps, as GLSL lays them");

#define FALLBACK_GROUPS 2048u
#define GROUPS_MAX 65535u /* along x, on every device */

#define TILE_CODE(name) GPUME_TASK_CODE(name, SEARCH_VIEWS, struct gpume_tile_push)

/* Every block of a band but those that tiles do not take; fallback: of all bands, those listed. */
static int tiles_create(const struct gpume_stage_setup *setup, const struct gpume_tile *tile,
    bool fallback, struct gpume_kernel *kernel)
{
    static const struct gpume_kernel_code codes[] = {
        [GPUME_TILE_HALF] = TILE_CODE(half),
        [GPUME_TILE_FLOAT] = TILE_CODE(float),
        [GPUME_TILE_INT] = TILE_CODE(int),
    };
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(setup, constants);
    constants[GPUME_SPEC_FALLBACK] = fallback;
    constants[GPUME_SPEC_LOCAL] = tile->local;
    constants[GPUME_SPEC_KEY_BITS] = tile->key_bits;
    constants[GPUME_SPEC_CHUNK] = tile->chunk;
    constants[GPUME_SPEC_UNIT] = tile->unit;
    constants[GPUME_SPEC_TILE_X] = tile->tile_x;
    constants[GPUME_SPEC_TILE_Y] = tile->tile_y;
    constants[GPUME_SPEC_COLUMNS] = tile->columns;
    constants[GPUME_SPEC_BAND] = tile->band;
    return gpume_stage_kernel(setup, &codes[setup->choice->variant->words], constants, kernel);
}

/* Workgroups that share the listed blocks, whose number the device alone knows: as many as can be
 * busy at a time, and enough to keep each within the loop limit. */
static uint32_t fallback_groups(
    const struct gpume_shape *layer, const struct gpume_tile *tile, uint32_t tasks)
{
    uint64_t blocks = (uint64_t)layer->blocks * tasks;
    uint64_t least = gpume_div_up(blocks * (tile->iterations + 1), GPUME_ITERATIONS_MAX);
    return (uint32_t)gpume_min_u64(
        gpume_min_u64(blocks, GROUPS_MAX), gpume_max_u64(least, FALLBACK_GROUPS));
}

static void tiles_record(const struct gpume_work *work, const struct gpume_stage_setup *setup,
    const struct gpume_kernel *kernel, const struct gpume_tile *tile, bool fallback, uint32_t band)
{
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    struct gpume_tile_push push = {
        .layer = gpume_work_layer(setup->plan, layer),
        .row_first = band * layer->band_rows,
        .row_end =
            (uint32_t)gpume_min_u64((uint64_t)(band + 1) * layer->band_rows, layer->blocks_y),
        .tiles_x = (uint32_t)gpume_div_up(layer->blocks_x, tile->tile_x),
        .fallback_list = gpume_stage_fallback_list(setup),
    };
    struct gpume_view views[SEARCH_VIEWS];
    search_views(work, setup, band, views, &push.frames);
    gpume_slot_bind(work->slot, kernel, views);
    if (fallback) {
        gpume_slot_dispatch(work->slot, kernel, &push,
            fallback_groups(layer, tile, gpume_work_pairs(setup->plan, work->task_count)), 1, 1);
        return;
    }
    uint64_t block_work = setup->plan->candidates * layer->block_w * layer->block_h;
    uint64_t step = gpume_max_u64(gpume_stage_blocks_per_dispatch(setup, block_work) /
                                      ((uint64_t)tile->tile_x * tile->tile_y),
        1);
    uint64_t tiles = push.tiles_x * gpume_div_up(push.row_end - push.row_first, tile->tile_y);
    for (uint64_t first = 0; first < tiles; first += step) {
        push.tile_first = (uint32_t)first;
        push.tile_end = (uint32_t)gpume_min_u64(first + step, tiles);
        gpume_slot_dispatch_many(work->slot, kernel, &push, push.tile_end - push.tile_first,
            gpume_work_pairs(setup->plan, work->task_count));
    }
}

/* --- the stages */

enum { TILES, QUADS };

static bool is_fallback(const struct gpume_gpu_stage *stage)
{
    return stage->ops == &gpume_stage_fallback;
}

/* Chunk 0: the variant searches by quads alone. */
static const struct gpume_tile *tile_of(const struct gpume_gpu_stage *stage)
{
    const struct gpume_match_choice *choice = stage->setup.choice;
    return is_fallback(stage) ? &choice->fallback_tile : &choice->tile;
}

static bool cuts_column(const struct gpume_stage_setup *setup)
{
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    return gpume_tile_leaves(setup->plan->params.width, layer->block_w, gpume_tile_unit(layer));
}

static bool cuts_row(const struct gpume_stage_setup *setup)
{
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    return gpume_tile_leaves(setup->plan->params.height, layer->block_h, gpume_tile_unit(layer));
}

static bool is_pruned(const struct gpume_stage_setup *setup)
{
    return gpume_pruning_used(&setup->layout->pruning[setup->layer]);
}

static bool used_unpruned(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    return !work->pruned || !is_pruned(&stage->setup);
}

static bool used_pruned(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    return !used_unpruned(stage, work);
}

static void match_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    VkDeviceSize words = (VkDeviceSize)plan->batch * plan->blocks * 4;
    needs->arrays[GPUME_ARRAY_VECTORS][0] = words;
    needs->arrays[GPUME_ARRAY_COSTS][0] = words;
    needs->arrays[GPUME_ARRAY_FALLBACK][setup->layer] =
        (VkDeviceSize)gpume_stage_fallback_list(setup) * 2 * 4 + 4;
    needs->binds += layer->band_count * 3; /* tiles, quads twice */
}

static int match_create(struct gpume_gpu_stage *stage)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    bool tiled = setup->choice->variant->tiled, fallback = is_fallback(stage);
    int status = GPUME_OK;
    if (tiled) {
        status = tiles_create(setup, tile_of(stage), fallback, &stage->kernels[TILES]);
    }
    if (status == GPUME_OK && (!tiled || cuts_column(setup) || cuts_row(setup))) {
        status = quads_create(setup, fallback, &stage->kernels[QUADS]);
    }
    return status;
}

/* The blocks of a range, whole rows of them, that tiles do not take. */
static void record_cut(
    const struct gpume_gpu_stage *stage, const struct gpume_work *work, struct band_blocks range)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    uint32_t row = range.first / layer->blocks_x, rows = range.count / layer->blocks_x;
    if (cuts_row(setup) && row + rows == layer->blocks_y) {
        range.first = layer->blocks - layer->blocks_x;
        range.count = layer->blocks_x;
        quads_record(work, setup, &stage->kernels[QUADS], &range);
        rows--;
    }
    if (cuts_column(setup) && rows > 0) {
        range.first = (row + 1) * layer->blocks_x - 1;
        range.step = layer->blocks_x;
        range.count = rows;
        quads_record(work, setup, &stage->kernels[QUADS], &range);
    }
}

static void match_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    const struct gpume_tile *tile = tile_of(stage);
    for (uint32_t band = 0; band < layer->band_count; band++) {
        uint64_t count = (uint64_t)layer->band_rows * layer->blocks_x, first = band * count;
        struct band_blocks range = {
            .band = band,
            .first = (uint32_t)first,
            .step = 1,
            .count = (uint32_t)gpume_min_u64(count, layer->blocks - first),
        };
        if (tile->chunk == 0) {
            quads_record(work, setup, &stage->kernels[QUADS], &range);
            continue;
        }
        tiles_record(work, setup, &stage->kernels[TILES], tile, is_fallback(stage), band);
        record_cut(stage, work, range);
    }
}

static bool match_wanted(const struct gpume_stage_setup *setup)
{
    return gpume_plan_searches_fast(setup->plan);
}

const struct gpume_stage_ops gpume_stage_match = {
    .name = "match",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = match_wanted,
    .needs = match_needs,
    .create = match_create,
    .used = used_unpruned,
    .before = gpume_barrier_kernel_to_kernel,
    .record = match_record,
};

const struct gpume_stage_ops gpume_stage_fallback = {
    .name = "fallback",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = is_pruned,
    .create = match_create,
    .used = used_pruned,
    .before = gpume_barrier_kernel_to_kernel,
    .record = match_record,
};
