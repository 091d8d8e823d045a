/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quarter-pixel vectors from whole-pixel ones (costs.h). The neighbours of a vector are compared
 * with its block side by side.
 */
#ifndef GPUME_ENCODE_KERNELS_REFINE_H
#define GPUME_ENCODE_KERNELS_REFINE_H

#include "encode/kernels/match.h"

#define NEIGHBOURS 8u
#define LIMIT (4 * (int32_t)GPUME_HALF_WINDOW)

/* A candidate as a number: the better one is smaller. Cost, then (0,0), then dy, then dx. */
static inline uint64_t rank_of(uint32_t satd, int32_t dx, int32_t dy)
{
    const uint64_t moves = (dx | dy) != 0;
    return (uint64_t)satd << 33 | moves << 32 | (uint64_t)(uint32_t)(dy + LIMIT) << 16 |
           (uint32_t)(dx + LIMIT);
}

static inline int32_t dx_of(uint64_t rank)
{
    return (int32_t)(rank & 0xffff) - LIMIT;
}

static inline int32_t dy_of(uint64_t rank)
{
    return (int32_t)(rank >> 16 & 0xffff) - LIMIT;
}

/* A block beside itself, and its place in the reference. */
struct target {
    struct gpume_rows rows;
    const struct gpume_half *reference;
    const uint8_t *place;
};

static inline struct target target_of(const struct gpume_half *half,
    const struct gpume_half *reference, uint32_t block_x, uint32_t block_y)
{
    const struct gpume_places places = gpume_same_place(gpume_block_place(half, block_x, block_y));
    return (struct target){gpume_load_rows(&places, half->stride), reference,
        gpume_block_place(reference, block_x, block_y)};
}

/* Where neighbours lie: -1, 0 or 1 steps away. */
static inline int32_t across(uint32_t neighbour)
{
    return (int32_t)((neighbour + neighbour / 4) % 3) - 1;
}

static inline int32_t down(uint32_t neighbour)
{
    return (int32_t)((neighbour + neighbour / 4) / 3) - 1;
}

/* The place of the samples half a pixel around a vector, in half samples: three columns and three
 * rows. */
struct around {
    ptrdiff_t columns[3], rows[3];
};

static inline struct around around(const struct gpume_half *half, int32_t x, int32_t y)
{
    struct around around;
    for (int32_t i = 0; i < 3; i++) {
        around.columns[i] = gpume_half_column(half, x + i - 1);
        around.rows[i] = gpume_half_row(half, y + i - 1);
    }
    return around;
}

/* The SATD of the neighbours of a vector on half samples, half a pixel away. */
static inline void half_satds(const struct target *target, int32_t dx, int32_t dy, uint16_t *satds)
{
    const struct around near = around(target->reference, dx / 2, dy / 2);
    for (uint32_t i = 0; i < NEIGHBOURS; i += GPUME_BLOCKS) {
        struct gpume_places places;
        for (uint32_t b = 0; b < GPUME_BLOCKS; b++) {
            places.at[b] =
                target->place + near.columns[across(i + b) + 1] + near.rows[down(i + b) + 1];
        }
        const struct gpume_rows match = gpume_load_rows(&places, target->reference->stride);
        gpume_store_words(gpume_satd(&target->rows, &match), GPUME_BLOCKS, satds + i);
    }
}

/* The same a quarter of a pixel away: means of the samples on both sides. */
static inline void quarter_satds(
    const struct target *target, int32_t dx, int32_t dy, uint16_t *satds)
{
    const struct around near = around(target->reference, dx / 2, dy / 2);
    for (uint32_t i = 0; i < NEIGHBOURS; i += GPUME_BLOCKS) {
        struct gpume_near means = {.stride = target->reference->stride};
        for (uint32_t b = 0; b < GPUME_BLOCKS; b++) {
            const int32_t x = across(i + b), y = down(i + b);
            means.first.at[b] =
                target->place + near.columns[x < 0 ? 0 : 1] + near.rows[y < 0 ? 0 : 1];
            means.second.at[b] =
                target->place + near.columns[x > 0 ? 2 : 1] + near.rows[y > 0 ? 2 : 1];
        }
        const struct gpume_rows match = gpume_match_rows(&means);
        gpume_store_words(gpume_satd(&target->rows, &match), GPUME_BLOCKS, satds + i);
    }
}

/* The best of `best` and its neighbours, `step` quarters of a pixel away. */
static inline uint64_t best_around(uint64_t best, const uint16_t *satds, int32_t step)
{
    const int32_t dx = dx_of(best), dy = dy_of(best);
    for (uint32_t i = 0; i < NEIGHBOURS; i++) {
        const int32_t x = dx + across(i) * step, y = dy + down(i) * step;
        const bool inside = x >= -LIMIT && x <= LIMIT && y >= -LIMIT && y <= LIMIT;
        const uint64_t rank = inside ? rank_of(satds[i], x, y) : UINT64_MAX;
        best = rank < best ? rank : best;
    }
    return best;
}

/* Prefetches a line of each plane that the blocks below will read, if they move like this one:
 * neighbouring blocks fetch other rows of the same lines. Processors do not follow so many streams.
 */
static inline void prefetch_below(
    const struct target *target, uint32_t block_x, struct gpume_vector vector)
{
    const struct gpume_half *half = target->reference;
    const ptrdiff_t y = vector.dy / 4 + (ptrdiff_t)(GPUME_HALF_BLOCK + block_x % 8);
    const uint8_t *at = target->place + y * half->stride + vector.dx / 4;
    for (ptrdiff_t i = 0; i < GPUME_HALF_PLANES; i++) {
        __builtin_prefetch(at + i * half->plane);
    }
}

static void refine(const struct gpume_half *half, const struct gpume_half *reference,
    uint32_t block_y, struct gpume_vector *vectors, uint16_t *satds)
{
    const uint32_t count = half->width / GPUME_HALF_BLOCK;
    for (uint32_t i = 0; i < count; i++) {
        vectors[i].dx = (int16_t)(4 * vectors[i].dx);
        vectors[i].dy = (int16_t)(4 * vectors[i].dy);
    }
    match_satds(half, block_y, &(struct gpume_matches){reference, vectors}, satds);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t best = rank_of(satds[i], vectors[i].dx, vectors[i].dy);
        if (best > rank_of(0, 0, 0)) {
            const struct target target = target_of(half, reference, i, block_y);
            uint16_t near[NEIGHBOURS];
            prefetch_below(&target, i, vectors[i]);
            half_satds(&target, dx_of(best), dy_of(best), near);
            best = best_around(best, near, 2);
            quarter_satds(&target, dx_of(best), dy_of(best), near);
            best = best_around(best, near, 1);
        }
        vectors[i] = (struct gpume_vector){(int16_t)dx_of(best), (int16_t)dy_of(best)};
        satds[i] = (uint16_t)(best >> 33);
    }
}

#endif
