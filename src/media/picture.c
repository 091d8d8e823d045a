/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One table says what each format is; there are three ways to write them. Stills go through one
 * encoder that stays open, each to its own checked output. Videos go through an encoder and
 * libavformat's muxer. Y4M needs neither: a line of text, then rows.
 */
#include "media/picture.h"

#include "base/base.h"
#include "files/byte_stream.h"
#include "files/bytes.h"
#include "files/out.h"
#include "files/path.h"
#include "media/libav.h"
#include "media/luma.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/mathematics.h>
#include <libavutil/mem.h>

#define SLICED_MIN 16 /* pixels per side */
#define IO_BYTES (64 * 1024)
#define PNG_PIXELS_MAX ((int64_t)1 << 28)
#define PNG_BYTES_MAX                                                                              \
    ((size_t)PNG_PIXELS_MAX * 6) /* compression of random samples gains nothing                    \
                                  */
#define CHANNELS 3u

/* What is written for a name with this extension. */
struct picture_format {
    const char *extension;
    enum { STILLS, VIDEO, Y4M } kind;
    const char *encoder, *settings;
    enum AVPixelFormat gray, deep, colour; /* deep: above 8 bits; NONE: it has none, or, of a
                                              lossless video, it depends on the frames */
    const char *muxer;                     /* of videos */
    int ticks;                             /* per second, of the times in a video */
};

#define NONE AV_PIX_FMT_NONE
#define JPEG                                                                                       \
    "mjpeg", "flags=+qscale:global_quality=236" /* quality 2, the best of most encoders            \
                                                 */

static const struct picture_format formats[] = {
    {".png", STILLS, "png", NULL, AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY16BE, AV_PIX_FMT_RGB24, NULL, 0},
    {".pgm", STILLS, "pgm", NULL, AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY16BE, NONE, NULL, 0},
    {".ppm", STILLS, "ppm", NULL, NONE, NONE, AV_PIX_FMT_RGB24, NULL, 0},
    {".bmp", STILLS, "bmp", NULL, AV_PIX_FMT_GRAY8, NONE, AV_PIX_FMT_BGR24, NULL, 0},
    /* in colours, thin lines need chroma at every pixel */
    {".jpg", STILLS, JPEG, AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ444P, NULL, 0},
    {".jpeg", STILLS, JPEG, AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ444P, NULL, 0},
    {".mkv", VIDEO, "ffv1", NULL, NONE, NONE, NONE, "matroska", 1000}, /* Matroska's own unit */
    {".nut", VIDEO, "ffv1", NULL, NONE, NONE, NONE, "nut", 1000000},
    {".mp4", VIDEO, "libx264", "preset=veryfast:crf=18", AV_PIX_FMT_YUV420P, NONE,
        AV_PIX_FMT_YUV420P, "mp4", 1000000},
    {".webm", VIDEO, "libvpx-vp9", "deadline=realtime:cpu-used=5:crf=20:b=0", AV_PIX_FMT_YUV420P,
        NONE, AV_PIX_FMT_YUV420P, "webm", 1000},
    {".gif", VIDEO, "gif", "", AV_PIX_FMT_GRAY8, NONE, AV_PIX_FMT_RGB8, "gif", 100},
    {".y4m", Y4M, NULL, NULL, NONE, NONE, NONE, NULL, 0},
};

/* Every way to write leaves what it does not need as zero. */
struct gpume_picture {
    struct gpume_picture_options options;
    const struct picture_format *format;
    struct gpume_out *out;   /* NULL: numbered stills */
    struct gpume_out *claim; /* on the names of numbered stills */
    struct gpume_encoding encoding;
    uint8_t *row;    /* of Y4M */
    uint32_t planes; /* of a complete video */
    /* Of a video. Frames keep the times that the caller gives, but each is at least one tick after
     * the previous one. */
    AVFormatContext *muxer;
    AVIOContext *io;
    int out_status; /* if not OK, the failure has been logged */
    int64_t end;    /* size of the file so far */
    int64_t position;
    int64_t last_pts;
    int64_t step; /* duration of a frame in ticks */
    bool any;
};

