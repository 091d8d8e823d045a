/* SPDX-License-Identifier: BSD-2-Clause */
/* A stream's own vectors as they are shown: on a grid of squares, drawn on the frames, and in a
 * report. Main thread only. */
#ifndef GPUME_CLI_CODED_SHOWN_H
#define GPUME_CLI_CODED_SHOWN_H

#include "coded/coded.h"
#include "sinks/sink.h"
#include "sinks/summary.h"
#include "vectors/vectors.h"

/* The past vectors of a coded frame on a grid of squares, as searches have it: each square has the
 * vector of the block that covers its middle, and (0,0) where there is none. */
struct gpume_coded_grid {
    uint32_t side, width, height; /* pixels; of a square, and of the picture */
    size_t count;
    struct gpume_vectors_block *blocks;
};

/* side, width and height are set. GPUME_NOMEM, logged. */
int gpume_coded_grid_init(struct gpume_coded_grid *grid);

/* All squares refer to the nearest past reference of the frame. */
void gpume_coded_grid_fill(struct gpume_coded_grid *grid, const struct gpume_coded *coded,
    const struct gpume_coded_frame *frame);

void gpume_coded_grid_finish(struct gpume_coded_grid *grid);

/* The overlay: every frame with its blocks drawn on it as the parts of a partition are, through the
 * sink of --overlay. The caller sets the first members; the others start as zero. */
struct gpume_drawing {
    const char *path; /* NULL: nothing is drawn */
    struct gpume_overlay_look look;

    struct gpume_source *source; /* with options.motion and options.colour */
    struct gpume_plane luma;     /* of the frame read last, which nobody looks at */
    struct gpume_run run;
    struct gpume_sink *sink;
    struct gpume_layer layers[GPUME_CODED_SHAPES];
    struct gpume_vector *vectors[GPUME_CODED_SHAPES];
    uint32_t *refs[GPUME_CODED_SHAPES]; /* 0: a past frame; 1: a future one */
    uint32_t *costs;                    /* zero */
    struct gpume_part *parts;
};

/* GPUME_INVALID or GPUME_NOMEM, logged. Close follows, also after a failure. */
int gpume_drawing_open(struct gpume_drawing *drawing, struct gpume_source *source,
    const struct gpume_source_info *info, struct gpume_out_set *set);

/* A function `read` of struct gpume_coded: opaque is the drawing. */
int gpume_drawing_read(void *opaque, int64_t *time_us);

/* Frames come in order, each once, also those without blocks. */
int gpume_drawing_frame(struct gpume_drawing *drawing, const struct gpume_coded_frame *frame);

int gpume_drawing_finish(struct gpume_drawing *drawing);

void gpume_drawing_close(struct gpume_drawing *drawing);

#define GPUME_REPORTING_PLANES 48u /* frames that are kept: those read ahead, and references */

/* The report on the grid, through the sink of --report: its cost of a square is the SAD of what the
 * vector predicts from the nearest past reference. The caller sets the first members; the others
 * start as zero. */
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
