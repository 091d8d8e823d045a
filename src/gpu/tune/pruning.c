/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/pruning.h"

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

static uint64_t count_at(const uint32_t *words, uint32_t which)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < GPUME_COUNT_SLOTS; i++, words += GPUME_COUNT_WORDS) {
        sum += words[2 * which] | (uint64_t)words[2 * which + 1] << 32;
    }
    return sum;
}

void gpume_pruning_count(const struct gpume_pruning *pruning, uint32_t slot,
    const struct gpume_plan *plan, const struct gpume_layout *layout, const uint32_t *words,
    struct gpume_stats *stats)
{
    bool pruned = pruning->pruned[slot];
    stats->fields++;
    if (plan->general) {
        return; /* its kernels skip candidates, but do not count them */
    }
    stats->candidates += plan->field_candidates;
    stats->past_blocks += pruned ? count_at(words, GPUME_COUNT_PAST_BLOCKS) : 0;
    stats->past_parts += pruned ? count_at(words, GPUME_COUNT_PAST_PARTS) : 0;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        bool full = !pruned || layout->pruning[i].bytes == 0;
        stats->past_blocks += full ? plan->layers[i].candidates : 0;
        stats->past_parts += full ? plan->layers[i].candidates : 0;
    }
}
