/* SPDX-License-Identifier: BSD-2-Clause */
/* What identifies a run in its saved state: version, input, parameters and outputs. */
#ifndef GPUME_RESUME_JOB_H
#define GPUME_RESUME_JOB_H

#include "base/log.h"
#include "resume/state.h"

#include <jansson.h>

/* Writes the members of the job into an object that has been begun. */
void gpume_run_job_put(const struct gpume_run_state *state, struct gpume_json *json);

/* GPUME_INVALID after one line: the saved state `was` is that of another job. GPUME_NOMEM. */
int gpume_run_job_check(
    const struct gpume_run_state *state, const json_t *was, const struct gpume_log *log);

/* Does the saved state `other` have one of these outputs? */
bool gpume_run_job_shares_output(const struct gpume_run_state *state, const json_t *other);

/* A 64-bit number is a string of its digits: JSON readers have at most 63 bits. */
void gpume_run_put_number(struct gpume_json *json, const char *key, uint64_t value);

#endif
