/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which frames a run reads, and which of them are targets: --start, --frames, --duration and
 * --fields. Main thread only.
 */
#ifndef GPUME_CLI_ESTIMATE_FRAMES_H
#define GPUME_CLI_ESTIMATE_FRAMES_H

#include "estimate/estimate.h"
#include "options/option.h"
#include "sinks/summary.h"

struct gpume_source_info;

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

/* Frame pairs of the whole run, for an input of that many frames. 0: unknown. */
uint64_t gpume_run_window_expect(const struct gpume_estimate_options *options, uint64_t frames);

/* How many frames after its target a frame pair may need. */
uint64_t gpume_run_window_ahead(const struct gpume_params *params);

/* True if no further field of its target can follow. */
bool gpume_run_window_ends(const struct gpume_params *params, const struct gpume_field *field);

/* Frames that the first frame pair needs. */
uint64_t gpume_run_window_least(const struct gpume_estimate_options *options);

/* --- fields of interlaced video: the frames of the run are fields */

/* Their names as values of an option. */
extern const char *const gpume_fields_names[];

/* Makes the distances count fields. GPUME_INVALID after one line: one is too long. */
int gpume_fields_count(enum gpume_fields fields, struct gpume_distance_list *list);

/* Checks that the options go together; then --ref-distance counts what the choice says. GPUME_OK,
 * or GPUME_INVALID after one line. Before the parameters are derived from the options. */
int gpume_fields_check(struct gpume_estimate_options *options, const struct gpume_line *line);

/* The filter graph that also separates fields; the caller frees it. NULL: out of memory. */
char *gpume_fields_graph(const char *filter);

/* A field has half the lines of a frame, so its pixels are twice as high: makes *info say so.
 * Pixels of frames are square if nothing else is known. Warns that --fields divides progressive
 * frames, unless filters of --vf may have made others of them; not with -q. With the graph of above
 * among the options. */
void gpume_fields_describe(
    const struct gpume_estimate_options *options, struct gpume_source_info *info);

/* --- times */

/* Checks that they go together with the input and with each other. GPUME_OK, or GPUME_INVALID after
 * one line. */
int gpume_estimate_check_times(const struct gpume_estimate_options *options);

/* Sets start and frames if a time was given, for which the input is read before the run. */
enum gpume_exit gpume_estimate_find_times(struct gpume_estimate_options *options);

#endif
