/* SPDX-License-Identifier: BSD-2-Clause */
/* What several files do with libav: its log and errors, what its streams and frames say of their
 * colours, a graph of filters, and an encoder. */
#include "media/libav.h"

#include "base/base.h"
#include "files/out.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/common.h>
#include <libavutil/display.h>
#include <libavutil/error.h>
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/log.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

/* --- libav's log and errors, and what its streams and frames say of their colours. */

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

/*
 * --- buffersrc -> the user's graph -> buffersink. A frame whose size or format the graph was not
 * built for waits while the graph is drained; then a new graph is built for it, so that no frame is
 * lost.
 */

#define THREADS_MAX 64

/*
 * libavfilter brings thirty more libraries, and a third of the time in which the command starts. So
 * it is loaded when it is needed, if it is a shared library: GPUME_LIBAVFILTER is its name then.
 */
#define FILTER_CALLS(CALL)                                                                         \
    CALL(av_buffersink_get_frame)                                                                  \
    CALL(av_buffersink_get_frame_rate)                                                             \
    CALL(av_buffersink_get_time_base)                                                              \
    CALL(av_buffersrc_add_frame)                                                                   \
    CALL(av_buffersrc_close)                                                                       \
    CALL(av_buffersrc_parameters_alloc)                                                            \
    CALL(av_buffersrc_parameters_set)                                                              \
    CALL(avfilter_get_by_name)                                                                     \
    CALL(avfilter_graph_alloc)                                                                     \
    CALL(avfilter_graph_alloc_filter)                                                              \
    CALL(avfilter_graph_config)                                                                    \
    CALL(avfilter_graph_create_filter)                                                             \
    CALL(avfilter_graph_free)                                                                      \
    CALL(avfilter_graph_parse_ptr)                                                                 \
    CALL(avfilter_init_str)                                                                        \
    CALL(avfilter_inout_alloc)                                                                     \
    CALL(avfilter_inout_free)
#define FILTER_MEMBER(name) __typeof__(name) *name;
#define FILTER_VALUE(name) .name = name,
#define FILTER_FIND(name) *(void **)&lib.name = dlsym(RTLD_DEFAULT, #name);
#define FILTER_FOUND(name) &&lib.name

#if defined(GPUME_LIBAVFILTER)

static struct {
    FILTER_CALLS(FILTER_MEMBER)
} lib;
static bool lib_complete;

static void load_lib(void)
{
    if (dlopen(GPUME_LIBAVFILTER, RTLD_LAZY | RTLD_GLOBAL)) {
        FILTER_CALLS(FILTER_FIND)
        lib_complete = true FILTER_CALLS(FILTER_FOUND);
    }
}

static bool has_lib(void)
{
    static pthread_once_t loaded_once = PTHREAD_ONCE_INIT;
    pthread_once(&loaded_once, load_lib);
    return lib_complete;
}

#else

#define GPUME_LIBAVFILTER "libavfilter"

static const struct {
    FILTER_CALLS(FILTER_MEMBER)
} lib = {FILTER_CALLS(FILTER_VALUE)};

static bool has_lib(void)
{
    return true;
}

#endif

bool gpume_graph_exists(const char *name)
{
    return has_lib() && lib.avfilter_get_by_name(name);
}

struct gpume_graph {
    const char *text;
    uint32_t threads;
    AVRational time_base, rate; /* of the frames pushed; rate 0/1: unknown */
    int64_t start;              /* their time that is 0 in the graph */
    struct gpume_log log;
    AVFilterGraph *graph;
    AVFilterContext *source, *sink;
    int width, height, format; /* of the frames that the graph was built for */
    AVFrame *waiting;          /* waits for the new graph while the old one is drained */
    int64_t end;               /* of the newest frame, in time_base; AV_NOPTS_VALUE unknown */
    bool ended;                /* no more frames will come */
};

static int refuse_graph(struct gpume_graph *filter, int error)
{
    if (error == AVERROR(ENOMEM)) {
        return GPUME_NOMEM; /* logged by source.c */
    }
    return gpume_log_fail(&filter->log, GPUME_INVALID,
        "--vf %s: %s; correct the graph (one video in, one video out)", filter->text,
        gpume_libav_reason(error));
}

