/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Device types are libavutil's. libavcodec says which decoders can use a device, but whether the
 * device can decode the stream is known only during decoding: libavcodec calls choose_format, and
 * calls it again without the device's format if setting that up failed. It may do so on a thread of
 * its own, hence the mutex. decode.c then starts over in software.
 */
#include "media/decode.h"

#include "base/base.h"
#include "media/libav.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libavutil/hwcontext.h>
#include <libavutil/pixdesc.h>

#define REASON_BYTES 256
/* NVIDIA's driver opens decoders one after the other, in 0.25 s each, which pays only if each of
 * them has this many frames (PERFORMANCE.md). */
#define DECODER_FRAMES 600u

struct gpume_hwaccel {
    const char *text;   /* TYPE[:DEVICE], or auto */
    const char *device; /* in text; NULL: the first */
    bool automatic, refused;
    enum AVHWDeviceType type;
    enum AVPixelFormat format; /* of the type's frames */
    AVBufferRef *context;      /* the device, once open */
    uint32_t devices;          /* of CUDA that decoders share; 0: one */
    pthread_mutex_t mutex;     /* guards what follows */
    uint32_t own;              /* devices opened for one decoder each */
    bool offered;              /* choose_format has returned `format`; it may be called again */
    char reason[REASON_BYTES]; /* why it was called again; empty: it was not */
    struct gpume_log log;
};

/* The types that auto tries, best known first. Not vdpau, whose library prints messages. */
static const char *const automatic_types[] = {
    "cuda", "vaapi", "videotoolbox", "d3d12va", "d3d11va", "dxva2", "vulkan"};

/* False for codecs whose standards leave the rounding of samples to the decoder. */
static bool is_exact(enum AVCodecID id)
{
    return id != AV_CODEC_ID_MPEG1VIDEO && id != AV_CODEC_ID_MPEG2VIDEO &&
           id != AV_CODEC_ID_MPEG4 && id != AV_CODEC_ID_H263 && id != AV_CODEC_ID_H263P &&
           id != AV_CODEC_ID_MJPEG;
}

static int refuse_text(const char *text, const struct gpume_log *log)
{
    char names[512] = "";
    enum AVHWDeviceType type = AV_HWDEVICE_TYPE_NONE;
    while ((type = av_hwdevice_iterate_types(type)) != AV_HWDEVICE_TYPE_NONE) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", av_hwdevice_get_type_name(type));
    }
    return gpume_log_fail(log, GPUME_INVALID,
        "--hwaccel %s: must be one of none, auto%s; a device may follow: vaapi:/dev/dri/renderD128",
        text, names);
}

int gpume_hwaccel_open(struct gpume_hwaccel **result, const char *text, const struct gpume_log *log)
{
    *result = NULL;
    if (!text || strcmp(text, "none") == 0) {
        return GPUME_OK;
    }
    char name[32];
    const char *colon = strchr(text, ':');
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
    const bool automatic = strcmp(text, "auto") == 0;
    const enum AVHWDeviceType type = av_hwdevice_find_type_by_name(name);
    if ((colon && colon[1] == '\0') || (!automatic && type == AV_HWDEVICE_TYPE_NONE)) {
        return refuse_text(text, log);
    }
    struct gpume_hwaccel *hwaccel = calloc(1, sizeof *hwaccel);
    if (!hwaccel) {
        return GPUME_NOMEM;
    }
    (void)pthread_mutex_init(&hwaccel->mutex, NULL);
    hwaccel->text = text;
    hwaccel->device = colon ? colon + 1 : NULL;
    hwaccel->automatic = automatic;
    hwaccel->type = type;
    hwaccel->log = *log;
    *result = hwaccel;
    return GPUME_OK;
}

static const AVCodecHWConfig *find_config(const AVCodec *codec, enum AVHWDeviceType type)
{
    const AVCodecHWConfig *config = NULL;
    for (int i = 0; codec && (config = avcodec_get_hw_config(codec, i)) != NULL; i++) {
        if (config->device_type == type &&
            (config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX)) {
            break;
        }
    }
    return config;
}

/* The default decoder if it supports the type, else the first that does: the default for AV1 is a
 * library that does not. */
