/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One engine set up in one way, over the frames of a clip: its answers, and its time. An engine too
 * slow for the whole picture gets its upper rows alone.
 */
#ifndef GPUME_CLI_BENCH_TIMING_H
#define GPUME_CLI_BENCH_TIMING_H

#include "bench/agree.h"
#include "bench/clip.h"

/* Medians over repeats. */
struct gpume_bench_time {
    double search_ns, wall_ns; /* a field */
};

/* What a setup turned out to be. */
struct gpume_bench_setup {
    char device[256], driver[256];
    bool eliminates;
};

/* Opens and closes it. */
int gpume_bench_look(const struct gpume_params *params, struct gpume_bench_setup *setup);

/* How one field's time is had, for gpume_bench_fit: that of params.height rows. */
typedef int (*gpume_bench_once_fn)(
    const struct gpume_bench_clip *clip, const struct gpume_params *params, uint64_t *ns);

/* Sets params->height to as many of the picture's rows, whole blocks or all, as take about
 * budget_ns a field, starting from `rows`. */
int gpume_bench_fit(const struct gpume_bench_clip *clip, struct gpume_params *params, uint32_t rows,
    uint64_t budget_ns, gpume_bench_once_fn once);

/* A gpume_bench_once_fn for the library's engines. */
int gpume_bench_once(
    const struct gpume_bench_clip *clip, const struct gpume_params *params, uint64_t *ns);

/* The answers to every field of the clip's cycle. The caller finishes them, also on failure. */
int gpume_bench_solve(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    struct gpume_bench_answers *answers);

/* Holds every field of the cycle against the answers. GPUME_FORMAT with one line: one differs. */
int gpume_bench_compare(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    const struct gpume_bench_answers *answers);

/* Holds fields against the answers, then repeats for the time given. GPUME_FORMAT
 * as above. */
int gpume_bench_measure(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    const struct gpume_bench_answers *answers, uint64_t budget_ns, struct gpume_bench_time *time);

#endif
