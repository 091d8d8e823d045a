/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoder -> optional filter graph -> luma, one frame per call, on the caller's thread. Opening
 * decodes the first frame, because it determines the size and depth of all frames, and keeps it for
 * the first read. Two paths are two inputs of one frame each.
 */
#include "media/source.h"

#include "base/base.h"
#include "base/workers.h"
#include "media/decode.h"
#include "media/libav.h"
#include "media/luma.h"
#include "media/packets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <libavutil/frame.h>
#include <libavutil/mathematics.h>
#include <libavutil/pixdesc.h>

#define COPY_THREADS_MAX 8u /* more gain nothing */
#define SKIP_MIN 24u        /* to skip fewer frames gains nothing: the input is opened again */

struct gpume_source {
    struct gpume_source_options options;
    uint32_t path_index;           /* the one being opened or decoded */
    struct gpume_hwaccel *hwaccel; /* or NULL */
    const struct gpume_decoder *decoder;
    void *decodes[2];   /* its states; NULL: not allocated */
    AVFrame *stills[2]; /* the frames of two inputs, until they are read; NULL: one input */
    struct gpume_division division; /* of the one input */
    struct gpume_source_info info;
    struct gpume_graph *filter;
    struct gpume_luma luma;
    struct gpume_colour_frames *colour; /* NULL: neither colours nor chroma are requested */
    struct gpume_motion_taker motion;   /* of the frame read last */
    AVFrame *frame;                     /* the first one, until it is read */
    bool has_frame, ended, warned;
    int64_t last_us;
    struct gpume_frame_time time;
    struct gpume_source_counts counts;
    uint64_t decoded; /* frames, before the filter */
    atomic_bool cancelled;
};

/* --- opening decoders */

/* The name of the current input in messages. */
static const char *label_of(const struct gpume_source *source)
{
    return gpume_input_label(source->options.paths[source->path_index]);
}

static void report_memory(const struct gpume_source *source, int status)
{
    if (status == GPUME_NOMEM) {
        gpume_log_write(&source->options.log, GPUME_LOG_ERROR,
            "%s: out of memory while decoding; give a smaller picture size or fewer --threads",
            label_of(source));
    }
}

/* Raw video goes past FFmpeg, unless FFmpeg is to do something with its frames. */
static bool is_raw(const struct gpume_source_options *options)
{
    const bool plain = options->path_count == 1 && !options->filter && !options->hwaccel &&
                       !options->colour && !options->motion && options->stream <= 0;
    bool raw = plain && gpume_decode_y4m_takes(options->paths[0]);
    for (uint32_t i = 0; i < options->path_count && !raw; i++) {
        raw = gpume_decode_y4m_needs(options->paths[i]);
    }
    return raw;
}

/* Decides which decoder reads the inputs, and how many threads beside it move samples. */
static void choose_decoder(struct gpume_source *source)
{
    const struct gpume_source_options *options = &source->options;
    const uint32_t copiers = options->threads ? options->threads : gpume_workers_processors() / 2;
    source->decoder = options->decoder  ? options->decoder
                      : is_raw(options) ? &gpume_decode_y4m
                                        : &gpume_decode_lavf;
    source->luma.bands.threads = gpume_min_u32(copiers, COPY_THREADS_MAX);
}

/* One file, and nothing that depends on where decoding begins. */
static bool is_one_file(const struct gpume_source *source)
{
    const struct gpume_source_options *options = &source->options;
    return options->path_count == 1 && !options->filter && !options->motion &&
           gpume_input_is_file(options->paths[0]);
}

/* Opens the input path_index. */
static int open_path(struct gpume_source *source, struct gpume_source_info *info)
{
    const struct gpume_source_options *wanted = &source->options;
    void **decode = &source->decodes[source->path_index];
    *decode = calloc(1, source->decoder->bytes);
    const struct gpume_decode_options options = {
        .source = wanted,
        .input = source->path_index,
        .copy_threads = source->luma.bands.threads,
        .hwaccel = source->hwaccel,
        .whole = wanted->filter || wanted->colour || wanted->chroma,
        .divisible = wanted->divisible && is_one_file(source),
        .first = source->decodes[0],
        .cancel = &source->cancelled,
    };
    return *decode ? source->decoder->open(*decode, &options, info) : GPUME_NOMEM;
}

