/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quarter-pixel vectors from whole-pixel ones (costs.h).
 */
#ifndef GPUME_ENCODE_KERNELS_REFINE_H
#define GPUME_ENCODE_KERNELS_REFINE_H

#include "encode/kernels/whole.h"

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

/* The least SATD of so many neighbours of a vector on half samples, at these places: half a pixel
 * away, or with `quarter` a quarter of a pixel, where they are means of the samples on both sides.
 */
static inline uint32_t least_satd(const struct target *target, struct gpume_vector vector,
    const uint32_t *places, uint32_t count, bool quarter, const uint32_t *orders)
{
    const struct around near = around(target->reference, vector.dx / 2, vector.dy / 2);
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < count; i += GPUME_BLOCKS) {
        struct gpume_near means = {.stride = target->reference->stride};
        for (uint32_t b = 0; b < GPUME_BLOCKS; b++) {
            const int32_t x = across(places[i + b]), y = down(places[i + b]);
            means.first.at[b] = target->place + near.columns[quarter && x > 0 ? 1 : x + 1] +
                                near.rows[quarter && y > 0 ? 1 : y + 1];
            means.second.at[b] = target->place + near.columns[quarter && x < 0 ? 1 : x + 1] +
                                 near.rows[quarter && y < 0 ? 1 : y + 1];
        }
        const struct gpume_rows match =
            quarter ? gpume_match_rows(&means) : gpume_load_rows(&means.first, means.stride);
        least = least_of(least, gpume_satd(&target->rows, &match), orders, places + i);
    }
    return least;
}

/* The best of a vector and its eight neighbours half a pixel away, and of that and its four
 * neighbours beside, above and below a quarter away. */
static inline uint64_t best_fraction(const struct target *target, uint64_t best)
{
    static const uint32_t all[] = {0, 1, 2, 3, 5, 6, 7, 8}, nearest[] = {1, 3, 5, 7};
    uint32_t other[PLACES];
    struct gpume_vector v = vector_of(best);
    best = better_of(best, least_satd(target, v, all, 8, false, orders_of(v, 2, other)), v, 2);
    v = vector_of(best);
    return better_of(best, least_satd(target, v, nearest, 4, true, orders_of(v, 1, other)), v, 1);
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
    uint32_t block_y, const struct gpume_vector *coarse, struct gpume_vector *vectors,
    uint16_t *satds)
{
    find_whole(half, reference, block_y, coarse, vectors);
    match_satds(half, block_y, &(struct gpume_matches){reference, vectors}, satds);
    for (uint32_t i = 0; i < half->width / GPUME_HALF_BLOCK; i++) {
        uint64_t best = rank_of(satds[i], vectors[i].dx, vectors[i].dy);
        if (best > rank_of(0, 0, 0)) {
            const struct target target = target_of(half, reference, i, block_y);
            prefetch_below(&target, i, vectors[i]);
            best = best_fraction(&target, best);
        }
        vectors[i] = vector_of(best);
        satds[i] = (uint16_t)(best >> 33);
    }
}

#endif
