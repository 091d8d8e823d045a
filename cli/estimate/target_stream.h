/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passes motion fields to the outputs, one target frame at a time, so that an interrupted run ends
 * between two frames and can be resumed there. With two directions at one distance, the field with
 * the past reference waits for the other one. Main thread only.
 */
#ifndef GPUME_CLI_ESTIMATE_TARGET_STREAM_H
#define GPUME_CLI_ESTIMATE_TARGET_STREAM_H

#include "gpume/gpume.h"

/* The caller sets the first five members; the others are zero. */
struct gpume_target_stream {
    bool both;   /* frames have one past and one future reference, each with a field of its own */
    bool compat; /* --compat ffmpeg: frame 0 is compared with itself, and the last frame omitted */
    int (*deliver)(void *opaque, const struct gpume_field *field);
    /* False: the run was interrupted before all references of the target had been sent. */
    bool (*is_whole)(void *opaque, uint64_t target);
    void *opaque;

    bool ended;                     /* further fields are dropped */
    const struct gpume_field *past; /* waits for the field with the future reference */
    struct gpume_vector *vectors;   /* of frame 0 compared with itself */
    uint32_t *costs, *ranks;
};

/* Takes ownership of a field and delivers the fields of a complete frame. */
int gpume_target_stream_take(struct gpume_target_stream *stream, const struct gpume_field *field);

/* No more fields will come: delivers a waiting field, unless the run was interrupted. */
int gpume_target_stream_end(struct gpume_target_stream *stream);

void gpume_target_stream_finish(struct gpume_target_stream *stream);

#endif
