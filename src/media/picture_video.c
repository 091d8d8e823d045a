/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The .mkv and .nut (FFV1) and .mp4 (H.264) writers: encoder -> libavformat's muxer -> checked
 * output, which can seek so that the muxer can complete its header, unless it is a pipe. Frames
 * keep the times that the caller gives, but each is at least one tick after the previous one.
 */
#include "base/status.h"
#include "files/out.h"
#include "media/encode.h"
#include "media/libav.h"
#include "media/luma.h"
#include "media/picture_kind.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/mathematics.h>
#include <libavutil/mem.h>

#define SLICED_MIN 16 /* pixels per side */
#define IO_BYTES (64 * 1024)

struct video {
    struct gpume_picture picture;
    struct gpume_encode encode;
    AVFormatContext *format;
    AVIOContext *io;
    struct gpume_out *out;
    int out_status; /* if not OK, the failure has been logged */
    int64_t end;    /* size of the file so far */
    int64_t position;
    int64_t last_pts;
    int64_t step; /* duration of a frame in ticks */
    bool any;
};

#if LIBAVFORMAT_VERSION_MAJOR >= 61
static int io_write(void *opaque, const uint8_t *data, int bytes)
#else
static int io_write(void *opaque, uint8_t *data, int bytes)
#endif
{
    struct video *video = opaque;
    video->out_status = gpume_out_write(video->out, data, (size_t)bytes);
    if (video->out_status != GPUME_OK) {
        return AVERROR(EIO);
    }
    video->position += bytes;
    video->end = video->position > video->end ? video->position : video->end;
    return bytes;
}

static int64_t io_seek(void *opaque, int64_t offset, int whence)
{
    struct video *video = opaque;
    whence &= ~AVSEEK_FORCE;
    if (whence == AVSEEK_SIZE) {
        return video->end;
    }
    int64_t base = whence == SEEK_CUR ? video->position : whence == SEEK_END ? video->end : 0;
    int64_t target = base + offset;
    if (target < 0) {
        return AVERROR(EINVAL);
    }
    video->out_status = gpume_out_seek(video->out, (uint64_t)target);
    if (video->out_status != GPUME_OK) {
        return AVERROR(EIO);
    }
    video->position = target;
    return target;
}

static int refuse(const struct video *video, const char *what, int error)
{
    if (video->out_status != GPUME_OK) {
        return video->out_status; /* logged already */
    }
    return gpume_encode_refuse(&video->encode, what, error);
}

static int open_encoder(struct video *video, enum gpume_picture_kind kind)
{
    const struct gpume_picture_options *options = &video->picture.options;
    bool known = options->rate_num > 0 && options->rate_den > 0 && options->rate_num < INT32_MAX &&
                 options->rate_den < INT32_MAX;
    const bool lossless = kind != GPUME_PICTURE_MP4;
    const int ticks = kind == GPUME_PICTURE_MKV ? 1000 : 1000000; /* Matroska: milliseconds */
    /* FFV1's slices need a minimum size: in level 3, FFmpeg 5.1 loses pictures of one row. */
    bool small = options->width < SLICED_MIN || options->height < SLICED_MIN;
    const char *ffv1 = small ? "level=1:g=1" : "level=3:g=1";
    struct gpume_encode_options encoding = {
        .label = options->path,
        .encoder = lossless ? "ffv1" : "libx264",
        .settings = lossless ? ffv1 : "preset=veryfast:crf=18",
        .remedy = lossless ? "use .y4m" : "use .mkv",
        .formats = {AV_PIX_FMT_YUV420P, AV_PIX_FMT_NONE},
        .width = options->width,
        .height = options->height,
        .pad = !lossless,
        .colour = options->colour,
        .full_range = options->colour ? lossless : options->full_range,
        .global_header = true, /* all containers need it */
        .time_base = {1, ticks},
        .rate = {known ? (int)options->rate_num : 0, known ? (int)options->rate_den : 1},
        .aspect = {(int)options->aspect_num, (int)options->aspect_den},
        .log = options->log,
    };
    if (lossless && options->colour) {
        encoding.formats[0] = AV_PIX_FMT_0RGB32;
    } else if (lossless) {
        encoding.formats[0] = gpume_luma_gray_format((int)options->bits);
        encoding.formats[1] = AV_PIX_FMT_GRAY16;
    }
    if (known) {
        video->step = av_rescale_q(1, av_inv_q(encoding.rate), encoding.time_base);
    }
    return gpume_encode_open(&video->encode, &encoding);
}

