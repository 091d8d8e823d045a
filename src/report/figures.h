/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a report says of every field, and of the vectors of all fields together. One thread.
 */
#ifndef GPUME_REPORT_FIGURES_H
#define GPUME_REPORT_FIGURES_H

#include "files/json.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One field. Lengths of vectors in pixels: the mean in thousandths, rounded; the largest squared.
 */
struct gpume_report_figures {
    int64_t dx_sum, dy_sum;
    uint64_t length_mean_milli;
    uint32_t length_max_squared;
    uint32_t cost_max; /* of the block of rank 0 */
    bool cut;
};

/* Counts of vectors in square bins, the middle one about (0,0): bin i holds those from
 * i * side - (side - 1) / 2 to i * side + (side - 1) / 2; side is odd. */
struct gpume_report_histogram {
    uint32_t side;                /* pixels */
    uint32_t reach_x, reach_y;    /* bins to either side of the middle one */
    uint32_t window_x;            /* pixels */
    uint32_t window_y;            /* likewise */
    uint32_t bins_x[2 * 512 + 1]; /* column of every dx, from -window_x */
    uint32_t bins_y[2 * 512 + 1];
    uint64_t *counts; /* (2 reach_y + 1) rows of (2 reach_x + 1) */
};

/* GPUME_NOMEM is not logged. Release with gpume_report_histogram_finish either way. */
int gpume_report_histogram_init(
    struct gpume_report_histogram *histogram, const struct gpume_params *params);

void gpume_report_histogram_finish(struct gpume_report_histogram *histogram);

/* An object of that name: side, and a list of [dx, dy, count] by the middles of bins that hold
 * some. */
void gpume_report_histogram_put(
    const struct gpume_report_histogram *histogram, struct gpume_json *json, const char *key);

/* Keeps what the next field that looks back, [0], or ahead, [1], is compared with. */
struct gpume_report_cuts {
    uint64_t least;   /* a cut's sad_after at least */
    uint64_t last[2]; /* sad_after of the field before */
    bool started[2];
};

void gpume_report_cuts_init(struct gpume_report_cuts *cuts, const struct gpume_params *params);

/* Fields in their order; the histogram (NULL: none) gets the vectors. */
void gpume_report_figures_make(struct gpume_report_figures *figures, struct gpume_report_cuts *cuts,
    struct gpume_report_histogram *histogram, const struct gpume_field *field);

#define GPUME_REPORT_ROW_BYTES 160

/* The figures as cells of a table in the order of GPUME_REPORT_COLUMNS, separated by commas. */
#define GPUME_REPORT_COLUMNS "dx_mean,dy_mean,length_mean,length_max,cost_max,cut"
void gpume_report_figures_row(char row[GPUME_REPORT_ROW_BYTES],
    const struct gpume_report_figures *figures, const struct gpume_field *field);

#endif
