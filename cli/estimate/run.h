/* SPDX-License-Identifier: BSD-2-Clause */
/* The main job: motion estimation from an input to its outputs. */
#ifndef GPUME_CLI_ESTIMATE_RUN_H
#define GPUME_CLI_ESTIMATE_RUN_H

#include "options/options.h"

/* What went wrong has been given to gpume_console_error. Main thread, signals started. */
enum gpume_exit gpume_run_job(const struct gpume_options *options);

#endif
