/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --compat ffmpeg: the vectors of FFmpeg's mestimate=method=esa. That filter searches both
 * directions with blocks whose side is a power of two, ignores partial blocks at the right and
 * bottom edges, compares the first frame with itself, and outputs all frames but the last.
 */
#ifndef GPUME_CLI_ESTIMATE_COMPAT_H
#define GPUME_CLI_ESTIMATE_COMPAT_H

#include "estimate/estimate.h"
#include "media/source.h"
#include "options/line.h"

/* Refuses options that contradict it. GPUME_OK, or GPUME_INVALID after one line. */
int gpume_compat_check(const struct gpume_estimate_options *options, const struct gpume_line *line);

/* Changes the search to the filter's; options->asked_block keeps the block size that was given. */
void gpume_compat_apply(struct gpume_estimate_options *options);

/* The filter graph: that of --vf, then one that crops the picture to whole blocks. The caller frees
 * it; NULL: out of memory. */
char *gpume_compat_graph(const struct gpume_estimate_options *options);

/* Would mestimate take this input unconverted? */
enum gpume_exit gpume_compat_check_input(
    const struct gpume_estimate_options *options, const struct gpume_source_info *info);

#endif
