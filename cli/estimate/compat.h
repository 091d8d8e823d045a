/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --compat ffmpeg: the fields of FFmpeg's mestimate=method=esa, which looks both ways, has blocks
 * of a power of two, sees of the picture only whole blocks, compares the first frame with itself
 * and puts out all frames but the last.
 */
#ifndef GPUME_CLI_ESTIMATE_COMPAT_H
#define GPUME_CLI_ESTIMATE_COMPAT_H

#include "media/source.h"
#include "options/options.h"

/* What would contradict it. given: the options on the command line, one bit an id. GPUME_OK, or
 * GPUME_INVALID after one line. */
int gpume_compat_check(const struct gpume_options *options, uint64_t given);

/* Makes the search the filter's. Where that takes other blocks, options->block is what was asked
 * for. */
void gpume_compat_apply(struct gpume_options *options);

#define GPUME_COMPAT_GRAPH_BYTES 256

/* The graph that leaves whole blocks of the picture, to stand behind that of --vf. */
void gpume_compat_graph(const struct gpume_options *options, char graph[GPUME_COMPAT_GRAPH_BYTES]);

/* Can the filter take this input as it is? */
enum gpume_exit gpume_compat_check_input(
    const struct gpume_options *options, const struct gpume_source_info *info);

#endif
