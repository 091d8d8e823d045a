/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/prune_shape.h"

#include "base/grid.h"
#include "common/shared.h"

#define SUM_MAX 2047u /* half floats hold these, their differences and small sums of them */
#define EACH_MAX 10u  /* groups of candidates whose bounds an invocation keeps in registers */
#define WORTH                                                                                      \
    192u /* candidates; measured: the whole submission waits for a block that takes long */
#define COMPARE_ITERATIONS (GPUME_ITERATIONS_MAX / 2) /* of an invocation; bounds need the rest */

static uint32_t shift_for(uint64_t samples, uint32_t bits)
{
    uint64_t largest = samples * ((1u << bits) - 1);
    uint32_t shift = 0;
    while (largest >> shift > SUM_MAX) {
        shift++;
    }
    return shift;
}

/* Limits the loops of an invocation: a candidate takes as many iterations as all invocations need
 * for its runs of eight or sixteen samples, and two more. */
static uint32_t give_up(const struct gpume_shape *layer, const struct gpume_prune_shape *shape)
{
    uint64_t runs = (uint64_t)layer->block_w * layer->block_h / 8;
    uint64_t affordable = COMPARE_ITERATIONS / (gpume_div_up(runs, shape->local) + 2);
    return (uint32_t)gpume_min_u64(WORTH, affordable);
}

/* Measured: number of candidates per square up to which an invocation for each block is faster. */
static uint64_t small_most(uint32_t block)
{
    return block == 8 ? 1200 : block == 16 ? 300 : 0;
}

bool gpume_prune_is_small(const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    return layer->block_w == layer->block_h && plan->candidates <= small_most(layer->block_w) &&
           layer->cost_bits + gpume_bit_width(plan->candidates) <= 32; /* both in a word */
}

/* An invocation bounds at most 1,025 eights of candidates twice and lists its share. The list holds
 * 256, of which 7 places may stay free: in each of at most 64 * 1200 / 249 = 309 rounds (blocks of
 * 16: 78) it compares four candidates, each in up to four squares of eight rows. That is below
 * 25,000 iterations, as test_prune counts. */
static struct gpume_prune_shape small_shape(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    uint64_t samples = (uint64_t)layer->block_w * layer->block_h;
    return (struct gpume_prune_shape){
        .small = true,
        .local = 64,
        .give_up = 128, /* measured; many candidates of a block are shared by all invocations */
        .quarter_shift = shift_for(samples / 4, plan->params.bits),
    };
}

uint64_t gpume_prune_candidates_min(
    const struct gpume_plan *plan, const struct gpume_shape *layer, bool processor)
{
    return processor ? 500 : gpume_prune_is_small(plan, layer) ? 100 : 400;
}

struct gpume_prune_shape gpume_prune_shape_make(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    if (gpume_prune_is_small(plan, layer)) {
        return small_shape(plan, layer);
    }
    uint64_t samples = (uint64_t)layer->block_w * layer->block_h;
    uint32_t rows = (uint32_t)gpume_div_up(2 * plan->params.window_y + 1, 4);
    uint32_t local = plan->candidates > 8192 ? 128 : 32; /* measured */
    uint32_t most = EACH_MAX * local / plan->dx_quads;
    struct gpume_prune_shape shape = {
        .local = local,
        .part = (uint32_t)gpume_div_up(rows, gpume_div_up(rows, most > 0 ? most : 1)),
        .list = 2 * local,
        .quarter_shift = shift_for(samples / 4, plan->params.bits),
        .sixteenth_shift = shift_for(samples / 16, plan->params.bits),
    };
    shape.give_up = give_up(layer, &shape);
    return shape;
}

/* Longer where a probe costs more, so that probes stay a small share. */
static uint64_t probe_period(const struct gpume_prune_size *size)
{
    uint64_t used = size->field_ns[size->pruning], other = size->field_ns[!size->pruning];
    return (size->pruning ? GPUME_PRUNE_PROBE_FULL : GPUME_PRUNE_PROBE) * (other / used + 1);
}

static struct gpume_prune_size *size_of(struct gpume_prune_policy *policy, uint32_t fields)
{
    return &policy->sizes[gpume_bit_width(fields)];
}

bool gpume_prune_policy_next(struct gpume_prune_policy *policy, uint32_t fields)
{
    struct gpume_prune_size *size = size_of(policy, fields);
    if (!size->tried) {
        size->tried = true;
        return true;
    }
    if (size->field_ns[0] == 0 || size->field_ns[1] == 0) {
        return size->pruning;
    }
    if (++size->since_probe < probe_period(size)) {
        return size->pruning;
    }
    size->since_probe = 0;
    return !size->pruning;
}

void gpume_prune_policy_measured(
    struct gpume_prune_policy *policy, bool pruned, uint64_t ns, uint32_t fields)
{
    struct gpume_prune_size *size = size_of(policy, fields);
    if (ns == 0 || fields == 0) {
        size->pruning |= size->field_ns[0] == 0 && size->field_ns[1] == 0;
        return;
    }
    size->field_ns[pruned] = ns / fields + 1;
    size->pruning =
        size->field_ns[0] > 0 && size->field_ns[1] > 0 && size->field_ns[1] < size->field_ns[0];
    size->tried = size->field_ns[1] > 0; /* else once more: its time is not known */
}
