/* SPDX-License-Identifier: BSD-2-Clause */
/* FFmpeg's decoders: memory for their frames, one decoder, and the one of an input, of which video
 * hardware may be a part. */
#define _DEFAULT_SOURCE /* madvise */
#include "media/decode.h"

#include "base/base.h"
#include "media/packets.h"
#include "media/source.h"

#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

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
 * --- Hostile input cannot cause an endless loop: every iteration either sends a packet, takes a
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

/* As gpume_decoding_open, on a device: with the decoder that gpume_hwaccel_choose chose; own: see
 * gpume_hwaccel_attach. Returns libav's error; close follows after one, too. */
static int decoding_open_device(struct gpume_decoding *decoding, const AVCodec *codec,
    struct gpume_hwaccel *hwaccel, uint32_t threads, bool own)
{
    if (prepare_decoding(decoding, codec) != GPUME_OK ||
        gpume_hwaccel_attach(hwaccel, decoding->codec, own) != GPUME_OK) {
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

/*
 * --- Video hardware is on trial until its first frame is in memory. During the trial all packets
 * are kept; if the device fails, software starts over with the first of them, so that nothing is
 * lost.
 */

#define TRIAL_PACKETS 64 /* more than any decoder holds before its first frame */

int64_t gpume_frame_time_next(struct gpume_frame_time *time, const AVFrame *frame)
{
    const AVRational time_base = frame->time_base;
    int64_t us = INT64_MIN;
    if (frame->pts != AV_NOPTS_VALUE && time_base.num > 0 && time_base.den > 0) {
        us = av_rescale_q(frame->pts, time_base, AV_TIME_BASE_Q);
    }
    if (us == INT64_MIN) { /* unknown, or beyond what 64 bits hold */
        const int64_t after = av_rescale_q(time->since, time->step, AV_TIME_BASE_Q);
        const bool fits = after >= 0 && time->known_us < INT64_MAX - after;
        us = fits ? time->known_us + after : time->known_us;
    } else {
        time->known_us = us;
        time->since = 0;
    }
    time->since++;
    return us;
}

struct decode {
    struct gpume_decode_options options;
    struct gpume_packets packets;
    struct gpume_decoding decoding; /* also has the log */
    AVPacket *packet;
    bool accelerated; /* decoding uses the device, or did until the stream changed */
    bool on_trial;
    AVPacket *kept[TRIAL_PACKETS];   /* packets read during the trial */
    uint32_t kept_count, kept_taken; /* kept_taken: sent to software */
    uint64_t sent;                   /* packets */
    uint64_t first_frame;            /* number of the first frame that is delivered */
    struct gpume_scan *scan;         /* of all packets that were sent; NULL: not to be divided */
    uint64_t frame_bytes;            /* of a decoded frame */
    struct gpume_division division;
    struct gpume_segments *segments; /* NULL: one decoder */
    bool ended;
};

static void drop_kept(struct decode *decode)
{
    for (uint32_t i = 0; i < decode->kept_count; i++) {
        av_packet_free(&decode->kept[i]);
    }
    decode->kept_count = decode->kept_taken = 0;
    decode->on_trial = false;
}

static void lavf_close(void *state)
{
    struct decode *decode = state;
    drop_kept(decode);
    gpume_segments_close(&decode->segments);
    gpume_scan_close(&decode->scan);
    av_packet_free(&decode->packet);
    gpume_decoding_close(&decode->decoding);
    gpume_buffers_close(&decode->decoding.buffers);
    gpume_packets_close(&decode->packets);
}

/* Starts over in software from the first packet. */
static int start_over(struct decode *decode)
{
    struct gpume_decoding *decoding = &decode->decoding;
    gpume_hwaccel_refuse(decode->options.hwaccel, decode->packets.label, "it delivers no frames");
    gpume_decoding_close(decoding);
    decode->accelerated = decode->on_trial = decoding->draining = false;
    decoding->refused = 0;
    decoding->refusals = 0;
    atomic_store(&decoding->faults.errors, 0);
    atomic_store(&decoding->faults.starved, 0);
    return gpume_decoding_open(decoding, decode->options.source->threads);
}

/* Takes the next packet of the stream. GPUME_EOF, GPUME_CANCELLED, GPUME_NOMEM. */
static int next_kept_packet(struct decode *decode)
{
    if (!decode->on_trial && decode->kept_taken < decode->kept_count) {
        av_packet_unref(decode->packet);
        av_packet_move_ref(decode->packet, decode->kept[decode->kept_taken++]);
        return GPUME_OK;
    }
    const int status = gpume_packets_next(&decode->packets, decode->packet);
    if (status == GPUME_OK && decode->scan) {
        gpume_scan_take(decode->scan, decode->packet);
    }
    if (status != GPUME_OK || !decode->on_trial) {
        return status;
    }
    decode->kept[decode->kept_count] = av_packet_clone(decode->packet);
    return decode->kept[decode->kept_count++] ? GPUME_OK : GPUME_NOMEM;
}

/* Sends the next packet, or the end, to the decoder. */
static int send_next(struct decode *decode)
{
    int status = next_kept_packet(decode);
    const bool end = status == GPUME_EOF;
    if (status != GPUME_OK && !end) {
        return status;
    }
    if (decode->options.source->motion && !end) {
        gpume_motion_mark(decode->decoding.codec, decode->packets.stream->codecpar, decode->packet,
            ++decode->sent);
    }
    status = gpume_decoding_send(&decode->decoding, end ? NULL : decode->packet);
    av_packet_unref(decode->packet);
    return status;
}

/* The frames of a device. A failure that ends the trial becomes AVERROR(EAGAIN). The stream may go
 * on in software, but then in the first decoder alone. */
static int take_from_device(struct gpume_decoding *decoding, AVFrame *frame, int *error)
{
    struct decode *decode = decoding->opaque;
    int status = GPUME_DEVICE;
    if (!decode->accelerated) {
        return GPUME_OK;
    }
    const bool on_device = *error >= 0 && frame->hw_frames_ctx;
    if (on_device) {
        status = gpume_hwframe_download(
            frame, decoding->codec, decoding->buffers, decode->options.whole);
    }
    if (status == GPUME_OK && decode->on_trial) {
        gpume_hwaccel_accept(decode->options.hwaccel, decode->packets.stream->codecpar->codec_id,
            decode->packets.label);
        atomic_store(&decoding->faults.errors, 0);
        drop_kept(decode);
    }
    if (status == GPUME_OK) {
        return GPUME_OK;
    }
    const bool failed = *error >= 0 || *error == AVERROR_EOF || decode->kept_count == TRIAL_PACKETS;
    if (decode->on_trial && failed) {
        av_frame_unref(frame);
        *error = AVERROR(EAGAIN);
        return start_over(decode);
    }
    if (on_device || (*error >= 0 && decoding != &decode->decoding)) {
        av_frame_unref(frame);
        return status;
    }
    if (*error >= 0) {
        gpume_hwaccel_refuse(decode->options.hwaccel, decode->packets.label, "the stream changes");
    }
    return GPUME_OK;
}

static int lavf_open(
    void *state, const struct gpume_decode_options *options, struct gpume_source_info *info)
{
    struct decode *decode = state;
    const struct gpume_source_options *source = options->source;
    struct gpume_hwaccel *hwaccel = options->hwaccel;
    decode->options = *options;
    decode->decoding = (struct gpume_decoding){
        .packets = &decode->packets,
        .log = source->log,
        .fetch = hwaccel ? take_from_device : NULL,
        .opaque = decode,
    };
    GPUME_CHECK(gpume_packets_open(&decode->packets, source, options->input, options->cancel));
    *info = decode->packets.info;
    const char *label = decode->packets.label;
    const AVCodecParameters *codec = decode->packets.stream->codecpar;
    GPUME_CHECK(gpume_limits_check_size(
        &source->trust, label, NULL, codec->width, codec->height, &source->log));
    GPUME_CHECK(options->divisible ? gpume_scan_open(&decode->scan, codec) : GPUME_OK);
    GPUME_CHECK(decode->scan ? gpume_buffers_open(&decode->decoding.buffers) : GPUME_OK);
    decode->packet = av_packet_alloc();
    GPUME_CHECK(decode->packet ? GPUME_OK : GPUME_NOMEM);
    const AVCodec *device = hwaccel ? gpume_hwaccel_choose(hwaccel, codec->codec_id, label) : NULL;
    if (device) {
        const int error =
            decoding_open_device(&decode->decoding, device, hwaccel, source->threads, false);
        decode->accelerated = decode->on_trial = error >= 0;
        if (error < 0) {
            gpume_hwaccel_refuse(hwaccel, label, gpume_libav_reason(error));
            gpume_decoding_close(&decode->decoding);
        }
    }
    return decode->accelerated ? GPUME_OK : gpume_decoding_open(&decode->decoding, source->threads);
}

/* Another decoder like the first. */
static int open_another(void *opaque, struct gpume_decoding *another, uint32_t threads)
{
    struct decode *decode = opaque;
    if (!decode->accelerated) {
        return gpume_decoding_open(another, threads);
    }
    another->fetch = take_from_device;
    another->opaque = decode;
    return decoding_open_device(another, decode->decoding.codec->codec, decode->options.hwaccel,
               decode->options.source->threads, true) < 0
               ? GPUME_DEVICE
               : GPUME_OK;
}

/* The next frame of one decoder. */
static int next_of_one(struct decode *decode, AVFrame *frame)
{
    for (;;) {
        if (atomic_load(decode->options.cancel)) {
            return GPUME_CANCELLED;
        }
        const int status = gpume_decoding_next(&decode->decoding, frame);
        if (status != GPUME_AGAIN) {
            return status;
        }
        GPUME_CHECK(send_next(decode));
    }
}

static void lavf_divide(void *state, struct gpume_division *division)
{
    struct decode *decode = state;
    if (decode->accelerated) {
        gpume_hwaccel_spread(decode->options.hwaccel, division->gpus);
    }
    const uint32_t most = division->asked ? division->decoders
                          : decode->accelerated
                              ? gpume_hwaccel_decoders(decode->options.hwaccel, division->length)
                              : gpume_segments_decoders(decode->options.source->threads);
    if (!decode->scan || decode->on_trial || !gpume_scan_is_certain(decode->scan)) {
        division->decoders = 1;
    } else if (division->decoders > most) {
        division->bytes = division->bytes / division->decoders * most;
        division->decoders = most;
    }
    gpume_segments_plan(division, decode->options.source->threads, decode->frame_bytes);
    decode->division = *division;
}

static uint64_t delivered_by(const struct decode *decode)
{
    return decode->segments ? gpume_segments_delivered(decode->segments)
                            : decode->decoding.delivered;
}

static int lavf_next(void *state, AVFrame *frame)
{
    struct decode *decode = state;
    if (decode->division.decoders > 1) { /* what was one is the first of several from now on */
        const struct gpume_segments_options options = {
            .division = decode->division,
            .first = &decode->decoding,
            .open = open_another,
            .opaque = decode,
            .first_frame = decode->first_frame,
            .packets = &decode->packets,
            .scan = decode->scan,
            .cancel = decode->options.cancel,
            .log = decode->decoding.log,
        };
        decode->division.decoders = 1;
        GPUME_CHECK(gpume_segments_open(&decode->segments, &options));
    }
    const int status = decode->segments ? gpume_segments_next(decode->segments, frame)
                                        : next_of_one(decode, frame);
    decode->ended = status == GPUME_EOF;
    if (status == GPUME_DEVICE) {
        return gpume_log_fail(&decode->decoding.log, status,
            "%s: frame %" PRIu64 " cannot be copied from %s; try --hwaccel none",
            decode->packets.label, delivered_by(decode),
            gpume_hwaccel_name(decode->options.hwaccel));
    }
    if (status == GPUME_OK && decode->frame_bytes == 0) {
        for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++) {
            decode->frame_bytes += frame->buf[i]->size;
        }
    }
    return status;
}

/* The frames up to the one wanted must have the times that the packets promise. */
static int lavf_seek(void *state, uint64_t index, int64_t start, AVFrame *frame)
{
    int status = GPUME_OK;
    struct decode *decode = state;
    struct gpume_seek seek = {0};
    GPUME_TRY(gpume_seek_find(&seek, &decode->packets, index, start));
    decode->decoding.first_pts = seek.times[0];
    decode->decoding.delivered = decode->first_frame = seek.first;
    for (uint64_t i = 0; i < seek.count; i++) {
        av_frame_unref(frame);
        const int next = lavf_next(decode, frame);
        GPUME_TRY(next == GPUME_EOF ? GPUME_OK : next);
        if (next == GPUME_EOF || gpume_decoding_is_flawed(&decode->decoding) ||
            frame->pts != seek.times[i]) {
            GPUME_TRY(gpume_seek_refuse(
                &decode->packets, "damage, or frames at other times than their packets"));
        }
    }
fail:
    gpume_seek_finish(&seek);
    return status;
}

static int lavf_describe(const void *state, char *text, size_t bytes)
{
    const struct decode *decode = state;
    const AVCodecContext *codec = decode->decoding.codec;
    const char *device = decode->accelerated ? gpume_hwaccel_name(decode->options.hwaccel) : NULL;
    snprintf(text, bytes, "%s%s%s", codec->codec->name, device ? " on " : "", device ? device : "");
    return codec->thread_count;
}

static struct gpume_damage damage_of(const struct decode *decode)
{
    struct gpume_damage damage = decode->segments ? gpume_segments_damage(decode->segments)
                                                  : gpume_decoding_damage(&decode->decoding);
    if (decode->accelerated) {
        damage.errors = 0; /* may be about formats that the device does not support */
    }
    return damage;
}

static uint64_t lavf_refused(const void *state)
{
    const struct decode *decode = state;
    const bool is_read = !decode->segments || decode->ended; /* else by other threads */
    return damage_of(decode).refused + (is_read ? decode->packets.lost : 0);
}

/* Appends "TEXT COUNT NOUN[s]", with a comma before it unless it is the first. */
static void add_count(char *list, size_t bytes, const char *text, uint64_t count, const char *noun)
{
    const size_t used = strlen(list);
    if (count > 0) {
        snprintf(list + used, bytes - used, "%s%s %" PRIu64 " %s%s", used > 0 ? ", " : "", text,
            count, noun, gpume_plural(count));
    }
}

static void lavf_warn(const void *state)
{
    const struct decode *decode = state;
    const struct gpume_damage damage = damage_of(decode);
    const AVCodecContext *codec = decode->decoding.codec;
    char list[192] = "";
    if (decode->ended) {
        gpume_packets_warn(&decode->packets, delivered_by(decode));
    }
    add_count(list, sizeof list, "reported", damage.errors, "error");
    add_count(list, sizeof list, "refused", damage.refused, "packet");
    add_count(list, sizeof list, "concealed damage in", damage.frames, "frame");
    if (list[0]) {
        gpume_log_write(&decode->decoding.log, GPUME_LOG_WARNING,
            "%s: damaged: the decoder %s; what it could decode is used%s%s", decode->packets.label,
            list, decode->accelerated ? ", and --hwaccel none may decode more" : "",
            codec->active_thread_type && !decode->accelerated
                ? "; results may differ from run to run: --threads 1 makes them repeatable"
                : "");
    }
}

static int lavf_no_frame(const void *state)
{
    const struct decode *decode = state;
    const struct gpume_packets *packets = &decode->packets;
    const char *codec = avcodec_get_name(packets->stream->codecpar->codec_id);
    if (packets->cut.whole == 0 && decode->decoding.refused > 0) {
        return gpume_log_fail(&decode->decoding.log, GPUME_FORMAT,
            "%s: no frame of its %s video could be decoded: the decoder refused %" PRIu64
            " packet%s as damaged, incomplete or of an unsupported kind; check the file",
            decode->packets.label, codec, decode->decoding.refused,
            gpume_plural(decode->decoding.refused));
    }
    return gpume_cut_refuse(&packets->cut, decode->packets.label, codec,
        packets->failed ? gpume_input_remedy(&packets->input, "check the file") : "check the file",
        &decode->decoding.log);
}

const struct gpume_decoder gpume_decode_lavf = {
    .bytes = sizeof(struct decode),
    .open = lavf_open,
    .next = lavf_next,
    .seek = lavf_seek,
    .divide = lavf_divide,
    .describe = lavf_describe,
    .refused = lavf_refused,
    .warn = lavf_warn,
    .no_frame = lavf_no_frame,
    .close = lavf_close,
};
