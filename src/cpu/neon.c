/* SPDX-License-Identifier: BSD-2-Clause */
/* For 64-bit Arm: the fast search, and kernels of the general one. */
#include "cpu/general/plain.h"
#include "cpu/search/search.h"

#include <arm_neon.h>
#include <string.h>

/*
 * --- The search with NEON, which every 64-bit Arm has: each sample of the target is compared with
 * the reference at sixteen neighbouring dx. 8-bit samples, without elimination; others take the
 * plain search.
 */

#define LANES 16
#define HELD 257 /* differences whose sum fits in 16 bits: 257 * 255 = 65535 */

struct costs {
    uint32x4_t quarters[4];
};

static inline void flush(struct costs *costs, uint16x8_t low, uint16x8_t high)
{
    costs->quarters[0] = vaddw_u16(costs->quarters[0], vget_low_u16(low));
    costs->quarters[1] = vaddw_u16(costs->quarters[1], vget_high_u16(low));
    costs->quarters[2] = vaddw_u16(costs->quarters[2], vget_low_u16(high));
    costs->quarters[3] = vaddw_u16(costs->quarters[3], vget_high_u16(high));
}

/* Inlined, so that the compiler can unroll loops of a constant width. */
static inline struct costs group_costs(
    const struct gpume_block *block, const uint8_t *r, int32_t width)
{
    const uint8_t *c = block->target;
    int32_t rows = HELD / width; /* 2 or more, as a block has at most 128 columns */
    struct costs costs = {{vdupq_n_u32(0), vdupq_n_u32(0), vdupq_n_u32(0), vdupq_n_u32(0)}};
    for (int32_t y = 0; y < block->height;) {
        int32_t end = y + rows < block->height ? y + rows : block->height;
        uint16x8_t low = vdupq_n_u16(0), high = vdupq_n_u16(0);
        for (; y < end; y++, c += block->stride, r += block->stride) {
            for (int32_t x = 0; x < width; x++) {
                uint8x16_t target = vdupq_n_u8(c[x]), places = vld1q_u8(r + x);
                low = vabal_u8(low, vget_low_u8(places), vget_low_u8(target));
                high = vabal_high_u8(high, places, target);
            }
        }
        flush(&costs, low, high);
    }
    return costs;
}

static struct costs costs_at(const struct gpume_block *block, int32_t dx, int32_t dy)
{
    const uint8_t *r = (const uint8_t *)block->reference + dy * block->stride + dx;
    switch (block->width) {
    case 8:
        return group_costs(block, r, 8);
    case 16:
        return group_costs(block, r, 16);
    default:
        return group_costs(block, r, block->width);
    }
}

static inline uint32_t least(const struct costs *costs)
{
    uint32x4_t low = vminq_u32(costs->quarters[0], costs->quarters[1]);
    uint32x4_t high = vminq_u32(costs->quarters[2], costs->quarters[3]);
    return vminvq_u32(vminq_u32(low, high));
}

/* Updates the best with the first `count` lanes. */
static void take(
    struct gpume_candidate *best, const struct costs *costs, int32_t dx, int32_t dy, int32_t count)
{
    uint32_t cost[LANES];
    for (size_t i = 0; i < 4; i++) {
        vst1q_u32(cost + 4 * i, costs->quarters[i]);
    }
    for (int32_t i = 0; i < count && i < LANES; i++) {
        if (cost[i] < best->cost) {
            *best = (struct gpume_candidate){cost[i], dx + i, dy};
        }
    }
}

/* Candidates run in the order of the tie rule and begin with (0,0); only a smaller cost replaces
 * the best. */
static struct gpume_candidate match(const struct gpume_block *block)
{
    struct costs costs = costs_at(block, 0, 0);
    struct gpume_candidate best = {.cost = vgetq_lane_u32(costs.quarters[0], 0)};
    for (int32_t dy = block->dy_low; dy <= block->dy_high; dy++) {
        for (int32_t dx = block->dx_low; dx <= block->dx_high; dx += LANES) {
            costs = costs_at(block, dx, dy);
            if (least(&costs) < best.cost) {
                take(&best, &costs, dx, dy, block->dx_high - dx + 1);
            }
        }
    }
    return best;
}

