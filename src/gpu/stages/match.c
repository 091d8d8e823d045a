/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Match: reads the searched surface, writes vectors and costs; once per layer. Fallback: the same
 * for the blocks that pruning has listed. Tiles search all blocks where the variant has them, quads
 * those that the picture's edge cuts to sizes that tiles do not take. The two write different
 * blocks, so no barrier lies between them.
 */
#include "gpu/stages/match.h"

#include "base/grid.h"

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

static bool unpruned(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    return !work->pruned || !is_pruned(&stage->setup);
}

static bool pruned(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    return !unpruned(stage, work);
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

static int create(struct gpume_gpu_stage *stage)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    bool tiled = setup->choice->variant->tiled, fallback = is_fallback(stage);
    int status = GPUME_OK;
    if (tiled) {
        status = gpume_match_tiles_create(setup, tile_of(stage), fallback, &stage->kernels[TILES]);
    }
    if (status == GPUME_OK && (!tiled || cuts_column(setup) || cuts_row(setup))) {
        status = gpume_match_quads_create(setup, fallback, &stage->kernels[QUADS]);
    }
    return status;
}

/* The blocks of a range, whole rows of them, that tiles do not take. */
static void record_cut(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    struct gpume_block_range range)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    uint32_t row = range.first / layer->blocks_x, rows = range.count / layer->blocks_x;
    if (cuts_row(setup) && row + rows == layer->blocks_y) {
        range.first = layer->blocks - layer->blocks_x;
        range.count = layer->blocks_x;
        gpume_match_quads_record(work, setup, &stage->kernels[QUADS], &range);
        rows--;
    }
    if (cuts_column(setup) && rows > 0) {
        range.first = (row + 1) * layer->blocks_x - 1;
        range.step = layer->blocks_x;
        range.count = rows;
        gpume_match_quads_record(work, setup, &stage->kernels[QUADS], &range);
    }
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    const struct gpume_tile *tile = tile_of(stage);
    for (uint32_t band = 0; band < layer->band_count; band++) {
        uint64_t count = (uint64_t)layer->band_rows * layer->blocks_x, first = band * count;
        struct gpume_block_range range = {
            .band = band,
            .first = (uint32_t)first,
            .step = 1,
            .count = (uint32_t)gpume_min_u64(count, layer->blocks - first),
        };
        if (tile->chunk == 0) {
            gpume_match_quads_record(work, setup, &stage->kernels[QUADS], &range);
            continue;
        }
        gpume_match_tiles_record(
            work, setup, &stage->kernels[TILES], tile, is_fallback(stage), band);
        record_cut(stage, work, range);
    }
}

const struct gpume_stage_ops gpume_stage_match = {
    .name = "match",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = gpume_stage_wanted_fast,
    .needs = match_needs,
    .create = create,
    .used = unpruned,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};

const struct gpume_stage_ops gpume_stage_fallback = {
    .name = "fallback",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = is_pruned,
    .create = create,
    .used = pruned,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};
