/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/tree.h"

#include "encode/fixed.h"

#define BLOCK 32 /* side of a block in quarter pixels */

void gpume_tree_information(
    uint32_t count, const uint16_t *intra_costs, const int16_t *aq_offsets, uint32_t *information)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t scaled =
            (uint64_t)intra_costs[i] * gpume_fixed_scale_of_offset(aq_offsets[i]) >> 12;
        information[i] = scaled > UINT32_MAX ? UINT32_MAX : (uint32_t)scaled;
    }
}

static void add(uint32_t *sum, uint64_t amount)
{
    const uint64_t total = *sum + amount;
    *sum = total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
}

static uint64_t part_of(uint64_t amount, uint32_t area)
{
    return (amount * area + 512) >> 10;
}

/* The four blocks that share a match, by area. Parts outside the picture are lost. */
static void spread(const struct gpume_tree_size *size, uint32_t *sums, uint32_t block_x,
    uint32_t block_y, struct gpume_vector vector, uint64_t amount)
{
    const int64_t x = (int64_t)block_x + (vector.dx >> 5); /* whole blocks, rounded down */
    const int64_t y = (int64_t)block_y + (vector.dy >> 5);
    const uint32_t right = (uint32_t)vector.dx & (BLOCK - 1);
    const uint32_t low = (uint32_t)vector.dy & (BLOCK - 1);
    const bool in_left = x >= 0 && x < size->blocks_x;
    const bool in_right = right > 0 && x >= -1 && x + 1 < size->blocks_x;
    for (uint32_t row = 0; row < 2; row++) {
        const int64_t to_y = y + row;
        const uint32_t height = row > 0 ? low : BLOCK - low;
        if (height == 0 || to_y < 0 || to_y >= size->blocks_y) {
            continue;
        }
        const int64_t to = to_y * size->blocks_x + x;
        if (in_left) {
            add(&sums[to], part_of(amount, (BLOCK - right) * height));
        }
        if (in_right) {
            add(&sums[to + 1], part_of(amount, right * height));
        }
    }
}

/* The part that prediction saves, of all that lies in the block. */
static uint64_t passed_on(const struct gpume_tree_step *step, uint64_t block)
{
    const uint64_t intra = (uint64_t)step->intra_costs[block] * step->intra_eighths / 8;
    const uint64_t inter = step->costs[block];
    if (inter >= intra || step->kinds[block] == GPUME_FROM_SELF) {
        return 0;
    }
    const uint64_t received = step->received != NULL ? step->received[block] : 0;
    return (received + step->information[block]) * (intra - inter) / intra;
}

void gpume_tree_propagate(const struct gpume_tree_size *size, const struct gpume_tree_step *step,
    uint32_t *past_sums, uint32_t *future_sums)
{
    const struct gpume_vector zero = {0, 0};
    uint64_t block = 0;
    for (uint32_t y = 0; y < size->blocks_y; y++) {
        for (uint32_t x = 0; x < size->blocks_x; x++, block++) {
            const uint64_t amount = passed_on(step, block);
            const uint8_t kind = step->kinds[block];
            const bool still = kind == GPUME_FROM_STILL;
            const uint64_t to_past = still || kind == GPUME_FROM_BOTH
                                         ? amount * step->past_share / GPUME_SHARES
                                     : kind == GPUME_FROM_PAST ? amount
                                                               : 0;
            if (to_past != 0) {
                spread(size, past_sums, x, y, still ? zero : step->past[block], to_past);
            }
            if (amount != to_past) {
                spread(
                    size, future_sums, x, y, still ? zero : step->future[block], amount - to_past);
            }
        }
    }
}

/* Values of a block and of those above and below it, weighted 1, 4, 1. 0 outside the picture. */
static uint64_t column(
    const struct gpume_tree_size *size, const uint32_t *values, uint32_t x, uint32_t y)
{
    if (x >= size->blocks_x) {
        return 0;
    }
    const uint32_t *here = values + (uint64_t)y * size->blocks_x + x;
    const uint64_t above = y > 0 ? *(here - size->blocks_x) : 0;
    const uint64_t below = y + 1 < size->blocks_y ? here[size->blocks_x] : 0;
    return above + 4 * (uint64_t)*here + below;
}

/* A row of blocks, smoothed by 1, 4, 1 along both axes: sums of at most 36 * UINT32_MAX. */
struct smoothing {
    const struct gpume_tree_size *size;
    const uint32_t *values;
    uint64_t left, middle, right; /* columns about the block */
};

static struct smoothing begin_row(
    const struct gpume_tree_size *size, const uint32_t *values, uint32_t y)
{
    return (struct smoothing){size, values, .right = column(size, values, 0, y)};
}

/* Of the row's next block, which is (x, y). */
static uint64_t smoothed(struct smoothing *row, uint32_t x, uint32_t y)
{
    row->left = row->middle;
    row->middle = row->right;
    row->right = column(row->size, row->values, x + 1, y);
    return row->left + 4 * row->middle + row->right;
}

static int16_t offset_of(uint64_t own, uint64_t received, int16_t aq_offset, int64_t strength)
{
    const int64_t ratio = own == 0 ? 0 : gpume_fixed_log2(own + received) - gpume_fixed_log2(own);
    const int64_t offset = aq_offset - gpume_fixed_shift(strength * ratio, 24);
    return (int16_t)(offset < INT16_MIN ? INT16_MIN : offset);
}

void gpume_tree_offsets(const struct gpume_tree_size *size, const uint32_t *information,
    const int16_t *aq_offsets, const uint32_t *received, int64_t strength, int16_t *offsets)
{
    uint64_t block = 0;
    for (uint32_t y = 0; y < size->blocks_y; y++) {
        struct smoothing own = begin_row(size, information, y);
        struct smoothing more = begin_row(size, received, y);
        for (uint32_t x = 0; x < size->blocks_x; x++, block++) {
            const uint64_t sum = smoothed(&own, x, y);
            offsets[block] = offset_of(sum, smoothed(&more, x, y), aq_offsets[block], strength);
        }
    }
}