static void close_decode(const struct gpume_source *source, void *decode)
{
    if (decode) {
        source->decoder->close(decode);
        free(decode);
    }
}

/* --- two still pictures */

/* Whether a frame follows the first one; the decoder tells where the container does not. Files and
 * pipes of pictures are not read on, because previews may follow a picture. */
static int find_other(
    const struct gpume_source *source, const struct gpume_source_info *info, bool *other)
{
    *other = info->frames > 1;
    if (info->frames > 0 || info->picture) {
        return GPUME_OK;
    }
    AVFrame *second = av_frame_alloc();
    const int status =
        second ? source->decoder->next(source->decodes[source->path_index], second) : GPUME_NOMEM;
    av_frame_free(&second);
    *other = status == GPUME_OK;
    return status == GPUME_EOF ? GPUME_OK : status;
}

/* The frame of one of two inputs: a still picture, unless the first frame of a video is wanted. */
static int keep_still(struct gpume_source *source, const struct gpume_source_info *info)
{
    void *state = source->decodes[source->path_index];
    AVFrame *frame = source->stills[source->path_index] = av_frame_alloc();
    bool other = false;
    const int status = frame ? source->decoder->next(state, frame) : GPUME_NOMEM;
    if (status == GPUME_EOF) {
        return source->decoder->no_frame(state);
    }
    GPUME_CHECK(status);
    GPUME_CHECK(source->options.pictures ? GPUME_OK : find_other(source, info, &other));
    return other ? gpume_log_fail(&source->options.log, GPUME_INVALID,
                       "%s: has more than one frame, but two inputs must be still pictures; give "
                       "only one video, or add --pictures to take the first frame of each",
                       label_of(source))
                 : GPUME_OK;
}

/* Both inputs are opened before any work, so that a wrong second one is reported at once. */
static int open_paths(struct gpume_source *source)
{
    uint64_t bytes = 0;
    const uint32_t count = source->options.path_count;
    struct gpume_source_info second, *const infos[2] = {&source->info, &second};
    for (uint32_t i = 0; i < count; i++) {
        source->path_index = i;
        GPUME_CHECK(open_path(source, infos[i]));
        bytes += infos[i]->frame_bytes;
        GPUME_CHECK(gpume_limits_check_bytes(
            &source->options.trust, label_of(source), bytes, i + 1, &source->options.log));
    }
    for (uint32_t i = 0; i < count && count > 1; i++) {
        source->path_index = i;
        GPUME_CHECK(keep_still(source, infos[i]));
    }
    source->path_index = 0;
    if (count > 1) {
        source->info.time_num = 1; /* FFmpeg gives numbered pictures 25 per second */
        source->info.time_den = 25;
        source->info.rate_num = 25;
        source->info.rate_den = 1;
        source->info.frames = count;
        source->info.start_us = 0;
        source->info.late = false;
    }
    return GPUME_OK;
}

/* The next frame of the video, or the next of two stills, with the time of its index. */
static int decode_frame(struct gpume_source *source, AVFrame *frame)
{
    const bool stills = source->options.path_count > 1;
    int status = GPUME_OK;
    if (!stills) {
        status = source->decoder->next(source->decodes[0], frame);
    } else if (source->decoded == source->options.path_count) {
        status = GPUME_EOF;
    } else {
        source->path_index = (uint32_t)source->decoded;
        av_frame_move_ref(frame, source->stills[source->path_index]);
        frame->pts = source->path_index;
    }
    frame->time_base = (AVRational){source->info.time_num, source->info.time_den};
    source->decoded += status == GPUME_OK;
    return status;
}

