/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/weights.h"

#include "base/base.h"
#include "encode/costs.h"
#include "encode/fixed.h"
#include "encode/kernels/kernels.h"

#include <stdatomic.h>

#define SCALE_MAX 127 /* H.264 7.4.3.2 */
#define OFFSET_MIN (-128)
#define OFFSET_MAX 127
#define DENOMINATOR_MAX 7
#define PAYS_PERCENT 2u
#define CHUNK 16384u

/* Adds up to CHUNK samples, whose sums fit 32 bits. */
static void add_samples(const uint8_t *at, uint32_t count, uint64_t *sum, uint64_t *squares)
{
    int32_t part = 0, part_squares = 0;
    for (uint32_t x = 0; x < count; x++) {
        part += at[x];
        part_squares += at[x] * at[x];
    }
    *sum += (uint32_t)part;
    *squares += (uint32_t)part_squares;
}

void gpume_luma_add(
    struct gpume_luma_sums *sums, const struct gpume_half *half, uint32_t begin, uint32_t end)
{
    for (uint32_t y = begin; y < end; y++) {
        const uint8_t *row = half->samples + (ptrdiff_t)y * half->stride;
        for (uint32_t x = 0; x < half->width; x += CHUNK) {
            const uint32_t left = half->width - x;
            add_samples(row + x, left < CHUNK ? left : CHUNK, &sums->samples, &sums->squares);
        }
    }
}

struct gpume_luma_stats gpume_luma_stats(
    const struct gpume_luma_sums *sums, const struct gpume_half *half)
{
    const uint64_t count = (uint64_t)half->width * half->height, sum = sums->samples;
    /* sum^2 / count, in parts that do not overflow */
    const uint64_t mean = sum / count, rest = sum % count;
    return (struct gpume_luma_stats){
        .sum = sum, .energy = sums->squares - (sum * mean + rest * mean + rest * rest / count)};
}

/* 128 sqrt(target / reference), rounded to nearest; SCALE_MAX << DENOMINATOR_MAX at most. */
static uint32_t scale_of(uint64_t target, uint64_t reference)
{
    const uint64_t limit = (uint64_t)SCALE_MAX << DENOMINATOR_MAX;
    if (reference == 0 || target / reference > (uint64_t)SCALE_MAX * SCALE_MAX) {
        return reference == 0 ? 1u << DENOMINATOR_MAX : (uint32_t)limit;
    }
    /* 2^16 * ratio in integers: energies are below 2^48 for every picture that is accepted. The
     * root of 4 * 128^2 * ratio is twice the scale. */
    const uint64_t twice = gpume_fixed_root((target << 16) / reference);
    const uint64_t scale = (twice + 1) / 2;
    return (uint32_t)(scale < limit ? scale : limit);
}

/* Less than half a step of the mean and one of the scale: noise and motion change as much. */
static bool is_change_small(const struct gpume_luma_stats *target,
    const struct gpume_luma_stats *reference, uint64_t samples, uint32_t scale)
{
    const uint64_t change =
        target->sum > reference->sum ? target->sum - reference->sum : reference->sum - target->sum;
    const uint32_t unit = 1u << DENOMINATOR_MAX;
    return 2 * change < samples && scale >= unit - 1 && scale <= unit + 1;
}

struct gpume_weight gpume_weight_guess(const struct gpume_luma_stats *target,
    const struct gpume_luma_stats *reference, uint64_t samples)
{
    const uint32_t scale = scale_of(target->energy, reference->energy);
    if (scale == 0 || is_change_small(target, reference, samples, scale)) {
        return GPUME_WEIGHT_NONE;
    }
    struct gpume_weight weight = {.denominator = DENOMINATOR_MAX, .scale = (int32_t)scale};
    while (weight.denominator > 0 && weight.scale > SCALE_MAX) {
        weight.denominator--;
        weight.scale >>= 1;
    }
    while (weight.denominator > 0 && weight.scale % 2 == 0) {
        weight.denominator--;
        weight.scale >>= 1;
    }
    const int64_t unit = (int64_t)1 << weight.denominator;
    const int64_t excess = (int64_t)target->sum * unit - (int64_t)reference->sum * weight.scale;
    const int64_t offset = gpume_div_nearest(excess, (int64_t)samples * unit);
    weight.offset = (int32_t)(offset < OFFSET_MIN   ? OFFSET_MIN
                              : offset > OFFSET_MAX ? OFFSET_MAX
                                                    : offset);
    return weight;
}