/* --- names: the extension is the format, %d numbers stills, and what is no file gets Y4M */

static const struct picture_format *picture_format_of(const char *path)
{
    const size_t count = sizeof formats / sizeof formats[0];
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash + 1 : path, '.');
    for (size_t i = 0; dot && i < count; i++) {
        if (strcasecmp(dot, formats[i].extension) == 0) {
            return &formats[i];
        }
    }
    return gpume_text_is_special(path) ? &formats[count - 1] : NULL;
}

/* Returns what is wrong with the name and how to correct it, or NULL. */
static const char *name_fault(const char *path, bool single, uint32_t bits, bool colour)
{
    const struct picture_format *format = picture_format_of(path);
    const enum gpume_pattern_kind pattern = gpume_pattern_kind(path);
    if (!format) {
        return colour ? "unknown picture format; give .png .ppm .bmp .jpg with %d in the name, "
                        "or .y4m .mkv .nut .mp4 .webm .gif"
                      : "unknown picture format; give .png .pgm .bmp .jpg with %d in the name, "
                        "or .y4m .mkv .nut .mp4 .webm .gif";
    }
    const bool still = format->kind == STILLS;
    if (still && (colour ? format->colour : format->gray) == NONE) {
        return colour ? "pgm holds only gray, the pictures have colours; use .ppm or .png"
                      : "ppm holds only colours, the pictures are gray; use .pgm or .png";
    }
    if (gpume_text_is_stdout(path) && isatty(STDOUT_FILENO)) {
        return "a terminal cannot show video; name a file, or pipe it to a program";
    }
    if (!still) {
        return pattern == GPUME_PATTERN_NUMBERED ? "a video is one file; leave the %d out" : NULL;
    }
    if (pattern == GPUME_PATTERN_WRONG || pattern == GPUME_PATTERN_PAIR) {
        return "give exactly one %d or %0Nd, in the file's own name (%% is a percent sign)";
    }
    if (pattern == GPUME_PATTERN_PLAIN && !single) {
        return "there will be many pictures; put %d in the name, such as name%05d.png";
    }
    if (!colour && format->deep == NONE && bits > 8) {
        return "bmp holds 8 bits, the pictures have more; use .png or .pgm";
    }
    return NULL;
}

int gpume_picture_check_name(
    const char *path, bool single, uint32_t bits, bool colour, const struct gpume_log *log)
{
    const char *what = name_fault(path, single, bits, colour);
    if (!what) {
        return GPUME_OK;
    }
    const int status = gpume_text_check_file(path, "name%05d", ".png", log);
    return status ? status : gpume_log_fail(log, GPUME_INVALID, "%s: %s", path, what);
}

int gpume_picture_check_video(const char *path, const struct gpume_log *log)
{
    const struct picture_format *format = picture_format_of(path);
    if (!format || format->kind == STILLS || (format->kind == VIDEO && format->settings)) {
        const int status = gpume_text_check_file(path, "name", ".y4m", log);
        return status ? status
                      : gpume_log_fail(log, GPUME_INVALID,
                            "%s: must end in .y4m, .mkv or .nut, as a lossless video does", path);
    }
    return gpume_picture_check_name(path, true, 0, false, log);
}

bool gpume_picture_can_continue(const char *path)
{
    const struct picture_format *format = picture_format_of(path);
    return format && format->kind == Y4M && gpume_text_can_continue(path);
}

bool gpume_picture_is_timeless(const char *path)
{
    const struct picture_format *format = picture_format_of(path);
    return format && format->kind == Y4M;
}

bool gpume_picture_is_series(const char *path)
{
    const struct picture_format *format = picture_format_of(path);
    return format && format->kind == STILLS;
}

/* The shape of a pixel, which is not stated if it is square or unknown. */
static AVRational stated_aspect(const struct gpume_source_info *video)
{
    const bool square = video->aspect_num == 0 || video->aspect_num == video->aspect_den;
    return square ? (AVRational){0, 0}
                  : (AVRational){(int)video->aspect_num, (int)video->aspect_den};
}

