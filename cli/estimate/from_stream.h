/* SPDX-License-Identifier: BSD-2-Clause */
/* --from-stream: the vectors that a coded video holds, in place of a search. Main thread only. */
#ifndef GPUME_CLI_ESTIMATE_FROM_STREAM_H
#define GPUME_CLI_ESTIMATE_FROM_STREAM_H

#include "estimate/estimate.h"

/* Refuses options that have no meaning without a search. GPUME_INVALID after one line. */
int gpume_from_stream_check(
    const struct gpume_estimate_options *options, const struct gpume_line *line);

enum gpume_exit gpume_from_stream_run(const struct gpume_estimate_options *options);

#endif
