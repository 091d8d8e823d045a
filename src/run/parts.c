/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/parts.h"

#include "arrays/host_sort.h"

#include <stdlib.h>

#define SCRATCH_WORDS 4u /* of a part: its cost, its index, and room for both in the sort */

int gpume_parts_init(struct gpume_parts *parts, const struct gpume_plan *plan)
{
    parts->plan = plan;
    parts->partition = gpume_partition_of(plan);
    parts->scratch =
        calloc(plan->layers[plan->finest].blocks, SCRATCH_WORDS * sizeof(*parts->scratch));
    return parts->scratch ? GPUME_OK : GPUME_NOMEM;
}

void gpume_parts_finish(struct gpume_parts *parts)
{
    free(parts->scratch);
    *parts = (struct gpume_parts){0};
}

/* Appends the block at pixel (x,y) to the list if it is chosen. */
static bool add_block(const struct gpume_parts *parts, struct gpume_field_box *box, uint32_t layer,
    uint32_t x, uint32_t y)
{
    const struct gpume_params *params = &parts->plan->params;
    if (layer == GPUME_NONE || x >= params->width || y >= params->height) {
        return false;
    }
    const struct gpume_shape *shape = &parts->plan->layers[layer];
    const uint32_t block = y / shape->block_h * shape->blocks_x + x / shape->block_w;
    if (!box->results.chosen[shape->first + block]) {
        return false;
    }
    box->parts[box->field.part_count++] = (struct gpume_part){.layer = layer, .block = block};
    return true;
}

/* Appends what was chosen of the square at pixel (x,y). */
static void add_square(const struct gpume_parts *parts, struct gpume_field_box *box, uint32_t index,
    uint32_t x, uint32_t y)
{
    if (index == parts->partition.level_count) {
        return;
    }
    const struct gpume_partition_level *level = &parts->partition.levels[index];
    const uint32_t half = level->side / 2;
    if (add_block(parts, box, level->whole, x, y)) {
        return;
    }
    if (add_block(parts, box, level->above, x, y)) {
        add_block(parts, box, level->above, x, y + half);
        return;
    }
    if (add_block(parts, box, level->beside, x, y)) {
        add_block(parts, box, level->beside, x + half, y);
        return;
    }
    for (uint32_t i = 0; i < 4; i++) {
        add_square(parts, box, index + 1, x + i % 2 * half, y + i / 2 * half);
    }
}

static void rank_parts(const struct gpume_parts *parts, struct gpume_field_box *box)
{
    const struct gpume_sort_params falling = {.descending = true, .key_bits = 32};
    const uint32_t count = box->field.part_count;
    uint32_t *costs = parts->scratch, *order = costs + count;
    for (uint32_t i = 0; i < count; i++) {
        const struct gpume_part *part = &box->parts[i];
        costs[i] = box->results.costs[parts->plan->layers[part->layer].first + part->block];
        order[i] = i;
    }
    gpume_radix_sort(&falling, costs, order, count, order + count);
    for (uint32_t rank = 0; rank < count; rank++) {
        box->parts[order[rank]].rank = rank;
    }
}

void gpume_parts_list(const struct gpume_parts *parts, struct gpume_field_box *box)
{
    const struct gpume_shape *largest = &parts->plan->layers[parts->partition.levels[0].whole];
    box->field.part_count = 0;
    for (uint32_t i = 0; i < largest->blocks; i++) {
        add_square(parts, box, 0, i % largest->blocks_x * largest->block_w,
            i / largest->blocks_x * largest->block_h);
    }
    rank_parts(parts, box);
    box->field.parts = box->parts;
}
