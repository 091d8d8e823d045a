/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run that is complete says. Main thread only. */
#ifndef GPUME_CLI_ESTIMATE_CONCLUDE_H
#define GPUME_CLI_ESTIMATE_CONCLUDE_H

#include "estimate/estimate.h"
#include "estimate/outputs.h"
#include "sinks/summary.h"

/* The closing words. They go to standard output, unless data went there: then only what was asked
 * for, and on standard error. The exit status, also of vectors that --check has found wrong. */
enum gpume_exit gpume_run_conclude(const struct gpume_estimate_options *options,
    const struct gpume_outputs *outputs, const struct gpume_summary *summary);

#endif
