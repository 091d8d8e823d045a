/* SPDX-License-Identifier: BSD-2-Clause */
#include "open_source.h"

#include "console.h"

int gpume_open_source(const struct gpume_options *options, bool colour,
    struct gpume_source **source, struct gpume_source_info *info)
{
    const struct gpume_source_options source_options = {
        .paths = {options->inputs[0], options->inputs[1]},
        .path_count = options->input_count,
        .filter = options->filter,
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
    return gpume_source_open(source, &source_options, info);
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
