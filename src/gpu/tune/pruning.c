/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/pruning.h"

#include "frame/stats.h"

static bool decide(struct gpume_pruning *pruning, uint32_t fields)
{
    return pruning->forced ? pruning->submissions++ % 3 < 2
                           : gpume_prune_policy_next(&pruning->policy, fields);
}

bool gpume_pruning_next(struct gpume_pruning *pruning, uint32_t slot, uint32_t fields)
{
    pruning->pruned[slot] = pruning->possible && fields > 0 && decide(pruning, fields);
    return pruning->pruned[slot];
}

void gpume_pruning_measured(
    struct gpume_pruning *pruning, uint32_t slot, uint64_t ns, uint32_t fields)
{
    gpume_prune_policy_measured(&pruning->policy, pruning->pruned[slot], ns, fields);
}

/* Of so many frame pairs together. */
static uint64_t count_at(const uint32_t *words, uint32_t which, uint32_t pairs)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < pairs * GPUME_COUNT_SLOTS; i++, words += GPUME_COUNT_WORDS) {
        sum += words[2 * which] | (uint64_t)words[2 * which + 1] << 32;
    }
    return sum;
}

/* Every pass but the last one looks for one match of each block. */
static void count_general(const struct gpume_plan *plan, uint32_t references, uint64_t compared,
    struct gpume_stats *stats)
{
    uint64_t sweeps = (uint64_t)(plan->passes - 1 + plan->kept) * references;
    gpume_stats_count_sweeps(stats, plan, sweeps * plan->sweep_candidates, compared);
}

void gpume_pruning_count(const struct gpume_pruning *pruning, uint32_t slot,
    const struct gpume_plan *plan, const struct gpume_layout *layout, const struct gpume_task *task,
    const uint32_t *words, struct gpume_stats *stats)
{
    bool pruned = pruning->pruned[slot];
    uint32_t pairs = 1 + task->more_count;
    stats->fields++;
    if (!gpume_plan_searches_fast(plan) && pruned) {
        count_general(plan, pairs, count_at(words, GPUME_COUNT_PAST_PARTS, 1), stats);
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
