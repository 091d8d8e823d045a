/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The full search: tiles where the variant has them, then quads for the blocks that the picture's
 * edge cuts to sizes that tiles do not take. The two write different blocks, so no barrier lies
 * between them.
 */
#include "base/grid.h"
#include "gpu/stages/stages.h"

/* Pixel differences in one dispatch: some milliseconds on a large GPU, and on the slowest still far
 * from the seconds after which desktops give up on a device. */
#define DISPATCH_WORK (1ull << 36)

uint32_t gpume_k_blocks_per_dispatch(const struct gpume_plan *plan, uint64_t block_work)
{
    uint64_t blocks = DISPATCH_WORK / (block_work * plan->batch);
    return (uint32_t)gpume_min_u64(gpume_max_u64(blocks, 1), plan->blocks);
}

static bool leaves_column(const struct gpume_plan *plan)
{
    return gpume_tile_leaves(plan->params.width, plan->params.block);
}

static bool leaves_row(const struct gpume_plan *plan)
{
    return gpume_tile_leaves(plan->params.height, plan->params.block);
}

int gpume_k_match_create(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_match_variant *variant, const struct gpume_tile *tile, bool sieved,
    struct gpume_match *match)
{
    bool tiled = variant->tiled;
    int status = GPUME_OK;
    match->tile = *tile;
    match->sieved = sieved;
    if (tiled) {
        status = gpume_k_tile_create(gpu, plan, variant->words, tile, sieved, &match->tiles);
    }
    if (status == GPUME_OK && (!tiled || leaves_column(plan) || leaves_row(plan))) {
        status = gpume_k_quads_create(gpu, plan, sieved, &match->quads);
    }
    return status;
}

void gpume_k_match_destroy(struct gpume_gpu *gpu, struct gpume_match *match)
{
    gpume_kernel_destroy(gpu, &match->tiles);
    gpume_kernel_destroy(gpu, &match->quads);
}

/* The blocks of rows row to end that tiles leave. */
static void record_left(
    const struct gpume_work *work, const struct gpume_kernel *quads, struct gpume_block_range range)
{
    const struct gpume_plan *plan = work->plan;
    uint32_t row = range.first / plan->layers[0].blocks_x,
             rows = range.count / plan->layers[0].blocks_x;
    bool last_row = leaves_row(plan) && row + rows == plan->layers[0].blocks_y;
    if (last_row) {
        range.first = (plan->blocks - plan->layers[0].blocks_x);
        range.count = plan->layers[0].blocks_x;
        gpume_k_quads_record(work, quads, &range);
        rows--;
    }
    if (leaves_column(plan) && rows > 0) {
        range.first = (row + 1) * plan->layers[0].blocks_x - 1;
        range.step = plan->layers[0].blocks_x;
        range.count = rows;
        gpume_k_quads_record(work, quads, &range);
    }
}

void gpume_k_match_record(const struct gpume_work *work, const struct gpume_match *match)
{
    const struct gpume_plan *plan = work->plan;
    for (uint32_t band = 0; band < plan->band_count; band++) {
        uint64_t first = (uint64_t)band * plan->band_rows * plan->layers[0].blocks_x;
        uint64_t count = (uint64_t)plan->band_rows * plan->layers[0].blocks_x;
        struct gpume_block_range range = {
            .band = band,
            .first = (uint32_t)first,
            .step = 1,
            .count = (uint32_t)gpume_min_u64(count, plan->blocks - first),
        };
        if (match->tile.chunk == 0) {
            gpume_k_quads_record(work, &match->quads, &range);
            continue;
        }
        gpume_k_tile_record(work, &match->tiles, &match->tile, match->sieved, band);
        record_left(work, &match->quads, range);
    }
}