/* The next frame, filtered; its time is in units of its time_base. */
static int next_frame(struct gpume_source *source, AVFrame *frame)
{
    if (!source->filter) {
        return decode_frame(source, frame);
    }
    for (;;) {
        if (atomic_load(&source->cancelled)) {
            return GPUME_CANCELLED;
        }
        int status = gpume_graph_pull(source->filter, frame);
        if (status != GPUME_AGAIN) {
            return status;
        }
        status = decode_frame(source, frame);
        GPUME_CHECK(status == GPUME_EOF ? GPUME_OK : status);
        GPUME_CHECK(gpume_graph_push(source->filter, status == GPUME_OK ? frame : NULL));
    }
}

static void count_refused(struct gpume_source *source)
{
    source->counts.refused = 0;
    for (uint32_t i = 0; i < source->options.path_count; i++) {
        source->counts.refused += source->decoder->refused(source->decodes[i]);
    }
}

void gpume_source_warn(struct gpume_source *source)
{
    for (uint32_t i = 0; i < source->options.path_count && !source->warned; i++) {
        source->decoder->warn(source->decodes[i]);
    }
    source->warned = true;
}

static int refuse_format(struct gpume_source *source, const AVFrame *frame)
{
    const char *name = av_get_pix_fmt_name(frame->format);
    return gpume_log_fail(&source->options.log, GPUME_FORMAT,
        "%s: pixel format %s cannot be converted to luma; convert the file to another format",
        label_of(source), name ? name : "unknown");
}

/* Where a frame goes: nowhere, to memory, or to a view, which may do without a copy. */
static int write_luma(struct gpume_source *source, const AVFrame *frame, struct gpume_luma_view *to)
{
    if (!to) {
        return GPUME_OK;
    }
    to->plane = to->memory;
    if (to->frame) {
        av_frame_unref(to->frame);
        if (gpume_luma_find(frame, &to->plane)) {
            return av_frame_ref(to->frame, frame) < 0 ? GPUME_NOMEM : GPUME_OK;
        }
    }
    return gpume_luma_write(&source->luma, frame, &to->memory);
}

static int deliver(struct gpume_source *source, const AVFrame *frame, struct gpume_luma_view *to)
{
    uint32_t bits = gpume_luma_bits(frame);
    if (bits == 0) {
        return refuse_format(source, frame);
    }
    const struct gpume_source_info *info = &source->info;
    const bool scaled = (uint32_t)frame->width != info->width ||
                        (uint32_t)frame->height != info->height || bits != info->bits;
    if (scaled && source->counts.scaled++ == 0) {
        gpume_log_write(&source->options.log, GPUME_LOG_WARNING,
            "%s: frame %" PRIu64 " is %dx%d with %u bits, the first is %ux%u with %u: it and others"
            " like it are scaled to the first%s",
            label_of(source), source->counts.delivered, frame->width, frame->height, bits,
            info->width, info->height, info->bits,
            source->options.motion ? ", and their vectors left out" : "");
    }
    int status = write_luma(source, frame, to);
    if (status == GPUME_UNSUPPORTED) {
        return refuse_format(source, frame);
    }
    const bool is_wanted = source->options.colour || info->chroma == GPUME_CHROMA_PLANES;
    if (status == GPUME_OK && to && source->colour && is_wanted) {
        status = gpume_colour_frames_keep(source->colour, source->counts.delivered, frame);
    }
    source->counts.delivered += status == GPUME_OK;
    return status;
}

static int take_motion(struct gpume_source *source)
{
    const AVFrame *frame = source->frame;
    const int status = gpume_motion_take(&source->motion, frame);
    if ((uint32_t)frame->width != source->info.width ||
        (uint32_t)frame->height != source->info.height) {
        source->motion.motion.count = 0; /* of another picture than all others */
    }
    if (status == GPUME_UNSUPPORTED) {
        return gpume_log_fail(&source->options.log, status,
            "%s: a motion vector of frame %" PRIu64 " is no multiple of a quarter of a pixel",
            label_of(source), source->counts.delivered - 1);
    }
    return status;
}

const struct gpume_motion *gpume_source_motion(const struct gpume_source *source)
{
    return &source->motion.motion;
}

