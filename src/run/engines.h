/* SPDX-License-Identifier: BSD-2-Clause */
/* Which engine a context begins with, which others it may get (params.devices), and whether the CPU
 * stands by. */
#ifndef GPUME_RUN_ENGINES_H
#define GPUME_RUN_ENGINES_H

#include "run/pipeline.h"

struct gpume_engines {
    struct gpume_pipeline_parts parts; /* all but the source */
    struct gpume_plan plans[GPUME_DEVICES_MAX];
};

/* The struct is zeroed before. Failures are logged, and then nothing is open. */
int gpume_engines_open(
    struct gpume_engines *engines, const struct gpume_params *params, const struct gpume_log *log);

#endif
