/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --against-stream: for every block of a coded video, the best match that exhaustive search finds
 * in the frame that the encoder took, beside the vector that the encoder chose. Main thread only.
 */
#ifndef GPUME_CLI_ESTIMATE_AGAINST_H
#define GPUME_CLI_ESTIMATE_AGAINST_H

#include "estimate/estimate.h"

/* The outputs: tables of blocks and of frames, and the page. */
#define GPUME_AGAINST_OUTPUTS 3u
extern const struct gpume_sink_ops gpume_against_outputs[GPUME_AGAINST_OUTPUTS];

/* Refuses options that have no meaning here, and sets the defaults of those that have others.
 * GPUME_INVALID after one line. */
int gpume_against_check(struct gpume_estimate_options *options, const struct gpume_line *line);

enum gpume_exit gpume_against_run(const struct gpume_estimate_options *options);

#endif
