/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoder -> optional filter graph -> luma, one frame per call, on the caller's thread. Opening
 * decodes the first frame, because it determines the size and depth of all frames, and keeps it for
 * the first read. Two paths are two inputs of one frame each.
 */
#include "media/source.h"
#include "base/status.h"
#include "media/colour.h"
#include "media/filter.h"
#include "media/hwaccel.h"
#include "media/input.h"
#include "media/source_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <libavutil/frame.h>
#include <libavutil/mathematics.h>
#include <libavutil/pixdesc.h>

static const AVRational still_rate = {25, 1}; /* the rate that FFmpeg gives numbered pictures */

/* Whether a frame follows the first one; the decoder tells where the container does not. Files and
 * pipes of pictures are not read on, because previews may follow a picture. */
static int find_other(
    const struct gpume_source *source, const struct gpume_decode_facts *facts, bool *other)
{
    *other = facts->frames > 1;
    if (facts->frames > 0 || facts->picture) {
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
static int keep_still(struct gpume_source *source, const struct gpume_decode_facts *facts)
{
    void *state = source->decodes[source->path_index];
    AVFrame *frame = source->stills[source->path_index] = av_frame_alloc();
    bool other = false;
    const int status = frame ? source->decoder->next(state, frame) : GPUME_NOMEM;
    if (status == GPUME_EOF) {
        return source->decoder->no_frame(state);
    }
    GPUME_CHECK(status);
    GPUME_CHECK(source->options.pictures ? GPUME_OK : find_other(source, facts, &other));
    return other ? gpume_log_fail(&source->options.log, GPUME_INVALID,
                       "%s: has more than one frame, but two inputs must be still pictures; give "
                       "one video alone, or add --pictures to take the first frame of each",
                       gpume_source_label(source))
                 : GPUME_OK;
}

/* Both inputs are opened before any work, so that a wrong second one is reported at once. */
static int open_paths(struct gpume_source *source)
{
    int status = GPUME_OK;
    uint64_t bytes = 0;
    const uint32_t count = source->options.path_count;
    struct gpume_decode_facts second, *const facts[2] = {&source->facts, &second};
    for (uint32_t i = 0; i < count; i++) {
        source->path_index = i;
        GPUME_TRY(gpume_source_open_path(source, facts[i]));
        bytes += facts[i]->frame_bytes;
        GPUME_TRY(gpume_limits_check_bytes(&source->options.trust, gpume_source_label(source),
            bytes, i + 1, &source->options.log));
    }
    for (uint32_t i = 0; i < count && count > 1; i++) {
        source->path_index = i;
        GPUME_TRY(keep_still(source, facts[i]));
    }
    source->path_index = 0;
    if (count > 1) {
        source->facts.time_base = av_inv_q(still_rate);
        source->facts.rate = still_rate;
        source->facts.frames = count;
        source->facts.start_us = 0;
        source->facts.late = false;
    }
fail:
    return status;
}

/* Gives the next of two stills, with the time of its index. */
static int take_still(struct gpume_source *source, AVFrame *frame)
{
    if (source->decoded == source->options.path_count) {
        return GPUME_EOF;
    }
    source->path_index = (uint32_t)source->decoded;
    av_frame_move_ref(frame, source->stills[source->path_index]);
    frame->pts = source->path_index;
    return GPUME_OK;
}

static int decode_frame(struct gpume_source *source, AVFrame *frame)
{
    int status = source->options.path_count > 1 ? take_still(source, frame)
                                                : source->decoder->next(source->decodes[0], frame);
    frame->time_base = source->facts.time_base;
    source->decoded += status == GPUME_OK;
    return status;
}

static int open_filter(struct gpume_source *source)
{
    const struct gpume_filter_options options = {
        .graph = source->options.filter,
        .time_base = source->facts.time_base,
        .start_us = source->facts.start_us,
        .rate = source->facts.rate,
        .threads = source->options.threads,
        .log = source->options.log,
    };
    return gpume_filter_open(&source->filter, &options);
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
        int status = gpume_filter_pull(source->filter, frame);
        if (status != GPUME_AGAIN) {
            return status;
        }
        status = decode_frame(source, frame);
        if (status == GPUME_OK || status == GPUME_EOF) {
            status = gpume_filter_push(source->filter, status == GPUME_OK ? frame : NULL);
        }
        if (status != GPUME_OK) {
            return status;
        }
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

static int end(struct gpume_source *source)
{
    gpume_source_warn(source);
    source->ended = true;
    return GPUME_EOF;
}

static void warn_scaled(struct gpume_source *source, const AVFrame *frame)
{
    if (source->counts.scaled++ == 0) {
        gpume_log_write(&source->options.log, GPUME_LOG_WARNING,
            "%s: frame %" PRIu64 " is %dx%d with %u bits, the first is %ux%u with %u: it and others"
            " like it are scaled to the first%s",
            gpume_source_label(source), source->counts.delivered, frame->width, frame->height,
            gpume_luma_bits(frame), source->width, source->height, source->bits,
            source->options.motion ? ", and their vectors left out" : "");
    }
}

static int unusable(struct gpume_source *source, const AVFrame *frame)
{
    const char *name = av_get_pix_fmt_name(frame->format);
    return gpume_log_fail(&source->options.log, GPUME_FORMAT,
        "%s: pixel format %s cannot be converted to luma; convert the file to another format",
        gpume_source_label(source), name ? name : "unknown");
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
        return unusable(source, frame);
    }
    if ((uint32_t)frame->width != source->width || (uint32_t)frame->height != source->height ||
        bits != source->bits) {
        warn_scaled(source, frame);
    }
    int status = write_luma(source, frame, to);
    if (status == GPUME_UNSUPPORTED) {
        return unusable(source, frame);
    }
    if (status == GPUME_OK && to && source->colour) {
        status = gpume_colour_frames_keep(source->colour, source->counts.delivered, frame);
    }
    source->counts.delivered += status == GPUME_OK;
    return status;
}

static int take_motion(struct gpume_source *source)
{
    const AVFrame *frame = source->frame;
    const int status = gpume_motion_take(&source->motion, frame);
    if ((uint32_t)frame->width != source->width || (uint32_t)frame->height != source->height) {
        source->motion.motion.count = 0; /* of another picture than all others */
    }
    if (status == GPUME_UNSUPPORTED) {
        return gpume_log_fail(&source->options.log, status,
            "%s: a motion vector of frame %" PRIu64 " is no multiple of a quarter of a pixel",
            gpume_source_label(source), source->counts.delivered - 1);
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

static int read_frame(struct gpume_source *source, struct gpume_luma_view *to, int64_t *time_us)
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
            return end(source);
        }
        GPUME_TRY(status);
        us = gpume_frame_time_next(&source->time, source->frame);
    }
    source->has_frame = false;
    GPUME_TRY(deliver(source, source->frame, to));
    GPUME_TRY(source->options.motion ? take_motion(source) : GPUME_OK);
    *time_us = us;
fail:
    gpume_source_report_memory(source, status);
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
    return read_frame(source, plane ? &copy : NULL, time_us);
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

int gpume_source_view(struct gpume_source *source, struct gpume_luma_view *view, int64_t *time_us)
{
    return read_frame(source, view, time_us);
}

int gpume_source_skip(struct gpume_source *source, uint64_t index)
{
    int64_t time_us;
    int status = gpume_source_jump(source, index);
    gpume_source_report_memory(source, status);
    while (status == GPUME_OK && source->counts.delivered < index) {
        status = gpume_source_read(source, NULL, &time_us);
    }
    return status;
}

/* The container's word counts more than the codec's, but it does not pass through filters: after
 * one that changes the width it tells nothing. */
static AVRational aspect_of(const struct gpume_source *source, const AVFrame *frame)
{
    AVRational aspect = {0, 1};
    const AVRational whole = source->facts.aspect, own = frame->sample_aspect_ratio;
    const bool is_own = own.num > 0 && own.den > 0;
    const bool is_whole = whole.num > 0 && whole.den > 0;
    const bool fits =
        !source->filter || (!is_own && gpume_filter_keeps_width(source->filter, frame));
    if (is_own || (is_whole && fits)) {
        const AVRational said = is_whole && fits ? whole : own;
        av_reduce(&aspect.num, &aspect.den, said.num, said.den, INT32_MAX);
    }
    return aspect;
}

static void describe(const struct gpume_source *source, struct gpume_source_info *info)
{
    const AVFrame *frame = source->frame;
    const char *format = av_get_pix_fmt_name(frame->format);
    const AVRational before = source->facts.rate; /* 0/1: unknown */
    AVRational rate = source->filter ? gpume_filter_rate(source->filter) : before;
    const AVRational aspect = aspect_of(source, frame);
    uint64_t frames = source->facts.frames;
    if (rate.num <= 0 || rate.den <= 0) {
        rate = before;
    } else if (source->filter && before.num > 0) {
        const AVRational ratio = av_div_q(rate, before);
        frames = (uint64_t)av_rescale((int64_t)(frames < INT32_MAX ? frames : INT32_MAX), ratio.num,
            ratio.den > 0 ? ratio.den : 1);
    }
    *info = (struct gpume_source_info){
        .width = source->width,
        .height = source->height,
        .bits = source->bits,
        .rate_num = (uint32_t)rate.num,
        .rate_den = (uint32_t)rate.den,
        .aspect_num = (uint32_t)aspect.num,
        .aspect_den = (uint32_t)aspect.den,
        .frames = frames,
        .start_us = source->facts.start_us,
        .late = source->facts.late,
        .converted = !gpume_luma_is_there(frame),
        .full_range = gpume_luma_full_range(frame),
        .interlaced = gpume_luma_is_interlaced(frame),
        .progressive = source->facts.progressive,
        .stream = source->facts.stream,
        .streams = source->facts.streams,
        .list = source->facts.list,
    };
    const int threads = source->decoder->describe(
        source->decodes[source->path_index], info->decoder, sizeof info->decoder);
    gpume_log_write(&source->options.log, GPUME_LOG_INFO, "%s: decoder %s, %d thread%s",
        gpume_source_label(source), info->decoder, threads, threads == 1 ? "" : "s");
    snprintf(info->codec, sizeof info->codec, "%s", source->facts.codec);
    snprintf(info->pixel_format, sizeof info->pixel_format, "%s", format ? format : "unknown");
}

/* Decodes the first frame and keeps it. */
static int first_frame(struct gpume_source *source)
{
    int status = next_frame(source, source->frame);
    count_refused(source);
    if (status == GPUME_EOF && source->decoded > 0) {
        return gpume_log_fail(&source->options.log, GPUME_FORMAT,
            "--vf %s: lets no frame of %s through; correct the graph", source->options.filter,
            gpume_source_label(source));
    }
    if (status == GPUME_EOF) {
        return source->decoder->no_frame(source->decodes[source->path_index]);
    }
    if (status != GPUME_OK) {
        return status;
    }
    AVRational rate = source->facts.rate.num > 0 ? source->facts.rate : still_rate;
    source->time.step = av_inv_q(rate); /* a first frame without a time is at 0 */
    source->last_us = gpume_frame_time_next(&source->time, source->frame);
    GPUME_CHECK(gpume_limits_check_size(&source->options.trust, gpume_source_label(source),
        source->options.filter, source->frame->width, source->frame->height, &source->options.log));
    source->width = (uint32_t)source->frame->width;
    source->height = (uint32_t)source->frame->height;
    source->bits = gpume_luma_bits(source->frame);
    source->has_frame = true;
    return source->bits == 0 ? unusable(source, source->frame) : GPUME_OK;
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
    gpume_source_choose(source);
    if (options->colour) {
        GPUME_TRY(gpume_colour_frames_create(&source->colour, options->colour_first));
    }
    GPUME_TRY(gpume_hwaccel_open(&source->hwaccel, options->hwaccel, &source->options.log));
    source->frame = av_frame_alloc();
    GPUME_TRY(source->frame ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(open_paths(source));
    if (source->options.filter) {
        GPUME_TRY(open_filter(source));
    }
    GPUME_TRY(first_frame(source));
    describe(source, info);
    GPUME_TRY(gpume_limits_check_sides(gpume_input_label(source->options.paths[0]),
        source->options.filter, info->width, info->height, &source->options.log));
    info->label = gpume_input_label(options->paths[options->path_count - 1]);
    *result = source;
    return GPUME_OK;
fail:
    gpume_source_report_memory(source, status);
    gpume_source_close(&source);
    return status;
}

int gpume_source_take_colour(struct gpume_source *source, uint64_t index, struct gpume_plane *rgb)
{
    int status =
        gpume_colour_frames_take(source->colour, index, source->width, source->height, rgb);
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
        gpume_source_close_decode(source, source->decodes[i]);
        av_frame_free(&source->stills[i]);
    }
    gpume_hwaccel_close(&source->hwaccel);
    gpume_filter_close(&source->filter);
    gpume_luma_close(&source->luma);
    gpume_motion_finish(&source->motion);
    av_frame_free(&source->frame);
    free(source);
}