int gpume_graph_open(struct gpume_graph **result, const char *graph,
    const struct gpume_source_info *info, uint32_t threads, const struct gpume_log *log)
{
    if (!has_lib()) {
        return gpume_log_fail(log, GPUME_UNSUPPORTED,
            "--vf %s: %s cannot be loaded; install it, or leave this option out", graph,
            GPUME_LIBAVFILTER);
    }
    struct gpume_graph *filter = calloc(1, sizeof *filter);
    if (!filter) {
        return GPUME_NOMEM;
    }
    *filter = (struct gpume_graph){
        .text = graph,
        .threads = threads,
        .time_base = {info->time_num, info->time_den},
        .rate = {(int)info->rate_num, (int)info->rate_den},
        .start = info->start_us == 0 ? 0
                                     : av_rescale_q(info->start_us, AV_TIME_BASE_Q,
                                           (AVRational){info->time_num, info->time_den}),
        .log = *log,
        .waiting = av_frame_alloc(),
    };
    if (!filter->waiting) {
        gpume_graph_close(&filter);
        return GPUME_NOMEM;
    }
    *result = filter;
    return GPUME_OK;
}

static int make_source(struct gpume_graph *filter, const AVFrame *frame)
{
    filter->source =
        lib.avfilter_graph_alloc_filter(filter->graph, lib.avfilter_get_by_name("buffer"), "in");
    AVBufferSrcParameters *parameters = lib.av_buffersrc_parameters_alloc();
    if (!filter->source || !parameters) {
        av_free(parameters);
        return AVERROR(ENOMEM);
    }
    parameters->format = frame->format;
    parameters->width = frame->width;
    parameters->height = frame->height;
    parameters->time_base = filter->time_base;
    parameters->frame_rate = filter->rate;
    parameters->sample_aspect_ratio = frame->sample_aspect_ratio;
#if LIBAVFILTER_VERSION_MAJOR >= 10
    parameters->color_space = frame->colorspace;
    parameters->color_range = frame->color_range;
#endif
    int error = lib.av_buffersrc_parameters_set(filter->source, parameters);
    av_free(parameters);
    return error < 0 ? error : lib.avfilter_init_str(filter->source, NULL);
}

/* Unlabelled ends of the graph are connected to the names "in" and "out". */
static AVFilterInOut *make_end(AVFilterContext *context, const char *name)
{
    AVFilterInOut *end = lib.avfilter_inout_alloc();
    if (end) {
        end->name = av_strdup(name);
        end->filter_ctx = context;
    }
    if (end && !end->name) {
        lib.avfilter_inout_free(&end);
    }
    return end;
}

/* Filters open files without a word to us (movie, subtitles, lut3d): every text that an option
 * of a filter is set to may be the name of one. Returns 0 or AVERROR(ENOMEM). */
static int add_inputs(const AVFilterContext *context)
{
    int error = 0;
    const AVOption *option = NULL;
    while (error >= 0 && context->filter->priv_class &&
           (option = av_opt_next(context->priv, option))) {
        uint8_t *text = NULL;
        if (option->type == AV_OPT_TYPE_STRING &&
            av_opt_is_set_to_default(context->priv, option) == 0) {
            error = av_opt_get(context->priv, option->name, 0, &text);
            error = error == 0 && gpume_inputs_add_text((char *)text) != GPUME_OK ? AVERROR(ENOMEM)
                                                                                  : error;
        }
        av_free(text);
    }
    return error;
}

static int build_graph(struct gpume_graph *filter, const AVFrame *frame)
{
    lib.avfilter_graph_free(&filter->graph);
    gpume_libav_quiet();
    filter->graph = lib.avfilter_graph_alloc();
    if (!filter->graph) {
        return refuse_graph(filter, AVERROR(ENOMEM));
    }
    const uint32_t threads = filter->threads;
    filter->graph->nb_threads = (int)(threads < THREADS_MAX ? threads : THREADS_MAX);
    int error = make_source(filter, frame);
    error = error < 0
                ? error
                : lib.avfilter_graph_create_filter(&filter->sink,
                      lib.avfilter_get_by_name("buffersink"), "out", NULL, NULL, filter->graph);
    if (error < 0) {
        return refuse_graph(filter, error);
    }
    AVFilterInOut *from = make_end(filter->source, "in");
    AVFilterInOut *to = make_end(filter->sink, "out");
    error = from && to ? lib.avfilter_graph_parse_ptr(filter->graph, filter->text, &to, &from, NULL)
                       : AVERROR(ENOMEM);
    lib.avfilter_inout_free(&from);
    lib.avfilter_inout_free(&to);
    if (error >= 0) {
        error = lib.avfilter_graph_config(filter->graph, NULL);
    }
    for (unsigned i = 0; i < filter->graph->nb_filters && error >= 0; i++) {
        error = add_inputs(filter->graph->filters[i]);
    }
    if (error < 0) {
        return refuse_graph(filter, error);
    }
    filter->width = frame->width;
    filter->height = frame->height;
    filter->format = frame->format;
    return GPUME_OK;
}

