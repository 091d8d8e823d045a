/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans and checks the outputs of a run before any work, so that no frame is decoded for an output
 * that cannot be written. Main thread only.
 */
#ifndef GPUME_CLI_ESTIMATE_OUTPUTS_H
#define GPUME_CLI_ESTIMATE_OUTPUTS_H

#include "estimate/estimate.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stddef.h>

/* Three files in the output folder, and one output for each of eight options. */
#define GPUME_OUTPUTS_MAX 11

struct gpume_output {
    const struct gpume_sink_ops *ops;
    char *path;
    char *plain; /* the path in a form that can be compared */
    bool exists; /* before the run */
};

struct gpume_outputs {
    const struct gpume_vectors_format *vectors_format; /* of --vectors */
    struct gpume_output items[GPUME_OUTPUTS_MAX];
    size_t count;
    const char *seal;  /* path of summary.json, which is completed last; NULL: it is not written */
    char *folder;      /* for the standard files; NULL: none are written */
    size_t made_bytes; /* of the outermost folder that the run made; 0: none */
    bool to_stdout;    /* data goes to standard output */
};

/* GPUME_EXIT_DONE, or the exit status after one line. Release with gpume_outputs_finish either
 * way. */
enum gpume_exit gpume_outputs_init(
    struct gpume_outputs *outputs, const struct gpume_estimate_options *options);

/* Could a later run resume this output? */
bool gpume_output_can_continue(const struct gpume_output *output);

/* Is it a series of numbered files, each of which gets its name when it is complete? */
bool gpume_output_is_series(const struct gpume_output *output);

/* Does one of them need frames in colour? */
bool gpume_outputs_want_colour(const struct gpume_outputs *outputs);

/* Makes the folder and its parents. */
enum gpume_exit gpume_outputs_make_folder(struct gpume_outputs *outputs);

/* Removes the folders that make_folder made, if they are empty. */
void gpume_outputs_remove_folder(struct gpume_outputs *outputs);

void gpume_outputs_finish(struct gpume_outputs *outputs);

#endif
