/* SPDX-License-Identifier: BSD-2-Clause */
/* The outputs of a run, by its options. Main thread only. */
#ifndef GPUME_CLI_ESTIMATE_OUTPUTS_H
#define GPUME_CLI_ESTIMATE_OUTPUTS_H

#include "estimate/estimate.h"
#include "job.h"

/* Names the outputs of the job. GPUME_EXIT_DONE, or the exit status after one line. */
enum gpume_exit gpume_estimate_plan(
    struct gpume_cli_job *job, const struct gpume_estimate_options *options);

#endif
