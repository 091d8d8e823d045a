/* SPDX-License-Identifier: BSD-2-Clause */
#include "motion/measure.h"

#include "base/grid.h"

#include <string.h>

static uint32_t load(const struct gpume_plan *plan, const void *samples, size_t index)
{
    return plan->sample_bytes == 2 ? ((const uint16_t *)samples)[index]
                                   : ((const uint8_t *)samples)[index];
}

static void store(const struct gpume_plan *plan, void *samples, size_t index, uint32_t value)
{
    if (plan->sample_bytes == 2) {
        ((uint16_t *)samples)[index] = (uint16_t)value;
    } else {
        ((uint8_t *)samples)[index] = (uint8_t)value;
    }
}

void gpume_pad_row(
    const struct gpume_plan *plan, const struct gpume_plane *plane, void *padded, uint32_t row)
{
    uint32_t below = row < plan->pad_y ? 0 : row - plan->pad_y;
    uint32_t y = (uint32_t)gpume_min_u64(below, plane->height - 1);
    const uint8_t *from = (const uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
    uint8_t *to = (uint8_t *)padded + (size_t)row * plan->padded_stride * plan->sample_bytes;
    uint32_t right = plan->pad_x + plane->width;
    memcpy(to + (size_t)plan->pad_x * plan->sample_bytes, from,
        (size_t)plane->width * plan->sample_bytes);
    for (uint32_t x = 0; x < plan->pad_x; x++) {
        store(plan, to, x, load(plan, from, 0));
    }
    for (uint32_t x = right; x < plan->padded_stride; x++) {
        store(plan, to, x, load(plan, from, plane->width - 1));
    }
}

struct gpume_sums gpume_measure_row(const struct gpume_plan *plan, const void *target,
    const void *reference, const struct gpume_vector *vectors, uint32_t row, void *predicted)
{
    const struct gpume_params *p = &plan->params;
    struct gpume_sums sums = {0};
    for (uint32_t i = 0; i < plan->blocks_x; i++) {
        sums.zero += vectors[i].dx == 0 && vectors[i].dy == 0;
    }
    uint32_t y_end = (uint32_t)gpume_min_u64((uint64_t)(row + 1) * p->block, p->height);
    for (uint32_t y = row * p->block; y < y_end; y++) {
        size_t line = (size_t)(plan->pad_y + y) * plan->padded_stride + plan->pad_x;
        void *out = predicted ? (uint8_t *)predicted + (size_t)y * plan->plane_stride : NULL;
        for (uint32_t x = 0; x < p->width; x++) {
            struct gpume_vector v = vectors[x / p->block];
            ptrdiff_t shift = (ptrdiff_t)v.dy * (ptrdiff_t)plan->padded_stride + v.dx;
            int64_t c = load(plan, target, line + x);
            int64_t before = c - load(plan, reference, line + x);
            uint32_t match = load(plan, reference, (size_t)((ptrdiff_t)(line + x) + shift));
            int64_t after = c - match;
            sums.sad_before += (uint64_t)(before < 0 ? -before : before);
            sums.sad_after += (uint64_t)(after < 0 ? -after : after);
            sums.sse_before += (uint64_t)(before * before);
            sums.sse_after += (uint64_t)(after * after);
            if (out) {
                store(plan, out, x, match);
            }
        }
    }
    return sums;
}

/* Least significant digit first, 8 bits a pass, stable: costs with all bits turned over rise as
 * costs fall, and equal ones keep raster order. `order` lists block indices. */
static void sort_pass(
    const uint32_t *costs, uint32_t shift, uint32_t count, const uint32_t *from, uint32_t *to)
{
    uint32_t starts[257] = {0};
    for (uint32_t i = 0; i < count; i++) {
        starts[((~costs[i] >> shift) & 255) + 1]++;
    }
    for (uint32_t digit = 0; digit < 256; digit++) {
        starts[digit + 1] += starts[digit];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = from[i];
        to[starts[(~costs[block] >> shift) & 255]++] = block;
    }
}

void gpume_rank_costs(
    const struct gpume_plan *plan, const uint32_t *costs, uint32_t *ranks, uint32_t *scratch)
{
    uint32_t count = plan->blocks;
    uint32_t *from = scratch, *to = scratch + count;
    for (uint32_t i = 0; i < count; i++) {
        from[i] = i;
    }
    for (uint32_t shift = 0; shift < plan->cost_bits; shift += 8) {
        sort_pass(costs, shift, count, from, to);
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    for (uint32_t rank = 0; rank < count; rank++) {
        ranks[from[rank]] = rank;
    }
}