/* --- stills */

/* An encoder of single pictures, at path or in memory. */
static int open_still_encoder(struct gpume_encoding *encoding,
    const struct gpume_picture_options *picture, const char *encoder, const char *settings,
    enum AVPixelFormat format, const char *remedy)
{
    const struct gpume_encoding_options options = {
        .label = picture->path,
        .encoder = encoder,
        .settings = settings,
        .remedy = remedy,
        .formats = {format, NONE},
        .colour = picture->colour,
        .width = picture->width,
        .height = picture->height,
        .full_range = true, /* these formats support no other range */
        .threads = 1,       /* frame threads would delay the output */
        .time_base = {1, 25},
        .rate = {25, 1},
        .log = picture->log,
    };
    return gpume_encoding_open(encoding, &options);
}

/* A single picture is completed with the run's other outputs, numbered ones one by one. */
static int open_stills(struct gpume_picture *picture)
{
    int status = GPUME_OK;
    char *name = NULL;
    const struct gpume_picture_options *options = &picture->options;
    const struct picture_format *format = picture->format;
    if (gpume_pattern_kind(options->path) != GPUME_PATTERN_PLAIN) {
        GPUME_TRY(
            gpume_out_open_claim(&picture->claim, options->set, options->path, &options->log));
    } else {
        name = gpume_pattern_name(options->path, 0); /* "%%" is a percent sign */
        GPUME_TRY(name ? gpume_out_open_in(&picture->out, options->set, name, &options->log)
                       : gpume_log_nomem(&options->log, options->path));
    }
    status = open_still_encoder(&picture->encoding, options, format->encoder, format->settings,
        options->colour     ? format->colour
        : options->bits > 8 ? format->deep
                            : format->gray,
        options->colour ? "choose another of .png .ppm .bmp .jpg"
                        : "choose another of .png .pgm .bmp .jpg");
fail:
    free(name);
    return status;
}

static int write_still(
    struct gpume_picture *picture, const struct gpume_plane *plane, uint64_t index)
{
    int status = GPUME_OK;
    char *name = NULL;
    struct gpume_out *one = NULL, *out = picture->out;
    const struct gpume_picture_options *options = &picture->options;
    GPUME_TRY(gpume_encoding_send(&picture->encoding, plane, (int64_t)(index & INT64_MAX)));
    GPUME_TRY(gpume_encoding_receive(&picture->encoding));
    if (!out) {
        name = gpume_pattern_name(options->path, index);
        GPUME_TRY(name ? gpume_out_open_one(&one, options->set, name, &options->log)
                       : gpume_log_nomem(&options->log, options->path));
        out = one;
    }
    GPUME_TRY(gpume_out_write(
        out, picture->encoding.packet->data, (size_t)picture->encoding.packet->size));
    GPUME_TRY(gpume_out_finish(out));
fail:
    gpume_out_close(&one);
    free(name);
    return status;
}

/* --- Y4M */

/* The name of a colour space. Where chroma of 4:2:0 lies can be said of 8 bits only. */
static void name_y4m_space(const struct gpume_picture_options *options, char *name, size_t bytes)
{
    static const char *const gray[17] = {
        [8] = "mono", [9] = "mono9", [10] = "mono10", [12] = "mono12"};
    const struct gpume_source_info *video = options->video;
    const uint32_t bits = options->bits;
    const char *known = bits <= 16 && gray[bits] ? gray[bits] : "mono16";
    const char *sides = video->chroma_y ? "420" : video->chroma_x ? "422" : "444";
    const char *place = !video->chroma_y                              ? ""
                        : video->chroma_place == AVCHROMA_LOC_LEFT    ? "mpeg2"
                        : video->chroma_place == AVCHROMA_LOC_TOPLEFT ? "paldv"
                                                                      : "jpeg";
    if (options->complete && video->chroma == GPUME_CHROMA_PLANES && bits > 8) {
        snprintf(name, bytes, "%sp%" PRIu32, sides, bits);
    } else if (options->complete && video->chroma == GPUME_CHROMA_PLANES) {
        snprintf(name, bytes, "%s%s", sides, place);
    } else {
        snprintf(name, bytes, "%s", options->colour ? "444" : known);
    }
}