struct gpume_plane gpume_source_plane(const struct gpume_source_info *info)
{
    const size_t stride = (size_t)info->width * (info->bits > 8 ? 2 : 1);
    return (struct gpume_plane){
        .data = calloc(info->height, stride),
        .stride = (ptrdiff_t)stride,
        .width = info->width,
        .height = info->height,
        .bits = info->bits,
    };
}

int gpume_source_view(struct gpume_source *source, struct gpume_luma_view *to, int64_t *time_us)
{
    int status = GPUME_OK;
    if (atomic_load(&source->cancelled)) {
        return GPUME_CANCELLED;
    }
    if (source->ended) {
        return GPUME_EOF;
    }
    int64_t us = source->last_us;
    if (!source->has_frame) {
        status = next_frame(source, source->frame);
        count_refused(source);
        if (status == GPUME_EOF) {
            gpume_source_warn(source);
            source->ended = true;
            return GPUME_EOF;
        }
        GPUME_TRY(status);
        us = gpume_frame_time_next(&source->time, source->frame);
    }
    source->has_frame = false;
    GPUME_TRY(deliver(source, source->frame, to));
    GPUME_TRY(source->options.motion ? take_motion(source) : GPUME_OK);
    *time_us = us;
fail:
    report_memory(source, status);
    av_frame_unref(source->frame);
    return status;
}

int gpume_source_read(
    struct gpume_source *source, const struct gpume_plane *plane, int64_t *time_us)
{
    struct gpume_luma_view copy = {.frame = NULL};
    if (plane) {
        copy.memory = *plane;
    }
    return gpume_source_view(source, plane ? &copy : NULL, time_us);
}

bool gpume_luma_view_open(struct gpume_luma_view *view, const struct gpume_source_info *info)
{
    view->plane = view->memory = gpume_source_plane(info);
    view->frame = av_frame_alloc();
    return view->memory.data && view->frame;
}

void gpume_luma_view_close(struct gpume_luma_view *view)
{
    av_frame_free(&view->frame);
    free(view->memory.data);
    *view = (struct gpume_luma_view){0};
}

/* Replaces the decoder by one that begins close to frame `index`, where that gains time and changes
 * nothing else. */
static int jump_to(struct gpume_source *source, uint64_t index)
{
    struct gpume_source_info info;
    AVFrame *frame = av_frame_alloc();
    void *before = source->decodes[0];
    int status = frame ? GPUME_OK : GPUME_NOMEM;
    source->decodes[0] = NULL;
    GPUME_TRY(status);
    GPUME_TRY(open_path(source, &info));
    GPUME_TRY(source->decoder->seek(source->decodes[0], index, source->frame->pts, frame));
    av_frame_unref(source->frame);
    av_frame_move_ref(source->frame, frame);
    source->frame->time_base = (AVRational){source->info.time_num, source->info.time_den};
    source->last_us = gpume_frame_time_next(&source->time, source->frame);
    source->counts.delivered = index;
    source->decoded = index + 1;
    if (source->division.decoders > 1) {
        source->decoder->divide(source->decodes[0], &source->division);
    }
fail:
    av_frame_free(&frame);
    close_decode(source, status == GPUME_OK ? before : source->decodes[0]);
    source->decodes[0] = status == GPUME_OK ? source->decodes[0] : before;
    return status == GPUME_CANCELLED || status == GPUME_NOMEM ? status : GPUME_OK;
}

int gpume_source_skip(struct gpume_source *source, uint64_t index)
{
    int64_t time_us;
    const bool may_jump = index >= SKIP_MIN && source->has_frame && source->counts.delivered == 0 &&
                          source->counts.refused == 0 && source->decoder->seek &&
                          is_one_file(source);
    int status = may_jump ? jump_to(source, index) : GPUME_OK;
    report_memory(source, status);
    while (status == GPUME_OK && source->counts.delivered < index) {
        status = gpume_source_read(source, NULL, &time_us);
    }
    return status;
}

/* The container's word counts more than the codec's, but it does not pass through filters: after
 * one that changes the width it tells nothing. */
