/* SPDX-License-Identifier: BSD-2-Clause */
/* Are the files of a saved state (resume/state.h) still there and unchanged? */
#ifndef GPUME_RESUME_FILES_H
#define GPUME_RESUME_FILES_H

#include "base/log.h"
#include "resume/state.h"

/* sums: of the completed frame pairs. Sets `moved` of each output. GPUME_EOF: none of the files is
 * left. After one line GPUME_INVALID: a file is missing or changed; GPUME_AGAIN: the run is still
 * under way; GPUME_IO, GPUME_NOMEM: the check failed. */
int gpume_run_files_check(
    struct gpume_run_state *state, const struct gpume_summary *sums, const struct gpume_log *log);

/* GPUME_AGAIN after one line: another process is writing an output of the run. */
int gpume_run_files_check_idle(const struct gpume_run_state *state, const struct gpume_log *log);

#endif
