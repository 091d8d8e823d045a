/* SPDX-License-Identifier: BSD-2-Clause */
/* The file beside a run's first output that holds its state. It is replaced as a whole. One thread.
 */
#ifndef GPUME_RESUME_STORE_H
#define GPUME_RESUME_STORE_H

#include "base/log.h"
#include "resume/state.h"

/* `.NAME.gpume-state` beside the file that path stands for; for free(). NULL without memory. */
char *gpume_run_state_path(const char *path);

/* Failures have been logged, and leave the old file. */
int gpume_run_state_write(
    const struct gpume_run_state *state, const char *path, const struct gpume_log *log);

/* Reads the sums into *summary, and the marks and flags into *state, whose other members are given.
 * GPUME_EOF: there is no state, or none of its files is left. After one line GPUME_INVALID: it is
 * the state of another run, or cannot be continued; GPUME_AGAIN: that run is still under way;
 * GPUME_IO, GPUME_NOMEM: it cannot be read. */
int gpume_run_state_read(struct gpume_run_state *state, struct gpume_summary *summary,
    const char *path, const struct gpume_log *log);

/* Removes, beside each output, the states of ended runs that had one of the same outputs, other
 * than `path`, this run's own. */
void gpume_run_state_supersede(const struct gpume_run_state *state, const char *path);

#endif
