/* SPDX-License-Identifier: BSD-2-Clause */
/* Times of frames in microseconds, also of frames that have none. */
#ifndef GPUME_MEDIA_FRAME_TIME_H
#define GPUME_MEDIA_FRAME_TIME_H

#include <stdint.h>

#include <libavutil/rational.h>

struct AVFrame;

/* A frame without a time is `since` frames after known_us; without any before, at 0. */
struct gpume_frame_time {
    AVRational step; /* seconds between frames */
    int64_t known_us, since;
};

/* The time of the next frame, whose time_base is set. */
int64_t gpume_frame_time_next(struct gpume_frame_time *time, const struct AVFrame *frame);

#endif
