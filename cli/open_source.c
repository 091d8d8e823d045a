/* SPDX-License-Identifier: BSD-2-Clause */
#include "open_source.h"

#include "console.h"
#include "estimate/compat.h"
#include "estimate/run_window.h"

#include <inttypes.h>
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
            .max_pixels = options->max_pixels,
            .max_memory = options->params.memory_max},
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
    case GPUME_AGAIN: /* no more threads */
        return GPUME_EXIT_FAILED;
    default:
        return GPUME_EXIT_INPUT;
    }
}

/* Those of the options given that move the first field's frames further into the input; "" for
 * none: every field needs as many. */
static void name_causes(
    const struct gpume_options *options, uint64_t needed, char *text, size_t bytes)
{
    char start[32] = "", distance[32] = "";
    if (options->start > 0) {
        snprintf(start, sizeof(start), ", --start %" PRIu64, options->start);
    }
    if (options->params.ref_distance > 1) {
        snprintf(
            distance, sizeof(distance), ", --ref-distance %" PRIu32, options->params.ref_distance);
    }
    struct gpume_options past = *options;
    past.params.direction = GPUME_DIRECTION_PAST;
    past.compat_ffmpeg = false;
    const bool turned = gpume_run_window_least(&past) < needed;
    const bool future = options->params.direction == GPUME_DIRECTION_FUTURE;
    snprintf(text, bytes, "%s%s%s", start, distance,
        !turned                  ? ""
        : options->compat_ffmpeg ? ", --compat ffmpeg"
        : future                 ? ", --direction future"
                                 : ", --direction both");
}

enum gpume_exit gpume_refuse_short_source(
    const struct gpume_options *options, const struct gpume_source_info *info, uint64_t found)
{
    char causes[96];
    const uint64_t needed = gpume_run_window_least(options);
    name_causes(options, needed, causes, sizeof(causes));
    const bool any = causes[0] != '\0';
    gpume_console_error("%s: has %" PRIu64 " frame%s%s%s; %s%s%s needs %" PRIu64 ": %s",
        info->label, found, found == 1 ? "" : "s", options->filter ? " after --vf " : "",
        options->filter ? options->filter : "", any ? "the first field (" : "a field",
        any ? causes + 2 : "", any ? ")" : "", needed,
        any ? "ask for less, or give a longer video" : "give a longer video, or two pictures");
    return GPUME_EXIT_INPUT;
}
