/* SPDX-License-Identifier: BSD-2-Clause */
/* Which frames of the input a run takes, and which of them are targets. */
#ifndef GPUME_CLI_ESTIMATE_RUN_WINDOW_H
#define GPUME_CLI_ESTIMATE_RUN_WINDOW_H

#include "estimate/estimate.h"
#include "sinks/summary.h"

struct gpume_run_window {
    uint64_t first_frame;  /* the first one that is sent */
    uint64_t send;         /* frames; 0: to the input's end */
    uint64_t first_target; /* these two are those of struct gpume_params */
    uint64_t target_count;
    uint64_t known; /* frames from the input's first on that it must have, as it had them before */
};

/* done: the sums of the runs that this one continues; zero for none. */
struct gpume_run_window gpume_run_window_make(
    const struct gpume_estimate_options *options, const struct gpume_summary *done);

/* Fields of the whole run, from an input of so many frames (0: not known); 0: not known. */
uint64_t gpume_run_window_expect(const struct gpume_estimate_options *options, uint64_t frames);

/* Frames that the first field takes. */
uint64_t gpume_run_window_least(const struct gpume_estimate_options *options);

#endif