/* When the next frame is due: filters such as fps need the duration of the last one. */
static int64_t frame_end(const struct gpume_graph *filter, const AVFrame *frame)
{
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
    int64_t duration = frame->duration;
#else
    int64_t duration = frame->pkt_duration;
#endif
    if (duration <= 0 && filter->rate.num > 0) {
        duration = av_rescale_q(1, av_inv_q(filter->rate), filter->time_base);
    }
    return frame->pts == AV_NOPTS_VALUE ? AV_NOPTS_VALUE : av_sat_add64(frame->pts, duration);
}

static int push_frame(struct gpume_graph *filter, AVFrame *frame)
{
    gpume_libav_quiet();
    filter->end = frame_end(filter, frame);
    int error = lib.av_buffersrc_add_frame(filter->source, frame);
    av_frame_unref(frame);
    /* Some graphs, such as trim, end before their input; they drop further frames. */
    return error < 0 && error != AVERROR_EOF ? refuse_graph(filter, error) : GPUME_OK;
}

/* Signals the end of the input to the graph. */
static int finish_graph(struct gpume_graph *filter)
{
    gpume_libav_quiet();
    int error = lib.av_buffersrc_close(filter->source, filter->end, AV_BUFFERSRC_FLAG_PUSH);
    return error < 0 && error != AVERROR_EOF ? refuse_graph(filter, error) : GPUME_OK;
}

/* In microseconds, since the start need not be a multiple of the graph's units. */
static void restore_time(const struct gpume_graph *filter, AVFrame *frame)
{
    frame->time_base = lib.av_buffersink_get_time_base(filter->sink);
    if (filter->start != 0 && frame->pts != AV_NOPTS_VALUE) {
        frame->pts = av_sat_add64(av_rescale_q(frame->pts, frame->time_base, AV_TIME_BASE_Q),
            av_rescale_q(filter->start, filter->time_base, AV_TIME_BASE_Q));
        frame->time_base = AV_TIME_BASE_Q;
    }
}

int gpume_graph_push(struct gpume_graph *filter, AVFrame *frame)
{
    if (!frame) {
        filter->ended = true;
        return filter->graph && !filter->waiting->buf[0] ? finish_graph(filter) : GPUME_OK;
    }
    if (frame->pts != AV_NOPTS_VALUE) {
        frame->pts = av_sat_sub64(frame->pts, filter->start);
    }
    bool same = frame->width == filter->width && frame->height == filter->height &&
                frame->format == filter->format;
    if (filter->graph && same) {
        return push_frame(filter, frame);
    }
    if (filter->graph) {
        av_frame_move_ref(filter->waiting, frame);
        return finish_graph(filter);
    }
    const int status = build_graph(filter, frame);
    if (status == GPUME_OK) {
        return push_frame(filter, frame);
    }
    av_frame_unref(frame);
    return status;
}

int gpume_graph_pull(struct gpume_graph *filter, AVFrame *frame)
{
    for (;;) {
        if (!filter->graph) {
            return filter->ended ? GPUME_EOF : GPUME_AGAIN;
        }
        gpume_libav_quiet();
        int error = lib.av_buffersink_get_frame(filter->sink, frame);
        if (error >= 0) {
            restore_time(filter, frame);
            return GPUME_OK;
        }
        bool dry = error == AVERROR_EOF || error == AVERROR(EAGAIN);
        if (dry && filter->waiting->buf[0]) {
            int status = build_graph(filter, filter->waiting);
            status = status == GPUME_OK ? push_frame(filter, filter->waiting) : status;
            av_frame_unref(filter->waiting);
            GPUME_CHECK(status);
            GPUME_CHECK(filter->ended ? finish_graph(filter) : GPUME_OK);
            continue;
        }
        if (!dry) {
            return refuse_graph(filter, error);
        }
        return filter->ended || error == AVERROR_EOF ? GPUME_EOF : GPUME_AGAIN;
    }
}

