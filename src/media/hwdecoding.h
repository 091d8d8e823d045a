/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoders that use a device of media/hwaccel. */
#ifndef GPUME_MEDIA_HWDECODING_H
#define GPUME_MEDIA_HWDECODING_H

#include <stdbool.h>

struct AVCodec;
struct AVFrame;
struct gpume_decode_options;
struct gpume_decoding;

/* Opens what gpume_decoding_open would open in software. Returns libav's error. */
int gpume_hwdecoding_open(struct gpume_decoding *decoding,
    const struct gpume_decode_options *options, const struct AVCodec *codec);

/* Copies a frame that is on the device to memory. GPUME_NOMEM, GPUME_DEVICE. */
int gpume_hwdecoding_download(struct gpume_decoding *decoding, struct AVFrame *frame, bool whole);

/* Opens another decoder of the same video, whose frames must all come from the device: it fails
 * with GPUME_DEVICE at the first that does not. The options must outlive it. GPUME_DEVICE. */
int gpume_hwdecoding_open_another(struct gpume_decoding *another,
    struct gpume_decode_options *options, const struct AVCodec *codec);

#endif
