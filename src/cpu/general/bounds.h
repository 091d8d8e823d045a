/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of boxes, and lower bounds of D by each metric from the difference d of a box's sums in the
 * target and in the match; for kernels.h.
 *
 *      SAD     |d|, by the triangle inequality (model/cost.h)
 *      SATD    d is one of the coefficients of the tile that the box is, so |d| is at most the sum
 *              of their absolute values, and rounding keeps the order
 *      SSD     d^2 / n for n samples, by the inequality of Cauchy and Schwarz; rounded down
 *
 * D of a block is the sum over its boxes, and not below the sum of their bounds.
 */
#ifndef GPUME_CPU_GENERAL_BOUNDS_H
#define GPUME_CPU_GENERAL_BOUNDS_H

#include "base/grid.h"
#include "cpu/general/kernels.h"

static inline uint32_t bound_sad(uint32_t apart, uint32_t box)
{
    (void)box;
    return apart;
}

static inline uint32_t bound_satd(uint32_t apart, uint32_t box)
{
    return box == 8 ? (apart + 2) >> 2 : (apart + 1) >> 1;
}

/* apart < 2^22, so only the square needs 64 bits. */
static inline uint32_t bound_ssd(uint32_t apart, uint32_t box)
{
    return (uint32_t)(((uint64_t)apart * apart) >> (box == 8 ? 6 : 4));
}

/* Sums of 8-bit samples are below 2^14, those of 16-bit samples below 2^22. */
#define DEFINE_BOUND(name, sum, bound_of)                                                          \
    static void name(                                                                              \
        const struct gpume_bound *b, const void *sums, uint32_t count, uint32_t *bounds)           \
    {                                                                                              \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            bounds[i] = 0;                                                                         \
        }                                                                                          \
        for (uint32_t box = 0; box < b->across * b->down; box++) {                                 \
            const sum *at = (const sum *)sums + box % b->across * b->box +                         \
                            (ptrdiff_t)(box / b->across * b->box) * b->stride;                     \
            const uint32_t target = b->target[box], side = b->box;                                 \
            for (uint32_t i = 0; i < count; i++) {                                                 \
                uint32_t match = at[i];                                                            \
                bounds[i] += bound_of(target > match ? target - match : match - target, side);     \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_BOUND(bounds_sad8, uint16_t, bound_sad)
DEFINE_BOUND(bounds_sad16, uint32_t, bound_sad)
DEFINE_BOUND(bounds_satd8, uint16_t, bound_satd)
DEFINE_BOUND(bounds_satd16, uint32_t, bound_satd)
DEFINE_BOUND(bounds_ssd8, uint16_t, bound_ssd)
DEFINE_BOUND(bounds_ssd16, uint32_t, bound_ssd)

#define GPUME_BOUNDS                                                                               \
    {                                                                                              \
        [GPUME_METRIC_SAD] = {bounds_sad8, bounds_sad16},                                          \
        [GPUME_METRIC_SATD] = {bounds_satd8, bounds_satd16},                                       \
        [GPUME_METRIC_SSD] = {bounds_ssd8, bounds_ssd16},                                          \
    }

#define SUM_COLUMNS 256u

/* Sums of the columns of a box, then of neighbouring columns. */
#define DEFINE_SUM_ROW(name, sample, sum)                                                          \
    static void name(const sample *from, size_t stride, uint32_t box, uint32_t count, sum *to)     \
    {                                                                                              \
        uint32_t columns[SUM_COLUMNS + 8] = {0};                                                   \
        for (uint32_t y = 0; y < box; y++) {                                                       \
            for (uint32_t x = 0; x < count + box - 1; x++) {                                       \
                columns[x] += from[y * stride + x];                                                \
            }                                                                                      \
        }                                                                                          \
        for (uint32_t x = 0; x < count; x++) {                                                     \
            uint32_t total = 0;                                                                    \
            for (uint32_t i = 0; i < box; i++) {                                                   \
                total += columns[x + i];                                                           \
            }                                                                                      \
            to[x] = (sum)total;                                                                    \
        }                                                                                          \
    }

DEFINE_SUM_ROW(sum_row8, uint8_t, uint16_t)
DEFINE_SUM_ROW(sum_row16, uint16_t, uint32_t)

static void sum_rows(
    const struct gpume_plan *plan, const void *plane, void *sums, uint32_t box, uint32_t row)
{
    size_t stride = plan->padded_stride;
    if (plan->padded_rows < box || stride < box) {
        return;
    }
    uint32_t end = gpume_min_u32(row + GPUME_FRACTION_ROWS, plan->padded_rows - box + 1);
    uint32_t places = plan->padded_stride - box + 1;
    for (uint32_t y = row; y < end; y++) {
        for (uint32_t x = 0; x < places; x += SUM_COLUMNS) {
            uint32_t count = places - x < SUM_COLUMNS ? places - x : SUM_COLUMNS;
            size_t at = y * stride + x;
            if (plan->sample_bytes == 2) {
                sum_row16((const uint16_t *)plane + at, stride, box, count, (uint32_t *)sums + at);
            } else {
                sum_row8((const uint8_t *)plane + at, stride, box, count, (uint16_t *)sums + at);
            }
        }
    }
}

#endif