static const AVCodec *find_decoder(
    enum AVCodecID id, enum AVHWDeviceType type, enum AVPixelFormat *format)
{
    const AVCodec *codec = avcodec_find_decoder(id);
    const AVCodecHWConfig *config = find_config(codec, type);
    void *state = NULL;
    while (!config && (codec = av_codec_iterate(&state)) != NULL) {
        config = codec->id == id && av_codec_is_decoder(codec) ? find_config(codec, type) : NULL;
    }
    *format = config ? config->pix_fmt : AV_PIX_FMT_NONE;
    return codec;
}

/* name: of one device among those of the type; NULL: the first. */
static AVBufferRef *open_device(
    struct gpume_hwaccel *hwaccel, enum AVHWDeviceType type, const char *name, int *error)
{
    AVBufferRef *device = NULL;
    *error = av_hwdevice_ctx_create(&device, type, name, NULL, 0);
    if (device) {
        ((AVHWDeviceContext *)device->data)->user_opaque = hwaccel; /* for choose_format */
    }
    return device;
}

/* Returns the decoder for one type and opens its device; NULL: *reason says why not. */
static const AVCodec *choose_type(struct gpume_hwaccel *hwaccel, enum AVHWDeviceType type,
    enum AVCodecID id, char reason[REASON_BYTES])
{
    const AVCodec *codec = find_decoder(id, type, &hwaccel->format);
    if (!codec) {
        snprintf(
            reason, REASON_BYTES, "this FFmpeg does not decode %s on it", avcodec_get_name(id));
        return NULL;
    }
    if (hwaccel->context && hwaccel->type == type) {
        return codec;
    }
    gpume_libav_quiet();
    int error;
    hwaccel->context = open_device(hwaccel, type, hwaccel->device, &error);
    if (!hwaccel->context) {
        snprintf(
            reason, REASON_BYTES, "the device cannot be opened: %s", gpume_libav_reason(error));
        return NULL;
    }
    hwaccel->type = type;
    return codec;
}

static const AVCodec *choose_automatic(
    struct gpume_hwaccel *hwaccel, enum AVCodecID id, const char *label)
{
    char reason[REASON_BYTES];
    for (size_t i = 0; i < sizeof automatic_types / sizeof automatic_types[0]; i++) {
        const char *name = automatic_types[i];
        const enum AVHWDeviceType type = av_hwdevice_find_type_by_name(name);
        if (type == AV_HWDEVICE_TYPE_NONE || !find_decoder(id, type, &hwaccel->format) ||
            (hwaccel->context && hwaccel->type != type)) {
            continue;
        }
        const AVCodec *codec = choose_type(hwaccel, type, id, reason);
        if (codec) {
            return codec;
        }
        gpume_log_write(&hwaccel->log, GPUME_LOG_INFO, "%s: %s: %s", label, name, reason);
    }
    return NULL;
}

const AVCodec *gpume_hwaccel_choose(
    struct gpume_hwaccel *hwaccel, enum AVCodecID id, const char *label)
{
    char reason[REASON_BYTES] = "no device of this machine decodes it";
    /* Already refused, or no gain to expect: no message. */
    if (hwaccel->refused || id == AV_CODEC_ID_RAWVIDEO || (hwaccel->automatic && !is_exact(id))) {
        return NULL;
    }
    const AVCodec *codec = hwaccel->automatic ? choose_automatic(hwaccel, id, label)
                                              : choose_type(hwaccel, hwaccel->type, id, reason);
    if (!codec) {
        gpume_hwaccel_refuse(hwaccel, label, reason);
    }
    return codec;
}

/* Called by libavcodec. Chooses the device's format if it is offered, else the first software
 * format. */
