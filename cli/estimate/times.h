/* SPDX-License-Identifier: BSD-2-Clause */
/* --start and --duration as times: which frames they mean. Main thread only. */
#ifndef GPUME_CLI_ESTIMATE_TIMES_H
#define GPUME_CLI_ESTIMATE_TIMES_H

#include "estimate/estimate.h"

/* Do they go together with the input and with each other? GPUME_OK, or GPUME_INVALID after one
 * line. */
int gpume_estimate_check_times(const struct gpume_estimate_options *options);

/* Sets start and frames if a time was given, for which the input is read before the run. */
enum gpume_exit gpume_estimate_find_times(struct gpume_estimate_options *options);

#endif
