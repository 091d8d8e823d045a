/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs one engine with given parameters over the frames of a clip and returns its results or its
 * time. An engine that is too slow for the whole picture searches the upper rows only.
 */
#ifndef GPUME_CLI_BENCH_TIMING_H
#define GPUME_CLI_BENCH_TIMING_H

#include "gpume/compute.h"
#include "gpume/gpume.h"

/* --- the frames, all in memory before the clock starts. They are played forwards and backwards, so
 * that a few frames give any number of frame pairs, all of neighbouring frames. timing.c makes
 * them.
 */

#define GPUME_BENCH_FRAMES_MAX 65u

struct gpume_bench_clip {
    struct gpume_plane planes[GPUME_BENCH_FRAMES_MAX];
    uint32_t count; /* 2 or more */
};

enum gpume_bench_content {
    GPUME_BENCH_NOISE,  /* no candidate can be eliminated */
    GPUME_BENCH_MOTION, /* moving texture and object, with a little noise */
};

/* The caller zeroes the clip before and frees it afterwards, also on failure. GPUME_NOMEM is
 * logged. */
int gpume_bench_clip_make(struct gpume_bench_clip *clip, enum gpume_bench_content content,
    uint32_t width, uint32_t height, uint32_t bits, uint32_t count);

/* Adds a frame without samples. */
int gpume_bench_clip_add(
    struct gpume_bench_clip *clip, uint32_t width, uint32_t height, uint32_t bits);

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

/* Sets params->height to the number of rows, whole blocks or the whole picture, that take about
 * budget_ns per frame pair; tries `rows` first. */
int gpume_bench_fit(const struct gpume_bench_clip *clip, struct gpume_params *params, uint32_t rows,
    uint64_t budget_ns);

/* Results for every frame pair of the clip's cycle. The caller finishes them, also on failure. */
int gpume_bench_solve(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    struct gpume_bench_answers *answers);

/* Compares every frame pair of the cycle with the expected results. GPUME_FORMAT after one line:
 * one differs. */
int gpume_bench_compare(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    const struct gpume_bench_answers *answers);

/* Compares frame pairs with the expected results, then repeats for the given time. GPUME_FORMAT: as
 * above. */
int gpume_bench_measure(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    const struct gpume_bench_answers *answers, uint64_t budget_ns, struct gpume_bench_time *time);

/* --- FFmpeg's mestimate=method=esa, where it can do the same search, as one more: params.search is
 * GPUME_BENCH_MESTIMATE. gpume_bench_fit and gpume_bench_measure take it, the latter for the clip's
 * second frame and both its neighbours. */

#define GPUME_BENCH_MESTIMATE "mestimate"

/* Restricts the work to what mestimate can do: whole blocks, candidates inside the picture, and one
 * thread. Returns why it cannot do any of it, with *params unchanged; NULL: it can. */
const char *gpume_bench_ffmpeg_params(struct gpume_params *params);

/* The cost of a vector by its definition. 8-bit planes; the candidate must lie inside. */
uint32_t gpume_bench_cost(const struct gpume_plane *target, const struct gpume_plane *reference,
    uint32_t block, uint32_t index, struct gpume_vector vector);

/*
 * --- Sorts the same keys again and again by one method, checks the results, and measures the time:
 * for `gpume bench --sort` and `gpume sort --time`. Main thread only.
 */

struct gpume_sort_trial {
    const char *work, *method; /* for messages */
    gpume_compute *compute;    /* NULL: qsort */
    struct gpume_sort_params params;
    uint64_t budget_ns, count;
    const uint32_t *keys;   /* unsorted */
    const uint32_t *sorted; /* the expected result */
    /* The expected positions of keys that are sorted with their positions, unsigned and ascending
     * in one segment; NULL: keys are sorted alone. */
    const uint32_t *order;
    /* The caller's memory: `count` numbers each; the last two only for keys with positions. */
    uint32_t *work_keys, *work_places;
    uint64_t *work_wide;
    gpume_array *arrays[4]; /* private: keys and positions on the device, unsorted and sorted */
};

/* The median time in microseconds of a sort in host memory, which includes copies to and from the
 * device. Failures are logged; GPUME_FORMAT: a result is wrong. */
int gpume_sort_trial_on_host(struct gpume_sort_trial *trial, double *us);

/* The same in the device's memory, without copies and by the device's timestamps; 0 us if it has
 * none. Checks the last result. */
int gpume_sort_trial_on_device(struct gpume_sort_trial *trial, double *us);

/* Sorts each segment with qsort. */
void gpume_sort_with_qsort(const struct gpume_sort_params *params, uint32_t *keys, uint64_t count);

/* The number of positions at which the keys are equal. */
uint64_t gpume_sort_matches(const uint32_t *a, const uint32_t *b, uint64_t count);

#endif
