/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What gpume bench has measured, and its two forms for programs. Figures that are not known are 0
 * here, null in JSON and empty in CSV.
 */
#ifndef GPUME_CLI_BENCH_ROWS_H
#define GPUME_CLI_BENCH_ROWS_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

/* Grows by one when a key of the JSON object changes its meaning or goes away. */
#define GPUME_BENCH_FORMAT 1

#define GPUME_BENCH_ROWS_MAX 256u
#define GPUME_BENCH_NOTES_MAX 16u

/* One engine, set up in one way, on one content. */
struct gpume_bench_row {
    const char *content;
    const char *engine; /* "cpu", "vulkan", "ffmpeg" */
    char search[32];
    char device[256], driver[256];
    uint32_t threads; /* 0: a Vulkan device */
    bool elimination;
    uint32_t rows;                 /* of the picture that were searched, from the top */
    bool whole;                    /* these are all that the engine would search */
    double search_us, wall_us;     /* a field of the whole picture */
    double differences_per_second; /* all candidates counted, compared or not */
    double ceiling;                /* of the device, in the same unit */
    double over_core, over_mestimate;
};

struct gpume_bench {
    const char *commit; /* "" unknown */
    char cpu[128];
    uint32_t processors;
    const char *input;          /* NULL: generated */
    struct gpume_params params; /* of the work; backend, device and search as asked for */
    uint32_t fields;            /* different ones, of each content */
    uint32_t blocks;
    uint64_t candidates;
    double differences;      /* a field */
    uint32_t plain_rows;     /* compared with the plain search */
    uint32_t mestimate_rows; /* compared with mestimate; 0: none */
    struct gpume_bench_row rows[GPUME_BENCH_ROWS_MAX];
    uint32_t count;
    char notes[GPUME_BENCH_NOTES_MAX][200];
    uint32_t note_count;
};

/* The first line of the CSV form, which --sort and --reduce share (array_rows.h). */
extern const char gpume_bench_csv_header[];

/* To standard output. Failures are logged. */
int gpume_bench_write_json(const struct gpume_bench *bench, const struct gpume_log *log);
int gpume_bench_write_csv(const struct gpume_bench *bench, const struct gpume_log *log);

#endif
