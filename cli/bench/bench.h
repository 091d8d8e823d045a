/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpume bench`: times the engines of this machine side by side on the same work, and compares
 * their results. search.c does so for the search, arrays.c for arrays; decoding.c times
 * decoders.
 */
#ifndef GPUME_CLI_BENCH_BENCH_H
#define GPUME_CLI_BENCH_BENCH_H

#include "options/common.h"
#include "source_options.h"

/* Strings point into argv. */
struct gpume_bench_options {
    struct gpume_common_options common;
    struct gpume_params params;     /* width and height 0: not given */
    struct gpume_shape_list shapes; /* the parameters follow these */
    struct gpume_distance_list distances;
    double lambda; /* negative: not given */
    struct gpume_source_options source;
    uint32_t frames; /* frame pairs per input or clip; 0: not given */
    double seconds;  /* for each row of the table */
    bool sort, reduce, decoders;
};

/* The search, decoding (--decoders), and arrays (--sort and --reduce). Failures are reported
 * to gpume_console_error; GPUME_EXIT_MISMATCH: two engines disagree. */
enum gpume_exit gpume_bench_search(const struct gpume_bench_options *options);
enum gpume_exit gpume_bench_decoding(const struct gpume_bench_options *options);
enum gpume_exit gpume_bench_arrays(const struct gpume_bench_options *options);

#endif
