/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpume bench`: times the engines of this machine side by side on the same work, and compares
 * their results. search.c does so for the search, arrays.c for arrays (--sort, --reduce), and
 * rows.c prints what they have measured; options.c times decoders. Main thread only.
 *
 * Statistics that are not known are 0 here, "-" in the table, null in JSON and empty in CSV.
 * Searches and arrays have the same columns in CSV, so that one file can hold all. Of arrays, size
 * is the number of items, bits is the size of an item, content is the work, search is the method,
 * us_per_field is the time of a call, px_per_s is items per second, and share_of_ceiling is the
 * share of what copying reaches; columns of the search alone are empty.
 */
#ifndef GPUME_CLI_BENCH_BENCH_H
#define GPUME_CLI_BENCH_BENCH_H

#include "host.h"
#include "job.h"

#include "gpume/gpume.h"

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

#define GPUME_BENCH_ROWS_MAX 256u
#define GPUME_BENCH_NOTES_MAX 16u

/* One engine, set up in one way, on one content. */
struct gpume_bench_row {
    const char *content; /* of arrays: "keys", "pairs", "segments", "sum", "minimum", "histogram" */
    const char *engine;  /* "cpu", "vulkan", "ffmpeg"; "several": devices that share the work */
    char search[32];     /* of arrays: the method */
    char device[256], driver[256];
    uint32_t threads; /* 0: a Vulkan device */
    bool elimination;
    double eliminated;  /* share of the candidates */
    uint32_t rows;      /* of the picture that were searched, from the top */
    bool whole;         /* these are all that the engine would search */
    uint64_t items;     /* of arrays */
    uint32_t item_bits; /* of arrays */
    double us, wall_us; /* per frame pair of the whole picture; of arrays: without, with copies */
    double per_second;  /* differences of all candidates, compared or not; of arrays: items */
    double ceiling;     /* of the device, in the same unit */
    double share;       /* per_second relative to the ceiling; of arrays: to copying the bytes */
    double over_core, over_mestimate;
};

/* The first member of what a measurement gives the job. */
struct gpume_bench {
    struct gpume_cli_job job;
    const struct gpume_bench_options *options;
    uint64_t budget_ns; /* for each row */
    char cpu[GPUME_HOST_CPU_BYTES];
    bool arrays;                /* the members below up to rows are of the search alone */
    const char *input;          /* NULL: generated */
    struct gpume_params params; /* of the work; backend, device and search as asked for */
    uint32_t fields;            /* different frame pairs of each content */
    uint32_t blocks;
    uint64_t candidates;
    double differences;      /* per frame pair */
    uint32_t plain_rows;     /* compared with the plain search */
    uint32_t mestimate_rows; /* compared with mestimate; 0: none */
    struct gpume_bench_row rows[GPUME_BENCH_ROWS_MAX];
    uint32_t count;
    char notes[GPUME_BENCH_NOTES_MAX][200];
    uint32_t note_count;
};

/* Runs a job that fills the rows, and prints them. work: without the answer. */
enum gpume_exit gpume_bench_run(struct gpume_bench *bench,
    const struct gpume_bench_options *options, const struct gpume_job_work *work);

/* Shows on the terminal what is measured now; NULL: nothing. */
void gpume_bench_show(struct gpume_bench *bench, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a row; NULL if the table is full. cpu: of the CPU engine, whatever `device` says. */
struct gpume_bench_row *gpume_bench_add_row(struct gpume_bench *bench, const char *search, bool cpu,
    const char *device, const char *driver);

/* The commands of search.c and arrays.c. GPUME_EXIT_MISMATCH: two engines disagree. */
enum gpume_exit gpume_bench_search(const struct gpume_bench_options *options);
enum gpume_exit gpume_bench_arrays(const struct gpume_bench_options *options);

/*
 * --- The rate that no search on a device can exceed without elimination: `gpume bench` gives every
 * search's rate as a share of it.
 */

/* Differences of 8-bit samples per second in a loop that only executes the instructions with which
 * this search compares samples, on values in registers. device, threads: as in gpume_params. 0: not
 * known, not available on this machine, or the measurement failed. Takes some tenths of a second;
 * any thread. */
double gpume_bench_ceiling(
    const struct gpume_search_info *search, const char *device, uint32_t threads);

#if defined(__x86_64__)
/* Loops for searches on the CPU: return the number of differences. Ask the processor first whether
 * it has the instructions. */
uint64_t gpume_bench_loop_avx2(uint64_t rounds);
uint64_t gpume_bench_loop_avx512(uint64_t rounds);
#endif

#endif
