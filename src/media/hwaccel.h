/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Implements --hwaccel: chooses the decoder, opens the device, and reports when software decodes
 * instead. All decoders of a source share one object, so that the device is opened once and its
 * failure is reported once. One thread, except where stated, and apart from calls by libav.
 */
#ifndef GPUME_MEDIA_HWACCEL_H
#define GPUME_MEDIA_HWACCEL_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

#include <libavcodec/codec_id.h>
#include <libavutil/pixfmt.h>

#define GPUME_HWACCEL_DECODERS 4u /* most that gpume_hwaccel_decoders returns, for each device */

struct AVCodec;
struct AVCodecContext;
struct gpume_hwaccel;

/* text: TYPE[:DEVICE], "auto", or "none" and NULL, which leave *hwaccel NULL; kept, not copied.
 * GPUME_INVALID: no such type; logged. */
int gpume_hwaccel_open(
    struct gpume_hwaccel **hwaccel, const char *text, const struct gpume_log *log);

/* Returns the decoder for the device, which is opened, or NULL after logging why there is none.
 * label: the name of the input in messages. */
const struct AVCodec *gpume_hwaccel_choose(
    struct gpume_hwaccel *hwaccel, enum AVCodecID id, const char *label);

/* Prepares a context of that decoder before it is opened. own: opens the device once more for it,
 * since NVIDIA's decoders wait for each other where they share one. Any thread once the first frame
 * has come. GPUME_NOMEM, GPUME_DEVICE. */
int gpume_hwaccel_attach(struct gpume_hwaccel *hwaccel, struct AVCodecContext *context, bool own);

/* Call this when the first frame has come from the device. */
void gpume_hwaccel_accept(struct gpume_hwaccel *hwaccel, enum AVCodecID id, const char *label);

/* Reports once that software decodes instead: as a warning if the user named a type, and with the
 * decoder's own reason if it gave one. */
void gpume_hwaccel_refuse(struct gpume_hwaccel *hwaccel, const char *label, const char *reason);

/* Devices that are opened for one decoder each are, in turn, those that CUDA numbers from 0 to
 * count - 1, unless the user has named one. Before there are such decoders. */
void gpume_hwaccel_spread(struct gpume_hwaccel *hwaccel, uint32_t count);

/* How many decoders suit its devices and this number of frames (0: unknown); 1: not known. */
uint32_t gpume_hwaccel_decoders(const struct gpume_hwaccel *hwaccel, uint64_t frames);

/* TYPE[:DEVICE] in use. */
const char *gpume_hwaccel_name(const struct gpume_hwaccel *hwaccel);

void gpume_hwaccel_close(struct gpume_hwaccel **hwaccel);

/*
 * Copies frames from video hardware to memory, and converts them to what a software decoder would
 * have returned: the same visible part, depth and samples. Stateless.
 */

struct AVCodecContext;
struct AVFrame;
struct gpume_buffers;

/* Replaces a frame of this decoder that is on a device by a copy in memory, which comes from
 * buffers if they are not NULL. whole: convert to exactly the format that a software decoder would
 * return, rather than to any with the same luma. On failure the frame is unchanged. Not logged:
 * GPUME_DEVICE (cannot be copied), GPUME_NOMEM. */
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