static void search_span(const struct gpume_search_field *field, const struct gpume_span *span,
    struct gpume_vector *vectors, uint32_t *costs, struct gpume_search_counts *counts)
{
    if (field->plan->sample_bytes == 2) {
        gpume_search_plain.span(field, span, vectors, costs, counts);
        return;
    }
    size_t first = (size_t)span->row * field->layer->blocks_x;
    for (uint32_t column = span->first; column < span->end; column++) {
        if (gpume_search_cancelled(field)) {
            return;
        }
        struct gpume_block block = gpume_block_at(field, column, span->row);
        struct gpume_candidate best = match(&block);
        vectors[first + column] = (struct gpume_vector){(int16_t)best.dx, (int16_t)best.dy};
        costs[first + column] = best.cost;
    }
}

static bool has_neon(void)
{
    return true; /* NEON is part of the architecture */
}

const struct gpume_search gpume_search_neon = {.name = "neon",
    .summary = "64-bit Arm with NEON",
    .available = has_neon,
    .span = search_span,
    .differences8 = gpume_differences8,
    .differences16 = gpume_differences16,
    .general = &gpume_kernels_neon};

/*
 * --- The kernels of the general search with NEON: plain loops, but for SAD and SATD of 8-bit
 * samples. SATD takes one tile of 8x8 or two of 4x4 side by side. Blocks that the picture's edge
 * cuts within a piece or a tile go to the plain loops. A number after both transforms is at most 64
 * * 255 < 2^15, and so is the sum of four in a tile of 4x4.
 */

/* 8 columns of four rows at a time. */
static inline uint32_t fast_sad8_of(
    const struct gpume_target *t, const uint8_t *match, const uint8_t *other, uint32_t limit)
{
    uint32_t sum = 0;
    if (t->width % 8 != 0 || t->height % 4 != 0) {
        return sad8_of(t, match, other, limit);
    }
    for (uint32_t y = 0; y < t->height && sum <= limit; y += 4) {
        uint16x8_t sums = vdupq_n_u16(0); /* of 64 differences at most: 64 * 255 < 2^14 */
        for (uint32_t x = 0; x < t->width; x += 8) {
            for (ptrdiff_t row = y; row < (ptrdiff_t)y + 4; row++) {
                ptrdiff_t at = row * t->stride + x;
                uint8x8_t place = vld1_u8(match + at);
                place = other ? vrhadd_u8(place, vld1_u8(other + at)) : place;
                sums = vabal_u8(sums, vld1_u8((const uint8_t *)t->samples + at), place);
            }
        }
        sum += vaddlvq_u16(sums);
    }
    return sum;
}

DEFINE_DISTORTION(fast_sad8)

/* `count` samples, 8 or 4; those that are missing are 0. */
static inline uint8x8_t load_samples(const uint8_t *at, uint32_t count)
{
    uint32_t word;
    if (count == 8) {
        return vld1_u8(at);
    }
    memcpy(&word, at, sizeof(word));
    return vcreate_u8(word);
}

/* Of `rows` rows. c: the other match of a mean, or NULL. */
static inline void load_differences(int16x8_t r[8], uint32_t rows, const uint8_t *a,
    const uint8_t *b, const uint8_t *c, ptrdiff_t stride, uint32_t columns)
{
    for (uint32_t y = 0; y < rows; y++) {
        ptrdiff_t at = (ptrdiff_t)y * stride;
        uint8x8_t match = load_samples(b + at, columns);
        if (c) {
            match = vrhadd_u8(match, load_samples(c + at, columns));
        }
        r[y] = vreinterpretq_s16_u16(vsubl_u8(load_samples(a + at, columns), match));
    }
}

/* Hadamard's transform of each column of n numbers. */
static inline void transform(int16x8_t r[8], uint32_t n)
{
    for (uint32_t step = 1; step < n; step *= 2) {
        for (uint32_t i = 0; i < n; i++) {
            if ((i & step) == 0) {
                int16x8_t sum = vaddq_s16(r[i], r[i + step]);
                r[i + step] = vsubq_s16(r[i], r[i + step]);
                r[i] = sum;
            }
        }
    }
}