int gpume_y4m_write_head(
    struct gpume_out *out, const struct gpume_picture_options *options, const char *comment)
{
    const struct gpume_source_info *video = options->video;
    const bool known = video->rate_num > 0 && video->rate_den > 0;
    const bool fields = options->complete && video->interlaced;
    const AVRational aspect = stated_aspect(video);
    char line[200], space[16];
    name_y4m_space(options, space, sizeof(space));
    const int bytes = snprintf(line, sizeof(line),
        "YUV4MPEG2 W%" PRIu32 " H%" PRIu32 " F%" PRIu32 ":%" PRIu32 " I%c A%" PRIu32 ":%" PRIu32
        " C%s XCOLORRANGE=%s%s\n",
        options->width, options->height, known ? video->rate_num : 25, known ? video->rate_den : 1,
        !fields            ? 'p'
        : video->top_first ? 't'
                           : 'b',
        (uint32_t)aspect.num, (uint32_t)aspect.den, space,
        video->full_range && !options->colour ? "FULL" : "LIMITED", comment);
    return gpume_out_write(out, line, (size_t)bytes);
}

int gpume_y4m_write_luma(struct gpume_out *out, const struct gpume_plane *plane, uint8_t *row)
{
    int status = GPUME_OK;
    for (uint32_t y = 0; y < plane->height && status == GPUME_OK; y++) {
        const uint8_t *from = gpume_plane_row(plane, y);
        if (plane->bits == 8) {
            status = gpume_out_write(out, from, plane->width);
            continue;
        }
        const uint16_t *samples = (const uint16_t *)(const void *)from;
        for (uint32_t x = 0; x < plane->width; x++) {
            gpume_le_put16(row + 2 * x, samples[x]);
        }
        status = gpume_out_write(out, row, (size_t)plane->width * 2);
    }
    return status;
}

static int open_y4m_picture(struct gpume_picture *picture)
{
    const struct gpume_picture_options *options = &picture->options;
    picture->row = malloc((size_t)options->width * 2);
    if (!picture->row) {
        return gpume_log_nomem(&options->log, options->path);
    }
    GPUME_CHECK(gpume_out_open_in(&picture->out, options->set, options->path, &options->log));
    return gpume_out_is_continued(picture->out) ? GPUME_OK
                                                : gpume_y4m_write_head(picture->out, options, "");
}

/* Weights of R, G and B (0 to 255) in Y, Cb and Cr, in units of 1/65536: luma has 219 steps, chroma
 * 224. Each row sums to exactly 219 or 0 steps, so that white and gray are exact. */
static const struct {
    int32_t r, g, b, base;
} weights[3] = {
    {16829, 33039, 6416, 16},
    {-9714, -19070, 28784, 128},
    {28784, -24103, -4681, 128},
};

/* As YUV 4:4:4 in BT.601, limited range, which readers assume. */
static int write_y4m_colours(struct gpume_picture *picture, const struct gpume_plane *plane)
{
    int status = GPUME_OK;
    for (uint64_t i = 0; i < 3 * (uint64_t)plane->height && status == GPUME_OK; i++) {
        const size_t c = i / plane->height;
        const uint8_t *from = gpume_plane_row(plane, (int64_t)(i % plane->height));
        for (uint32_t x = 0; x < plane->width; x++, from += 3) {
            const int32_t sum =
                weights[c].r * from[0] + weights[c].g * from[1] + weights[c].b * from[2];
            picture->row[x] = (uint8_t)((sum + (weights[c].base << 16) + (1 << 15)) >> 16);
        }
        status = gpume_out_write(picture->out, picture->row, plane->width);
    }
    return status;
}

/* --- videos */

