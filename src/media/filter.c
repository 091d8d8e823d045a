/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * buffersrc -> the user's graph -> buffersink. A frame whose size or format the graph was not built
 * for waits while the graph is drained; then a new graph is built for it, so that no frame is lost.
 */
#include "media/libav.h"

#include "base/base.h"
#include "files/out.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/common.h>
#include <libavutil/frame.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>

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
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_lib);
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
