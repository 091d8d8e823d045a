/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file that a sample writes: never its input, another file only if it is told to, and called
 * FILE.partial until it is complete.
 */
#ifndef SAMPLES_OUTPUT_H
#define SAMPLES_OUTPUT_H

#include <stdbool.h>

/* The caller sets program and overwrite, and zeroes the rest. */
struct output {
    const char *program;   /* for messages */
    bool overwrite;        /* replace a file of that name */
    const char *name;      /* what to open */
    char *partial, *final; /* names of a regular file; NULL: it is none */
};

/* Chooses the name to open. input: NULL or "-" if it is no file. Negative after one line on
 * standard error. Finish follows in any case. */
int output_choose(struct output *output, const char *input, const char *path);

/* After the file is closed: gives it its name if status is 0, else removes it. Returns status, or a
 * negative number after one line on standard error. */
int output_finish(struct output *output, int status);

#endif
