/* SPDX-License-Identifier: BSD-2-Clause */
#include "coded/coded_grid.h"

#include "base/grid.h"
#include "console.h"

#include <stdlib.h>

static uint32_t squares(uint32_t side, uint32_t length)
{
    return (length - 1) / side + 1;
}

int gpume_coded_grid_init(struct gpume_coded_grid *grid)
{
    grid->count = (size_t)squares(grid->side, grid->width) * squares(grid->side, grid->height);
    grid->blocks = calloc(grid->count, sizeof(*grid->blocks));
    return grid->blocks ? GPUME_OK
                        : gpume_refuse(GPUME_NOMEM, "out of memory for %zu blocks", grid->count);
}

void gpume_coded_grid_finish(struct gpume_coded_grid *grid)
{
    free(grid->blocks);
    grid->blocks = NULL;
}

static void clear(struct gpume_coded_grid *grid, uint64_t ref)
{
    uint32_t x = 0, y = 0;
    for (size_t i = 0; i < grid->count; i++) {
        grid->blocks[i] = (struct gpume_vectors_block){
            .x = x,
            .y = y,
            .w = (uint16_t)gpume_min_u32(grid->side, grid->width - x),
            .h = (uint16_t)gpume_min_u32(grid->side, grid->height - y),
            .ref = ref,
            .ref2 = GPUME_VECTORS_ONE,
        };
        x += grid->side;
        if (x >= grid->width) {
            x = 0;
            y += grid->side;
        }
    }
}

static bool holds(const struct gpume_vectors_block *block, const struct gpume_vectors_block *square)
{
    const uint32_t x = square->x + square->w / 2u, y = square->y + square->h / 2u;
    return x >= block->x && x < block->x + block->w && y >= block->y && y < block->y + block->h;
}

/* Gives the block's vector to all squares whose middle it covers. */
static void spread(struct gpume_coded_grid *grid, const struct gpume_vectors_block *block)
{
    const uint32_t across = squares(grid->side, grid->width);
    const uint32_t down = squares(grid->side, grid->height);
    const uint32_t right = (block->x + block->w - 1u) / grid->side;
    const uint32_t bottom = (block->y + block->h - 1u) / grid->side;
    for (uint32_t y = block->y / grid->side; y <= bottom && y < down; y++) {
        for (uint32_t x = block->x / grid->side; x <= right && x < across; x++) {
            struct gpume_vectors_block *square = &grid->blocks[(size_t)y * across + x];
            if (holds(block, square)) {
                square->dx = block->dx;
                square->dy = block->dy;
            }
        }
    }
}

void gpume_coded_grid_fill(struct gpume_coded_grid *grid, const struct gpume_coded *coded,
    const struct gpume_coded_frame *frame)
{
    const uint64_t ref = gpume_coded_reference(coded, frame->frame, false, 1);
    clear(grid, ref != UINT64_MAX ? ref : frame->frame - (frame->frame > 0));
    for (size_t i = 0; i < frame->count; i++) {
        if (frame->blocks[i].ref <= frame->frame) {
            spread(grid, &frame->blocks[i]);
        }
    }
}
