/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What gpume bench --sort and --reduce have measured, and its two forms for programs. Figures that
 * are not known are 0 here, null in JSON and empty in CSV.
 *
 * The CSV form has the columns of rows.h, so that one file keeps all: size = items, bits =
 * those of an item, content = the work, search = the method, us_per_field = microseconds of a call,
 * px_per_s = items a second, speedup_core = times over_core, wall_us_per_field = copies to and from
 * the device included, share_of_ceiling = of what copying reaches. The others are empty.
 */
#ifndef GPUME_CLI_BENCH_ARRAY_ROWS_H
#define GPUME_CLI_BENCH_ARRAY_ROWS_H

#include "base/log.h"

#include <stdint.h>

/* Grows by one when a key of the JSON object changes its meaning or goes away. */
#define GPUME_ARRAY_BENCH_FORMAT 1

#define GPUME_ARRAY_ROWS_MAX 256u

struct gpume_array_row {
    const char *work;   /* "keys", "pairs", "segments", "sum", "minimum", "histogram" */
    const char *engine; /* "cpu", "vulkan" */
    const char *method;
    char device[256], driver[256];
    uint64_t items;
    uint32_t bits;      /* of an item */
    double us, wall_us; /* without and with copies between host and device */
    double items_per_second;
    double share_of_copy; /* bytes read by a reduction, of those that copying reads and writes */
    double over_core;     /* times as fast as qsort or a loop on one core */
};

struct gpume_array_bench {
    const char *commit; /* "" unknown */
    char cpu[128];
    struct gpume_array_row rows[GPUME_ARRAY_ROWS_MAX];
    uint32_t count;
};

/* To standard output. Failures are logged. */
int gpume_array_bench_write_json(
    const struct gpume_array_bench *bench, const struct gpume_log *log);
int gpume_array_bench_write_csv(const struct gpume_array_bench *bench, const struct gpume_log *log);

#endif
