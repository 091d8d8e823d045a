/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies frames from video hardware to memory, and converts them to what a software decoder would
 * have returned: the same visible part, depth and samples. Stateless.
 */
#ifndef GPUME_MEDIA_HWFRAME_H
#define GPUME_MEDIA_HWFRAME_H

#include <stdbool.h>

#include <libavutil/pixfmt.h>

struct AVCodecContext;
struct AVFrame;
struct gpume_buffers;

/* Replaces a frame of this decoder that is on a device by a copy in memory, which comes from
 * buffers if they are not NULL. whole: convert to exactly the format that a software decoder would
 * return, rather than to any with the same luma. On failure the frame is unchanged. Not logged:
 * GPUME_DEVICE (cannot be copied), GPUME_UNSUPPORTED, GPUME_NOMEM. */
int gpume_hwframe_download(
    struct AVFrame *frame, struct AVCodecContext *codec, struct gpume_buffers *buffers, bool whole);

/* The conversion after the copy: from a frame in memory with a layout that devices use (NV12, P010,
 * P016...). */
int gpume_hwframe_settle(struct AVFrame *frame, enum AVPixelFormat software, bool whole);

/* Moves the samples of a frame in memory to a planar format with the same subsampling, without
 * computing any; of deeper samples the upper bits are kept. Not logged: GPUME_UNSUPPORTED (the
 * formats do not correspond), GPUME_NOMEM; the frame is then unchanged. */
int gpume_hwframe_move(struct AVFrame *frame, enum AVPixelFormat planar);

#endif
