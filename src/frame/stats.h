/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics as rows of a name and a time, for engines that fill them and for who adds them up. */
#ifndef GPUME_FRAME_STATS_H
#define GPUME_FRAME_STATS_H

#include "model/plan.h"

/* Adds ns to the row of that name, which is appended if there is none. name: a constant string. */
void gpume_stats_add_ns(struct gpume_stats *stats, const char *name, uint64_t ns);

/* Counts a field of the general search as one sweep over every block, like any other field: all
 * sweeps of its task (references, passes, matches, fractions) share in what was compared, so that
 * all fields have equally many candidates. tried: candidates of all sweeps;
 * compared: those that sums of boxes did not exclude. */
void gpume_stats_count_sweeps(
    struct gpume_stats *stats, const struct gpume_plan *plan, uint64_t tried, uint64_t compared);

/* Adds everything that `from` counts and measures. */
void gpume_stats_add(struct gpume_stats *to, const struct gpume_stats *from);

/* Subtracts everything that `counted` counts, but no times. */
void gpume_stats_uncount(struct gpume_stats *from, const struct gpume_stats *counted);

#endif
