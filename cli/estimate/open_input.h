/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening the input of a run, and refusing one that is too short. Main thread only. */
#ifndef GPUME_CLI_ESTIMATE_OPEN_INPUT_H
#define GPUME_CLI_ESTIMATE_OPEN_INPUT_H

#include "estimate/estimate.h"

/* Lets several decoders share the source, as the options say. engine: its memory is planned by now;
 * what --max-memory leaves is for decoders. */
void gpume_divide_input(const struct gpume_estimate_options *options, gpume *ctx,
    const struct gpume_info *engine, struct gpume_source *source);

/* The input ended after so many frames, before the first frame pair. */
enum gpume_exit gpume_refuse_short_input(const struct gpume_estimate_options *options,
    const struct gpume_source_info *info, uint64_t found);

#endif
