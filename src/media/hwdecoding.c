/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/hwdecoding.h"

#include "base/status.h"
#include "media/decode.h"
#include "media/decoding.h"
#include "media/hwaccel.h"
#include "media/hwframe.h"

#include <libavcodec/avcodec.h>

#define THREADS 4 /* fill its queue; each occupies one of its few surfaces */

static int open_on(struct gpume_decoding *decoding, const struct gpume_decode_options *options,
    const AVCodec *codec, bool own_device)
{
    if (gpume_decoding_prepare(decoding, codec) != GPUME_OK ||
        gpume_hwaccel_attach(options->hwaccel, decoding->codec, own_device) != GPUME_OK) {
        return AVERROR(ENOMEM);
    }
    decoding->codec->thread_count =
        options->threads > 0 && options->threads < THREADS ? (int)options->threads : THREADS;
    gpume_libav_quiet();
    return avcodec_open2(decoding->codec, codec, NULL);
}

int gpume_hwdecoding_open(struct gpume_decoding *decoding,
    const struct gpume_decode_options *options, const AVCodec *codec)
{
    return open_on(decoding, options, codec, false);
}

int gpume_hwdecoding_download(struct gpume_decoding *decoding, AVFrame *frame, bool whole)
{
    const int status = gpume_hwframe_download(frame, decoding->codec, decoding->buffers, whole);
    return status == GPUME_OK || status == GPUME_NOMEM ? status : GPUME_DEVICE;
}

static int fetch(struct gpume_decoding *decoding, AVFrame *frame, int *error)
{
    const struct gpume_decode_options *options = decoding->opaque;
    int status = GPUME_OK;
    if (*error >= 0) {
        status = frame->hw_frames_ctx ? gpume_hwdecoding_download(decoding, frame, options->whole)
                                      : GPUME_DEVICE;
    }
    if (status != GPUME_OK) {
        av_frame_unref(frame);
    }
    return status;
}

int gpume_hwdecoding_open_another(
    struct gpume_decoding *another, struct gpume_decode_options *options, const AVCodec *codec)
{
    another->fetch = fetch;
    another->opaque = options;
    return open_on(another, options, codec, true) < 0 ? GPUME_DEVICE : GPUME_OK;
}
