/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which outputs a run will write and where: planned and checked before any work, so that nothing
 * is decoded for an output that cannot be. Main thread only.
 */
#ifndef GPUME_CLI_ESTIMATE_OUTPUTS_H
#define GPUME_CLI_ESTIMATE_OUTPUTS_H

#include "estimate/estimate.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stddef.h>

/* vectors, frames and summary of the folder, and one for each of six options. */
#define GPUME_OUTPUTS_MAX 9

struct gpume_output {
    const struct gpume_sink_ops *ops;
    char *path;
    char *plain; /* to compare with others */
    bool exists; /* something had its name before the run */
};

struct gpume_outputs {
    const struct gpume_vectors_format *vectors_format; /* of --vectors */
    struct gpume_output items[GPUME_OUTPUTS_MAX];
    size_t count;
    const char *seal;  /* the path of summary.json, which comes last; NULL: it is not written */
    char *folder;      /* of the standard files; NULL: none are written */
    size_t made_bytes; /* length of the outermost part of folder that we made; 0: none */
    bool to_stdout;    /* data goes to standard output */
};

/* GPUME_EXIT_DONE, or the exit status after one line. Release with gpume_outputs_finish either
 * way. */
enum gpume_exit gpume_outputs_init(
    struct gpume_outputs *outputs, const struct gpume_estimate_options *options);

/* The format that is asked for, or else the one of the name, csv of standard output, devices and
 * pipes. NULL after one line. */
const struct gpume_vectors_format *gpume_outputs_vectors_format(
    const struct gpume_vectors_format *asked, const char *path);

/* Is it a file that is also one of the inputs? Says so in one line. */
bool gpume_outputs_is_input(const char *const *inputs, uint32_t count, const char *path);

/* Could a later run go on with this output? */
bool gpume_output_can_continue(const struct gpume_output *output);

/* Is it files by number, each of which has its name when it is complete? */
bool gpume_output_is_series(const struct gpume_output *output);

/* Makes the folder with its parents. */
enum gpume_exit gpume_outputs_make_folder(struct gpume_outputs *outputs);

/* Takes away what make_folder made, as far as it is empty. */
void gpume_outputs_remove_folder(struct gpume_outputs *outputs);

void gpume_outputs_finish(struct gpume_outputs *outputs);

#endif
