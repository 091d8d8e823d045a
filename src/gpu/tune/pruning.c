/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/pruning.h"

#include "base/grid.h"
#include "common/shared.h"
#include "frame/field.h"

#define SUM_MAX 2047u /* half floats hold these, their differences and small sums of them */
#define EACH_MAX 10u  /* groups of candidates whose bounds an invocation keeps in registers */
/* Candidates to compare. Measured: with 400 and more a submission waits longer for its last block.
 */
#define WORTH 192u
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

#define STRIP_SIDE 16u    /* rows of sums of a quarter lie in registers */
#define STRIPS_MAX 32u    /* of an invocation: a bit each */
#define STRIP_LOCAL 128u  /* measured: 64 and 256 are slower */
#define STRIP_GIVE_UP 16u /* one candidate of this many is compared */

/* Measured on an H200: numbers of candidates up to which an invocation for each square is fastest,
 * and up to which strips are. 8x8 by strips in windows of 7, 16, 32 and 192x48: 20, 42, 90 and 490
 * us per field; with an invocation for each: 15 and 47 us; with a workgroup: 82 and 385 us in the
 * last two. Other blocks than those of whole eights have nothing else. */
static uint64_t small_most(const struct gpume_shape *layer)
{
    bool square = layer->block_w == layer->block_h;
    return square && (layer->block_w == 8 || layer->block_w == 16) ? 300 : 0;
}

static bool is_of_eights(const struct gpume_shape *layer)
{
    return layer->block_w % 8 == 0 && layer->block_h % 8 == 0;
}

static uint64_t strips_most(const struct gpume_shape *layer)
{
    if (layer->block_w > STRIP_SIDE || layer->block_h > STRIP_SIDE) {
        return 0;
    }
    return !is_of_eights(layer) ? UINT64_MAX : layer->block_w * layer->block_h == 64 ? 1200 : 0;
}

enum gpume_prune_kind gpume_prune_kind_of(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    uint32_t bits = layer->cost_bits + gpume_bit_width(plan->candidates);
    if (bits <= 32 && plan->candidates <= small_most(layer)) {
        return GPUME_PRUNE_SMALL;
    }
    if (bits <= 32 && plan->candidates <= strips_most(layer)) {
        return GPUME_PRUNE_STRIPS;
    }
    return is_of_eights(layer) ? GPUME_PRUNE_WIDE : GPUME_PRUNE_NONE;
}

/* An invocation bounds at most 150 eights of candidates twice and lists its share. The list holds
 * 256, of which 7 places may stay free: in each of at most 64 * 300 / 249 + 1 = 78 rounds it
 * compares four candidates, each in up to four squares of eight rows. That is below 25,000
 * iterations, as test_prune counts. */
static struct gpume_prune_shape small_shape(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    uint64_t samples = (uint64_t)layer->block_w * layer->block_h;
    return (struct gpume_prune_shape){
        .kind = GPUME_PRUNE_SMALL,
        .local = 64,
        .team = 1,
        .give_up = 128, /* measured; many candidates of a block are shared by all invocations */
        .quarter_shift = shift_for(samples / 4, plan->params.bits),
    };
}

/* Rows of a strip, a multiple of `half`: the number by which a team bounds all strips soonest. A
 * strip begins with rows of sums that have no candidate yet. */
static uint32_t strip_rows(const struct gpume_plan *plan, uint32_t half, uint32_t team)
{
    uint64_t rows = 2 * plan->params.window_y + 1, least = UINT64_MAX;
    uint64_t eights = (plan->pad_x + plan->params.window_x + 8) / 8;
    uint32_t chosen = half;
    for (uint32_t strip = half; strip < rows + half; strip += half) {
        uint64_t each = gpume_div_up(gpume_div_up(rows, strip) * eights, team);
        uint64_t work = each * (4 * strip + half + 4);
        if (each <= STRIPS_MAX && work < least) {
            least = work;
            chosen = strip;
        }
    }
    return chosen;
}

/* STRIPS_MAX suffices: a window of up to 500 candidates has at most 64 eights in a row, the widest
 * 129. Iterations of an invocation, as test_prune counts them: it bounds its strips twice. The
 * workgroup lists GIVE_UP candidates of every block and one eight more for every invocation, in
 * rounds that end with a full list and take 2 * (SHARE + 2) iterations. */
static struct gpume_prune_shape strips_shape(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    uint64_t samples = (uint64_t)layer->block_w * layer->block_h;
    uint32_t team = plan->candidates > 8192 ? 32 : plan->candidates > 500 ? 8 : 4; /* measured */
    return (struct gpume_prune_shape){
        .kind = GPUME_PRUNE_STRIPS,
        .local = STRIP_LOCAL,
        .team = team,
        .seeds = 2, /* measured: 1 and 4 are slower */
        .part = strip_rows(plan, layer->block_h / 2, team),
        .give_up = (uint32_t)gpume_max_u64(128, plan->candidates / STRIP_GIVE_UP),
        .quarter_shift = shift_for(samples / 4, plan->params.bits),
    };
}