AVRational gpume_graph_rate(const struct gpume_graph *filter)
{
    return lib.av_buffersink_get_frame_rate(filter->sink);
}

bool gpume_graph_keeps_width(const struct gpume_graph *filter, const AVFrame *frame)
{
    return frame->width == filter->width;
}

void gpume_graph_close(struct gpume_graph **pointer)
{
    struct gpume_graph *filter = *pointer;
    if (!filter) {
        return;
    }
    *pointer = NULL;
    lib.avfilter_graph_free(&filter->graph);
    av_frame_free(&filter->waiting);
    free(filter);
}

/*
 * --- Luma samples are copied into a frame of the encoder's format: unscaled if that format is deep
 * enough, shifted down if it has 8 bits. Chroma, if the format has it, is neutral. swscale converts
 * colours: to BT.709 where the encoder states its matrix, and to BT.601 in JPEG, which supports no
 * other.
 */

#define RGB_FLAGS (SWS_BICUBIC | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INP)

#define NEUTRAL 128 /* chroma of gray, 8 bits */

int gpume_encoding_refuse(const struct gpume_encoding *encode, const char *what, int error)
{
    if (error == AVERROR(ENOMEM)) {
        return gpume_log_nomem(&encode->log, encode->label);
    }
    return gpume_log_fail(&encode->log, GPUME_UNSUPPORTED, "%s: %s: %s; %s", encode->label, what,
        gpume_libav_reason(error), encode->remedy);
}

static bool is_rgb(enum AVPixelFormat format)
{
    return (av_pix_fmt_desc_get(format)->flags & AV_PIX_FMT_FLAG_RGB) != 0;
}

static bool is_jpeg(enum AVPixelFormat format)
{
    return strncmp(av_get_pix_fmt_name(format), "yuvj", 4) == 0;
}

/* How its colours are meant, and the order of its fields. */
static void describe_video(AVCodecContext *codec, const struct gpume_source_info *video)
{
    codec->color_primaries = (enum AVColorPrimaries)video->primaries;
    codec->color_trc = (enum AVColorTransferCharacteristic)video->transfer;
    codec->colorspace = (enum AVColorSpace)video->matrix;
    codec->chroma_sample_location = (enum AVChromaLocation)video->chroma_place;
    codec->field_order = !video->interlaced ? AV_FIELD_PROGRESSIVE
                         : video->top_first ? AV_FIELD_TT
                                            : AV_FIELD_BB;
}

static int try_format(struct gpume_encoding *encode, const AVCodec *encoder,
    const struct gpume_encoding_options *options, enum AVPixelFormat format)
{
    avcodec_free_context(&encode->codec);
    AVCodecContext *codec = avcodec_alloc_context3(encoder);
    encode->codec = codec;
    if (!codec) {
        return AVERROR(ENOMEM);
    }
    codec->width = (int)(options->pad ? (options->width + 1) & ~1u : options->width);
    codec->height = (int)(options->pad ? (options->height + 1) & ~1u : options->height);
    codec->pix_fmt = format;
    codec->time_base = options->time_base;
    codec->framerate = options->rate;
    if (options->aspect.num > 0) {
        codec->sample_aspect_ratio = options->aspect;
    }
    codec->thread_count = options->threads;
    codec->color_range = options->full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    if (options->colour && !is_rgb(codec->pix_fmt) && !is_jpeg(codec->pix_fmt)) {
        codec->colorspace = AVCOL_SPC_BT709;
        codec->color_primaries = AVCOL_PRI_BT709;
        codec->color_trc = AVCOL_TRC_BT709;
    }
    if (options->video) {
        describe_video(codec, options->video);
    }
    codec->flags |= AV_CODEC_FLAG_BITEXACT; /* equal pictures give equal files */
    if (options->global_header) {
        codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    }
    AVDictionary *settings = NULL;
    int error = av_dict_parse_string(&settings, options->settings, "=", ":", 0);
    gpume_libav_quiet();
    if (error >= 0) {
        error = avcodec_open2(codec, encoder, &settings);
    }
    av_dict_free(&settings);
    return error;
}

