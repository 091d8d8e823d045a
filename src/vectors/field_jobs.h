/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the bytes of fields: on the caller's thread, or on machines with many processors on several
 * threads, for several fields at once. The bytes do not depend on the threads. A compressed file
 * consists of members, each of which is made of a part of one field.
 */
#ifndef GPUME_VECTORS_FIELD_JOBS_H
#define GPUME_VECTORS_FIELD_JOBS_H

#include "vectors/format.h"

struct gpume_field_jobs;

/* target: of the writer, for info and state; outlives the jobs. processors: that the run may use;
 * 0: all. GPUME_NOMEM is never logged, here and below. */
int gpume_field_jobs_open(struct gpume_field_jobs **jobs, const struct gpume_vectors_target *target,
    const struct gpume_vectors_format *format, uint32_t processors);

/* Appends a header. A compressed file gets a member for it even if it is empty, since a file
 * without members is none. */
int gpume_field_jobs_head(
    struct gpume_field_jobs *jobs, struct gpume_out *out, const char *text, size_t bytes);

/* Appends a field and releases it, then or later. */
int gpume_field_jobs_put(
    struct gpume_field_jobs *jobs, struct gpume_out *out, const struct gpume_vectors_field *field);

/* Waits until all fields are released. *bytes: of their rows, since the last call. */
int gpume_field_jobs_wait(struct gpume_field_jobs *jobs, uint64_t *bytes);

/* The outputs are closed. Sets *jobs to NULL; NULL is fine. */
void gpume_field_jobs_close(struct gpume_field_jobs **jobs);

#endif
