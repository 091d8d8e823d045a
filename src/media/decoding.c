/* SPDX-License-Identifier: BSD-2-Clause */
/* One of FFmpeg's decoders: memory for its frames, the video hardware that may do its work, and the
 * decoder itself. */
#define _DEFAULT_SOURCE /* madvise */
#include "media/decode.h"

#include "base/base.h"
#include "media/libav.h"
#include "media/luma.h"
#include "media/packets.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

/* --- memory for frames */

#define LARGE_PAGE (UINT64_C(2) << 20)
#define SLAB (16 * LARGE_PAGE)
#define ALIGNMENT 64u /* of planes and rows: enough for all vector code */
#define PADDING 128u  /* decoders may read beyond a plane */

/* A piece of memory from which frames are cut_buffer; it is freed with the last of them. */
struct slab {
    void *memory;
    size_t bytes;
    struct slab *next;
};

struct gpume_buffers {
    pthread_mutex_t mutex;
    AVBufferPool *pool; /* NULL until the first frame */
    size_t frame_bytes;
    struct slab *slabs; /* the first one is cut_buffer now */
    size_t used;        /* bytes of it */
};

int gpume_buffers_open(struct gpume_buffers **buffers)
{
    *buffers = calloc(1, sizeof(**buffers));
    if (!*buffers) {
        return GPUME_NOMEM;
    }
    pthread_mutex_init(&(*buffers)->mutex, NULL);
    return GPUME_OK;
}

/* Called when neither the owner nor a frame needs the memory any more. */
static void destroy_buffers(void *opaque)
{
    struct gpume_buffers *buffers = opaque;
    while (buffers->slabs) {
        struct slab *slab = buffers->slabs;
        buffers->slabs = slab->next;
        munmap(slab->memory, slab->bytes);
        free(slab);
    }
    pthread_mutex_destroy(&buffers->mutex);
    free(buffers);
}

