/* SPDX-License-Identifier: BSD-2-Clause */
/* What gpume INPUT does in place of a plain search. Main thread only. */
#ifndef GPUME_CLI_ESTIMATE_MODES_H
#define GPUME_CLI_ESTIMATE_MODES_H

#include "estimate/estimate.h"
#include "media/source.h"

/*
 * --compat ffmpeg: the vectors of FFmpeg's mestimate=method=esa. That filter searches both
 * directions with blocks whose side is a power of two, ignores partial blocks at the right and
 * bottom edges, compares the first frame with itself, and outputs all frames but the last.
 */

/* Refuses options that contradict it, and changes the search to the filter's; options->asked_block
 * keeps the block size that was given. GPUME_OK, or GPUME_INVALID after one line. */
int gpume_compat_apply(struct gpume_estimate_options *options, const struct gpume_line *line);

/* The filter graph: that of --vf, then one that crops the picture to whole blocks. The caller frees
 * it; NULL: out of memory. */
char *gpume_compat_graph(const struct gpume_estimate_options *options);

/* Refuses input that mestimate would not take unconverted. */
enum gpume_exit gpume_compat_check_input(
    const struct gpume_estimate_options *options, const struct gpume_source_info *info);

/* --from-stream: the vectors that a coded video holds, in place of a search (coded/vectors.c). */

/* Refuses options that have no meaning without a search. GPUME_INVALID after one line. */
int gpume_from_stream_check(struct gpume_estimate_options *options, const struct gpume_line *line);

enum gpume_exit gpume_from_stream_run(const struct gpume_estimate_options *options);

/*
 * --against-stream: for every block of a coded video, the best match that exhaustive search finds
 * in the frame that the encoder took, beside the vector that the encoder chose (against.c).
 */

/* The outputs: tables of blocks and of frames, and the page. */
#define GPUME_AGAINST_OUTPUTS 3u
extern const struct gpume_sink_ops gpume_against_outputs[GPUME_AGAINST_OUTPUTS];

/* Refuses options that have no meaning here, and sets the defaults of those that have others.
 * GPUME_INVALID after one line. */
int gpume_against_check(struct gpume_estimate_options *options, const struct gpume_line *line);

enum gpume_exit gpume_against_run(const struct gpume_estimate_options *options);

#endif
