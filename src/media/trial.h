/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trial of an encoder: luma of 8 bits goes through it and through a decoder, to learn the bytes,
 * the error and the time. One thread.
 */
#ifndef GPUME_MEDIA_TRIAL_H
#define GPUME_MEDIA_TRIAL_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_trial;

struct gpume_trial_options {
    const char *label;    /* for messages; kept, as are the other strings */
    const char *encoder;  /* libavcodec's name */
    const char *settings; /* "key=value:key=value" */
    bool decode;          /* measure the error */
    uint32_t width, height, rate_num, rate_den;
    struct gpume_log log;
};

struct gpume_trial_result {
    uint64_t frames, bytes;
    uint64_t sse; /* of the frames that were decoded */
    uint64_t ns;  /* spent in the encoder; not in the decoder, nor on what hands the frames over */
};

/* Does this FFmpeg have the encoder? */
bool gpume_trial_has(const char *encoder);

int gpume_trial_open(struct gpume_trial **trial, const struct gpume_trial_options *options);

int gpume_trial_put(struct gpume_trial *trial, const struct gpume_plane *plane);

/* GPUME_FORMAT: the decoder returns other frames than the encoder got. */
int gpume_trial_finish(struct gpume_trial *trial, struct gpume_trial_result *result);

void gpume_trial_close(struct gpume_trial **trial);

#endif