static enum AVPixelFormat choose_format(AVCodecContext *context, const enum AVPixelFormat *formats)
{
    struct gpume_hwaccel *hwaccel =
        ((AVHWDeviceContext *)context->hw_device_ctx->data)->user_opaque;
    const enum AVPixelFormat *software = formats;
    while (*formats != AV_PIX_FMT_NONE && *formats != hwaccel->format) {
        formats++;
    }
    enum AVPixelFormat chosen = *formats;
    pthread_mutex_lock(&hwaccel->mutex);
    if (chosen != AV_PIX_FMT_NONE) {
        gpume_libav_quiet();
        hwaccel->offered = true;
    } else {
        const AVPixFmtDescriptor *descriptor;
        while ((descriptor = av_pix_fmt_desc_get(*software)) != NULL &&
               (descriptor->flags & AV_PIX_FMT_FLAG_HWACCEL)) {
            software++;
        }
        chosen = *software;
        const char *name = av_get_pix_fmt_name(chosen);
        if (hwaccel->offered) {
            snprintf(
                hwaccel->reason, sizeof hwaccel->reason, "%s", gpume_libav_reason(AVERROR(ENOSYS)));
        } else {
            snprintf(hwaccel->reason, sizeof hwaccel->reason, "it does not decode %s in %s",
                avcodec_get_name(context->codec_id), name ? name : "this format");
        }
        hwaccel->offered = false;
    }
    pthread_mutex_unlock(&hwaccel->mutex);
    return chosen;
}

/* One more decoder's own device. If the next one in turn cannot be opened, it is the first. */
static AVBufferRef *open_own(struct gpume_hwaccel *hwaccel, int *error)
{
    AVBufferRef *device = NULL;
    pthread_mutex_lock(&hwaccel->mutex);
    const uint32_t number = hwaccel->devices > 1 ? ++hwaccel->own % hwaccel->devices : 0;
    pthread_mutex_unlock(&hwaccel->mutex);
    if (number > 0) {
        char name[16];
        snprintf(name, sizeof(name), "%u", number);
        device = open_device(hwaccel, hwaccel->type, name, error);
    }
    return device ? device : open_device(hwaccel, hwaccel->type, hwaccel->device, error);
}

int gpume_hwaccel_attach(struct gpume_hwaccel *hwaccel, AVCodecContext *context, bool own)
{
    int error = AVERROR(ENOMEM);
    context->hw_device_ctx = own ? open_own(hwaccel, &error) : av_buffer_ref(hwaccel->context);
    context->get_format = choose_format;
    return context->hw_device_ctx     ? GPUME_OK
           : error == AVERROR(ENOMEM) ? GPUME_NOMEM
                                      : GPUME_DEVICE;
}

void gpume_hwaccel_accept(struct gpume_hwaccel *hwaccel, enum AVCodecID id, const char *label)
{
    pthread_mutex_lock(&hwaccel->mutex);
    hwaccel->offered = false; /* later changes of the stream are handled anew */
    pthread_mutex_unlock(&hwaccel->mutex);
    if (!is_exact(id)) {
        gpume_log_write(&hwaccel->log, GPUME_LOG_WARNING,
            "%s: --hwaccel %s: decoders of %s may differ by a rounding; vectors may differ from "
            "those of software decoding",
            label, hwaccel->text, avcodec_get_name(id));
    }
}

void gpume_hwaccel_refuse(struct gpume_hwaccel *hwaccel, const char *label, const char *reason)
{
    char found[REASON_BYTES];
    pthread_mutex_lock(&hwaccel->mutex);
    snprintf(found, sizeof found, "%s", hwaccel->reason[0] != '\0' ? hwaccel->reason : reason);
    pthread_mutex_unlock(&hwaccel->mutex);
    if (!hwaccel->refused) {
        gpume_log_write(&hwaccel->log, hwaccel->automatic ? GPUME_LOG_INFO : GPUME_LOG_WARNING,
            "%s: --hwaccel %s: %s; decoded in software instead", label, hwaccel->text, found);
    }
    hwaccel->refused = true;
}

void gpume_hwaccel_spread(struct gpume_hwaccel *hwaccel, uint32_t count)
{
    hwaccel->devices = hwaccel->type == AV_HWDEVICE_TYPE_CUDA && !hwaccel->device ? count : 0;
}

