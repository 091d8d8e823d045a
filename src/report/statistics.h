/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics of a motion field, the vector histogram of a whole run, and scene cut detection. One
 * thread.
 */
#ifndef GPUME_REPORT_STATISTICS_H
#define GPUME_REPORT_STATISTICS_H

#include "files/forms.h"
#include "sinks/frame_row.h"
#include "sinks/sink.h"

#include <stdbool.h>
#include <stdint.h>

/* Of one field. Vectors count in its units, but for the mean of their lengths, which is in
 * thousandths of a pixel, rounded. */
struct gpume_report_statistics {
    uint64_t blocks; /* that are shown */
    double units;    /* in a pixel */
    int64_t dx_sum, dy_sum;
    uint64_t length_mean_milli;
    uint32_t length_max_squared;
    uint32_t cost_max; /* of the block of rank 0 */
    bool cut;
};

/* Counts of vectors in square bins, the middle one centred on (0,0). Along each axis bin i covers
 * i * side - (side - 1) / 2 to i * side + (side - 1) / 2; side is odd. */
struct gpume_report_histogram {
    uint32_t side;                /* pixels */
    uint32_t reach_x, reach_y;    /* bins on either side of the middle one */
    uint32_t window_x, window_y;  /* pixels */
    uint32_t bins_x[2 * 512 + 1]; /* column of each dx, from -window_x on */
    uint32_t bins_y[2 * 512 + 1];
    uint64_t *counts; /* (2 reach_y + 1) rows of (2 reach_x + 1) */
};

/* GPUME_NOMEM is not logged. Release with gpume_report_histogram_finish, also after a failure. */
int gpume_report_histogram_init(
    struct gpume_report_histogram *histogram, const struct gpume_params *params);

void gpume_report_histogram_finish(struct gpume_report_histogram *histogram);

/* Writes an object: side, and a list of [dx, dy, count] with the centres of the bins that are not
 * empty. */
void gpume_report_histogram_put(
    const struct gpume_report_histogram *histogram, struct gpume_json *json);

/* Farther references count as equally far. */
#define GPUME_REPORT_DISTANCES 64u

/* What the next field is compared with: the one before at the same distance, [0] if it refers to
 * the past, [1] to the future. The prediction from a far frame costs more without any cut. */
struct gpume_report_cuts {
    uint64_t least;                           /* smallest sad_after of a cut */
    uint64_t last[2][GPUME_REPORT_DISTANCES]; /* sad_after of the field before, plus 1; 0: none */
};

void gpume_report_cuts_init(struct gpume_report_cuts *cuts, const struct gpume_params *params);

/* Whether the next field is a cut. */
bool gpume_report_is_cut(
    struct gpume_report_cuts *cuts, uint64_t frame, uint64_t ref, const struct gpume_sums *sums);

/* Measures the next field, and adds its vectors to the histogram (may be NULL). */
void gpume_report_measure(struct gpume_report_statistics *statistics,
    struct gpume_report_cuts *cuts, struct gpume_report_histogram *histogram,
    const struct gpume_field *field);

/* What they are in a row of the report. */
void gpume_report_statistics_put(
    struct gpume_frame_row *row, const struct gpume_report_statistics *statistics);

#endif
