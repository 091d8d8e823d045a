/* SPDX-License-Identifier: BSD-2-Clause */
/* Which files the names of a run stand for, however they are spelled, and what an input holds. */
#ifndef GPUME_RESUME_IDENTITY_H
#define GPUME_RESUME_IDENTITY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define GPUME_RUN_IDENTITY_BYTES (PATH_MAX + 64)

/* The file, or, of a numbered name, the folder and the last part. A pipe is its name, as a file
 * made later may get its number. */
void gpume_run_identity_of_input(const char *path, char identity[GPUME_RUN_IDENTITY_BYTES]);

/* The folder, and the last part: links to a file are followed, as files/out.h does. Where the
 * folder is not there, the name. */
void gpume_run_identity_of_output(const char *path, char identity[GPUME_RUN_IDENTITY_BYTES]);

/* Can the input be told from another one of its kind? Standard input only where it is a file. */
bool gpume_run_identity_is_certain(const char *input);

/* What an input holds, as far as its files tell without being read. */
struct gpume_run_contents {
    uint64_t bytes, changed_s, changed_ns; /* the sum; when the last of them changed */
};

/* Of a file, or of all of a numbered name; of what is neither, and without memory, nothing. */
struct gpume_run_contents gpume_run_contents_of(const char *input);

#endif