uint32_t gpume_hwaccel_decoders(const struct gpume_hwaccel *hwaccel, uint64_t frames)
{
    if (hwaccel->type != AV_HWDEVICE_TYPE_CUDA) {
        return 1;
    }
    const uint64_t worth = frames > 0 ? gpume_div_up(frames, DECODER_FRAMES) : UINT64_MAX;
    const uint64_t devices = hwaccel->devices > 1 ? hwaccel->devices : 1;
    return (uint32_t)gpume_min_u64(worth, GPUME_HWACCEL_DECODERS * devices);
}

const char *gpume_hwaccel_name(const struct gpume_hwaccel *hwaccel)
{
    return hwaccel->automatic ? av_hwdevice_get_type_name(hwaccel->type) : hwaccel->text;
}

void gpume_hwaccel_close(struct gpume_hwaccel **pointer)
{
    struct gpume_hwaccel *hwaccel = *pointer;
    if (!hwaccel) {
        return;
    }
    *pointer = NULL;
    av_buffer_unref(&hwaccel->context);
    (void)pthread_mutex_destroy(&hwaccel->mutex);
    free(hwaccel);
}

/* --- frames from a device */

/*
 * Devices use formats that software decoders do not: NV12 for yuv420p, P010 with its samples in the
 * upper bits for yuv420p10, and P016 for every depth above 10, so that luma seems deeper than the
 * stream's. Decoders also leave it to the caller to crop the left and upper margin of such frames.
 */

#define MODEL_STRIDE 4096 /* aligned at least as well as the strides of any decoder */

/* Crops the left and upper margin as a software decoder does: at the left only as many columns as
 * keep the planes aligned, which depends on their layout. A dummy picture makes libavutil count
 * them. */
static int crop_margins(AVFrame *frame, enum AVPixelFormat software)
{
    if (frame->crop_left == 0 && frame->crop_top == 0) {
        return GPUME_OK;
    }
    AVFrame *model = av_frame_alloc();
    if (!model) {
        return GPUME_NOMEM;
    }
    model->format = software;
    model->width = frame->width;
    model->height = frame->height;
    model->crop_left = frame->crop_left;
    model->crop_top = frame->crop_top;
    for (int i = 0; i < av_pix_fmt_count_planes(software); i++) {
        model->data[i] = frame->data[0];
        model->linesize[i] = MODEL_STRIDE;
    }
    int error = av_frame_apply_cropping(model, 0);
    frame->crop_left = error < 0 ? frame->crop_left : (size_t)(frame->width - model->width);
    av_frame_free(&model);
    error = error < 0 ? error : av_frame_apply_cropping(frame, AV_FRAME_CROP_UNALIGNED);
    return error < 0 ? GPUME_UNSUPPORTED : GPUME_OK;
}

/* Whether samples can be moved from one to the other, component by component, without computing
 * any.
 */
static bool movable(const AVPixFmtDescriptor *from, const AVPixFmtDescriptor *to)
{
    const uint64_t other = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM |
                           AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT;
    bool movable =
        ((from->flags | to->flags) & other) == 0 && (to->flags & AV_PIX_FMT_FLAG_BE) == 0 &&
        from->nb_components >= to->nb_components &&
        (to->nb_components < 3 ||
            (from->log2_chroma_w == to->log2_chroma_w && from->log2_chroma_h == to->log2_chroma_h));
    for (int c = 0; c < to->nb_components && movable; c++) {
        const AVComponentDescriptor *sample = &to->comp[c];
        movable = sample->plane == c && sample->shift == 0 && sample->offset == 0 &&
                  sample->step == (sample->depth > 8 ? 2 : 1) &&
                  from->comp[c].depth >= sample->depth;
    }
    return movable;
}

