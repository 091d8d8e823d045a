/* SPDX-License-Identifier: BSD-2-Clause */
/* Are the files that the state of a run tells of (run_state.h) still there, and what they were? */
#ifndef GPUME_RESUME_FILES_H
#define GPUME_RESUME_FILES_H

#include "resume/state.h"

/* sums: what the state says of the fields that are done. Fills in which outputs have moved.
 * GPUME_EOF: nothing is left of any. After one line GPUME_INVALID: something has been lost or
 * changed; GPUME_AGAIN: a run is still under way; GPUME_IO, GPUME_NOMEM: that cannot be found out.
 */
int gpume_run_files_check(
    struct gpume_run_state *state, const struct gpume_summary *sums, const struct gpume_log *log);

#endif
