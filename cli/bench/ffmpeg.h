/* SPDX-License-Identifier: BSD-2-Clause */
/* Times FFmpeg's mestimate=method=esa, where it can do the same search as the library. */
#ifndef GPUME_CLI_BENCH_FFMPEG_H
#define GPUME_CLI_BENCH_FFMPEG_H

#include "bench/timing.h"

/* Restricts the work to what mestimate can do: whole blocks, candidates inside the picture, and one
 * thread. Returns why it cannot do any of it, with *params unchanged; NULL: it can. */
const char *gpume_bench_ffmpeg_params(struct gpume_params *params);

/* A gpume_bench_once_fn. */
int gpume_bench_ffmpeg_once(
    const struct gpume_bench_clip *clip, const struct gpume_params *params, uint64_t *ns);

/* The cost of a vector by its definition. 8-bit planes; the candidate must lie inside. */
uint32_t gpume_bench_cost(const struct gpume_plane *target, const struct gpume_plane *reference,
    uint32_t block, uint32_t index, struct gpume_vector vector);

/* A gpume_bench_measure_fn, for the clip's second frame and both its neighbours. The filter reports
 * no costs: those of its vectors are computed here. */
int gpume_bench_ffmpeg_measure(const struct gpume_bench_clip *clip,
    const struct gpume_params *params, const struct gpume_bench_answers *answers,
    uint64_t budget_ns, struct gpume_bench_time *time);

#endif
