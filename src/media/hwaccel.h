/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What --hwaccel asks for: which decoder takes it, the device, and what is said when software
 * decodes after all. One for all decoders of a source, so that the device is opened and its failure
 * told once. One thread, apart from libav's own calls.
 */
#ifndef GPUME_MEDIA_HWACCEL_H
#define GPUME_MEDIA_HWACCEL_H

#include "base/log.h"

struct AVCodec;
struct AVCodecContext;
struct gpume_hwaccel;

/* text: TYPE[:DEVICE], "auto", or "none" and NULL, which leave *hwaccel NULL. GPUME_INVALID: no
 * such type; logged. */
int gpume_hwaccel_open(
    struct gpume_hwaccel **hwaccel, const char *text, const struct gpume_log *log);

/* The decoder that works on the device, which is opened; NULL after one line if there is none.
 * codec_id: an AVCodecID. label: what lines call the input. */
const struct AVCodec *gpume_hwaccel_choose(
    struct gpume_hwaccel *hwaccel, int codec_id, const char *label);

/* Prepares a context of that decoder, before it is opened. */
int gpume_hwaccel_attach(struct gpume_hwaccel *hwaccel, struct AVCodecContext *context);

/* The first frame has come from the device. */
void gpume_hwaccel_accept(struct gpume_hwaccel *hwaccel, int codec_id, const char *label);

/* Software decodes instead: says so once, a warning if a type was named, and gives the reason that
 * the decoder had, or else this one. */
void gpume_hwaccel_refuse(struct gpume_hwaccel *hwaccel, const char *label, const char *reason);

/* TYPE[:DEVICE], of the type chosen. */
const char *gpume_hwaccel_name(const struct gpume_hwaccel *hwaccel);

void gpume_hwaccel_close(struct gpume_hwaccel **hwaccel);

#endif
