/* SPDX-License-Identifier: BSD-2-Clause */
#include "frame/stats.h"

#include <assert.h>
#include <string.h>

void gpume_stats_add_ns(struct gpume_stats *stats, const char *name, uint64_t ns)
{
    uint32_t i = 0;
    while (i < stats->stage_count && strcmp(stats->stages[i].name, name) != 0) {
        i++;
    }
    if (i == stats->stage_count) {
        assert(stats->stage_count < GPUME_STAGES_MAX);
        stats->stages[stats->stage_count++] = (struct gpume_stage){name, 0};
    }
    stats->stages[i].ns += ns;
}

void gpume_stats_count_sweeps(
    struct gpume_stats *stats, const struct gpume_plan *plan, uint64_t tried, uint64_t compared)
{
    double share = tried > 0 ? (double)compared / (double)tried : 1;
    uint64_t past = (uint64_t)((double)plan->field_candidates * share);
    stats->candidates += plan->field_candidates;
    stats->past_blocks += past;
    stats->past_parts += past;
}

void gpume_stats_add(struct gpume_stats *to, const struct gpume_stats *from)
{
    to->fields += from->fields;
    to->busy_ns += from->busy_ns;
    to->candidates += from->candidates;
    to->past_blocks += from->past_blocks;
    to->past_parts += from->past_parts;
    for (uint32_t i = 0; i < from->stage_count; i++) {
        gpume_stats_add_ns(to, from->stages[i].name, from->stages[i].ns);
    }
}

void gpume_stats_uncount(struct gpume_stats *from, const struct gpume_stats *counted)
{
    from->fields -= counted->fields;
    from->candidates -= counted->candidates;
    from->past_blocks -= counted->past_blocks;
    from->past_parts -= counted->past_parts;
}