/* Exchanges elements of 16, 32 or 64 bits: the odd ones of a with the even ones of b. */
#define GPUME_EXCHANGE(a, b, size, lanes)                                                          \
    do {                                                                                           \
        uint##size##x##lanes##_t x = vreinterpretq_u##size##_s16(a),                               \
                                 y = vreinterpretq_u##size##_s16(b);                               \
        (a) = vreinterpretq_s16_u##size(vtrn1q_u##size(x, y));                                     \
        (b) = vreinterpretq_s16_u##size(vtrn2q_u##size(x, y));                                     \
    } while (0)

/* Of 4x4 numbers in each half of the registers. */
static inline void transpose4(int16x8_t r[4])
{
    GPUME_EXCHANGE(r[0], r[1], 16, 8);
    GPUME_EXCHANGE(r[2], r[3], 16, 8);
    GPUME_EXCHANGE(r[0], r[2], 32, 4);
    GPUME_EXCHANGE(r[1], r[3], 32, 4);
}

static inline void transpose8(int16x8_t r[8])
{
    transpose4(r);
    transpose4(r + 4);
    for (uint32_t i = 0; i < 4; i++) {
        GPUME_EXCHANGE(r[i], r[i + 4], 64, 2);
    }
}

static inline uint32_t satd_tile8(
    const uint8_t *a, const uint8_t *b, const uint8_t *c, ptrdiff_t stride)
{
    int16x8_t r[8];
    uint32x4_t sum = vdupq_n_u32(0);
    load_differences(r, 8, a, b, c, stride, 8);
    transform(r, 8);
    transpose8(r);
    transform(r, 8);
    for (uint32_t i = 0; i < 8; i++) {
        sum = vpadalq_u16(sum, vreinterpretq_u16_s16(vabsq_s16(r[i])));
    }
    return (vaddvq_u32(sum) + 2) >> 2;
}

static inline uint32_t satd_tiles4(
    const uint8_t *a, const uint8_t *b, const uint8_t *c, ptrdiff_t stride, uint32_t columns)
{
    int16x8_t r[8], sum = vdupq_n_s16(0);
    load_differences(r, 4, a, b, c, stride, columns);
    transform(r, 4);
    transpose4(r);
    transform(r, 4);
    for (uint32_t i = 0; i < 4; i++) {
        sum = vaddq_s16(sum, vabsq_s16(r[i]));
    }
    return (((uint32_t)vaddlv_s16(vget_low_s16(sum)) + 1) >> 1) +
           (((uint32_t)vaddlv_s16(vget_high_s16(sum)) + 1) >> 1);
}

static inline uint32_t fast_satd8_of(
    const struct gpume_target *t, const uint8_t *match, const uint8_t *other, uint32_t limit)
{
    uint32_t sum = 0;
    if (t->width % t->tile != 0 || t->height % t->tile != 0) {
        return satd8_of(t, match, other, limit);
    }
    for (uint32_t y = 0; y < t->height && sum <= limit; y += t->tile) {
        for (uint32_t x = 0; x < t->width; x += 8) {
            ptrdiff_t at = (ptrdiff_t)y * t->stride + x;
            const uint8_t *a = (const uint8_t *)t->samples + at, *b = match + at;
            const uint8_t *c = other ? other + at : NULL;
            sum += t->tile == 8 ? satd_tile8(a, b, c, t->stride)
                                : satd_tiles4(a, b, c, t->stride, t->width - x < 8 ? 4 : 8);
        }
    }
    return sum;
}

DEFINE_DISTORTION(fast_satd8)

const struct gpume_general_kernels gpume_kernels_neon = {.bounds = GPUME_BOUNDS,
    .sum_rows = sum_rows,
    .distortions = GPUME_DISTORTIONS(fast_sad8, fast_satd8),
    .fraction_rows = fraction_rows};
