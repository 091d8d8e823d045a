/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume qpmap: the QP offsets of the macroblock tree in the formats of encoders that take maps.
 * Every frame is analysed as a reference of the next one, since these encoders choose their own
 * structure of B frames; so the maps come in display order. Main thread only, but maps are written
 * by the one that decides (encode/analysis.h).
 */
#include "base/base.h"
#include "encode/analysis.h"
#include "encode/encoder.h"
#include "encode/half.h"
#include "encode/qp_map.h"
#include "job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* SVT-AV1 expresses a map by segments, of which a frame has 8, and in indices of AV1's quantizer.
 * In the middle of its range 7 of them change the step as much as one QP, by a sixth of an
 * octave. */
#define AV1_LEVELS 8u
#define AV1_INDICES 7
#define AV1_INDEX_MAX 255

struct qpmap_options {
    struct gpume_video_options video;
    enum { KVAZAAR, SVT_AV1 } format;
    uint32_t side; /* pixels; 0: not given */
    uint32_t rc_lookahead;
    double aq_strength, qcomp;
};

struct qpmap {
    struct gpume_cli_job job;
    const struct qpmap_options *options;
    struct gpume_analysis *analysis;
    uint32_t per_square; /* blocks across a square */
    int16_t *offsets;    /* of a frame */
};

/* In whole units, of which a QP has `by`. */
static int32_t scale(int16_t offset, int32_t by)
{
    return (int32_t)gpume_div_nearest(offset * by, 256);
}

static int32_t av1_index(int16_t offset)
{
    const int32_t index = scale(offset, AV1_INDICES);
    return index > AV1_INDEX_MAX ? AV1_INDEX_MAX : index < -AV1_INDEX_MAX ? -AV1_INDEX_MAX : index;
}

static int write_numbers(struct gpume_out *out, const int16_t *numbers, uint32_t count)
{
    char text[16];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(text, sizeof(text), "%s%d", i > 0 ? " " : "", numbers[i]);
        GPUME_CHECK(gpume_out_text(out, text));
    }
    return gpume_out_text(out, "\n");
}

/* Width and height of the map, then its rows. */
static int write_kvazaar(struct qpmap *qpmap, uint32_t columns, uint32_t rows)
{
    char head[32];
    snprintf(head, sizeof(head), "%" PRIu32 " %" PRIu32 "\n", columns, rows);
    GPUME_CHECK(gpume_out_text(qpmap->job.outputs[0].out, head));
    for (uint32_t y = 0; y < rows; y++) {
        GPUME_CHECK(write_numbers(
            qpmap->job.outputs[0].out, qpmap->offsets + (size_t)y * columns, columns));
    }
    return GPUME_OK;
}

/* The frame's number and the map in one line. Frames keep the quality that SVT-AV1 gives them. */
static int write_svt_av1(struct qpmap *qpmap, const struct gpume_decision *decision, uint32_t count)
{
    char head[32];
    gpume_qp_map_limit(qpmap->offsets, count, AV1_LEVELS);
    gpume_qp_map_centre(qpmap->offsets, decision->blocks_x, decision->blocks_y, qpmap->per_square);
    snprintf(head, sizeof(head), "%" PRIu64 " ", decision->display);
    GPUME_CHECK(gpume_out_text(qpmap->job.outputs[0].out, head));
    return write_numbers(qpmap->job.outputs[0].out, qpmap->offsets, count);
}

static int take_decision(void *opaque, const struct gpume_decision *decision)
{
    struct qpmap *qpmap = opaque;
    if (gpume_signals_caught()) {
        return GPUME_CANCELLED;
    }
    const bool av1 = qpmap->options->format == SVT_AV1;
    const uint32_t columns = gpume_qp_map_squares(decision->blocks_x, qpmap->per_square);
    const uint32_t rows = gpume_qp_map_squares(decision->blocks_y, qpmap->per_square);
    gpume_qp_map_make(decision, qpmap->per_square, qpmap->offsets);
    for (uint32_t i = 0; i < columns * rows; i++) {
        qpmap->offsets[i] =
            (int16_t)(av1 ? av1_index(qpmap->offsets[i]) : scale(qpmap->offsets[i], 1));
    }
    return av1 ? write_svt_av1(qpmap, decision, columns * rows)
               : write_kvazaar(qpmap, columns, rows);
}

static int analyse_map_frame(void *opaque, const struct gpume_plane *luma, int64_t time_us)
{
    struct qpmap *qpmap = opaque;
    (void)time_us;
    return gpume_analysis_put(qpmap->analysis, luma);
}

