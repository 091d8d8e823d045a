/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/colours.h"

#include <math.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/frame.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/pixdesc.h>

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
