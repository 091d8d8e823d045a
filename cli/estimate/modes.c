/* SPDX-License-Identifier: BSD-2-Clause */
#include "estimate/modes.h"

#include "console.h"
#include "options/common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- --compat ffmpeg */

/* Minima of the filter's options mb_size and search_param. */
#define BLOCK_MIN 8u
#define WINDOW_MIN 4u

static int refuse_compat(const char *option, const char *why)
{
    return gpume_refuse(GPUME_INVALID,
        "--compat ffmpeg: cannot be combined with %s, because %s; leave one of them out", option,
        why);
}

/* Refuses what the filter's search does not have. */
static int check_compat_search(const struct gpume_params *params)
{
    const struct {
        const char *option;
        bool given;
    } unknown[] = {
        {"partition", params->partition},
        {"subpel", params->subpel > 1},
        {"metric", params->metric != GPUME_METRIC_SAD},
        {"lambda or --qp", params->rate},
        {"bidirectional", params->bidirectional},
        {"best-reference", params->best_reference},
        {"candidates", params->candidates > 1},
        {"confidence", params->confidence},
    };
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        if (unknown[i].given) {
            return gpume_refuse(GPUME_INVALID,
                "--compat ffmpeg: the filter finds one whole-pixel vector by SAD for each block; "
                "leave out --%s",
                unknown[i].option);
        }
    }
    return GPUME_OK;
}

int gpume_compat_apply(struct gpume_estimate_options *options, const struct gpume_line *line)
{
    struct gpume_params *params = &options->params;
    if (options->common.input_count == 2) {
        return gpume_refuse(GPUME_INVALID,
            "--compat ffmpeg: the filter takes a video, not two pictures; give a "
            "pattern such as frame%%d.png, or leave it out");
    }
    if (check_compat_search(params) != GPUME_OK) {
        return GPUME_INVALID;
    }
    if (params->shape_count > 0) {
        return refuse_compat(
            "--block with rectangles or a list", "the filter's blocks are equal squares");
    }
    if (params->block < BLOCK_MIN) {
        return gpume_refuse(GPUME_INVALID,
            "--compat ffmpeg: the filter's blocks have a side of %u pixels or more; raise --block "
            "%" PRIu32,
            BLOCK_MIN, params->block);
    }
    if (params->window_x != params->window_y || params->window_x < WINDOW_MIN) {
        return gpume_refuse(GPUME_INVALID,
            "--compat ffmpeg: the filter's window is the same for both axes, %u or more; change "
            "--window %" PRIu32 "x%" PRIu32,
            WINDOW_MIN, params->window_x, params->window_y);
    }
    if (gpume_line_has(line, "edge") && params->edge != GPUME_EDGE_INSIDE) {
        return refuse_compat("--edge extend", "the filter never looks outside the picture");
    }
    if (gpume_line_has(line, "direction") && params->direction != GPUME_DIRECTION_BOTH) {
        return refuse_compat(
            params->direction == GPUME_DIRECTION_PAST ? "--direction past" : "--direction future",
            "the filter always looks both ways");
    }
    if (params->ref_distance != 1 || params->distance_count > 1) {
        return refuse_compat(
            "--ref-distance", "the filter's references are the neighbouring frames");
    }
    if (options->asked.prefilter.text) {
        return refuse_compat("--prefilter", "the filter searches unfiltered frames");
    }
    options->asked_block = params->block;
    for (params->block = BLOCK_MIN; params->block < options->asked_block;) {
        params->block *= 2; /* at most 128, like the option */
    }
    params->edge = GPUME_EDGE_INSIDE;
    params->direction = GPUME_DIRECTION_BOTH;
    return GPUME_OK;
}

/* A picture smaller than a block is not cropped; gpume_compat_check_input refuses it. */
char *gpume_compat_graph(const struct gpume_estimate_options *options)
{
    const unsigned block = options->params.block;
    const char *filter = options->asked.source.filter;
    const size_t bytes = (filter ? strlen(filter) : 0) + 256;
    char *graph = malloc(bytes);
    if (graph) {
        snprintf(graph, bytes,
            "%s%scrop=if(lt(iw\\,%u)\\,iw\\,trunc(iw/%u)*%u):if(lt(ih\\,%u)\\,ih\\,trunc(ih/"
            "%u)*%u):0:0",
            filter ? filter : "", filter ? "," : "", block, block, block, block, block, block);
    }
    return graph;
}

enum gpume_exit gpume_compat_check_input(
    const struct gpume_estimate_options *options, const struct gpume_source_info *info)
{
    const uint32_t block = options->params.block;
    if (info->bits != 8) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: has %" PRIu32 " bits per sample, but FFmpeg's mestimate takes 8; convert with "
            "--vf format=gray, or leave --compat out",
            info->label, info->bits);
    }
    if (info->converted) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: FFmpeg converts %s before mestimate sees it; choose the conversion with --vf "
            "format=gray or --vf format=yuv420p, or leave --compat out",
            info->label, info->pixel_format);
    }
    if (info->width % block != 0 || info->height % block != 0) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: %" PRIu32 "x%" PRIu32 " pixels hold no whole block of %" PRIu32
            ", and FFmpeg's mestimate skips the others; give a smaller --block",
            info->label, info->width, info->height, block);
    }
    return GPUME_EXIT_DONE;
}

/* --- --from-stream */

static const struct gpume_mode from_stream = {
    .option = "from-stream",
    .does = "writes vectors without a search",
    .takes = (const char *const[]){"block", "stream", "allow-network", "allow-files", "max-pixels",
        "threads", "vectors", "format", "overlay", "overlay-style", "overlay-key", "arrow-length",
        "arrow-spacing", "arrow-width", "min-length", "flow-max", "dim", "scale", "report",
        "overwrite", NULL},
};

int gpume_from_stream_check(struct gpume_estimate_options *options, const struct gpume_line *line)
{
    const struct gpume_shape_list *shapes = &options->search.shapes;
    if (gpume_check_mode(line, &from_stream) != GPUME_OK) {
        return GPUME_INVALID;
    }
    if (options->common.input_count == 2) {
        return gpume_refuse(GPUME_INVALID, "--from-stream: needs one video, not two pictures");
    }
    if (!options->vectors && !options->files[GPUME_SINK_overlay] && !options->report) {
        return gpume_refuse(
            GPUME_INVALID, "--from-stream: needs --vectors FILE, --overlay FILE or --report FILE");
    }
    if (shapes->count > 1 || shapes->shapes[0].width != shapes->shapes[0].height) {
        return gpume_refuse(GPUME_INVALID, "--block: must be one side with --from-stream");
    }
    options->side = shapes->shapes[0].width;
    if (options->asked.look.style != GPUME_OVERLAY_ARROWS &&
        options->asked.look.style != GPUME_OVERLAY_FLOW) {
        return gpume_refuse(
            GPUME_INVALID, "--overlay-style: must be arrows or flow with --from-stream");
    }
    return gpume_check_look(&options->asked.look, line);
}