static enum gpume_exit open_map_analysis(void *opaque)
{
    struct qpmap *qpmap = opaque;
    const struct qpmap_options *options = qpmap->options;
    const struct gpume_source_info *info = &qpmap->job.info;
    struct gpume_analysis_params params = {
        .lookahead = gpume_job_lookahead(&qpmap->job),
        .decide = take_decision,
        .opaque = qpmap,
    };
    struct gpume_encode_options *wanted = &params.options;
    gpume_encode_options_default(wanted, gpume_encoders[0]);
    wanted->bframes = wanted->b_adapt = wanted->b_pyramid = 0;
    wanted->scenecut = 0;
    wanted->rc_lookahead = options->rc_lookahead;
    wanted->horizon = options->rc_lookahead + 1; /* the frame that is decided is one of them */
    wanted->qcomp = options->qcomp;
    wanted->aq_mode = options->aq_strength > 0 ? wanted->aq_mode : 0;
    wanted->aq_strength = options->aq_strength;
    int status =
        gpume_encode_options_settle(wanted, info->rate_num, info->rate_den, &gpume_console);
    wanted->keyint = UINT32_MAX; /* the encoder has intra frames elsewhere */
    const uint64_t blocks_x = gpume_div_up(info->width, GPUME_SQUARE);
    const uint64_t blocks_y = gpume_div_up(info->height, GPUME_SQUARE);
    qpmap->per_square = (options->side ? options->side : 64) / GPUME_SQUARE;
    qpmap->offsets = malloc(blocks_x * blocks_y * sizeof(*qpmap->offsets));
    if (!qpmap->offsets) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory for the QP offsets of a frame");
    }
    status = status ? status : gpume_analysis_open(&qpmap->analysis, &params);
    return gpume_job_opened(
        &qpmap->job, status, status ? NULL : gpume_analysis_engine(qpmap->analysis));
}

static enum gpume_exit finish_maps(void *opaque)
{
    const struct qpmap *qpmap = opaque;
    return gpume_exit_of_engine(gpume_analysis_finish(qpmap->analysis));
}

static enum gpume_exit conclude_qpmap(void *client, FILE *stream)
{
    const struct gpume_cli_job *job = &((const struct qpmap *)client)->job;
    if (stream) {
        fprintf(stream, "maps         of %" PRIu64 " frame%s\n", job->frames,
            gpume_plural(job->frames));
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit run_qpmap(const void *opaque)
{
    static const struct gpume_job_work work = {.open = open_map_analysis,
        .take = analyse_map_frame,
        .finish = finish_maps,
        .conclude = conclude_qpmap};
    const struct qpmap_options *options = opaque;
    struct qpmap qpmap = {.options = options, .job = gpume_job_of(&options->video)};
    const enum gpume_exit result = gpume_job_run(&qpmap.job, &work, &qpmap);
    gpume_analysis_close(&qpmap.analysis);
    gpume_job_close(&qpmap.job);
    free(qpmap.offsets);
    return result;
}

#define OPTIONS struct qpmap_options

static const char *const formats[] = {"kvazaar", "svt-av1", NULL};

static struct gpume_option table[] = {
    {.heading = "Map"},
    {GPUME_ROW_CHOICE("format", "kvazaar|svt-av1", OPTIONS, format, formats),
        .help = "kvazaar (also uvg266; for --roi) or svt-av1 (for --roi-map-file) (default "
                "kvazaar)"},
    {GPUME_ROW_NUMBER("side", OPTIONS, side, 16, 64), .step = 16,
        .help = "side of a square with one offset, 16, 32, 48 or 64 pixels; svt-av1 needs 64 "
                "(default 64)"},
    {GPUME_ROW_NUMBER("rc-lookahead", OPTIONS, rc_lookahead, 1, GPUME_RC_LOOKAHEAD_MAX),
        .help = "count later uses of a block over at least N frames, 1 to 250 (default 60)"},
    {GPUME_ROW_REAL("qcomp", "Q", OPTIONS, qcomp, 0, 1),
        .help = "strength: 1 gives no offsets, 0 the largest ones (default 0.6)"},
    {GPUME_ROW_REAL("aq-strength", "S", OPTIONS, aq_strength, 0, GPUME_AQ_STRENGTH_MAX),
        .help = "add the offsets of x264's adaptive quantization, at this strength (default 0)"},
    GPUME_OPTIONS_VIDEO(OPTIONS, video),
    GPUME_OPTIONS_VIDEO_LAST(OPTIONS, video),
};

static void set_qpmap_defaults(void *opaque)
{
    struct qpmap_options *options = opaque;
    gpume_video_options_default(&options->video);
    options->rc_lookahead = GPUME_HORIZON;
    options->qcomp = 0.6;
}

static int check_qpmap_options(void *opaque, const struct gpume_line *line)
{
    const struct qpmap_options *options = opaque;
    if (options->format == SVT_AV1 && options->side > 0 && options->side != 64) {
        return gpume_refuse(
            GPUME_INVALID, "--side %" PRIu32 ": must be 64 with --format svt-av1", options->side);
    }
    GPUME_CHECK(gpume_name_check_kind(options->video.output, "a map of QP offsets",
        options->format == SVT_AV1 ? ".map" : ".roi"));
    return gpume_video_options_check(opaque, line);
}

const struct gpume_command gpume_qpmap_command = {
    .name = "qpmap",
    .summary = "write QP offsets that give reused blocks more quality",
    .usage = "qpmap INPUT [-o FILE] [options]",
    .about = "Measures how much of each block later frames reuse, and writes QP offsets that give "
             "reused blocks more quality, for encoders that have no such analysis but read such a "
             "file. They call it an ROI map or QP map.",
    GPUME_COMMAND_OPTIONS(table, struct qpmap_options),
    GPUME_COMMAND_ONE_VIDEO,
    .catches_signals = true,
    .set_defaults = set_qpmap_defaults,
    .check = check_qpmap_options,
    .run = run_qpmap,
};
