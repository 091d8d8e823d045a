/* SPDX-License-Identifier: BSD-2-Clause */
#include "open_source.h"

#include "compat.h"
#include "console.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gpume_open_source(const struct gpume_options *options, bool colour,
    struct gpume_source **source, struct gpume_source_info *info)
{
    char crop[GPUME_COMPAT_GRAPH_BYTES];
    char *graph = NULL;
    if (options->compat_ffmpeg) {
        const size_t bytes = sizeof(crop) + (options->filter ? strlen(options->filter) + 1 : 0);
        gpume_compat_graph(options, crop);
        graph = malloc(bytes);
        if (!graph) {
            gpume_console_error("out of memory");
            return GPUME_NOMEM;
        }
        snprintf(graph, bytes, "%s%s%s", options->filter ? options->filter : "",
            options->filter ? "," : "", crop);
    }
    const struct gpume_source_options source_options = {
        .paths = {options->inputs[0], options->inputs[1]},
        .path_count = options->input_count,
        .filter = graph ? graph : options->filter,
        .stream = options->stream,
        .threads = options->params.threads,
        .hwaccel = options->hwaccel,
        .trust = {.network = options->allow_network,
            .files = options->allow_files,
            .max_pixels = options->max_pixels},
        .colour = colour,
        .colour_first = gpume_options_first_target(options),
        .log = {.fn = gpume_console_log},
    };
    const int status = gpume_source_open(source, &source_options, info);
    free(graph);
    return status;
}

enum gpume_exit gpume_source_exit(int status)
{
    switch (status) {
    case GPUME_OK:
        return GPUME_EXIT_DONE;
    case GPUME_INVALID: /* --vf, --stream or --hwaccel */
        return GPUME_EXIT_USAGE;
    case GPUME_NOMEM:
        return GPUME_EXIT_FAILED;
    default:
        return GPUME_EXIT_INPUT;
    }
}