#if LIBAVFORMAT_VERSION_MAJOR >= 61
static int io_write(void *opaque, const uint8_t *data, int bytes)
#else
static int io_write(void *opaque, uint8_t *data, int bytes)
#endif
{
    struct gpume_picture *picture = opaque;
    picture->out_status = gpume_out_write(picture->out, data, (size_t)bytes);
    if (picture->out_status != GPUME_OK) {
        return AVERROR(EIO);
    }
    picture->position += bytes;
    picture->end = picture->position > picture->end ? picture->position : picture->end;
    return bytes;
}

static int64_t io_seek(void *opaque, int64_t offset, int whence)
{
    struct gpume_picture *picture = opaque;
    whence &= ~AVSEEK_FORCE;
    if (whence == AVSEEK_SIZE) {
        return picture->end;
    }
    int64_t base = whence == SEEK_CUR ? picture->position : whence == SEEK_END ? picture->end : 0;
    int64_t target = base + offset;
    if (target < 0) {
        return AVERROR(EINVAL);
    }
    picture->out_status = gpume_out_seek(picture->out, (uint64_t)target);
    if (picture->out_status != GPUME_OK) {
        return AVERROR(EIO);
    }
    picture->position = target;
    return target;
}

static int refuse_video(const struct gpume_picture *picture, const char *what, int error)
{
    if (picture->out_status != GPUME_OK) {
        return picture->out_status; /* logged already */
    }
    return gpume_encoding_refuse(&picture->encoding, what, error);
}

static int open_video_encoder(struct gpume_picture *picture)
{
    const struct gpume_picture_options *options = &picture->options;
    const struct picture_format *format = picture->format;
    const struct gpume_source_info *video = options->video;
    const bool known = video->rate_num > 0 && video->rate_den > 0 && video->rate_num < INT32_MAX &&
                       video->rate_den < INT32_MAX;
    const bool lossless = !format->settings; /* FFV1, whose settings depend on the size */
    /* FFV1's slices need a minimum size: in level 3, FFmpeg 5.1 loses pictures of one row. */
    bool small = options->width < SLICED_MIN || options->height < SLICED_MIN;
    const char *settings = small ? "level=1:g=1" : "level=3:g=1";
    struct gpume_encoding_options encoding = {
        .label = options->path,
        .encoder = format->encoder,
        .settings = lossless ? settings : format->settings,
        .remedy = lossless ? "use .y4m" : "use .mkv",
        .formats = {options->colour ? format->colour : format->gray, NONE},
        .width = options->width,
        .height = options->height,
        .pad = format->colour == AV_PIX_FMT_YUV420P,
        .colour = options->colour,
        .full_range = options->colour ? lossless : video->full_range,
        .global_header = true, /* all containers need it */
        .time_base = {1, format->ticks},
        .rate = {known ? (int)video->rate_num : 0, known ? (int)video->rate_den : 1},
        .aspect = stated_aspect(video),
        .video = options->complete ? video : NULL,
        .log = options->log,
    };
    if (lossless && options->colour) {
        encoding.formats[0] = AV_PIX_FMT_0RGB32;
    } else if (lossless && options->complete && video->chroma == GPUME_CHROMA_PLANES) {
        encoding.formats[0] =
            gpume_luma_yuv_format(video->chroma_x, video->chroma_y, options->bits);
    } else if (lossless) {
        encoding.formats[0] = gpume_luma_gray_format((int)options->bits);
        encoding.formats[1] = AV_PIX_FMT_GRAY16;
    }
    if (known) {
        picture->step = av_rescale_q(1, av_inv_q(encoding.rate), encoding.time_base);
    }
    return gpume_encoding_open(&picture->encoding, &encoding);
}

static int open_io(struct gpume_picture *picture)
{
    const int sought = gpume_out_seek(picture->out, 0);
    if (sought != GPUME_OK && sought != GPUME_UNSUPPORTED) {
        return sought;
    }
    uint8_t *buffer = av_malloc(IO_BYTES);
    if (buffer) {
        picture->io = avio_alloc_context(
            buffer, IO_BYTES, 1, picture, NULL, io_write, sought == GPUME_OK ? io_seek : NULL);
    }
    if (!picture->io) {
        av_free(buffer);
        return refuse_video(picture, "cannot be written", AVERROR(ENOMEM));
    }
    picture->muxer->pb = picture->io;
    return GPUME_OK;
}

