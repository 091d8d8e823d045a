/* SPDX-License-Identifier: BSD-2-Clause */
/* The full search by tiles of blocks: see tile.comp, and tile.h for their shape. */
#include "base/grid.h"
#include "gpu/stages/stages.h"

_Static_assert(sizeof(struct gpume_tile_push) <= 128, "every device has 128 bytes");
_Static_assert(sizeof(struct gpume_tile_push) == 14 * 4, "words without gaps, as GLSL lays them");

#define LEFT_GROUPS 2048u
#define GROUPS_MAX 65535u /* along x, on every device */

static const uint32_t half8[] =
#include "half8.inc"
    ;
static const uint32_t half16[] =
#include "half16.inc"
    ;
static const uint32_t float8[] =
#include "float8.inc"
    ;
static const uint32_t float16[] =
#include "float16.inc"
    ;
static const uint32_t int8[] =
#include "int8.inc"
    ;
static const uint32_t int16[] =
#include "int16.inc"
    ;

#define CODE(name) GPUME_K_TASK_CODE(name, 5, struct gpume_tile_push)

int gpume_k_tile_create(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    enum gpume_tile_words words, const struct gpume_tile *tile, bool sieved,
    struct gpume_kernel *kernel)
{
    static const struct gpume_k_code codes[] = {
        [GPUME_TILE_HALF] = CODE(half),
        [GPUME_TILE_FLOAT] = CODE(float),
        [GPUME_TILE_INT] = CODE(int),
    };
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_k_constants(plan, constants);
    constants[GPUME_SPEC_SIEVED] = sieved;
    constants[GPUME_SPEC_LOCAL] = tile->local;
    constants[GPUME_SPEC_KEY_BITS] = tile->key_bits;
    constants[GPUME_SPEC_CHUNK] = tile->chunk;
    constants[GPUME_SPEC_UNIT] = tile->unit;
    constants[GPUME_SPEC_TILE_X] = tile->tile_x;
    constants[GPUME_SPEC_TILE_Y] = tile->tile_y;
    constants[GPUME_SPEC_COLUMNS] = tile->columns;
    constants[GPUME_SPEC_BAND] = tile->band;
    return gpume_k_create(gpu, plan, &codes[words], constants, kernel);
}

/* Workgroups that share the blocks left over, whose number the device alone knows: no more than do
 * something at a time, and no fewer than keep within the loop limit. */
static uint32_t left_groups(
    const struct gpume_plan *plan, const struct gpume_tile *tile, uint32_t fields)
{
    uint64_t blocks = (uint64_t)plan->blocks * fields;
    uint64_t least = gpume_div_up(blocks * (tile->iterations + 1), GPUME_ITERATIONS_MAX);
    return (uint32_t)gpume_min_u64(
        gpume_min_u64(blocks, GROUPS_MAX), gpume_max_u64(least, LEFT_GROUPS));
}

void gpume_k_tile_record(const struct gpume_work *work, const struct gpume_kernel *kernel,
    const struct gpume_tile *tile, bool sieved, uint32_t band)
{
    const struct gpume_plan *plan = work->plan;
    const struct gpume_params *p = &plan->params;
    VkDeviceSize words = (VkDeviceSize)work->task_count * plan->blocks * 4;
    struct gpume_tile_push push = {
        .width = p->width,
        .height = p->height,
        .blocks_x = plan->layers[0].blocks_x,
        .blocks = plan->blocks,
        .row_first = band * plan->band_rows,
        .row_end = (uint32_t)gpume_min_u64(
            (uint64_t)(band + 1) * plan->band_rows, plan->layers[0].blocks_y),
        .tiles_x = (uint32_t)gpume_div_up(plan->layers[0].blocks_x, tile->tile_x),
        .left_list = gpume_work_left_list(plan),
    };
    struct gpume_view views[5];
    gpume_work_frames(work, band, &views[0], &views[1], &push.frames);
    views[2] = gpume_view_part(work->results, work->layout->vectors, words);
    views[3] = gpume_view_part(work->results, work->layout->costs, words);
    views[4] = gpume_work_todo(work);
    gpume_slot_bind(work->slot, kernel, views);
    if (sieved) {
        gpume_slot_dispatch(
            work->slot, kernel, &push, left_groups(plan, tile, work->task_count), 1, 1);
        return;
    }
    uint64_t block_work = plan->candidates * p->block * p->block;
    uint64_t step = gpume_max_u64(
        gpume_k_blocks_per_dispatch(plan, block_work) / ((uint64_t)tile->tile_x * tile->tile_y), 1);
    uint64_t tiles = push.tiles_x * gpume_div_up(push.row_end - push.row_first, tile->tile_y);
    for (uint64_t first = 0; first < tiles; first += step) {
        push.tile_first = (uint32_t)first;
        push.tile_end = (uint32_t)gpume_min_u64(first + step, tiles);
        gpume_slot_dispatch_many(
            work->slot, kernel, &push, push.tile_end - push.tile_first, work->task_count);
    }
}