uint64_t gpume_prune_candidates_min(
    const struct gpume_plan *plan, const struct gpume_shape *layer, bool processor)
{
    return processor ? 500 : gpume_prune_kind_of(plan, layer) == GPUME_PRUNE_WIDE ? 400 : 100;
}

struct gpume_prune_shape gpume_prune_shape_make(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    enum gpume_prune_kind kind = gpume_prune_kind_of(plan, layer);
    if (kind != GPUME_PRUNE_WIDE) {
        return kind == GPUME_PRUNE_SMALL ? small_shape(plan, layer) : strips_shape(plan, layer);
    }
    uint64_t samples = (uint64_t)layer->block_w * layer->block_h;
    uint32_t rows = (uint32_t)gpume_div_up(2 * plan->params.window_y + 1, 4);
    /* Measured. Large blocks are few, and take long to compare. */
    uint32_t local = plan->candidates > 8192 || samples >= 4096 ? 128 : samples >= 1024 ? 64 : 32;
    uint32_t most = EACH_MAX * local / plan->dx_quads;
    struct gpume_prune_shape shape = {
        .kind = GPUME_PRUNE_WIDE,
        .local = local,
        .part = (uint32_t)gpume_div_up(rows, gpume_div_up(rows, most > 0 ? most : 1)),
        .list = 2 * local,
        .quarter_shift = shift_for(samples / 4, plan->params.bits),
        .sixteenth_shift = shift_for(samples / 16, plan->params.bits),
    };
    /* Limits the loops of an invocation: a candidate takes as many iterations as all invocations
     * need for its runs of eight or sixteen samples, and two more. */
    uint64_t affordable = COMPARE_ITERATIONS / (gpume_div_up(samples / 8, local) + 2);
    shape.give_up = (uint32_t)gpume_min_u64(WORTH, affordable);
    return shape;
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
    /* Longer where a probe costs more, so that probes stay a small share. */
    uint64_t used = size->field_ns[size->pruning], other = size->field_ns[!size->pruning];
    uint64_t period = size->pruning ? GPUME_PRUNE_PROBE_FULL : GPUME_PRUNE_PROBE;
    if (++size->since_probe < period * (other / used + 1)) {
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

/* --- from submission to submission */

bool gpume_pruning_next(struct gpume_pruning *pruning, uint32_t slot, uint32_t fields)
{
    bool pruned = pruning->possible && fields > 0;
    if (pruned) {
        pruned = pruning->forced ? pruning->submissions++ % 3 < 2
                                 : gpume_prune_policy_next(&pruning->policy, fields);
    }
    return pruning->pruned[slot] = pruned;
}

/* Of several frame pairs together. */
static uint64_t count_at(const uint32_t *words, uint32_t which, uint32_t pairs)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < pairs * GPUME_COUNT_SLOTS; i++, words += GPUME_COUNT_WORDS) {
        sum += words[2 * which] | (uint64_t)words[2 * which + 1] << 32;
    }
    return sum;
}

void gpume_pruning_count(const struct gpume_pruning *pruning, uint32_t slot,
    const struct gpume_plan *plan, const struct gpume_layout *layout, const struct gpume_task *task,
    const uint32_t *words, struct gpume_stats *stats)
{
    bool pruned = pruning->pruned[slot];
    uint32_t pairs = 1 + task->more_count;
    stats->fields++;
    if (!gpume_plan_searches_fast(plan) && pruned) {
        /* Every pass but the last one looks for one match of each block. */
        uint64_t sweeps = (uint64_t)(plan->passes - 1 + plan->kept) * pairs;
        gpume_stats_count_sweeps(stats, plan, sweeps * plan->sweep_candidates,
            count_at(words, GPUME_COUNT_PAST_PARTS, 1));
        return;
    }
    bool counted = false; /* boxes alone, which the search for means reads, count nothing */
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        counted |= gpume_pruning_used(&layout->pruning[i]);
    }
    pruned = pruned && counted;
    stats->candidates += plan->field_candidates;
    stats->past_blocks += pruned ? count_at(words, GPUME_COUNT_PAST_BLOCKS, pairs) / pairs : 0;
    stats->past_parts += pruned ? count_at(words, GPUME_COUNT_PAST_PARTS, pairs) / pairs : 0;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        bool full = !pruned || !gpume_pruning_used(&layout->pruning[i]);
        stats->past_blocks += full ? plan->layers[i].candidates : 0;
        stats->past_parts += full ? plan->layers[i].candidates : 0;
    }
}
