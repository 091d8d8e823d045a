/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report of a stream's own vectors on a grid of squares, through the sink of --report: its cost
 * of a square is the SAD of what the vector predicts from the nearest past reference. Main thread
 * only.
 */
#ifndef GPUME_CLI_CODED_REPORTING_H
#define GPUME_CLI_CODED_REPORTING_H

#include "coded/coded_grid.h"
#include "sinks/summary.h"

#define GPUME_REPORTING_PLANES 48u /* frames that are kept: those read ahead, and references */

/* The caller sets the first members; the others start as zero. */
struct gpume_reporting {
    const char *path; /* NULL: there is no report */
    uint32_t pictures;
    uint32_t block; /* side of a square */

    struct gpume_source *source;                       /* with options.motion and options.colour */
    struct gpume_plane planes[GPUME_REPORTING_PLANES]; /* by number of the frame */
    struct gpume_plane predicted;
    uint64_t received; /* frames */
    struct gpume_run run;
    struct gpume_summary summary;
    struct gpume_sink *sink;
    struct gpume_coded_grid grid;
    struct gpume_vectors_ranker *ranker;
    struct gpume_layer layer;
    struct gpume_vector *vectors;
    uint32_t *costs, *ranks;
    uint64_t start_ns, shortened; /* vectors that lead farther than a report can show */
};

/* info: outlives the report. GPUME_INVALID or GPUME_NOMEM, logged. Close follows, also after a
 * failure. */
int gpume_reporting_open(struct gpume_reporting *reporting, struct gpume_source *source,
    const struct gpume_source_info *info, struct gpume_out_set *set);

/* A function `read` of struct gpume_coded: opaque is the report. */
int gpume_reporting_read(void *opaque, int64_t *time_us);

/* A frame with blocks; they come in order. */
int gpume_reporting_frame(struct gpume_reporting *reporting, const struct gpume_coded *coded,
    const struct gpume_coded_frame *frame);

int gpume_reporting_finish(struct gpume_reporting *reporting);

void gpume_reporting_close(struct gpume_reporting *reporting);

#endif
