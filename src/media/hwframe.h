/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies frames of video hardware to memory in the form that software decoding gives: the same
 * visible part, depth and samples. Stateless.
 */
#ifndef GPUME_MEDIA_HWFRAME_H
#define GPUME_MEDIA_HWFRAME_H

#include <stdbool.h>

#include <libavutil/pixfmt.h>

struct AVFrame;

/* Replaces a frame on a device by a copy in memory. software: the format of the stream without
 * hardware; whole: convert to that very format, rather than to any with the same luma. On failure
 * the frame is unchanged. Not logged: GPUME_DEVICE (cannot be copied), GPUME_UNSUPPORTED,
 * GPUME_NOMEM. */
int gpume_hwframe_download(struct AVFrame *frame, enum AVPixelFormat software, bool whole);

/* The part after the copy, of a frame in memory as devices lay it out (NV12, P010, P016...). */
int gpume_hwframe_settle(struct AVFrame *frame, enum AVPixelFormat software, bool whole);

#endif
