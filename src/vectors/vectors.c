/* SPDX-License-Identifier: BSD-2-Clause */
#include "vectors/vectors.h"

static uint16_t visible(uint32_t block, uint32_t position, uint32_t size)
{
    return (uint16_t)(size - position < block ? size - position : block);
}

/* Those of one row of blocks, from `column` on. */
static void fill_row(const struct gpume_vectors_info *info, const struct gpume_vectors_field *field,
    size_t first, uint32_t row, uint32_t column, size_t count, struct gpume_vectors_block *to)
{
    const uint32_t block = info->block, y = row * block;
    const uint16_t height = visible(block, y, info->height);
    const bool has_costs = field->costs != NULL, has_ranks = field->ranks != NULL;
    for (size_t i = 0; i < count; i++) {
        const uint32_t x = (column + (uint32_t)i) * block;
        to[i] = (struct gpume_vectors_block){
            .x = x,
            .y = y,
            .w = visible(block, x, info->width),
            .h = height,
            .dx = field->vectors[first + i].dx,
            .dy = field->vectors[first + i].dy,
            .cost = has_costs ? field->costs[first + i] : 0,
            .rank = has_ranks ? field->ranks[first + i] : 0,
        };
    }
}

const struct gpume_vectors_block *gpume_vectors_take(const struct gpume_vectors_info *info,
    const struct gpume_vectors_field *field, size_t first, size_t count,
    struct gpume_vectors_block *room)
{
    if (field->blocks) {
        return field->blocks + first;
    }
    const uint32_t along = gpume_vectors_along(info->width, info->block);
    uint32_t row = (uint32_t)(first / along), column = (uint32_t)(first % along);
    for (size_t done = 0; done < count;) {
        const size_t part = along - column < count - done ? along - column : count - done;
        fill_row(info, field, first + done, row++, column, part, room + done);
        done += part;
        column = 0;
    }
    return room;
}

void gpume_vectors_find_grid(
    const struct gpume_vectors_field *field, struct gpume_vectors_info *info)
{
    info->width = field->width;
    info->height = field->height;
    /* A picture smaller than a block shows no more than its own size of it. */
    info->block = field->blocks[0].w > field->blocks[0].h ? field->blocks[0].w : field->blocks[0].h;
    if (!gpume_vectors_on_grid(info, field)) {
        info->block = 0;
    }
}

bool gpume_vectors_on_grid(
    const struct gpume_vectors_info *info, const struct gpume_vectors_field *field)
{
    if (info->block == 0 || !field->blocks) {
        return info->block > 0;
    }
    const uint32_t along = gpume_vectors_along(info->width, info->block);
    const uint32_t rows = gpume_vectors_along(info->height, info->block);
    if (field->count != (uint64_t)along * rows) {
        return false;
    }
    uint32_t x = 0, y = 0;
    for (size_t i = 0; i < field->count; i++) {
        const struct gpume_vectors_block *block = &field->blocks[i];
        if (block->x != x || block->y != y || block->w != visible(info->block, x, info->width) ||
            block->h != visible(info->block, y, info->height)) {
            return false;
        }
        x += info->block;
        if (x >= info->width) {
            x = 0;
            y += info->block;
        }
    }
    return true;
}
