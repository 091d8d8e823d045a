/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures derived from a summary, shared by its two writers. Pure functions. */
#ifndef GPUME_SINKS_SUMMARY_FIGURES_H
#define GPUME_SINKS_SUMMARY_FIGURES_H

#include "sinks/summary.h"

double gpume_total_value(const struct gpume_total *total);

/* Blocks of a field. */
uint64_t gpume_summary_blocks(const struct gpume_summary *summary);

/* Of the mean squared error over all fields of the figures; infinity where that is 0. */
double gpume_summary_psnr(const struct gpume_summary *summary, const struct gpume_figures *figures,
    const struct gpume_total *sse);

/* Over the fields where it is finite; infinity where there is none. */
double gpume_summary_psnr_mean(const struct gpume_psnr_sum *sum);

/* Shares of all candidates, by how far they came; 1 together. */
struct gpume_elimination {
    double by_blocks, by_parts, compared;
};
struct gpume_elimination gpume_summary_elimination(const struct gpume_summary *summary);

/* The time of every stage, as the outputs name it. Decode, engine and write are one thread each;
 * those between engine and write are what the engine's thread does or waits for. */
enum gpume_summary_stage {
    GPUME_SUMMARY_DECODE,
    GPUME_SUMMARY_ENGINE,
    GPUME_SUMMARY_UPLOAD,
    GPUME_SUMMARY_MATCH,
    GPUME_SUMMARY_REDUCE,
    GPUME_SUMMARY_RANK,
    GPUME_SUMMARY_READBACK,
    GPUME_SUMMARY_WRITE,
    GPUME_SUMMARY_WHOLE,
    GPUME_SUMMARY_STAGES,
};
struct gpume_stage_time {
    const char *name;
    uint64_t ns;
    double busy; /* share of the whole */
};
void gpume_summary_stages(
    const struct gpume_summary *summary, struct gpume_stage_time stages[GPUME_SUMMARY_STAGES]);

/* Per second; 0 where no time has passed. */
double gpume_summary_rate(uint64_t count, uint64_t ns);

#endif