static int open_video(struct gpume_picture *picture)
{
    const struct gpume_picture_options *options = &picture->options;
    GPUME_CHECK(open_video_encoder(picture));
    GPUME_CHECK(gpume_out_open_in(&picture->out, options->set, options->path, &options->log));
    const AVCodecContext *codec = picture->encoding.codec;
    gpume_libav_quiet();
    int error = avformat_alloc_output_context2(&picture->muxer, NULL, picture->format->muxer, NULL);
    if (error < 0) {
        return refuse_video(picture, "cannot be written", error);
    }
    GPUME_CHECK(open_io(picture));
    AVStream *stream = avformat_new_stream(picture->muxer, NULL);
    if (!stream) {
        return refuse_video(picture, "cannot be written", AVERROR(ENOMEM));
    }
    stream->time_base = codec->time_base;
    stream->avg_frame_rate = codec->framerate;
    stream->sample_aspect_ratio = codec->sample_aspect_ratio;
    picture->muxer->flags |= AVFMT_FLAG_BITEXACT; /* equal pictures give equal files */
    gpume_libav_quiet();
    error = avcodec_parameters_from_context(stream->codecpar, codec);
    if (error >= 0 && options->complete) {
        error = gpume_colours_to_stream(&options->video->colours, stream);
    }
    if (error >= 0) {
        error = avformat_write_header(picture->muxer, NULL);
    }
    return error < 0 ? refuse_video(picture, "cannot be written", error) : GPUME_OK;
}

/* Writes the packets that are ready. GPUME_AGAIN and GPUME_EOF are not errors. */
static int write_packets(struct gpume_picture *picture)
{
    for (;;) {
        GPUME_CHECK(gpume_encoding_receive(&picture->encoding));
        AVPacket *packet = picture->encoding.packet;
        packet->stream_index = 0;
        packet->duration = picture->step;
        av_packet_rescale_ts(
            packet, picture->encoding.codec->time_base, picture->muxer->streams[0]->time_base);
        gpume_libav_quiet();
        int error = av_interleaved_write_frame(picture->muxer, packet);
        if (error < 0 || picture->out_status != GPUME_OK) {
            return refuse_video(picture, "cannot be written", error);
        }
    }
}

static int write_video(
    struct gpume_picture *picture, const struct gpume_plane *planes, int64_t time_us)
{
    int64_t pts = av_rescale_q(time_us, AV_TIME_BASE_Q, picture->encoding.codec->time_base);
    if (picture->any && pts <= picture->last_pts) {
        pts = picture->last_pts + 1;
    }
    picture->any = true;
    picture->last_pts = pts;
    GPUME_CHECK(gpume_encoding_send(&picture->encoding, planes, pts));
    const int status = write_packets(picture);
    return status == GPUME_AGAIN ? GPUME_OK : status;
}

static int finish_video(struct gpume_picture *picture)
{
    GPUME_CHECK(gpume_encoding_send(&picture->encoding, NULL, 0));
    const int status = write_packets(picture);
    if (status != GPUME_EOF) {
        return status;
    }
    gpume_libav_quiet();
    int error = av_write_trailer(picture->muxer);
    avio_flush(picture->io);
    if (error >= 0) {
        error = picture->io->error;
    }
    if (error < 0 || picture->out_status != GPUME_OK) {
        return refuse_video(picture, "cannot be completed", error);
    }
    return gpume_out_finish(picture->out);
}

/* --- all of them */

