/* SPDX-License-Identifier: BSD-2-Clause */
#include "source_options.h"

#include "console.h"
#include "host.h"
#include "options/checks.h"

#include <inttypes.h>

#define DECODER_BYTES (UINT64_C(512) << 20) /* for the frames of a decoder that wait */

int gpume_source_choice_check(
    const struct gpume_common_options *common, const struct gpume_source_choice *choice)
{
    if (choice->pictures && common->input_count < 2) {
        return gpume_refuse(GPUME_INVALID, "--pictures: needs two inputs; leave it out for one");
    }
    return gpume_check_streams(common, "pictures");
}

/* At most, as asked or chosen by processors. */
static uint32_t decoders_of(
    const struct gpume_source_choice *choice, const struct gpume_params *params)
{
    return choice->decoders > 0 ? choice->decoders : gpume_source_decoders(params->threads);
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
        .divisible = decoders_of(choice, params) > 1,
        .trust = {.network = choice->allow_network,
            .files = choice->allow_files,
            .max_pixels = choice->max_pixels,
            .max_memory = params->memory_max},
        .log = gpume_console,
    };
}

uint32_t gpume_source_choice_divide(const struct gpume_source_choice *choice,
    const struct gpume_params *params, struct gpume_source *source, bool limits, uint64_t memory)
{
    const bool asked = choice->decoders > 0;
    const uint32_t decoders = asked || limits ? decoders_of(choice, params) : 1;
    const uint64_t most = gpume_host_memory_allowed() / 8, usual = decoders * DECODER_BYTES;
    struct gpume_division division = {
        .decoders = decoders,
        .bytes = usual < most ? usual : most,
        .asked = asked,
    };
    division.bytes = division.bytes < memory ? division.bytes : memory;
    if (decoders > 1) {
        gpume_source_divide(source, &division);
        gpume_console_info("%" PRIu32 " decoder%s; %.1f MiB of memory for frames that wait",
            division.decoders, division.decoders == 1 ? "" : "s", (double)division.bytes / 1048576);
    }
    return decoders > 1 ? division.decoders : 1;
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