static int make_encoder_frame(struct gpume_encoding *encode)
{
    const AVCodecContext *codec = encode->codec;
    encode->packet = av_packet_alloc();
    encode->frame = av_frame_alloc();
    if (!encode->packet || !encode->frame) {
        return AVERROR(ENOMEM);
    }
    encode->frame->format = codec->pix_fmt;
    encode->frame->width = codec->width;
    encode->frame->height = codec->height;
    encode->frame->color_range = codec->color_range;
    return av_frame_get_buffer(encode->frame, 0);
}

/* Makes the converter from R, G, B to the encoder's format. */
static int make_converter(struct gpume_encoding *encode)
{
    const AVCodecContext *codec = encode->codec;
    encode->rgb = av_frame_alloc();
    encode->from_rgb = sws_getContext(codec->width, codec->height, AV_PIX_FMT_RGB24, codec->width,
        codec->height, codec->pix_fmt, RGB_FLAGS, NULL, NULL, NULL);
    if (!encode->rgb || !encode->from_rgb) {
        return AVERROR(ENOMEM);
    }
    if (!is_rgb(codec->pix_fmt)) {
        const int space = is_jpeg(codec->pix_fmt) ? SWS_CS_ITU601 : SWS_CS_ITU709;
        (void)sws_setColorspaceDetails(encode->from_rgb, sws_getCoefficients(SWS_CS_DEFAULT), 1,
            sws_getCoefficients(space), codec->color_range == AVCOL_RANGE_JPEG, 0, 1 << 16,
            1 << 16);
    }
    encode->rgb->format = AV_PIX_FMT_RGB24;
    encode->rgb->width = codec->width;
    encode->rgb->height = codec->height;
    const int error = av_frame_get_buffer(encode->rgb, 0);
    if (error >= 0) {
        /* swscale reads past the end of rows shorter than a vector; the values do not matter. */
        memset(encode->rgb->buf[0]->data, 0, encode->rgb->buf[0]->size);
    }
    return error;
}

/* FFmpeg's limit for any picture, 16255 squared; some encoders have lower limits. */
static bool is_too_large(const struct gpume_encoding_options *options)
{
    uint64_t pad = options->pad;
    uint64_t width = (options->width + pad) & ~pad, height = (options->height + pad) & ~pad;
    gpume_libav_quiet();
    return width > INT32_MAX || height > INT32_MAX ||
           av_image_check_size2(
               (unsigned)width, (unsigned)height, INT64_MAX, AV_PIX_FMT_NONE, 0, NULL) < 0;
}

int gpume_encoding_open(struct gpume_encoding *encode, const struct gpume_encoding_options *options)
{
    encode->label = options->label;
    encode->remedy = options->remedy;
    encode->log = options->log;
    encode->chroma = options->video && options->video->chroma == GPUME_CHROMA_PLANES;
    const AVCodec *encoder = avcodec_find_encoder_by_name(options->encoder);
    if (!encoder) {
        return gpume_log_fail(&encode->log, GPUME_UNSUPPORTED,
            "%s: this FFmpeg has no %s encoder; %s", encode->label, options->encoder,
            encode->remedy);
    }
    if (is_too_large(options)) {
        return gpume_log_fail(&encode->log, GPUME_UNSUPPORTED,
            "%s: pictures of %" PRIu32 "x%" PRIu32
            " are too large for FFmpeg's encoders; write a .y4m file",
            encode->label, options->width, options->height);
    }
    int error = try_format(encode, encoder, options, options->formats[0]);
    if (error < 0 && error != AVERROR(ENOMEM) && options->formats[1] != AV_PIX_FMT_NONE) {
        error = try_format(encode, encoder, options, options->formats[1]);
    }
    if (error >= 0) {
        error = make_encoder_frame(encode);
    }
    if (error >= 0 && options->colour) {
        error = make_converter(encode);
    }
    return error < 0 ? gpume_encoding_refuse(encode, "cannot be encoded", error) : GPUME_OK;
}

