/* SPDX-License-Identifier: BSD-2-Clause */
#include "source_options.h"

#include "console.h"
#include "options/checks.h"

#include <inttypes.h>

int gpume_source_choice_check(
    const struct gpume_common_options *common, const struct gpume_source_choice *choice)
{
    if (choice->pictures && common->input_count < 2) {
        return gpume_refuse(GPUME_INVALID, "--pictures: needs two inputs; leave it out for one");
    }
    return gpume_check_streams(common, "pictures");
}

struct gpume_source_options gpume_source_options_make(const struct gpume_common_options *common,
    const struct gpume_source_choice *choice, const struct gpume_params *params)
{
    return (struct gpume_source_options){
        .paths = {common->inputs[0], common->inputs[1]},
        .path_count = common->input_count,
        .pictures = choice->pictures,
        .filter = choice->filter,
        .stream = choice->stream,
        .threads = params->threads,
        .hwaccel = choice->hwaccel,
        .trust = {.network = choice->allow_network,
            .files = choice->allow_files,
            .max_pixels = choice->max_pixels,
            .max_memory = params->memory_max},
        .log = gpume_console,
    };
}

enum gpume_exit gpume_source_exit(int status)
{
    switch (status) {
    case GPUME_OK:
        return GPUME_EXIT_DONE;
    case GPUME_INVALID: /* --vf, --stream, --hwaccel, or a video as one of two stills */
        return GPUME_EXIT_USAGE;
    case GPUME_NOMEM:
    case GPUME_AGAIN: /* no more threads */
        return GPUME_EXIT_FAILED;
    default:
        return GPUME_EXIT_INPUT;
    }
}

enum gpume_exit gpume_refuse_short_source(const struct gpume_source_info *info, const char *filter,
    uint64_t found, uint64_t needed, const char *causes)
{
    const bool any = causes[0] != '\0';
    return gpume_refuse(GPUME_EXIT_INPUT,
        "%s: has %" PRIu64 " frame%s%s%s; %s%s%s needs %" PRIu64 ": %s", info->label, found,
        found == 1 ? "" : "s", filter ? " after --vf " : "", filter ? filter : "",
        any ? "the first frame pair (" : "a frame pair", any ? causes + 2 : "", any ? ")" : "",
        needed,
        any ? "ask for less, or give a longer video" : "give a longer video, or two pictures");
}
