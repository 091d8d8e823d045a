/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoder -> optional filter graph -> luma, one frame per call, on the caller's thread. Opening
 * decodes the first frame, because it determines the size and depth of all frames, and keeps it for
 * the first read. Two paths are two inputs of one frame each. source_y4m.c reads Y4M files that are
 * too large for FFmpeg.
 */
#include "base/status.h"
#include "media/colour.h"
#include "media/decode.h"
#include "media/filter.h"
#include "media/hwaccel.h"
#include "media/input.h"
#include "media/limits.h"
#include "media/luma.h"
#include "media/source.h"
#include "media/source_y4m.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/frame.h>
#include <libavutil/mathematics.h>
#include <libavutil/pixdesc.h>

static const AVRational microseconds = {1, 1000000};
static const AVRational still_rate = {25, 1}; /* the rate that FFmpeg gives numbered pictures */

struct gpume_source {
    struct gpume_source_y4m *y4m; /* if not NULL, replaces decoder, filter and luma */
    char *paths[2];
    uint32_t path_count, path_index; /* the one being opened or decoded */
    char *graph;
    int stream;
    uint32_t threads;
    struct gpume_trust trust;
    struct gpume_hwaccel *hwaccel; /* or NULL */
    struct gpume_decode *decodes[2];
    struct gpume_decode_facts facts;
    struct gpume_filter *filter;
    struct gpume_luma *luma;
    struct gpume_colour_frames *colour; /* NULL: not requested */
    AVFrame *frame;                     /* the first one, until it is read */
    bool has_frame, ended, warned;
    int64_t last_us, known_us, since; /* a frame without a time is `since` frames after known_us */
    AVRational frame_step;            /* seconds */
    uint32_t width, height, bits;
    struct gpume_source_counts counts;
    uint64_t decoded; /* frames, before the filter */
    atomic_bool cancelled;
    struct gpume_log log;
};

static const char *label_of(const struct gpume_source *source)
{
    return gpume_input_label(source->paths[source->path_index]);
}

/* Both inputs are opened before any work, so that a wrong second name is reported at once. */
static int open_paths(struct gpume_source *source)
{
    uint64_t bytes = 0;
    for (source->path_index = 0; source->path_index < source->path_count; source->path_index++) {
        const struct gpume_decode_options options = {
            .path = source->paths[source->path_index],
            .stream = source->stream,
            .threads = source->threads,
            .hwaccel = source->hwaccel,
            .trust = source->trust,
            /* Filters see chroma and may depend on the format. */
            .whole = source->graph != NULL || source->colour != NULL,
            .cancel = &source->cancelled,
            .log = source->log,
        };
        struct gpume_decode_facts facts;
        int status = gpume_decode_open(&source->decodes[source->path_index], &options, &facts);
        bytes += status == GPUME_OK ? facts.frame_bytes : 0;
        status = status ? status
                        : gpume_limits_check_bytes(&source->trust, label_of(source), bytes,
                              source->path_index + 1, &source->log);
        if (status != GPUME_OK) {
            return status;
        }
        if (source->path_index == 0) {
            source->facts = facts;
        }
    }
    source->path_index = 0;
    if (source->path_count > 1) {
        source->facts.time_base = av_inv_q(still_rate);
        source->facts.rate = still_rate;
        source->facts.frames = source->path_count;
    }
    return GPUME_OK;
}

/* Decodes the next of two stills: the first frame of its file, with the time of its index. */
static int decode_still(struct gpume_source *source, AVFrame *frame)
{
    if (source->decoded == source->path_count) {
        return GPUME_EOF;
    }
    source->path_index = (uint32_t)source->decoded;
    int status = gpume_decode_next(source->decodes[source->path_index], frame);
    if (status == GPUME_EOF) {
        return gpume_decode_no_frame(source->decodes[source->path_index]);
    }
    frame->pts = source->path_index;
    return status;
}

static int decode_frame(struct gpume_source *source, AVFrame *frame)
{
    int status = source->path_count > 1 ? decode_still(source, frame)
                                        : gpume_decode_next(source->decodes[0], frame);
    source->decoded += status == GPUME_OK;
    return status;
}

