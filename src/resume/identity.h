/* SPDX-License-Identifier: BSD-2-Clause */
/* Which files a run's names refer to, however they are spelled, and whether an input has changed.
 */
#ifndef GPUME_RESUME_IDENTITY_H
#define GPUME_RESUME_IDENTITY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define GPUME_RUN_IDENTITY_BYTES (PATH_MAX + 64)

/* What a run reads, as it was at one moment. */
struct gpume_run_input {
    char name[GPUME_RUN_IDENTITY_BYTES];
    char reference[GPUME_RUN_IDENTITY_BYTES]; /* the first of two still pictures, or "" */
    char predictor[GPUME_RUN_IDENTITY_BYTES]; /* the file of --predictor, or "" */
    /* Checksums of inode number, size and modification time of each file. */
    uint64_t files, predictor_file;
};

/* reference: NULL for a video; predictor: NULL for none. A file is identified by its inode number,
 * a numbered name by the folder and its last part, a pipe by its name: its inode number may be
 * reused. */
void gpume_run_input_look(
    struct gpume_run_input *input, const char *name, const char *reference, const char *predictor);

bool gpume_run_input_is_same(const struct gpume_run_input *a, const struct gpume_run_input *b);

/* The folder's inode number and the last part, with links followed as files/out.h does, or the path
 * if there is no such folder. */
void gpume_run_identity_of_output(const char *path, char identity[GPUME_RUN_IDENTITY_BYTES]);

/* Can the input be distinguished from others? Standard input only if it is a file. */
bool gpume_run_identity_is_certain(const char *input);

#endif
