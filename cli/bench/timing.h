/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs one engine with given parameters over the frames of a clip and returns its results or its
 * time. An engine that is too slow for the whole picture searches the upper rows only.
 */
#ifndef GPUME_CLI_BENCH_TIMING_H
#define GPUME_CLI_BENCH_TIMING_H

#include "bench/clip.h"

/* --- any operation */

#define GPUME_BENCH_REPEATS_MAX 64u

/* Does it once and returns the time. Any status but GPUME_OK ends the measurement. */
typedef int (*gpume_bench_repeat_fn)(void *opaque, double *us);

/* Runs `once` for 1.5 s, or 20 budgets if that is less, before anything is measured on a device: a
 * GPU that was idle while the CPU was measured runs at a fraction of its clock rate, an H200 at a
 * sixth, and needs up to a second of work to reach full speed. */
int gpume_bench_warm_up(uint64_t budget_ns, gpume_bench_repeat_fn once, void *opaque);

/* Runs `once` for the budget, and on to ten times unless that takes four budgets; *us is the
 * median.
 */
int gpume_bench_repeat(uint64_t budget_ns, gpume_bench_repeat_fn once, void *opaque, double *us);

/* The median of count values; sorts them. */
double gpume_bench_median(double *values, uint32_t count);

/* --- the engines of the library */

/* Vectors and costs of several frame pairs, one after the other. */
struct gpume_bench_answers {
    uint32_t fields, blocks;
    struct gpume_vector *vectors;
    uint32_t *costs;
};

void gpume_bench_answers_finish(struct gpume_bench_answers *answers);

/* Index of the first block that differs, or UINT32_MAX. costs NULL: compares vectors only. */
uint32_t gpume_bench_difference(const struct gpume_bench_answers *answers, uint32_t index,
    const struct gpume_vector *vectors, const uint32_t *costs);

/* Blocks of a picture, of all shapes. */
uint32_t gpume_bench_blocks(const struct gpume_params *params);

/* The height of the tallest shape. */
uint32_t gpume_bench_block_rows(const struct gpume_params *params);

/* Pixel differences in a frame pair if every candidate of every block is compared in full, once. */
double gpume_bench_differences(const struct gpume_params *params);

/* Medians over repeats. */
struct gpume_bench_time {
    double search_ns, wall_ns; /* per frame pair */
    double eliminated;         /* share of the candidates, of all repeats together */
};

/* What an engine reports once it is open. */
struct gpume_bench_setup {
    char device[256], driver[256];
    char search[32]; /* what the engine takes: for some parameters one search stands for all */
    bool eliminates;
    uint32_t engines; /* that share the work: those of params.devices, or one */
};

/* Opens the engine, reads what it reports, and closes it. */
int gpume_bench_look(const struct gpume_params *params, struct gpume_bench_setup *setup);

/* Measures one frame pair of params.height rows, for gpume_bench_fit. */
typedef int (*gpume_bench_once_fn)(
    const struct gpume_bench_clip *clip, const struct gpume_params *params, uint64_t *ns);

/* Sets params->height to the number of rows, whole blocks or the whole picture, that take about
 * budget_ns per frame pair; tries `rows` first. */
int gpume_bench_fit(const struct gpume_bench_clip *clip, struct gpume_params *params, uint32_t rows,
    uint64_t budget_ns, gpume_bench_once_fn once);

/* A gpume_bench_once_fn that uses the library. */
int gpume_bench_once(
    const struct gpume_bench_clip *clip, const struct gpume_params *params, uint64_t *ns);

/* Results for every frame pair of the clip's cycle. The caller finishes them, also on failure. */
int gpume_bench_solve(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    struct gpume_bench_answers *answers);

/* Compares every frame pair of the cycle with the expected results. GPUME_FORMAT after one line:
 * one differs. */
int gpume_bench_compare(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    const struct gpume_bench_answers *answers);

/* Compares frame pairs with the expected results, then repeats for the given time. GPUME_FORMAT: as
 * above. */
typedef int (*gpume_bench_measure_fn)(const struct gpume_bench_clip *clip,
    const struct gpume_params *params, const struct gpume_bench_answers *answers,
    uint64_t budget_ns, struct gpume_bench_time *time);

/* A gpume_bench_measure_fn that uses the library. */
int gpume_bench_measure(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    const struct gpume_bench_answers *answers, uint64_t budget_ns, struct gpume_bench_time *time);

/* --- FFmpeg's mestimate=method=esa, where it can do the same search */

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
