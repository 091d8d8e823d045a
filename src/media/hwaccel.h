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

/* Devices that are opened for decoders of their own are, in turn, those that CUDA numbers from 0 to
 * count - 1, unless the user has named one. Before there are such decoders. */
void gpume_hwaccel_spread(struct gpume_hwaccel *hwaccel, uint32_t count);

/* How many decoders suit its devices and this number of frames (0: unknown); 1: not known. */
uint32_t gpume_hwaccel_decoders(const struct gpume_hwaccel *hwaccel, uint64_t frames);

/* TYPE[:DEVICE] in use. */
const char *gpume_hwaccel_name(const struct gpume_hwaccel *hwaccel);

void gpume_hwaccel_close(struct gpume_hwaccel **hwaccel);

#endif