static int open_io(struct video *video)
{
    const int sought = gpume_out_seek(video->out, 0);
    if (sought != GPUME_OK && sought != GPUME_UNSUPPORTED) {
        return sought;
    }
    uint8_t *buffer = av_malloc(IO_BYTES);
    if (buffer) {
        video->io = avio_alloc_context(
            buffer, IO_BYTES, 1, video, NULL, io_write, sought == GPUME_OK ? io_seek : NULL);
    }
    if (!video->io) {
        av_free(buffer);
        return refuse(video, "cannot be written", AVERROR(ENOMEM));
    }
    video->format->pb = video->io;
    return GPUME_OK;
}

static int open_muxer(struct video *video, const char *name)
{
    const AVCodecContext *codec = video->encode.codec;
    gpume_libav_quiet();
    int error = avformat_alloc_output_context2(&video->format, NULL, name, NULL);
    if (error < 0) {
        return refuse(video, "cannot be written", error);
    }
    int status = open_io(video);
    if (status != GPUME_OK) {
        return status;
    }
    AVStream *stream = avformat_new_stream(video->format, NULL);
    if (!stream) {
        return refuse(video, "cannot be written", AVERROR(ENOMEM));
    }
    stream->time_base = codec->time_base;
    stream->avg_frame_rate = codec->framerate;
    stream->sample_aspect_ratio = codec->sample_aspect_ratio;
    video->format->flags |= AVFMT_FLAG_BITEXACT; /* equal pictures give equal files */
    gpume_libav_quiet();
    error = avcodec_parameters_from_context(stream->codecpar, codec);
    if (error >= 0) {
        error = avformat_write_header(video->format, NULL);
    }
    return error < 0 ? refuse(video, "cannot be written", error) : GPUME_OK;
}

static void video_close(struct gpume_picture *picture)
{
    struct video *video = (struct video *)picture;
    gpume_encode_close(&video->encode);
    avformat_free_context(video->format);
    if (video->io) {
        av_freep(&video->io->buffer);
        avio_context_free(&video->io);
    }
    gpume_out_close(&video->out);
}

static int video_open(struct gpume_picture *picture)
{
    int status = GPUME_OK;
    struct video *video = (struct video *)picture;
    const struct gpume_picture_options *options = &picture->options;
    static const char *const muxers[] = {
        [GPUME_PICTURE_MKV] = "matroska", [GPUME_PICTURE_NUT] = "nut", [GPUME_PICTURE_MP4] = "mp4"};
    const enum gpume_picture_kind kind = gpume_picture_kind(options->path);
    GPUME_TRY(open_encoder(video, kind));
    GPUME_TRY(gpume_out_open_in(&video->out, options->set, options->path, &options->log));
    GPUME_TRY(open_muxer(video, muxers[kind]));
fail:
    return status;
}

/* Writes the packets that are ready. GPUME_AGAIN and GPUME_EOF are not errors. */
static int drain(struct video *video)
{
    for (;;) {
        int status = gpume_encode_receive(&video->encode);
        if (status != GPUME_OK) {
            return status;
        }
        AVPacket *packet = video->encode.packet;
        packet->stream_index = 0;
        packet->duration = video->step;
        av_packet_rescale_ts(
            packet, video->encode.codec->time_base, video->format->streams[0]->time_base);
        gpume_libav_quiet();
        int error = av_interleaved_write_frame(video->format, packet);
        if (error < 0 || video->out_status != GPUME_OK) {
            return refuse(video, "cannot be written", error);
        }
    }
}

static int video_write(
    struct gpume_picture *picture, const struct gpume_plane *plane, uint64_t index, int64_t time_us)
{
    (void)index;
    struct video *video = (struct video *)picture;
    int64_t pts = av_rescale_q(time_us, AV_TIME_BASE_Q, video->encode.codec->time_base);
    if (video->any && pts <= video->last_pts) {
        pts = video->last_pts + 1;
    }
    video->any = true;
    video->last_pts = pts;
    int status = gpume_encode_send(&video->encode, plane, pts);
    if (status == GPUME_OK) {
        status = drain(video);
    }
    return status == GPUME_AGAIN ? GPUME_OK : status;
}

static int video_finish(struct gpume_picture *picture)
{
    struct video *video = (struct video *)picture;
    int status = gpume_encode_send(&video->encode, NULL, 0);
    if (status == GPUME_OK) {
        status = drain(video);
    }
    if (status != GPUME_EOF) {
        return status;
    }
    gpume_libav_quiet();
    int error = av_write_trailer(video->format);
    avio_flush(video->io);
    if (error >= 0) {
        error = video->io->error;
    }
    if (error < 0 || video->out_status != GPUME_OK) {
        return refuse(video, "cannot be completed", error);
    }
    return gpume_out_finish(video->out);
}

const struct gpume_picture_writer gpume_picture_video = {
    .bytes = sizeof(struct video),
    .open = video_open,
    .write = video_write,
    .finish = video_finish,
    .close = video_close,
};
