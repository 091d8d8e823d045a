/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields on their way to the outputs. Where there are two of a target frame, the one that looks
 * back waits for the one that looks ahead, so that an interrupted run ends between two frames, and
 * one that goes on after it need not begin in the middle of one. Main thread only.
 */
#ifndef GPUME_CLI_ESTIMATE_TARGET_STREAM_H
#define GPUME_CLI_ESTIMATE_TARGET_STREAM_H

#include "gpume/gpume.h"

typedef int (*gpume_target_deliver_fn)(void *opaque, const struct gpume_field *field);

/* The caller sets the first members; the others are zero. */
struct gpume_target_stream {
    bool both;   /* fields look both ways */
    bool compat; /* --compat ffmpeg: frame 0 is compared with itself, and the last one left out */
    gpume_target_deliver_fn deliver;
    void *opaque;

    const struct gpume_field *past; /* that waits */
    struct gpume_vector *vectors;   /* of frame 0 and itself */
    uint32_t *costs, *ranks;
};

/* Takes a field over and delivers those that are complete. */
int gpume_target_stream_take(struct gpume_target_stream *stream, const struct gpume_field *field);

/* No more fields come: what waits is delivered, if the run was not interrupted. */
int gpume_target_stream_end(struct gpume_target_stream *stream);

void gpume_target_stream_finish(struct gpume_target_stream *stream);

#endif