static bool add_slab(struct gpume_buffers *buffers, size_t bytes)
{
    struct slab *slab = calloc(1, sizeof(*slab));
    if (!slab) {
        return false;
    }
    slab->bytes = bytes > SLAB ? bytes : SLAB;
    slab->memory =
        mmap(NULL, slab->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (slab->memory == MAP_FAILED) {
        free(slab);
        return false;
    }
#ifdef MADV_HUGEPAGE
    (void)madvise(slab->memory, slab->bytes, MADV_HUGEPAGE);
#endif
    slab->next = buffers->slabs;
    buffers->slabs = slab;
    buffers->used = 0;
    return true;
}

static void leave_slab(void *opaque, uint8_t *data)
{
    (void)opaque;
    (void)data; /* part of a slab */
}

/* The pool's way to get a new buffer. Any thread. */
static AVBufferRef *cut_buffer(void *opaque, size_t bytes)
{
    struct gpume_buffers *buffers = opaque;
    uint8_t *data = NULL;
    pthread_mutex_lock(&buffers->mutex);
    if ((buffers->slabs && buffers->slabs->bytes - buffers->used >= bytes) ||
        add_slab(buffers, bytes)) {
        data = (uint8_t *)buffers->slabs->memory + buffers->used;
        buffers->used += bytes;
    }
    pthread_mutex_unlock(&buffers->mutex);
    return data ? av_buffer_create(data, bytes, leave_slab, NULL, 0) : NULL;
}

/* Rows as FFmpeg's own buffers have them; 0: the format is laid out otherwise. */
static size_t lay_out(AVCodecContext *codec, const AVFrame *frame, int rows[4], size_t planes[4])
{
    int width = frame->width, height = frame->height, aligned[AV_NUM_DATA_POINTERS];
    ptrdiff_t strides[4];
    size_t bytes = 0;
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    if (!format || format->flags & (AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL)) {
        return 0;
    }
    avcodec_align_dimensions2(codec, &width, &height, aligned);
    const int unit = (int)ALIGNMENT << format->log2_chroma_w;
    width = (width + unit - 1) / unit * unit;
    if (av_image_fill_linesizes(rows, frame->format, width) < 0) {
        return 0;
    }
    for (int i = 0; i < 4; i++) {
        strides[i] = rows[i];
    }
    if (av_image_fill_plane_sizes(planes, frame->format, height, strides) < 0) {
        return 0;
    }
    for (int i = 0; i < 4 && planes[i] > 0; i++) {
        if (rows[i] % (int)ALIGNMENT != 0 || (aligned[i] > 0 && rows[i] % aligned[i] != 0)) {
            return 0;
        }
        planes[i] = (planes[i] + PADDING + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        bytes += planes[i];
    }
    return bytes;
}

/* The pool for frames of this size; NULL: there is none. */
static AVBufferPool *pool_of(struct gpume_buffers *buffers, size_t bytes)
{
    pthread_mutex_lock(&buffers->mutex);
    if (!buffers->pool && bytes > 0) {
        buffers->pool = av_buffer_pool_init2(bytes, buffers, cut_buffer, destroy_buffers);
        buffers->frame_bytes = bytes;
    }
    AVBufferPool *pool = bytes == buffers->frame_bytes ? buffers->pool : NULL;
    pthread_mutex_unlock(&buffers->mutex);
    return pool;
}

int gpume_buffers_take(struct gpume_buffers *buffers, AVCodecContext *codec, AVFrame *frame)
{
    int rows[4] = {0};
    size_t planes[4] = {0};
    const size_t bytes = lay_out(codec, frame, rows, planes);
    AVBufferPool *pool = pool_of(buffers, bytes);
    if (!pool) {
        return GPUME_UNSUPPORTED;
    }
    frame->buf[0] = av_buffer_pool_get(pool);
    if (!frame->buf[0]) {
        return GPUME_NOMEM;
    }
    uint8_t *data = frame->buf[0]->data;
    for (int i = 0; i < 4 && planes[i] > 0; i++) {
        frame->data[i] = data;
        frame->linesize[i] = rows[i];
        data += planes[i];
    }
    frame->extended_data = frame->data;
    return GPUME_OK;
}

int gpume_buffers_get(
    struct gpume_buffers *buffers, AVCodecContext *codec, AVFrame *frame, int flags)
{
    const int status = gpume_buffers_take(buffers, codec, frame);
    return status == GPUME_UNSUPPORTED ? avcodec_default_get_buffer2(codec, frame, flags)
           : status == GPUME_OK        ? 0
                                       : AVERROR(ENOMEM);
}

void gpume_buffers_close(struct gpume_buffers **pointer)
{
    struct gpume_buffers *buffers = *pointer;
    if (!buffers) {
        return;
    }
    *pointer = NULL;
    if (buffers->pool) {
        av_buffer_pool_uninit(&buffers->pool);
    } else {
        destroy_buffers(buffers);
    }
}

/*
 * --- video hardware
 *
 * Device types are libavutil's. libavcodec says which decoders can use a device, but whether the
 * device can decode the stream is known only during decoding: libavcodec calls choose_format, and
 * calls it again without the device's format if setting that up failed. It may do so on a thread of
 * its own, hence the mutex. decode.c then starts over in software.
 */

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
        gpume_text_join(names, sizeof names, "", ", %s", av_hwdevice_get_type_name(type));
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

/* Prepares a context of that decoder before it is opened. GPUME_NOMEM, GPUME_DEVICE. */
static int attach_device(struct gpume_hwaccel *hwaccel, AVCodecContext *context, bool own)
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
        GPUME_CHECK(gpume_frame_to_planar(frame, software));
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

/*
 * --- one decoder
 *
 * Hostile input cannot cause an endless loop: every iteration either sends a packet, takes a
 * frame that a packet has made, or is one of a bounded number of consecutive refusals.
 */

#define DEVICE_THREADS 4 /* fill its queue; each occupies one of its few surfaces */
#define THREADS_MAX 16u  /* as FFmpeg itself: more gain little, and each holds frames */
#define REFUSALS_MAX 64  /* refusals in a row: more than threads in flight */

static int get_buffer(AVCodecContext *codec, AVFrame *frame, int flags)
{
    const char *faults = codec->opaque;
    const struct gpume_decoding *decoding =
        (const void *)(faults - offsetof(struct gpume_decoding, faults));
    return gpume_buffers_get(decoding->buffers, codec, frame, flags);
}

/* A new context for the stream, not yet opened. */
static int prepare_decoding(struct gpume_decoding *decoding, const AVCodec *codec)
{
    decoding->oversized = gpume_libav_oversized();
    decoding->first_pts = INT64_MIN;
    decoding->last_pts = AV_NOPTS_VALUE;
    decoding->codec = avcodec_alloc_context3(codec);
    if (!decoding->codec ||
        avcodec_parameters_to_context(decoding->codec, decoding->packets->stream->codecpar) < 0) {
        return GPUME_NOMEM;
    }
    /* With frame threads, FFmpeg's Theora decoder refuses everything after the first link of a
     * chained file: it accepts a new header only between two frames (vp3.c). */
    decoding->codec->thread_type =
        codec->id == AV_CODEC_ID_THEORA ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE;
    decoding->codec->pkt_timebase = decoding->packets->time_base;
    decoding->codec->max_pixels = gpume_limits_decoder(&decoding->packets->options->trust);
    decoding->codec->opaque = &decoding->faults;
    return GPUME_OK;
}

int gpume_decoding_open(struct gpume_decoding *decoding, uint32_t threads)
{
    const struct gpume_packets *packets = decoding->packets;
    const enum AVCodecID id = packets->stream->codecpar->codec_id;
    const AVCodec *codec = avcodec_find_decoder(id);
    if (id == AV_CODEC_ID_NONE) {
        return gpume_log_fail(&decoding->log, GPUME_FORMAT,
            "%s: the codec of its video is unknown; %s", packets->label,
            gpume_input_remedy(&packets->input, "check the file"));
    }
    if (!codec) {
        return gpume_log_fail(&decoding->log, GPUME_FORMAT,
            "%s: this FFmpeg has no decoder for %s; convert the file to another format",
            packets->label, avcodec_get_name(id));
    }
    GPUME_CHECK(prepare_decoding(decoding, codec));
    decoding->codec->thread_count = (int)(threads < THREADS_MAX ? threads : THREADS_MAX);
    if (decoding->buffers && codec->capabilities & AV_CODEC_CAP_DR1) {
        /* Only where FFmpeg calls it from any thread, which older versions have to be told. */
        decoding->codec->get_buffer2 = get_buffer;
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        decoding->codec->thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#endif
    }
    if (packets->options->motion) {
        gpume_motion_request(decoding->codec);
    }
    gpume_libav_quiet();
    const int error = avcodec_open2(decoding->codec, codec, NULL);
    if (error == AVERROR(EAGAIN)) { /* from pthread_create */
        return gpume_log_fail(&decoding->log, GPUME_AGAIN,
            "%s: the decoder's threads cannot be started: the limit on processes (ulimit -u) or on "
            "memory (ulimit -v) is reached; use fewer --threads or raise the limit",
            packets->label);
    }
    if (error < 0 && error != AVERROR(ENOMEM)) {
        return gpume_log_fail(&decoding->log, GPUME_FORMAT,
            "%s: its %s video cannot be decoded: %s; check the file", packets->label,
            avcodec_get_name(id), gpume_libav_reason(error));
    }
    return error < 0 ? GPUME_NOMEM : GPUME_OK;
}

int gpume_decoding_open_device(struct gpume_decoding *decoding, const AVCodec *codec,
    struct gpume_hwaccel *hwaccel, uint32_t threads, bool own)
{
    if (prepare_decoding(decoding, codec) != GPUME_OK ||
        attach_device(hwaccel, decoding->codec, own) != GPUME_OK) {
        return AVERROR(ENOMEM);
    }
    decoding->codec->thread_count =
        threads > 0 && threads < DEVICE_THREADS ? (int)threads : DEVICE_THREADS;
    gpume_libav_quiet();
    return avcodec_open2(decoding->codec, codec, NULL);
}

/* Reports pictures that exceed the limit although the container states smaller ones. */
static int check_refusals(const struct gpume_decoding *decoding)
{
    return gpume_libav_oversized() == decoding->oversized
               ? GPUME_OK
               : gpume_limits_refuse(&decoding->packets->options->trust, decoding->packets->label,
                     decoding->delivered, &decoding->log);
}

int gpume_decoding_send(struct gpume_decoding *decoding, AVPacket *packet)
{
    decoding->draining = !packet;
    /* Some decoders report only at the end that they refused a packet. */
    const int error = avcodec_send_packet(decoding->codec, packet);
    decoding->refusals = 0;
    if (error == AVERROR(ENOMEM)) {
        return GPUME_NOMEM;
    }
    decoding->refused += error < 0;
    return check_refusals(decoding);
}

static void set_time(struct gpume_decoding *decoding, AVFrame *frame)
{
    /* Since version 6.1 the program ffmpeg ignores times that are made up for raw streams, which
     * for MPEG-2 begin one frame late; before, it kept them. */
    const struct gpume_packets *packets = decoding->packets;
    const bool raw = packets->input.format->iformat->flags & AVFMT_NOTIMESTAMPS;
    int64_t pts = AV_NOPTS_VALUE;
    if (LIBAVFORMAT_VERSION_INT < AV_VERSION_INT(60, 16, 100) || !raw) {
        pts = frame->best_effort_timestamp == AV_NOPTS_VALUE ? frame->pts
                                                             : frame->best_effort_timestamp;
    }
    if (pts != AV_NOPTS_VALUE) {
        decoding->known_pts = pts;
        decoding->fields = 0;
    }
    const bool known = packets->info.rate_num > 0;
    const AVRational field = {known ? (int)packets->info.rate_den : 1,
        known ? (int)packets->info.rate_num : 25}; /* two of them */
    const int64_t after =
        av_rescale_q(decoding->fields, av_mul_q(field, (AVRational){1, 2}), packets->time_base);
    decoding->fields += 2 + (frame->repeat_pict > 0 ? frame->repeat_pict : 0);
    bool fits = after > 0 && decoding->known_pts < INT64_MAX - after;
    frame->pts = fits ? decoding->known_pts + after : decoding->known_pts;
}

/* Where the packet of a frame says no duration, the program ffmpeg takes that of the codec's rate
 * or, since version 6.1, the time since the frame before. Filters such as fps need that of the last
 * frame. */
static void set_duration(const struct gpume_decoding *decoding, AVFrame *frame, int64_t before)
{
    const struct gpume_packets *packets = decoding->packets;
    const AVRational own = decoding->codec->framerate;
    const AVRational rate = own.num > 0 && own.den > 0 ? own : packets->stream->avg_frame_rate;
    const bool known = rate.num > 0 && rate.den > 0;
    int64_t duration = known ? av_rescale_q(1, av_inv_q(rate), packets->time_base) : 0;
    if (LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 16, 100) && before != AV_NOPTS_VALUE &&
        before < frame->pts) {
        duration = av_sat_sub64(frame->pts, before);
    }
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    frame->duration = frame->duration > 0 ? frame->duration : duration;
#else
    frame->pkt_duration = frame->pkt_duration > 0 ? frame->pkt_duration : duration;
#endif
}

/* Whether the frame is to be delivered. */
static bool count_frame(struct gpume_decoding *decoding, AVFrame *frame)
{
    if (frame->width <= 0 || frame->height <= 0 || !frame->data[0]) {
        return false;
    }
    set_time(decoding, frame);
    set_duration(decoding, frame, decoding->last_pts);
    decoding->last_pts = frame->pts;
    if (frame->pts < decoding->first_pts) {
        return false;
    }
    decoding->first_pts = INT64_MIN;
    decoding->delivered++;
    decoding->damaged +=
        frame->decode_error_flags != 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0;
    return true;
}

static int end_decoding(const struct gpume_decoding *decoding)
{
    if (atomic_load(&decoding->faults.starved) > 0) {
        return GPUME_NOMEM; /* decoders report it as damage */
    }
    const int status = check_refusals(decoding);
    return status == GPUME_OK ? GPUME_EOF : status;
}

int gpume_decoding_next(struct gpume_decoding *decoding, AVFrame *frame)
{
    for (;;) {
        int error = avcodec_receive_frame(decoding->codec, frame);
        GPUME_CHECK(decoding->fetch ? decoding->fetch(decoding, frame, &error) : GPUME_OK);
        if (error == AVERROR_EOF) {
            return end_decoding(decoding);
        }
        if (error == AVERROR(ENOMEM)) {
            return GPUME_NOMEM;
        }
        if (error >= 0) {
            decoding->refusals = 0;
            GPUME_CHECK(gpume_limits_check_size(&decoding->packets->options->trust,
                decoding->packets->label, NULL, frame->width, frame->height, &decoding->log));
            if (count_frame(decoding, frame)) {
                return GPUME_OK;
            }
            av_frame_unref(frame);
            continue;
        }
        if (error != AVERROR(EAGAIN)) {
            decoding->refused++;
            if (++decoding->refusals < REFUSALS_MAX) {
                continue;
            }
        }
        /* While draining: the decoder returns neither frames nor the end. */
        return decoding->draining ? end_decoding(decoding) : GPUME_AGAIN;
    }
}

void gpume_decoding_restart(struct gpume_decoding *decoding, uint64_t number, int64_t pts)
{
    avcodec_flush_buffers(decoding->codec);
    decoding->draining = false;
    decoding->known_pts = decoding->fields = 0;
    decoding->first_pts = pts;
    decoding->last_pts = AV_NOPTS_VALUE;
    decoding->delivered = number;
}

bool gpume_decoding_is_flawed(const struct gpume_decoding *decoding)
{
    return decoding->refused > 0 || decoding->damaged > 0 ||
           atomic_load(&decoding->faults.errors) > 0;
}

struct gpume_damage gpume_decoding_damage(const struct gpume_decoding *decoding)
{
    return (struct gpume_damage){
        .errors = atomic_load(&decoding->faults.errors),
        .refused = decoding->refused,
        .frames = decoding->damaged,
    };
}

void gpume_decoding_close(struct gpume_decoding *decoding)
{
    avcodec_free_context(&decoding->codec);
}
