/* SPDX-License-Identifier: BSD-2-Clause */
/* Which files the names of a run stand for, however they are spelled, and what an input holds. */
#ifndef GPUME_RESUME_IDENTITY_H
#define GPUME_RESUME_IDENTITY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define GPUME_RUN_IDENTITY_BYTES (PATH_MAX + 64)

/* An input as it was at one moment. */
struct gpume_run_input {
    char name[GPUME_RUN_IDENTITY_BYTES];
    char reference[GPUME_RUN_IDENTITY_BYTES]; /* of two still pictures the first; "": there is none
                                               */
    uint64_t files; /* a sum over each file's number, size and time of its last change */
};

/* reference: NULL for a video. A name stands for its file or, with a number in it, for the folder
 * and its last part. A pipe is its name, as a file made later may get its number. */
void gpume_run_input_look(struct gpume_run_input *input, const char *name, const char *reference);

bool gpume_run_input_is_same(const struct gpume_run_input *a, const struct gpume_run_input *b);

/* The folder, and the last part: links to a file are followed, as files/out.h does. Where the
 * folder is not there, the name. */
void gpume_run_identity_of_output(const char *path, char identity[GPUME_RUN_IDENTITY_BYTES]);

/* Can the input be told from another one of its kind? Standard input only where it is a file. */
bool gpume_run_identity_is_certain(const char *input);

#endif
