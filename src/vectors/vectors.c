/* SPDX-License-Identifier: BSD-2-Clause */
#include "vectors/vectors.h"

static uint16_t visible(uint32_t block, uint32_t position, uint32_t size)
{
    return (uint16_t)(size - position < block ? size - position : block);
}

/* count blocks of one row of the grid, from `column` on. */
static void fill_row(const struct gpume_vectors_info *info, const struct gpume_vectors_field *field,
    size_t first, uint32_t row, uint32_t column, size_t count, struct gpume_vectors_block *to)
{
    const uint32_t y = row * info->block_h;
    const uint16_t height = visible(info->block_h, y, info->height);
    const bool has_costs = field->costs != NULL, has_ranks = field->ranks != NULL;
    for (size_t i = 0; i < count; i++) {
        const uint32_t x = (column + (uint32_t)i) * info->block_w;
        to[i] = (struct gpume_vectors_block){
            .x = x,
            .y = y,
            .w = visible(info->block_w, x, info->width),
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
    struct gpume_vectors_block *buffer)
{
    if (field->blocks) {
        return field->blocks + first;
    }
    const uint32_t across = gpume_vectors_blocks_x(info);
    uint32_t row = (uint32_t)(first / across), column = (uint32_t)(first % across);
    for (size_t done = 0; done < count;) {
        const size_t part = across - column < count - done ? across - column : count - done;
        fill_row(info, field, first + done, row++, column, part, buffer + done);
        done += part;
        column = 0;
    }
    return buffer;
}

void gpume_vectors_find_grid(
    const struct gpume_vectors_field *field, struct gpume_vectors_info *info)
{
    info->width = field->width;
    info->height = field->height;
    /* Squares first: of a picture lower or narrower than a block, only a part of the side shows. */
    const uint32_t w = field->blocks[0].w, h = field->blocks[0].h;
    info->block_w = info->block_h = w > h ? w : h;
    if (!gpume_vectors_on_grid(info, field)) {
        info->block_w = w;
        info->block_h = h;
    }
    if (!gpume_vectors_on_grid(info, field)) {
        info->block_w = info->block_h = 0;
    }
}

bool gpume_vectors_on_grid(
    const struct gpume_vectors_info *info, const struct gpume_vectors_field *field)
{
    if (info->block_w == 0 || !field->blocks) {
        return info->block_w > 0;
    }
    if (field->count != (uint64_t)gpume_vectors_blocks_x(info) * gpume_vectors_blocks_y(info)) {
        return false;
    }
    uint32_t x = 0, y = 0;
    for (size_t i = 0; i < field->count; i++) {
        const struct gpume_vectors_block *block = &field->blocks[i];
        if (block->x != x || block->y != y || block->w != visible(info->block_w, x, info->width) ||
            block->h != visible(info->block_h, y, info->height)) {
            return false;
        }
        x += info->block_w;
        if (x >= info->width) {
            x = 0;
            y += info->block_h;
        }
    }
    return true;
}
