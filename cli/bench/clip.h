/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frames of a benchmark, all in memory before the clock starts. They are played forwards and
 * backwards, so that a few frames give any number of frame pairs, all of neighbouring frames.
 */
#ifndef GPUME_CLI_BENCH_CLIP_H
#define GPUME_CLI_BENCH_CLIP_H

#include "bench/bench.h"

#define GPUME_BENCH_FRAMES_MAX 65u

struct gpume_bench_clip {
    struct gpume_plane planes[GPUME_BENCH_FRAMES_MAX];
    uint32_t count;    /* 2 or more */
    const char *label; /* names the input that it was read from */
};

enum gpume_bench_content {
    GPUME_BENCH_NOISE,  /* no candidate can be eliminated */
    GPUME_BENCH_MOTION, /* moving texture and object, with a little noise */
};

/* The caller zeroes the clip before and frees it afterwards, also on failure. GPUME_NOMEM is
 * logged. */
int gpume_bench_clip_make(struct gpume_bench_clip *clip, enum gpume_bench_content content,
    uint32_t width, uint32_t height, uint32_t bits, uint32_t count);

/* Reads the first `count` frames of the input, or all if it has fewer. Failures are logged. */
enum gpume_exit gpume_bench_clip_read(
    struct gpume_bench_clip *clip, const struct gpume_bench_options *options, uint32_t count);

void gpume_bench_clip_free(struct gpume_bench_clip *clip);

/* Frames until the clip repeats; also the number of its different frame pairs. */
static inline uint32_t gpume_bench_cycle(const struct gpume_bench_clip *clip)
{
    return 2 * (clip->count - 1);
}

/* Frame number `index` of the endless clip. */
static inline const struct gpume_plane *gpume_bench_frame(
    const struct gpume_bench_clip *clip, uint64_t index)
{
    const uint32_t cycle = gpume_bench_cycle(clip);
    const uint32_t at = (uint32_t)(index % cycle);
    return &clip->planes[at < clip->count ? at : cycle - at];
}

#endif