/* Fills one row of a plane of the frame; columns beyond the plane repeat its last one. */
static void fill_row(AVFrame *frame, int index, int y, int width, const struct gpume_plane *plane)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    bool big = (format->flags & AV_PIX_FMT_FLAG_BE) != 0;
    bool deep = format->comp[0].depth > 8;
    unsigned shift = !deep && plane->bits > 8 ? plane->bits - 8 : 0;
    uint8_t *to = frame->data[index] + (ptrdiff_t)y * frame->linesize[index];
    const uint32_t from = (uint32_t)y < plane->height ? (uint32_t)y : plane->height - 1;
    const uint8_t *row = gpume_plane_row(plane, from);
    const uint16_t *wide = (const uint16_t *)(const void *)row;
    for (uint32_t x = 0; x < (uint32_t)width; x++) {
        const uint32_t column = x < plane->width ? x : plane->width - 1;
        const uint16_t value =
            (uint16_t)((unsigned)(plane->bits > 8 ? wide[column] : row[column]) >> shift);
        if (!deep) {
            to[x] = (uint8_t)value;
        } else if (big) {
            AV_WB16(to + 2 * x, value);
        } else {
            AV_WL16(to + 2 * x, value);
        }
    }
}

static void fill_luma(AVFrame *frame, const struct gpume_plane *plane)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    bool plain = format->comp[0].depth == 8 && plane->bits == 8 &&
                 frame->width == (int)plane->width && frame->height == (int)plane->height;
    if (plain) {
        av_image_copy_plane(frame->data[0], frame->linesize[0], plane->data, (int)plane->stride,
            frame->width, frame->height);
    }
    for (int y = 0; y < frame->height && !plain; y++) {
        fill_row(frame, 0, y, frame->width, plane);
    }
    int rows = AV_CEIL_RSHIFT(frame->height, format->log2_chroma_h);
    for (int i = 1; i < 3 && frame->data[i]; i++) {
        memset(frame->data[i], NEUTRAL, (size_t)rows * (size_t)frame->linesize[i]);
    }
}

/* Columns and rows beyond the plane repeat its last ones. */
static int fill_colours(const struct gpume_encoding *encode, const struct gpume_plane *plane)
{
    const AVFrame *rgb = encode->rgb;
    const size_t bytes = 3 * (size_t)plane->width;
    for (int y = 0; y < rgb->height; y++) {
        const uint32_t from = (uint32_t)y < plane->height ? (uint32_t)y : plane->height - 1;
        uint8_t *to = rgb->data[0] + (ptrdiff_t)y * rgb->linesize[0];
        memcpy(to, gpume_plane_row(plane, from), bytes);
        for (size_t x = bytes; x < 3 * (size_t)rgb->width; x++) {
            to[x] = to[x - 3];
        }
    }
    const int rows = sws_scale(encode->from_rgb, (const uint8_t *const *)rgb->data, rgb->linesize,
        0, rgb->height, encode->frame->data, encode->frame->linesize);
    return rows < 0 ? rows : 0;
}

int gpume_encoding_send(
    struct gpume_encoding *encode, const struct gpume_plane *planes, int64_t pts)
{
    AVFrame *frame = planes ? encode->frame : NULL;
    gpume_libav_quiet();
    int error = frame ? av_frame_make_writable(frame) : 0; /* the encoder may hold the last one */
    if (frame && error >= 0) {
        frame->pts = pts;
        if (encode->rgb) {
            error = fill_colours(encode, planes);
        } else {
            fill_luma(frame, planes);
        }
        for (int i = 1; encode->chroma && i < 3; i++) { /* of the frame's own size */
            for (uint32_t y = 0; y < planes[i].height; y++) {
                fill_row(frame, i, (int)y, (int)planes[i].width, &planes[i]);
            }
        }
    }
    error = error < 0 ? error : avcodec_send_frame(encode->codec, frame);
    return error < 0 ? gpume_encoding_refuse(encode, "cannot be encoded", error) : GPUME_OK;
}

int gpume_encoding_receive(struct gpume_encoding *encode)
{
    gpume_libav_quiet();
    int error = avcodec_receive_packet(encode->codec, encode->packet);
    return error == AVERROR(EAGAIN) ? GPUME_AGAIN
           : error == AVERROR_EOF   ? GPUME_EOF
           : error < 0              ? gpume_encoding_refuse(encode, "cannot be encoded", error)
                                    : GPUME_OK;
}

void gpume_encoding_close(struct gpume_encoding *encode)
{
    avcodec_free_context(&encode->codec);
    av_packet_free(&encode->packet);
    av_frame_free(&encode->frame);
    av_frame_free(&encode->rgb);
    sws_freeContext(encode->from_rgb);
    encode->from_rgb = NULL;
}
