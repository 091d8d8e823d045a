/* SPDX-License-Identifier: BSD-2-Clause */
/* libav's log and errors, and what its streams and frames say of their colours. */
#include "media/libav.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/error.h>
#include <libavutil/frame.h>
#include <libavutil/log.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/pixdesc.h>

/*
 * --- Takes over libav's log for the whole program. Decoders log every damaged block of every frame
 * on their own threads; these lines are only counted. On the calling thread the first error line is
 * kept, because it says why a call failed.
 */

static _Thread_local char kept[256];
static _Thread_local bool cut;
static atomic_uint_fast64_t oversized;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The counters of the decoder that logs, also from a frame thread; NULL: it has none. */
static struct gpume_libav_faults *faults_of(void *object)
{
    if (!object || *(const AVClass **)object != avcodec_get_class()) {
        return NULL;
    }
    const AVCodecContext *codec = object;
    return codec->codec && av_codec_is_decoder(codec->codec) ? codec->opaque : NULL;
}

static void keep_line(void *object, int level, const char *format, va_list args)
{
    const bool error = (level & 0xff) <= AV_LOG_ERROR, starved = errno == ENOMEM;
    struct gpume_libav_faults *faults = error ? faults_of(object) : NULL;
    if (faults) {
        atomic_fetch_add(&faults->errors, 1);
        atomic_fetch_add(&faults->starved, starved);
    }
    if (strstr(format, "exceeds specified max pixel count")) { /* av_image_check_size2 */
        atomic_fetch_add(&oversized, 1);
    }
    cut = cut || strstr(format, "File ended prematurely") || /* matroskadec.c */
          strstr(format, ": partial file") || strstr(format, "reached eof, corrupted"); /* mov.c */
    if (!error || kept[0] != '\0') {
        return;
    }
    char line[sizeof kept];
    if (vsnprintf(line, sizeof line, format, args) < 0) {
        return;
    }
    size_t bytes = strcspn(line, "\r\n");
    while (bytes > 0 && (line[bytes - 1] == ' ' || line[bytes - 1] == '.')) {
        bytes--;
    }
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)line[i];
        kept[i] = c < ' ' || c == 0x7f ? '?' : line[i];
    }
    kept[bytes] = '\0';
}

static void take_over(void)
{
    av_log_set_callback(keep_line);
}

void gpume_libav_quiet(void)
{
    (void)pthread_once(&once, take_over);
    kept[0] = '\0';
    cut = false;
    errno = 0;
}

int gpume_libav_check_memory(int error)
{
    return error == AVERROR(ENOMEM) && errno != ENOMEM ? AVERROR_INVALIDDATA : error;
}

bool gpume_libav_complained(void)
{
    return kept[0] != '\0';
}

bool gpume_libav_cut(void)
{
    return cut;
}

uint64_t gpume_libav_oversized(void)
{
    return atomic_load(&oversized);
}

const char *gpume_libav_reason(int error)
{
    static _Thread_local char text[sizeof kept];
    (void)av_strerror(error, text, sizeof text); /* for unknown errors it writes the number */
    return kept[0] != '\0' ? kept : text;
}

/* Containers may hold anything: a number that is none, or is too large, makes the rest useless.
 * Zeros stand for what is not known. */
static bool set_parts(uint32_t *parts, AVRational value, uint32_t one, uint32_t most)
{
    const int64_t rounded =
        value.num >= 0 && value.den > 0 ? av_rescale(value.num, one, value.den) : -1;
    if (rounded < 0 || rounded > most) {
        return false;
    }
    *parts = (uint32_t)rounded;
    return true;
}

#define LUMINANCE_MAX (10000u * GPUME_LUMINANCE_ONE) /* of SMPTE ST 2084 */

static void set_display(struct gpume_colours *colours, const AVMasteringDisplayMetadata *data)
{
    const AVRational *const points[GPUME_DISPLAY_POINTS] = {
        [GPUME_DISPLAY_GREEN] = data->display_primaries[1],
        [GPUME_DISPLAY_BLUE] = data->display_primaries[2],
        [GPUME_DISPLAY_RED] = data->display_primaries[0],
        [GPUME_DISPLAY_WHITE] = data->white_point,
    };
    const uint32_t one = GPUME_CHROMATICITY_ONE;
    struct gpume_colours read = *colours;
    read.has_display =
        data->has_primaries && data->has_luminance &&
        set_parts(&read.brightest, data->max_luminance, GPUME_LUMINANCE_ONE, LUMINANCE_MAX) &&
        set_parts(&read.darkest, data->min_luminance, GPUME_LUMINANCE_ONE, LUMINANCE_MAX) &&
        read.brightest > read.darkest;
    for (int i = 0; i < GPUME_DISPLAY_POINTS; i++) {
        read.has_display = read.has_display &&
                           set_parts(&read.display[i].x, points[i][0], one, one) &&
                           set_parts(&read.display[i].y, points[i][1], one, one);
    }
    if (read.has_display) {
        *colours = read;
    }
}

static void set_light(struct gpume_colours *colours, const AVContentLightMetadata *data)
{
    colours->has_light = data->MaxCLL <= UINT16_MAX && data->MaxFALL <= UINT16_MAX &&
                         (data->MaxCLL > 0 || data->MaxFALL > 0);
    colours->light_most = data->MaxCLL;
    colours->light_average = data->MaxFALL;
}

