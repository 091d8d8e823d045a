/* SPDX-License-Identifier: BSD-2-Clause */
/* The same work as gpume vectors does, under the options of gpume INPUT. */
#include "estimate/from_stream.h"

#include "coded/vectors.h"
#include "console.h"
#include "options/checks.h"
#include "options/line.h"
#include "options/look.h"

static const struct gpume_mode from_stream = {
    .option = "from-stream",
    .does = "writes vectors without a search",
    .takes = (const char *const[]){"block", "stream", "allow-network", "allow-files", "max-pixels",
        "threads", "vectors", "format", "overlay", "overlay-style", "overlay-key", "arrow-length",
        "min-length", "flow-max", "dim", "scale", "report", "overwrite", NULL},
};

int gpume_from_stream_check(
    const struct gpume_estimate_options *options, const struct gpume_line *line)
{
    if (gpume_check_mode(line, &from_stream) != GPUME_OK) {
        return GPUME_INVALID;
    }
    if (options->common.input_count == 2) {
        return gpume_refuse(GPUME_INVALID, "--from-stream: needs one video, not two pictures");
    }
    if (!options->vectors && !options->overlay && !options->report) {
        return gpume_refuse(
            GPUME_INVALID, "--from-stream: needs --vectors FILE, --overlay FILE or --report FILE");
    }
    if (options->search.shapes.count > 1 ||
        (options->search.shapes.count == 1 &&
            options->search.shapes.shapes[0].width != options->search.shapes.shapes[0].height)) {
        return gpume_refuse(GPUME_INVALID, "--block: must be one side with --from-stream");
    }
    if (options->look.style != GPUME_OVERLAY_ARROWS && options->look.style != GPUME_OVERLAY_FLOW) {
        return gpume_refuse(
            GPUME_INVALID, "--overlay-style: must be arrows or flow with --from-stream");
    }
    return gpume_check_look(&options->look, line);
}

enum gpume_exit gpume_from_stream_run(const struct gpume_estimate_options *options)
{
    const struct gpume_shape_list *shapes = &options->search.shapes;
    const struct gpume_coded_options coded = {
        .common = options->common,
        .params = options->params,
        .source = options->source,
        .output = options->vectors,
        .overlay = options->overlay,
        .report = options->report,
        .report_pictures = options->report_pictures,
        .format = options->format,
        .block = shapes->count > 0 ? shapes->shapes[0].width : 0,
        .look = options->look,
    };
    return gpume_coded_write(&coded);
}