static void settle_aspect(struct gpume_source *source)
{
    const AVFrame *frame = source->frame;
    struct gpume_source_info *info = &source->info;
    const AVRational own = frame->sample_aspect_ratio;
    const bool is_own = own.num > 0 && own.den > 0;
    const bool is_whole =
        info->aspect_num > 0 &&
        (!source->filter || (!is_own && gpume_graph_keeps_width(source->filter, frame)));
    const AVRational said =
        is_whole ? (AVRational){(int)info->aspect_num, (int)info->aspect_den} : own;
    AVRational aspect = {0, 1};
    if (is_own || is_whole) {
        av_reduce(&aspect.num, &aspect.den, said.num, said.den, INT32_MAX);
    }
    info->aspect_num = (uint32_t)aspect.num;
    info->aspect_den = (uint32_t)aspect.den;
}

/* A filter may change the rate, and with it the number of frames. */
static void settle_rate(struct gpume_source *source)
{
    struct gpume_source_info *info = &source->info;
    const AVRational rate = gpume_graph_rate(source->filter);
    const AVRational before = {(int)info->rate_num, (int)info->rate_den}; /* 0/1: unknown */
    if (rate.num <= 0 || rate.den <= 0) {
        return;
    }
    if (before.num > 0) {
        const AVRational ratio = av_div_q(rate, before);
        info->frames =
            (uint64_t)av_rescale((int64_t)(info->frames < INT32_MAX ? info->frames : INT32_MAX),
                ratio.num, ratio.den > 0 ? ratio.den : 1);
    }
    info->rate_num = (uint32_t)rate.num;
    info->rate_den = (uint32_t)rate.den;
}

/* What the first frame says of colours. */
static void describe_colours(struct gpume_source_info *info, const AVFrame *frame)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    const bool alpha = (format->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
    const bool usual = format->log2_chroma_w <= 1 && format->log2_chroma_h <= format->log2_chroma_w;
    info->chroma = info->converted || alpha    ? GPUME_CHROMA_OTHER
                   : format->nb_components < 3 ? GPUME_CHROMA_NONE
                   : usual                     ? GPUME_CHROMA_PLANES
                                               : GPUME_CHROMA_OTHER;
    info->chroma_x = format->log2_chroma_w;
    info->chroma_y = format->log2_chroma_h;
    info->chroma_place = (int)frame->chroma_location;
    info->primaries = (int)frame->color_primaries;
    info->transfer = (int)frame->color_trc;
    info->matrix = (int)frame->colorspace;
}

/* Completes the facts with what the first frame shows. */
static void complete_info(struct gpume_source *source)
{
    const AVFrame *frame = source->frame;
    const char *format = av_get_pix_fmt_name(frame->format);
    struct gpume_source_info *info = &source->info;
    settle_aspect(source);
    if (source->filter) {
        settle_rate(source);
    }
    info->converted = !gpume_luma_is_there(frame);
    info->full_range = gpume_luma_full_range(frame);
    gpume_colours_of_frame(frame, &info->colours);
    info->interlaced = gpume_luma_is_interlaced(frame);
    info->top_first = gpume_luma_is_top_first(frame);
    describe_colours(info, frame);
    info->lost_alpha = info->lost_alpha && !source->filter && info->chroma != GPUME_CHROMA_OTHER;
    snprintf(info->pixel_format, sizeof info->pixel_format, "%s", format ? format : "unknown");
    const int threads = source->decoder->describe(
        source->decodes[source->path_index], info->decoder, sizeof info->decoder);
    gpume_log_write(&source->options.log, GPUME_LOG_INFO, "%s: decoder %s, %d thread%s",
        label_of(source), info->decoder, threads, gpume_plural((uint64_t)threads));
}