/* Moves component c; a deeper source holds its samples in the upper bits. */
static void move_component(const AVFrame *from, AVFrame *to, int c, uint16_t *row)
{
    const AVPixFmtDescriptor *source = av_pix_fmt_desc_get(from->format);
    const AVPixFmtDescriptor *target = av_pix_fmt_desc_get(to->format);
    const int spare = source->comp[c].depth - target->comp[c].depth;
    const bool chroma = c == 1 || c == 2;
    const int width = chroma ? AV_CEIL_RSHIFT(to->width, target->log2_chroma_w) : to->width;
    const int height = chroma ? AV_CEIL_RSHIFT(to->height, target->log2_chroma_h) : to->height;
    for (int y = 0; y < height; y++) {
        uint8_t *data = to->data[c] + (ptrdiff_t)y * to->linesize[c];
        uint16_t *deep = (uint16_t *)(void *)data;
        av_read_image_line2(row, (const uint8_t **)(void *)(uintptr_t)from->data, from->linesize,
            source, 0, y, c, width, 0, sizeof *row);
        for (int x = 0; x < width; x++) {
            if (target->comp[c].depth > 8) {
                deep[x] = (uint16_t)(row[x] >> spare);
            } else {
                data[x] = (uint8_t)(row[x] >> spare);
            }
        }
    }
}

int gpume_hwframe_move(AVFrame *frame, enum AVPixelFormat planar)
{
    int status = GPUME_OK;
    const AVPixFmtDescriptor *to = av_pix_fmt_desc_get(planar);
    uint16_t *row = malloc((size_t)frame->width * sizeof *row);
    AVFrame *moved = av_frame_alloc();
    GPUME_TRY(row && moved ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(movable(av_pix_fmt_desc_get(frame->format), to) ? GPUME_OK : GPUME_UNSUPPORTED);
    moved->format = planar;
    moved->width = frame->width;
    moved->height = frame->height;
    GPUME_TRY(av_frame_get_buffer(moved, 0) < 0 || av_frame_copy_props(moved, frame) < 0
                  ? GPUME_NOMEM
                  : GPUME_OK);
    for (int c = 0; c < to->nb_components; c++) {
        move_component(frame, moved, c, row);
    }
    av_frame_unref(frame);
    av_frame_move_ref(frame, moved);
fail:
    av_frame_free(&moved);
    free(row);
    return status;
}

int gpume_hwframe_settle(AVFrame *frame, enum AVPixelFormat software, bool whole)
{
    const AVPixFmtDescriptor *is = av_pix_fmt_desc_get(frame->format);
    const AVPixFmtDescriptor *wanted = av_pix_fmt_desc_get(software);
    GPUME_CHECK(is && wanted ? GPUME_OK : GPUME_UNSUPPORTED);
    GPUME_CHECK(crop_margins(frame, software));
    if (strncmp(wanted->name, "yuvj", 4) == 0) {
        frame->color_range = AVCOL_RANGE_JPEG; /* the device's format does not imply it */
    }
    if (is != wanted && (whole || is->comp[0].depth != wanted->comp[0].depth)) {
        GPUME_CHECK(gpume_hwframe_move(frame, software));
    }
    return GPUME_OK;
}

static int transfer(
    AVFrame *copy, const AVFrame *frame, AVCodecContext *codec, struct gpume_buffers *buffers)
{
    const AVHWFramesContext *frames = (const void *)frame->hw_frames_ctx->data;
    copy->format = frames->sw_format;
    copy->width = frames->width;
    copy->height = frames->height;
    if (!buffers || gpume_buffers_take(buffers, codec, copy) != GPUME_OK ||
        av_hwframe_transfer_data(copy, frame, 0) < 0) {
        av_frame_unref(copy);
        return av_hwframe_transfer_data(copy, frame, 0) < 0 ? GPUME_DEVICE : GPUME_OK;
    }
    copy->width = frame->width; /* the visible part */
    copy->height = frame->height;
    return GPUME_OK;
}

int gpume_hwframe_download(
    AVFrame *frame, AVCodecContext *codec, struct gpume_buffers *buffers, bool whole)
{
    int status = GPUME_OK;
    AVFrame *copy = av_frame_alloc();
    GPUME_TRY(copy ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(transfer(copy, frame, codec, buffers));
    GPUME_TRY(av_frame_copy_props(copy, frame) < 0 ? GPUME_NOMEM : GPUME_OK);
    status = gpume_hwframe_settle(copy, codec->sw_pix_fmt, whole);
    GPUME_TRY(status == GPUME_UNSUPPORTED ? GPUME_DEVICE : status);
    av_frame_unref(frame);
    av_frame_move_ref(frame, copy);
fail:
    av_frame_free(&copy);
    return status;
}
