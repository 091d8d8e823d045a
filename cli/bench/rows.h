/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What gpume bench has measured, of a search or of arrays (--sort, --reduce), and its forms.
 * Statistics that are not known are 0 here, "-" in the table, null in JSON and empty in CSV.
 *
 * Both kinds have the same columns in CSV, so that one file can hold all. Of arrays, size is the
 * number of items, bits is the size of an item, content is the work, search is the method,
 * us_per_field is the time of a call, px_per_s is items per second, and share_of_ceiling is the
 * share of what copying reaches; columns of the search alone are empty.
 */
#ifndef GPUME_CLI_BENCH_ROWS_H
#define GPUME_CLI_BENCH_ROWS_H

#include "options/common.h"

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

struct gpume_bench {
    const char *commit; /* "" unknown */
    char cpu[128];
    uint32_t processors;
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

#define GPUME_BENCH_TEXT_BYTES 512

/* To standard output, in the form that is asked for. Failures are logged, but for those of the
 * table for people: the caller checks that standard output has taken it. */
int gpume_bench_write(const struct gpume_bench *bench, enum gpume_form form);

#endif