uint64_t gpume_weight_coding_cost(
    const struct gpume_weight *weight, uint64_t distance, uint64_t cost)
{
    const int64_t one = 1 << weight->denominator, more = weight->scale - one;
    const bool brightens = more > 0 && (uint64_t)more * 128 > (uint64_t)one * distance;
    return brightens ? cost + cost / 4 : cost;
}

void gpume_weight_apply_row(const struct gpume_weight *weight, const struct gpume_half *from,
    struct gpume_half *to, uint32_t block_y)
{
    for (uint32_t i = 0; i < GPUME_HALF_PLANES * GPUME_HALF_BLOCK; i++) {
        const ptrdiff_t plane = i % GPUME_HALF_PLANES;
        const ptrdiff_t y = block_y * GPUME_HALF_BLOCK + i / GPUME_HALF_PLANES;
        const uint8_t *in = from->samples + plane * from->plane + y * from->stride;
        uint8_t *out = to->samples + plane * to->plane + y * to->stride;
        gpume_encode_kernels()->weigh(out, in, from->width, weight);
    }
    gpume_half_extend_row(to, block_y);
}

struct applying {
    const struct gpume_weight *weight;
    const struct gpume_half *from;
    struct gpume_half *to;
};

static void apply_weight_to_row(void *opaque, uint32_t block_y)
{
    const struct applying *a = opaque;
    gpume_weight_apply_row(a->weight, a->from, a->to, block_y);
}

void gpume_weight_apply(struct gpume_split *split, const struct gpume_weight *weight,
    const struct gpume_half *from, struct gpume_half *to)
{
    struct applying applying = {weight, from, to};
    gpume_split_run(split, GPUME_SPLIT_WEIGH, apply_weight_to_row, &applying);
}

/* Sums of costs: by the plain reference, and by the weighted one. */
struct totals {
    uint64_t before, after;
};

/* A row fits 32 bits. */
static void add_row_costs(struct totals *totals, const struct gpume_plain_costs *plain,
    size_t first, uint32_t count, const uint16_t *still, const uint16_t *moved)
{
    const uint16_t *intra = plain->intra + first, *matches = plain->matches + first;
    uint32_t before = 0, after = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t weighted = still[i] < moved[i] ? still[i] : moved[i];
        before += matches[i] < intra[i] ? matches[i] : intra[i];
        after += weighted < intra[i] ? weighted : intra[i];
    }
    totals->before += before;
    totals->after += after;
}

static bool totals_pay(const struct totals *totals)
{
    return totals->after * 100 <= totals->before * (100 - PAYS_PERCENT);
}

struct comparison {
    const struct gpume_half *target;
    const struct gpume_plain_costs *plain;
    const struct gpume_half *weighted;
    uint16_t *costs;
    atomic_uint_fast64_t before, after; /* sums of costs */
};

static void compare_row(void *opaque, uint32_t block_y)
{
    struct comparison *c = opaque;
    const uint32_t blocks_x = c->target->width / GPUME_HALF_BLOCK;
    const size_t first = (size_t)block_y * blocks_x;
    uint16_t *still = c->costs + 2 * first, *moved = still + blocks_x;
    struct totals totals = {0};
    gpume_match_costs(c->target, block_y, &(struct gpume_matches){c->weighted, NULL}, still);
    gpume_match_costs(
        c->target, block_y, &(struct gpume_matches){c->weighted, c->plain->vectors + first}, moved);
    add_row_costs(&totals, c->plain, first, blocks_x, still, moved);
    atomic_fetch_add_explicit(&c->before, totals.before, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->after, totals.after, memory_order_relaxed);
}

bool gpume_weight_pays(struct gpume_split *split, const struct gpume_half *target,
    const struct gpume_plain_costs *plain, const struct gpume_half *weighted, uint16_t *costs)
{
    struct comparison c = {.target = target, .plain = plain, .weighted = weighted, .costs = costs};
    gpume_split_run(split, GPUME_SPLIT_COMPARE, compare_row, &c);
    return totals_pay(&(struct totals){atomic_load(&c.before), atomic_load(&c.after)});
}

bool gpume_weight_pays_at(const struct gpume_half *target, const struct gpume_plain_costs *plain,
    const uint16_t *still, const uint16_t *moved)
{
    const uint32_t blocks_x = target->width / GPUME_HALF_BLOCK;
    const uint32_t blocks_y = target->height / GPUME_HALF_BLOCK;
    struct totals totals = {0};
    for (uint32_t y = 0; y < blocks_y; y++) {
        const size_t first = (size_t)y * blocks_x;
        add_row_costs(&totals, plain, first, blocks_x, still + first, moved + first);
    }
    return totals_pay(&totals);
}
