/* SPDX-License-Identifier: BSD-2-Clause */
/* The full search by tiles of blocks: see match_tiles.comp, and tile.h for their shape. */
#include "base/grid.h"
#include "gpu/stages/match.h"

_Static_assert(sizeof(struct gpume_tile_push) <= 128, "every device has 128 bytes");
_Static_assert(sizeof(struct gpume_tile_push) == 16 * 4, "words without gaps, as GLSL lays them");

#define FALLBACK_GROUPS 2048u
#define GROUPS_MAX 65535u /* along x, on every device */

#include "float16.inc"
#include "float8.inc"
#include "half16.inc"
#include "half8.inc"
#include "int16.inc"
#include "int8.inc"

#define CODE(name) GPUME_TASK_CODE(name, GPUME_SEARCH_VIEWS, struct gpume_tile_push)

int gpume_match_tiles_create(const struct gpume_stage_setup *setup, const struct gpume_tile *tile,
    bool fallback, struct gpume_kernel *kernel)
{
    static const struct gpume_kernel_code codes[] = {
        [GPUME_TILE_HALF] = CODE(half),
        [GPUME_TILE_FLOAT] = CODE(float),
        [GPUME_TILE_INT] = CODE(int),
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

void gpume_match_tiles_record(const struct gpume_work *work, const struct gpume_stage_setup *setup,
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
    struct gpume_view views[GPUME_SEARCH_VIEWS];
    gpume_stage_search_views(work, setup, band, views, &push.frames);
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