int gpume_picture_open(struct gpume_picture **result, const struct gpume_picture_options *options)
{
    /* The caller has checked whether one still is enough. */
    GPUME_CHECK(gpume_picture_check_name(
        options->path, true, options->bits, options->colour, &options->log));
    struct gpume_picture *picture = calloc(1, sizeof(*picture));
    if (!picture) {
        return gpume_log_nomem(&options->log, options->path);
    }
    picture->options = *options;
    picture->planes = options->complete && options->video->chroma == GPUME_CHROMA_PLANES ? 3 : 1;
    picture->format = picture_format_of(options->path);
    const int status = picture->format->kind == STILLS  ? open_stills(picture)
                       : picture->format->kind == VIDEO ? open_video(picture)
                                                        : open_y4m_picture(picture);
    if (status != GPUME_OK) {
        gpume_picture_close(&picture);
    }
    *result = picture;
    return status;
}

int gpume_picture_write(
    struct gpume_picture *picture, const struct gpume_plane *plane, uint64_t index, int64_t time_us)
{
    if (picture->format->kind != Y4M) {
        return picture->format->kind == STILLS ? write_still(picture, plane, index)
                                               : write_video(picture, plane, time_us);
    }
    GPUME_CHECK(gpume_out_text(picture->out, "FRAME\n"));
    return picture->options.colour ? write_y4m_colours(picture, plane)
                                   : gpume_y4m_write_luma(picture->out, plane, picture->row);
}

int gpume_picture_write_planes(
    struct gpume_picture *picture, const struct gpume_plane *planes, int64_t time_us)
{
    if (picture->format->kind != Y4M) {
        return write_video(picture, planes, time_us);
    }
    int status = gpume_out_text(picture->out, "FRAME\n");
    for (uint32_t i = 0; i < picture->planes && status == GPUME_OK; i++) {
        status = gpume_y4m_write_luma(picture->out, &planes[i], picture->row);
    }
    return status;
}

int gpume_picture_finish(struct gpume_picture *picture)
{
    return picture->format->kind == STILLS  ? GPUME_OK
           : picture->format->kind == VIDEO ? finish_video(picture)
                                            : gpume_out_finish(picture->out);
}

void gpume_picture_close(struct gpume_picture **pointer)
{
    struct gpume_picture *picture = *pointer;
    if (!picture) {
        return;
    }
    *pointer = NULL;
    gpume_encoding_close(&picture->encoding);
    avformat_free_context(picture->muxer);
    if (picture->io) {
        av_freep(&picture->io->buffer);
        avio_context_free(&picture->io);
    }
    gpume_out_close(&picture->out);
    gpume_out_close(&picture->claim);
    free(picture->row);
    free(picture);
}

/* --- pictures in memory */

struct gpume_still {
    struct gpume_encoding encoding;
    int64_t number; /* the encoder requires increasing times */
};

int gpume_still_open(struct gpume_still **still, const char *label, uint32_t width, uint32_t height,
    bool colour, bool lossless, const struct gpume_log *log)
{
    const struct gpume_picture_options options = {
        .path = label, .width = width, .height = height, .colour = colour, .log = *log};
    const enum AVPixelFormat png = colour ? AV_PIX_FMT_RGB24 : AV_PIX_FMT_GRAY8;
    struct gpume_still *self = calloc(1, sizeof *self);
    if (!self) {
        return gpume_log_nomem(log, label);
    }
    /* 472 is quality 4 of 1 (best) to 31: no visible block edges, at half the size of quality 2.
     * Frames of 720p take 2 % more than at PNG's level 6, and two fifths of the time. */
    const int status = open_still_encoder(&self->encoding, &options, lossless ? "png" : "mjpeg",
        lossless ? "pred=paeth:compression_level=4" : "flags=+qscale:global_quality=472",
        lossless ? png : AV_PIX_FMT_YUVJ420P, "write no HTML report, or one without pictures");
    if (status != GPUME_OK) {
        gpume_still_close(&self);
        return status;
    }
    *still = self;
    return GPUME_OK;
}

int gpume_still_encode(struct gpume_still *still, const struct gpume_plane *plane,
    const unsigned char **data, size_t *bytes)
{
    GPUME_CHECK(gpume_encoding_send(&still->encoding, plane, still->number++));
    GPUME_CHECK(gpume_encoding_receive(&still->encoding));
    *data = still->encoding.packet->data;
    *bytes = (size_t)still->encoding.packet->size;
    return GPUME_OK;
}

