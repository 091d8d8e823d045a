/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames of video hardware, brought to memory as software decoding gives them: the same visible
 * part, depth and samples. No state.
 */
#ifndef GPUME_MEDIA_HWFRAME_H
#define GPUME_MEDIA_HWFRAME_H

#include <stdbool.h>

#include <libavutil/pixfmt.h>

struct AVFrame;

/* Replaces a frame on a device by its copy in memory. software: what the stream is without
 * hardware; whole: in that very format, rather than in any that holds the same luma. On failure
 * the frame stays: GPUME_DEVICE (cannot be copied), GPUME_UNSUPPORTED, GPUME_NOMEM; not logged. */
int gpume_hwframe_download(struct AVFrame *frame, enum AVPixelFormat software, bool whole);

/* The part after the copy, of a frame in memory as devices lay it out (NV12, P010, P016...). */
int gpume_hwframe_settle(struct AVFrame *frame, enum AVPixelFormat software, bool whole);

#endif
