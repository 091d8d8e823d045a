/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics derived from a summary, for its two writers. Pure functions. */
#ifndef GPUME_SINKS_SUMMARY_STATISTICS_H
#define GPUME_SINKS_SUMMARY_STATISTICS_H

#include "sinks/summary.h"

double gpume_total_value(const struct gpume_total *total);

/* Blocks of a field. */
uint64_t gpume_summary_blocks(const struct gpume_summary *summary);

/* The PSNR of the mean squared error over all pixels of all fields; infinity if that is 0. */
double gpume_summary_psnr(const struct gpume_summary *summary,
    const struct gpume_statistics *statistics, const struct gpume_total *sse);

/* The mean of the finite PSNRs; infinity if there are none. */
double gpume_summary_psnr_mean(const struct gpume_psnr_sum *sum);

/* Fractions of the candidates that were pruned by sums of large and of small boxes, and compared.
 * They add up to 1. */
struct gpume_elimination {
    double by_blocks, by_parts, compared;
};
struct gpume_elimination gpume_summary_elimination(const struct gpume_summary *summary);

/* The stages as the outputs name them. Decode, engine and write are one thread each; the stages
 * between engine and write are parts of what the engine's thread does or waits for. */
#define GPUME_SUMMARY_STAGES 9
struct gpume_summary_stage {
    const char *name;
    uint64_t ns;
    double busy; /* fraction of the whole time */
};
void gpume_summary_stages(
    const struct gpume_summary *summary, struct gpume_summary_stage stages[GPUME_SUMMARY_STAGES]);

/* Per second; 0 if no time has passed. */
double gpume_summary_rate(uint64_t count, uint64_t ns);

#endif