void gpume_still_close(struct gpume_still **still)
{
    if (*still) {
        gpume_encoding_close(&(*still)->encoding);
        free(*still);
        *still = NULL;
    }
}

/* --- PNG of three channels of 16 bits */

/* The whole file as a packet. */
static int read_whole(AVPacket *packet, const char *path, const struct gpume_log *log)
{
    struct gpume_stream *stream = NULL;
    const unsigned char *data;
    size_t got = 0;
    int status;
    GPUME_TRY(gpume_stream_open(&stream, path, log));
    do {
        GPUME_TRY(gpume_stream_peek(stream, GPUME_STREAM_PEEK_BYTES, &data, &got));
        if ((size_t)packet->size + got > PNG_BYTES_MAX) {
            status = gpume_stream_refuse_whole(stream, "is too large for a flow field");
        } else if (got > 0 && av_grow_packet(packet, (int)got) < 0) {
            status = gpume_log_nomem(log, path);
        } else if (got > 0) {
            status = gpume_stream_read(stream, packet->data + packet->size - got, got);
        }
    } while (status == GPUME_OK && got > 0);
fail:
    gpume_stream_close(&stream);
    return status;
}

static int decode_png(AVCodecContext *codec, const AVPacket *packet, AVFrame *frame)
{
    codec->max_pixels = PNG_PIXELS_MAX;
    codec->thread_count = 1;
    codec->err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE;
    gpume_libav_quiet();
    int error = avcodec_open2(codec, codec->codec, NULL);
    error = error < 0 ? error : avcodec_send_packet(codec, packet);
    error = error < 0 ? error : avcodec_send_packet(codec, NULL);
    error = error < 0 ? error : avcodec_receive_frame(codec, frame);
    return gpume_libav_check_memory(error);
}

/* Samples of PNG are big endian. */
static int copy_samples(struct gpume_png16 *picture, const AVFrame *frame, const char *path,
    const struct gpume_log *log)
{
    if (frame->format != AV_PIX_FMT_RGB48BE) {
        return gpume_log_fail(log, GPUME_INVALID,
            "%s: is not a flow field: it needs three channels of 16 bits, as KITTI's have", path);
    }
    const size_t width = (size_t)frame->width * CHANNELS;
    picture->width = (uint32_t)frame->width;
    picture->height = (uint32_t)frame->height;
    picture->samples = malloc(width * picture->height * sizeof(*picture->samples));
    if (!picture->samples) {
        return gpume_log_nomem(log, path);
    }
    for (uint32_t y = 0; y < picture->height; y++) {
        const uint8_t *line = frame->data[0] + (ptrdiff_t)y * frame->linesize[0];
        for (size_t i = 0; i < width; i++) {
            picture->samples[y * width + i] = (uint16_t)(line[2 * i] << 8 | line[2 * i + 1]);
        }
    }
    return GPUME_OK;
}

int gpume_png16_read(struct gpume_png16 *picture, const char *path, const struct gpume_log *log)
{
    const AVCodec *decoder = avcodec_find_decoder(AV_CODEC_ID_PNG);
    AVCodecContext *codec = decoder ? avcodec_alloc_context3(decoder) : NULL;
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    int status = GPUME_OK;
    if (!decoder) {
        status = gpume_log_fail(log, GPUME_INVALID, "%s: this FFmpeg cannot read PNG", path);
    } else if (!codec || !packet || !frame) {
        status = gpume_log_nomem(log, path);
    }
    status = status ? status : read_whole(packet, path, log);
    if (status == GPUME_OK) {
        const int error = decode_png(codec, packet, frame);
        status = error == AVERROR(ENOMEM) ? gpume_log_nomem(log, path)
                 : error < 0
                     ? gpume_log_fail(log, GPUME_INVALID, "%s: is not a complete PNG file: %s",
                           path, gpume_libav_reason(error))
                     : copy_samples(picture, frame, path, log);
    }
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&codec);
    return status;
}
