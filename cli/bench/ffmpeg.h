/* SPDX-License-Identifier: BSD-2-Clause */
/* FFmpeg's mestimate=method=esa beside the library's engines, where it does the same search. */
#ifndef GPUME_CLI_BENCH_FFMPEG_H
#define GPUME_CLI_BENCH_FFMPEG_H

#include "bench/timing.h"

/* Makes of the work what mestimate can do of it: whole blocks, candidates inside them. False, and
 * *params as it was: nothing. */
bool gpume_bench_ffmpeg_params(struct gpume_params *params);

/* Why not. */
const char *gpume_bench_ffmpeg_why(const struct gpume_params *params);

/* A gpume_bench_once_fn. */
int gpume_bench_ffmpeg_once(
    const struct gpume_bench_clip *clip, const struct gpume_params *params, uint64_t *ns);

/* As gpume_bench_measure, on both fields of the clip's second frame, which are the filter's work as
 * --compat ffmpeg does it. Costs are not the filter's: they are those of its vectors. */
int gpume_bench_ffmpeg_measure(const struct gpume_bench_clip *clip,
    const struct gpume_params *params, const struct gpume_bench_answers *answers,
    uint64_t budget_ns, struct gpume_bench_time *time);

#endif