static int open_filter(struct gpume_source *source)
{
    const struct gpume_filter_options options = {
        .graph = source->graph,
        .time_base = source->facts.time_base,
        .rate = source->facts.rate,
        .threads = source->threads,
        .log = source->log,
    };
    return gpume_filter_open(&source->filter, &options);
}

/* The next frame, filtered, with its time in *time_base. */
static int next_frame(struct gpume_source *source, AVFrame *frame, AVRational *time_base)
{
    *time_base = source->facts.time_base;
    if (!source->filter) {
        return decode_frame(source, frame);
    }
    for (;;) {
        if (atomic_load(&source->cancelled)) {
            return GPUME_CANCELLED;
        }
        int status = gpume_filter_pull(source->filter, frame);
        if (status != GPUME_AGAIN) {
            *time_base = gpume_filter_time_base(source->filter);
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

static int64_t time_of(struct gpume_source *source, const AVFrame *frame, AVRational time_base)
{
    int64_t us = INT64_MIN;
    if (frame->pts != AV_NOPTS_VALUE && time_base.num > 0 && time_base.den > 0) {
        us = av_rescale_q(frame->pts, time_base, microseconds);
    }
    if (us == INT64_MIN) { /* unknown, or beyond what 64 bits hold */
        const int64_t after = av_rescale_q(source->since, source->frame_step, microseconds);
        const bool fits = after >= 0 && source->known_us < INT64_MAX - after;
        us = fits ? source->known_us + after : source->known_us;
    } else {
        source->known_us = us;
        source->since = 0;
    }
    source->since++;
    source->last_us = us;
    return us;
}

static void count_refused(struct gpume_source *source)
{
    source->counts.refused = 0;
    for (uint32_t i = 0; i < source->path_count; i++) {
        source->counts.refused += gpume_decode_refused(source->decodes[i]);
    }
}

void gpume_source_warn(struct gpume_source *source)
{
    for (uint32_t i = 0; i < source->path_count && !source->y4m && !source->warned; i++) {
        gpume_decode_warn(source->decodes[i]);
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
        gpume_log_write(&source->log, GPUME_LOG_WARNING,
            "%s: frame %" PRIu64 " is %dx%d with %u bits, the first is %ux%u with %u: it and others"
            " like it are scaled to the first",
            label_of(source), source->counts.delivered, frame->width, frame->height,
            gpume_luma_bits(frame), source->width, source->height, source->bits);
    }
}

static int unusable(struct gpume_source *source, const AVFrame *frame)
{
    const char *name = av_get_pix_fmt_name(frame->format);
    return gpume_log_fail(&source->log, GPUME_FORMAT,
        "%s: pixel format %s cannot be converted to luma; convert the file to another format",
        label_of(source), name ? name : "unknown");
}

static int deliver(
    struct gpume_source *source, const AVFrame *frame, const struct gpume_plane *plane)
{
    uint32_t bits = gpume_luma_bits(frame);
    if (bits == 0) {
        return unusable(source, frame);
    }
    if ((uint32_t)frame->width != source->width || (uint32_t)frame->height != source->height ||
        bits != source->bits) {
        warn_scaled(source, frame);
    }
    int status = plane ? gpume_luma_write(source->luma, frame, plane) : GPUME_OK;
    if (status == GPUME_UNSUPPORTED) {
        return unusable(source, frame);
    }
    if (status == GPUME_OK && plane && source->colour) {
        status = gpume_colour_frames_keep(source->colour, source->counts.delivered, frame);
    }
    source->counts.delivered += status == GPUME_OK;
    return status;
}

static int read_y4m(struct gpume_source *source, const struct gpume_plane *plane, int64_t *time_us)
{
    struct gpume_source_counts counts;
    gpume_source_y4m_get_counts(source->y4m, &counts);
    int status = gpume_source_y4m_read(source->y4m, plane, time_us);
    if (status == GPUME_OK && plane && source->colour) {
        status = gpume_colour_frames_keep_y4m(source->colour, counts.delivered, source->y4m);
    }
    return status;
}

static void report_memory(const struct gpume_source *source, int status)
{
    if (status == GPUME_NOMEM) {
        gpume_log_write(&source->log, GPUME_LOG_ERROR,
            "%s: out of memory while decoding; give a smaller picture size or fewer --threads",
            source->path_count > 0 ? label_of(source) : "input");
    }
}

int gpume_source_read(
    struct gpume_source *source, const struct gpume_plane *plane, int64_t *time_us)
{
    int status = GPUME_OK;
    if (atomic_load(&source->cancelled)) {
        return GPUME_CANCELLED;
    }
    if (source->y4m) {
        status = read_y4m(source, plane, time_us);
        report_memory(source, status);
        return status;
    }
    if (source->ended) {
        return GPUME_EOF;
    }
    int64_t us = source->last_us;
    if (!source->has_frame) {
        AVRational time_base;
        status = next_frame(source, source->frame, &time_base);
        count_refused(source);
        if (status == GPUME_EOF) {
            return end(source);
        }
        GPUME_TRY(status);
        us = time_of(source, source->frame, time_base);
    }
    source->has_frame = false;
    GPUME_TRY(deliver(source, source->frame, plane));
    *time_us = us;
fail:
    report_memory(source, status);
    av_frame_unref(source->frame);
    return status;
}

static void clamp_rate(AVRational rate, struct gpume_source_info *info)
{
    bool known = rate.num > 0 && rate.den > 0;
    info->rate_num = known ? (uint32_t)rate.num : 0;
    info->rate_den = known ? (uint32_t)rate.den : 1;
}

static void describe(const struct gpume_source *source, struct gpume_source_info *info)
{
    const AVFrame *frame = source->frame;
    const char *format = av_get_pix_fmt_name(frame->format);
    AVRational rate = source->filter ? gpume_filter_rate(source->filter) : source->facts.rate;
    *info = (struct gpume_source_info){
        .width = source->width,
        .height = source->height,
        .bits = source->bits,
        .frames = source->facts.frames,
        .converted = !gpume_luma_is_there(frame),
        .full_range = gpume_luma_full_range(frame),
    };
    clamp_rate(rate, info);
    if (info->rate_num == 0) {
        clamp_rate(source->facts.rate, info);
    }
    AVRational before = source->facts.rate;
    if (source->filter && rate.num > 0 && rate.den > 0 && before.num > 0) {
        AVRational ratio = av_div_q(rate, before);
        int64_t frames = (int64_t)(info->frames < INT32_MAX ? info->frames : INT32_MAX);
        info->frames = (uint64_t)av_rescale(frames, ratio.num, ratio.den > 0 ? ratio.den : 1);
    }
    const struct gpume_decode *decode = source->decodes[source->path_index];
    gpume_decode_describe(decode, info->decoder, sizeof info->decoder);
    gpume_log_write(&source->log, GPUME_LOG_INFO, "%s: decoder %s, %d thread%s", label_of(source),
        info->decoder, gpume_decode_threads(decode), gpume_decode_threads(decode) == 1 ? "" : "s");
    snprintf(info->codec, sizeof info->codec, "%s", source->facts.codec);
    snprintf(info->pixel_format, sizeof info->pixel_format, "%s", format ? format : "unknown");
}

/* Decodes the first frame and keeps it. */
static int first_frame(struct gpume_source *source)
{
    AVRational time_base;
    int status = next_frame(source, source->frame, &time_base);
    count_refused(source);
    if (status == GPUME_EOF && source->decoded > 0) {
        return gpume_log_fail(&source->log, GPUME_FORMAT,
            "--vf %s: lets no frame of %s through; correct the graph", source->graph,
            label_of(source));
    }
    if (status == GPUME_EOF) {
        return gpume_decode_no_frame(source->decodes[source->path_index]);
    }
    if (status != GPUME_OK) {
        return status;
    }
    AVRational rate = source->facts.rate.num > 0 ? source->facts.rate : still_rate;
    source->frame_step = av_inv_q(rate); /* a first frame without a time is at 0 */
    source->last_us = time_of(source, source->frame, time_base);
    status = gpume_limits_check_size(&source->trust, label_of(source), source->graph,
        source->frame->width, source->frame->height, &source->log);
    if (status != GPUME_OK) {
        return status;
    }
    source->width = (uint32_t)source->frame->width;
    source->height = (uint32_t)source->frame->height;
    source->bits = gpume_luma_bits(source->frame);
    source->has_frame = true;
    return source->bits == 0 ? unusable(source, source->frame) : GPUME_OK;
}

static int copy_options(struct gpume_source *source, const struct gpume_source_options *options)
{
    source->log = options->log;
    for (uint32_t i = 0; i < options->path_count && i < 2; i++) {
        source->paths[i] = strdup(options->paths[i]);
        if (!source->paths[i]) {
            return GPUME_NOMEM;
        }
        source->path_count++;
    }
    source->stream = options->stream;
    source->threads = options->threads;
    source->trust = options->trust;
    source->graph = options->filter ? strdup(options->filter) : NULL;
    return options->filter && !source->graph ? GPUME_NOMEM : GPUME_OK;
}

static int open_lavf(struct gpume_source *source, struct gpume_source_info *info)
{
    int status = GPUME_OK;
    GPUME_TRY(gpume_luma_create(&source->luma));
    source->frame = av_frame_alloc();
    GPUME_TRY(source->frame ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(open_paths(source));
    if (source->graph) {
        GPUME_TRY(open_filter(source));
    }
    GPUME_TRY(first_frame(source));
    describe(source, info);
fail:
    return status;
}

static int open_y4m(struct gpume_source *source, const struct gpume_source_options *options,
    struct gpume_source_info *info)
{
    struct gpume_source_options kept = *options;
    for (uint32_t i = 0; i < source->path_count; i++) {
        kept.paths[i] = source->paths[i];
    }
    int status = gpume_source_y4m_open(&source->y4m, &kept, &source->cancelled, info);
    if (status == GPUME_OK) {
        source->width = info->width;
        source->height = info->height;
    }
    return status;
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
    GPUME_TRY(copy_options(source, options));
    if (options->colour) {
        GPUME_TRY(gpume_colour_frames_create(&source->colour, options->colour_first));
    }
    GPUME_TRY(gpume_hwaccel_open(&source->hwaccel, options->hwaccel, &source->log));
    GPUME_TRY(gpume_source_y4m_wants(options) ? open_y4m(source, options, info)
                                              : open_lavf(source, info));
    GPUME_TRY(gpume_limits_check_sides(gpume_input_label(source->paths[0]), source->graph,
        info->width, info->height, &source->log));
    info->label = gpume_input_label(options->paths[options->path_count - 1]);
    *result = source;
    return GPUME_OK;
fail:
    report_memory(source, status);
    gpume_source_close(&source);
    return status;
}

int gpume_source_take_colour(struct gpume_source *source, uint64_t index, struct gpume_plane *rgb)
{
    int status = gpume_colour_frames_take(
        source->colour, index, source->y4m, source->width, source->height, rgb);
    if (status == GPUME_NOMEM) {
        gpume_log_write(&source->log, GPUME_LOG_ERROR,
            "%s: out of memory while converting frame %" PRIu64 " to colours", source->paths[0],
            index);
    } else if (status == GPUME_UNSUPPORTED || status == GPUME_INVALID) {
        gpume_log_write(&source->log, GPUME_LOG_ERROR,
            "%s: frame %" PRIu64 " cannot be converted to colours; convert the file to another "
            "pixel format",
            source->paths[0], index);
    }
    return status;
}

void gpume_source_cancel(struct gpume_source *source)
{
    atomic_store(&source->cancelled, true);
}

void gpume_source_get_counts(const struct gpume_source *source, struct gpume_source_counts *counts)
{
    if (source->y4m) {
        gpume_source_y4m_get_counts(source->y4m, counts);
        return;
    }
    *counts = source->counts;
}

void gpume_source_close(struct gpume_source **pointer)
{
    struct gpume_source *source = *pointer;
    if (!source) {
        return;
    }
    *pointer = NULL;
    gpume_source_y4m_close(&source->y4m);
    gpume_colour_frames_destroy(&source->colour);
    gpume_decode_close(&source->decodes[0]);
    gpume_decode_close(&source->decodes[1]);
    gpume_hwaccel_close(&source->hwaccel);
    gpume_filter_close(&source->filter);
    gpume_luma_destroy(&source->luma);
    av_frame_free(&source->frame);
    free(source->graph);
    free(source->paths[0]);
    free(source->paths[1]);
    free(source);
}