/* Decodes the first frame and keeps it. */
static int first_frame(struct gpume_source *source)
{
    int status = next_frame(source, source->frame);
    count_refused(source);
    if (status == GPUME_EOF && source->decoded > 0) {
        return gpume_log_fail(&source->options.log, GPUME_FORMAT,
            "--vf %s: lets no frame of %s through; correct the graph", source->options.filter,
            label_of(source));
    }
    if (status == GPUME_EOF) {
        return source->decoder->no_frame(source->decodes[source->path_index]);
    }
    GPUME_CHECK(status);
    /* A first frame without a time is at 0. */
    source->time.step = source->info.rate_num > 0
                            ? (AVRational){(int)source->info.rate_den, (int)source->info.rate_num}
                            : (AVRational){1, 25};
    source->last_us = gpume_frame_time_next(&source->time, source->frame);
    GPUME_CHECK(gpume_limits_check_size(&source->options.trust, label_of(source),
        source->options.filter, source->frame->width, source->frame->height, &source->options.log));
    source->info.width = (uint32_t)source->frame->width;
    source->info.height = (uint32_t)source->frame->height;
    source->info.bits = gpume_luma_bits(source->frame);
    source->has_frame = true;
    return source->info.bits == 0 ? refuse_format(source, source->frame) : GPUME_OK;
}

