/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The job in the state of a run (run_state.h), a line of JSON each value: is it that of another
 * run?
 */
#ifndef GPUME_RESUME_JOB_H
#define GPUME_RESUME_JOB_H

#include "base/log.h"

/* Keys beside summary.json's: behind that of an input's or output's name, which file it is, however
 * it is spelled; and a sum over the files of the input (run_identity.h). */
#define GPUME_RUN_JOB_IDENTITY " identity"
#define GPUME_RUN_JOB_FILES "input files"

/* Holds the job of a state, which ends at `end`, against that of this run. GPUME_INVALID after a
 * line: they are not the same. */
int gpume_run_job_compare(
    const char *was, const char *end, const char *now, const struct gpume_log *log);

#endif
