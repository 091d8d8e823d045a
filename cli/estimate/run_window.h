/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes which frames of the input a run reads, and which of them are targets. */
#ifndef GPUME_CLI_ESTIMATE_RUN_WINDOW_H
#define GPUME_CLI_ESTIMATE_RUN_WINDOW_H

#include "estimate/estimate.h"
#include "sinks/summary.h"

struct gpume_run_window {
    uint64_t first_frame;  /* the first frame to send */
    uint64_t send;         /* number of frames to send; 0: to the end of the input */
    uint64_t first_target; /* see struct gpume_params */
    uint64_t target_count;
    uint64_t known; /* frames that the input must have, since an earlier run read them */
};

/* done: the summary of the runs that this one resumes; zero: none. */
struct gpume_run_window gpume_run_window_make(
    const struct gpume_estimate_options *options, const struct gpume_summary *done);

/* Frame pairs of the whole run, for an input of so many frames. 0: unknown. */
uint64_t gpume_run_window_expect(const struct gpume_estimate_options *options, uint64_t frames);

/* How many frames after its target a frame pair may need. */
uint64_t gpume_run_window_ahead(const struct gpume_params *params);

/* True if no further field of its target can follow. */
bool gpume_run_window_ends(const struct gpume_params *params, const struct gpume_field *field);

/* Frames that the first frame pair needs. */
uint64_t gpume_run_window_least(const struct gpume_estimate_options *options);

#endif
