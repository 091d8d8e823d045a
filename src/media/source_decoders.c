/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens the decoders of a source, and reaches frames of one input faster than one by one. */
#include "media/source.h"

#include "base/grid.h"
#include "base/status.h"
#include "base/workers.h"
#include "media/coded_picture.h"
#include "media/decode_y4m.h"
#include "media/hwaccel.h"
#include "media/input.h"
#include "media/segments/segments.h"
#include "media/source_state.h"

#include <stdlib.h>

#include <libavutil/frame.h>

#define COPY_THREADS_MAX 8u /* more gain nothing */

const char *gpume_source_label(const struct gpume_source *source)
{
    return gpume_input_label(source->options.paths[source->path_index]);
}

void gpume_source_report_memory(const struct gpume_source *source, int status)
{
    if (status == GPUME_NOMEM) {
        gpume_log_write(&source->options.log, GPUME_LOG_ERROR,
            "%s: out of memory while decoding; give a smaller picture size or fewer --threads",
            gpume_source_label(source));
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

void gpume_source_choose(struct gpume_source *source)
{
    const struct gpume_source_options *options = &source->options;
    const uint32_t copiers = options->threads ? options->threads : gpume_workers_processors() / 2;
    source->decoder = options->decoder  ? options->decoder
                      : is_raw(options) ? &gpume_decode_y4m
                                        : &gpume_decode_lavf;
    source->luma.bands.threads = gpume_min_u32(copiers, COPY_THREADS_MAX);
}

/* One file, and nothing that depends on where decoding begins. */
static bool is_plain(const struct gpume_source *source)
{
    const struct gpume_source_options *options = &source->options;
    return options->path_count == 1 && !options->filter && !options->motion &&
           gpume_input_is_file(options->paths[0]);
}

int gpume_source_open_path(struct gpume_source *source, struct gpume_decode_facts *facts)
{
    const struct gpume_source_options *wanted = &source->options;
    void **decode = &source->decodes[source->path_index];
    *decode = calloc(1, source->decoder->bytes);
    const struct gpume_decode_options options = {
        .path = wanted->paths[source->path_index],
        .stream = wanted->stream,
        .threads = wanted->threads,
        .copy_threads = source->luma.bands.threads,
        .hwaccel = source->hwaccel,
        .graph = wanted->filter,
        .motion = wanted->motion,
        .whole = wanted->filter || wanted->colour, /* filters see chroma and the format */
        .divisible = wanted->divisible && is_plain(source),
        .first = source->decodes[0],
        .trust = wanted->trust,
        .cancel = &source->cancelled,
        .log = wanted->log,
    };
    return *decode ? source->decoder->open(*decode, &options, facts) : GPUME_NOMEM;
}

void gpume_source_close_decode(const struct gpume_source *source, void *decode)
{
    if (decode) {
        source->decoder->close(decode);
        free(decode);
    }
}

/* Skipping fewer frames gains nothing: the input is opened again for it. */
#define SKIP_MIN 24u

static bool may_jump(const struct gpume_source *source, uint64_t index)
{
    return index >= SKIP_MIN && source->has_frame && source->counts.delivered == 0 &&
           source->counts.refused == 0 && source->decoder->seek && is_plain(source);
}

static int jump(struct gpume_source *source, uint64_t index)
{
    struct gpume_decode_facts facts;
    AVFrame *frame = av_frame_alloc();
    void *before = source->decodes[0];
    int status = frame ? GPUME_OK : GPUME_NOMEM;
    source->decodes[0] = NULL;
    GPUME_TRY(status);
    GPUME_TRY(gpume_source_open_path(source, &facts));
    GPUME_TRY(source->decoder->seek(source->decodes[0], index, source->frame->pts, frame));
    av_frame_unref(source->frame);
    av_frame_move_ref(source->frame, frame);
    source->frame->time_base = source->facts.time_base;
    source->last_us = gpume_frame_time_next(&source->time, source->frame);
    source->counts.delivered = index;
    source->decoded = index + 1;
    if (source->division.decoders > 1) {
        source->decoder->divide(source->decodes[0], &source->division);
    }
fail:
    av_frame_free(&frame);
    gpume_source_close_decode(source, status == GPUME_OK ? before : source->decodes[0]);
    source->decodes[0] = status == GPUME_OK ? source->decodes[0] : before;
    return status == GPUME_CANCELLED || status == GPUME_NOMEM ? status : GPUME_OK;
}

int gpume_source_jump(struct gpume_source *source, uint64_t index)
{
    return may_jump(source, index) ? jump(source, index) : GPUME_OK;
}

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
           : options->filter                         ? "filters take frames in their order"
           : options->motion                         ? "motion vectors are taken from it"
           : !gpume_input_is_file(options->paths[0]) ? "it is no file"
           : !source->decoder->divide                ? "it is not compressed"
                                                     : NULL;
}

/* Although nothing spoke against it before packets were looked at. */
static const char *why_refused(const struct gpume_source *source)
{
    return gpume_coded_pictures_know(source->facts.codec)
               ? "times are missing or unordered, no decoder can begin within it, or memory allows "
                 "no other"
               : "only H.264, HEVC, MPEG-2 and VP9 are divided";
}

void gpume_source_divide(struct gpume_source *source, struct gpume_division *division)
{
    const char *why = why_not_divided(source);
    const uint64_t all = source->facts.frames, wanted = division->length;
    division->length = all > 0 && (wanted == 0 || all < wanted) ? all : wanted;
    if (division->decoders > 1 && !why) {
        source->decoder->divide(source->decodes[0], division);
        source->division = *division;
        why = why_refused(source);
    } else {
        division->decoders = 1;
        division->bytes = 0;
    }
    if (division->decoders == 1 && division->asked) {
        gpume_log_write(&source->options.log, GPUME_LOG_WARNING, "%s: has one decoder: %s",
            gpume_source_label(source), why);
    }
}
