/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics as rows of a name and a time, for engines that fill them and for who adds them up. */
#ifndef GPUME_FRAME_STATS_H
#define GPUME_FRAME_STATS_H

#include "gpume/gpume.h"

/* Adds ns to the row of that name, which is appended if there is none. name: a constant string. */
void gpume_stats_add_ns(struct gpume_stats *stats, const char *name, uint64_t ns);

/* Adds everything that `from` counts and measures. */
void gpume_stats_add(struct gpume_stats *to, const struct gpume_stats *from);

#endif