int gpume_source_open(struct gpume_source **result, const struct gpume_source_options *options,
    struct gpume_source_info *info)
{
    int status = GPUME_OK;
    struct gpume_source *source = calloc(1, sizeof *source);
    if (!source) {
        return gpume_log_nomem(&options->log, options->paths[0]);
    }
    atomic_init(&source->cancelled, false);
    source->options = *options;
    choose_decoder(source);
    if (options->colour || options->chroma) {
        GPUME_TRY(gpume_colour_frames_create(&source->colour, options->colour_first));
    }
    GPUME_TRY(gpume_hwaccel_open(&source->hwaccel, options->hwaccel, &source->options.log));
    source->frame = av_frame_alloc();
    GPUME_TRY(source->frame ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(open_paths(source));
    if (options->filter) {
        GPUME_TRY(gpume_graph_open(
            &source->filter, options->filter, &source->info, options->threads, &options->log));
    }
    GPUME_TRY(first_frame(source));
    complete_info(source);
    GPUME_TRY(gpume_limits_check_sides(gpume_input_label(options->paths[0]), options->filter,
        source->info.width, source->info.height, &options->log));
    source->info.label = gpume_input_label(options->paths[options->path_count - 1]);
    *info = source->info;
    *result = source;
    return GPUME_OK;
fail:
    report_memory(source, status);
    gpume_source_close(&source);
    return status;
}

/* --- several decoders */

uint32_t gpume_source_decoders(uint32_t threads, const char *hwaccel, uint32_t gpus)
{
    const uint32_t software = gpume_segments_decoders(threads);
    const uint32_t hardware = GPUME_HWACCEL_DECODERS * (gpus > 1 ? gpus : 1);
    return hwaccel && software < hardware ? hardware : software;
}

static const char *why_not_divided(const struct gpume_source *source)
{
    const struct gpume_source_options *options = &source->options;
    return options->path_count > 1                   ? "two inputs have one frame each"
           : options->filter                         ? "filters need all frames in order"
           : options->motion                         ? "its motion vectors are read"
           : !gpume_input_is_file(options->paths[0]) ? "it is not a file"
           : !source->decoder->divide                ? "it is not compressed"
                                                     : NULL;
}

void gpume_source_divide(struct gpume_source *source, struct gpume_division *division)
{
    const char *why = why_not_divided(source);
    const uint64_t all = source->info.frames, wanted = division->length;
    division->length = all > 0 && (wanted == 0 || all < wanted) ? all : wanted;
    if (division->decoders > 1 && !why) {
        source->decoder->divide(source->decodes[0], division);
        source->division = *division;
        /* Nothing spoke against it before packets were looked at. */
        why = gpume_coded_pictures_know(source->info.codec)
                  ? "times are missing or unordered, no decoder can begin within it, or there is "
                    "too little memory"
                  : "only H.264, HEVC, MPEG-2 and VP9 are divided";
    } else {
        division->decoders = 1;
        division->bytes = 0;
    }
    if (division->decoders == 1 && division->asked) {
        gpume_log_write(&source->options.log, GPUME_LOG_WARNING, "%s: only one decoder is used: %s",
            label_of(source), why);
    }
}

/* --- frames by their times */

/* By decoding; the first frame, at first_us, was read. */
static int find_in_frames(struct gpume_source *source, int64_t first_us, const int64_t *times,
    uint64_t *frames, uint32_t count)
{
    int status = GPUME_OK;
    int64_t time_us = first_us;
    uint32_t found = 0;
    for (uint64_t frame = 0; status == GPUME_OK; frame++) {
        while (found < count && time_us >= times[found]) {
            frames[found++] = frame;
        }
        if (found == count) {
            return GPUME_OK;
        }
        status = gpume_source_read(source, NULL, &time_us);
    }
    while (found < count) {
        frames[found++] = GPUME_FIND_NONE;
    }
    return status == GPUME_EOF ? GPUME_OK : status;
}

int gpume_find_frames(const struct gpume_source_options *options, const int64_t *times,
    uint64_t *frames, uint32_t count)
{
    int status = GPUME_OK;
    int64_t first_us, at[GPUME_FIND_MAX];
    struct gpume_source *source = NULL;
    struct gpume_source_info info;
    GPUME_TRY(gpume_source_open(&source, options, &info));
    GPUME_TRY(gpume_source_read(source, NULL, &first_us));
    for (uint32_t i = 0; i < count; i++) {
        at[i] = first_us > INT64_MAX - times[i] ? INT64_MAX : first_us + times[i];
    }
    status = options->filter || options->hwaccel
                 ? GPUME_UNSUPPORTED
                 : gpume_seek_rank(options, first_us, at, frames, count);
    if (status == GPUME_UNSUPPORTED) {
        status = find_in_frames(source, first_us, at, frames, count);
    }
fail:
    gpume_source_close(&source);
    return status;
}

/* --- the rest */

int gpume_source_take_colour(struct gpume_source *source, uint64_t index, struct gpume_plane *rgb)
{
    int status = gpume_colour_frames_take(
        source->colour, index, source->info.width, source->info.height, rgb);
    if (status == GPUME_NOMEM) {
        gpume_log_write(&source->options.log, GPUME_LOG_ERROR,
            "%s: out of memory while converting frame %" PRIu64 " to colours",
            source->options.paths[0], index);
    } else if (status == GPUME_UNSUPPORTED || status == GPUME_INVALID) {
        gpume_log_write(&source->options.log, GPUME_LOG_ERROR,
            "%s: frame %" PRIu64 " cannot be converted to colours; convert the file to another "
            "pixel format",
            source->options.paths[0], index);
    }
    return status;
}

int gpume_source_take_chroma(
    struct gpume_source *source, uint64_t index, const struct gpume_plane *planes)
{
    const int status = gpume_colour_frames_take_chroma(source->colour, index, planes);
    if (status == GPUME_OK || status == GPUME_NOMEM) {
        return status == GPUME_OK ? status
                                  : gpume_log_nomem(&source->options.log, source->options.paths[0]);
    }
    return gpume_log_fail(&source->options.log, GPUME_INVALID,
        "%s: frame %" PRIu64
        " has other colours than the first, and no chroma; convert the file to "
        "one pixel format",
        source->options.paths[0], index);
}

void gpume_source_cancel(struct gpume_source *source)
{
    atomic_store(&source->cancelled, true);
}

void gpume_source_get_counts(const struct gpume_source *source, struct gpume_source_counts *counts)
{
    *counts = source->counts;
}

void gpume_source_close(struct gpume_source **pointer)
{
    struct gpume_source *source = *pointer;
    if (!source) {
        return;
    }
    *pointer = NULL;
    gpume_colour_frames_destroy(&source->colour);
    for (int i = 0; i < 2; i++) {
        close_decode(source, source->decodes[i]);
        av_frame_free(&source->stills[i]);
    }
    gpume_hwaccel_close(&source->hwaccel);
    gpume_graph_close(&source->filter);
    gpume_luma_close(&source->luma);
    gpume_motion_finish(&source->motion);
    av_frame_free(&source->frame);
    free(source);
}