static const void *find_data(const AVStream *stream, enum AVPacketSideDataType type, size_t least)
{
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
    const AVPacketSideData *data = av_packet_side_data_get(
        stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, type);
    return data && data->size >= least ? data->data : NULL;
#else
    size_t bytes = 0;
    const void *data = av_stream_get_side_data(stream, type, &bytes);
    return data && bytes >= least ? data : NULL;
#endif
}

void gpume_colours_of_stream(const AVStream *stream, struct gpume_colours *colours)
{
    const AVCodecParameters *codec = stream->codecpar;
    const AVMasteringDisplayMetadata *display =
        find_data(stream, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, sizeof(*display));
    const AVContentLightMetadata *light =
        find_data(stream, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, sizeof(*light));
    *colours = (struct gpume_colours){
        .primaries = (uint32_t)codec->color_primaries,
        .transfer = (uint32_t)codec->color_trc,
        .matrix = (uint32_t)codec->color_space,
        .limited = codec->color_range == AVCOL_RANGE_MPEG,
    };
    if (display) {
        set_display(colours, display);
    }
    if (light) {
        set_light(colours, light);
    }
}

/* NULL: out of memory. */
static void *add_data(AVStream *stream, enum AVPacketSideDataType type, size_t bytes)
{
    void *data;
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
    AVPacketSideData *added = av_packet_side_data_new(
        &stream->codecpar->coded_side_data, &stream->codecpar->nb_coded_side_data, type, bytes, 0);
    data = added ? added->data : NULL;
#else
    data = av_stream_new_side_data(stream, type, bytes);
#endif
    return data ? memset(data, 0, bytes) : NULL;
}

int gpume_colours_to_stream(const struct gpume_colours *colours, AVStream *stream)
{
    if (colours->has_display) {
        static const int places[] = {GPUME_DISPLAY_RED, GPUME_DISPLAY_GREEN, GPUME_DISPLAY_BLUE};
        AVMasteringDisplayMetadata *display =
            add_data(stream, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, sizeof(*display));
        if (!display) {
            return AVERROR(ENOMEM);
        }
        const int one = (int)GPUME_CHROMATICITY_ONE, light = (int)GPUME_LUMINANCE_ONE;
        for (int i = 0; i < 4; i++) {
            const int place = i < 3 ? places[i] : GPUME_DISPLAY_WHITE;
            AVRational *to = i < 3 ? display->display_primaries[i] : display->white_point;
            to[0] = (AVRational){(int)colours->display[place].x, one};
            to[1] = (AVRational){(int)colours->display[place].y, one};
        }
        display->max_luminance = (AVRational){(int)colours->brightest, light};
        display->min_luminance = (AVRational){(int)colours->darkest, light};
        display->has_primaries = display->has_luminance = 1;
    }
    if (colours->has_light) {
        AVContentLightMetadata *data =
            add_data(stream, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, sizeof(*data));
        if (!data) {
            return AVERROR(ENOMEM);
        }
        data->MaxCLL = colours->light_most;
        data->MaxFALL = colours->light_average;
    }
    return 0;
}

int gpume_rotation_of_stream(const AVStream *stream)
{
    const int32_t *matrix = find_data(stream, AV_PKT_DATA_DISPLAYMATRIX, 9 * sizeof(*matrix));
    const double turned = matrix ? -av_display_rotation_get(matrix) : 0; /* may be no number */
    const int degrees = turned >= -360 && turned <= 360 ? (int)lround(turned) : 0;
    return (degrees + 360) % 360;
}

/* Filters that map tones, and change the transfer, may leave the data of light in frames. */
static bool is_hdr(uint32_t transfer)
{
    return transfer == AVCOL_TRC_SMPTE2084 || transfer == AVCOL_TRC_ARIB_STD_B67 ||
           transfer == GPUME_COLOUR_UNKNOWN || transfer == 0;
}

static void set_code(uint32_t *code, int said)
{
    *code = said > 0 && said != (int)GPUME_COLOUR_UNKNOWN ? (uint32_t)said : *code;
}

void gpume_colours_of_frame(const AVFrame *frame, struct gpume_colours *colours)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    const AVFrameSideData *display =
        av_frame_get_side_data(frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
    const AVFrameSideData *light = av_frame_get_side_data(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);
    set_code(&colours->primaries, (int)frame->color_primaries);
    set_code(&colours->transfer, (int)frame->color_trc);
    set_code(&colours->matrix, (int)frame->colorspace);
    colours->limited = frame->color_range == AVCOL_RANGE_MPEG ||
                       (colours->limited && frame->color_range == AVCOL_RANGE_UNSPECIFIED);
    if (!format || format->flags & AV_PIX_FMT_FLAG_RGB) {
        colours->matrix = GPUME_COLOUR_UNKNOWN; /* that of RGB is none of YUV */
    }
    if (display) {
        set_display(colours, (const void *)display->data);
    }
    if (light) {
        set_light(colours, (const void *)light->data);
    }
    if (!is_hdr(colours->transfer)) {
        colours->has_display = colours->has_light = false;
    }
}
