/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/sieve_shape.h"

#include "base/grid.h"
#include "common/shared.h"

#define SUM_MAX 2047u /* half floats hold these, their differences and small sums of them */
#define EACH_MAX 10u  /* groups of candidates whose bounds an invocation keeps in registers */
#define WORTH                                                                                      \
    192u /* candidates; measured: the whole submission waits for a block that takes long */
#define COMPARE_ITERATIONS (GPUME_ITERATIONS_MAX / 2) /* of an invocation; bounds need the rest */

static uint32_t shift_for(uint32_t side, uint32_t bits)
{
    uint64_t largest = (uint64_t)side * side * ((1u << bits) - 1);
    uint32_t shift = 0;
    while (largest >> shift > SUM_MAX) {
        shift++;
    }
    return shift;
}

/* So that no invocation loops for too long: a candidate is as many runs of eight samples or of
 * sixteen, taken by all of its invocations together, and two iterations more. */
static uint32_t give_up(const struct gpume_plan *plan, const struct gpume_sieve_shape *shape)
{
    uint64_t runs = (uint64_t)plan->params.block * plan->params.block / 8;
    uint64_t affordable = COMPARE_ITERATIONS / (gpume_div_up(runs, shape->local) + 2);
    return (uint32_t)gpume_min_u64(WORTH, affordable);
}

/* Measured: candidates of a block up to which an invocation each is faster. */
static uint64_t sifted_most(uint32_t block)
{
    return block == 8 ? 1200 : block == 16 ? 300 : 0;
}

bool gpume_sieve_sifts(const struct gpume_plan *plan)
{
    return plan->candidates <= sifted_most(plan->params.block) &&
           plan->layers[0].cost_bits + gpume_bit_width(plan->candidates) <= 32; /* both in a word */
}

/* An invocation bounds at most 1,025 eights of candidates twice and lists its share. The list holds
 * 256, of which 7 places may stay free: in each of at most 64 * 1200 / 249 = 309 rounds (blocks of
 * 16: 78) it compares four candidates, each in up to four squares of eight rows. That is below
 * 25,000 iterations, as test_sieve counts. */
static struct gpume_sieve_shape sift_shape(const struct gpume_plan *plan)
{
    return (struct gpume_sieve_shape){
        .sifts = true,
        .local = 64,
        .give_up = 128, /* measured; many candidates of a block are shared by all invocations */
        .quarter_shift = shift_for(plan->params.block / 2, plan->params.bits),
    };
}

uint64_t gpume_sieve_candidates_min(const struct gpume_plan *plan, bool processor)
{
    return processor ? 500 : gpume_sieve_sifts(plan) ? 100 : 400;
}

struct gpume_sieve_shape gpume_sieve_shape_make(const struct gpume_plan *plan)
{
    if (gpume_sieve_sifts(plan)) {
        return sift_shape(plan);
    }
    uint32_t half = plan->params.block / 2;
    uint32_t rows = (uint32_t)gpume_div_up(2 * plan->params.window_y + 1, 4);
    uint32_t local = plan->candidates > 8192 ? 128 : 32; /* measured */
    uint32_t most = EACH_MAX * local / plan->dx_quads;
    struct gpume_sieve_shape shape = {
        .local = local,
        .part = (uint32_t)gpume_div_up(rows, gpume_div_up(rows, most > 0 ? most : 1)),
        .list = 2 * local,
        .quarter_shift = shift_for(half, plan->params.bits),
        .sixteenth_shift = shift_for(half / 2, plan->params.bits),
    };
    shape.give_up = give_up(plan, &shape);
    return shape;
}

/* Longer where a probe costs more, so that probes stay a small share. */
static uint64_t probe_period(const struct gpume_sieve_size *size)
{
    uint64_t used = size->field_ns[size->sieving], other = size->field_ns[!size->sieving];
    return (size->sieving ? GPUME_SIEVE_PROBE_FULL : GPUME_SIEVE_PROBE) * (other / used + 1);
}

static struct gpume_sieve_size *size_of(struct gpume_sieve_switch *sieve, uint32_t fields)
{
    return &sieve->sizes[gpume_bit_width(fields)];
}

bool gpume_sieve_switch_next(struct gpume_sieve_switch *sieve, uint32_t fields)
{
    struct gpume_sieve_size *size = size_of(sieve, fields);
    if (!size->tried) {
        size->tried = true;
        return true;
    }
    if (size->field_ns[0] == 0 || size->field_ns[1] == 0) {
        return size->sieving;
    }
    if (++size->since_probe < probe_period(size)) {
        return size->sieving;
    }
    size->since_probe = 0;
    return !size->sieving;
}

void gpume_sieve_switch_measured(
    struct gpume_sieve_switch *sieve, bool sieved, uint64_t ns, uint32_t fields)
{
    struct gpume_sieve_size *size = size_of(sieve, fields);
    if (ns == 0 || fields == 0) {
        size->sieving |= size->field_ns[0] == 0 && size->field_ns[1] == 0;
        return;
    }
    size->field_ns[sieved] = ns / fields + 1;
    size->sieving =
        size->field_ns[0] > 0 && size->field_ns[1] > 0 && size->field_ns[1] < size->field_ns[0];
    size->tried = size->field_ns[1] > 0; /* else once more: its time was not told */
}
