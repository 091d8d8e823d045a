/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The overlay of a stream's own vectors: every frame with its blocks drawn on it as the parts of a
 * partition are, through the sink of --overlay. Main thread only.
 */
#ifndef GPUME_CLI_CODED_DRAWING_H
#define GPUME_CLI_CODED_DRAWING_H

#include "coded/coded.h"
#include "sinks/sink.h"

/* The caller sets the first members; the others start as zero. */
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

#endif
