/* SPDX-License-Identifier: BSD-2-Clause */
/* The closing words of a complete run. Main thread only. */
#ifndef GPUME_CLI_ESTIMATE_CONCLUDE_H
#define GPUME_CLI_ESTIMATE_CONCLUDE_H

#include "estimate/estimate.h"
#include "sinks/summary.h"

/* Prints the summary to standard output; if an output went there, prints only what was asked for,
 * to standard error. Returns the exit status, also if --check has found wrong vectors. */
enum gpume_exit gpume_run_conclude(const struct gpume_estimate_options *options,
    const struct gpume_summary *summary, FILE *stream);

#endif
