/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume filter: every picture is searched in its neighbours, then averaged with what they predict
 * (src/filter/temporal.h). Main thread only: it sends a frame, and receives fields when it can send
 * no more; a picture is filtered and written when the first field of the next one comes.
 */
#include "filter/temporal.h"

#include "base/grow.h"
#include "base/status.h"
#include "commands.h"
#include "encode/analysis.h"
#include "encode/encoder.h"
#include "host.h"
#include "job.h"
#include "library_log.h"
#include "media/picture.h"
#include "options/types.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLANES GPUME_TEMPORAL_PLANES
#define QP_MAX 51
#define RUN_MAX 256u /* frames that are one picture */
#define RING (2 * GPUME_TEMPORAL_RADIUS_MAX + 1 + GPUME_TEMPORAL_AHEAD)

struct filter_noise {
    bool given;
    double sigma;
};

struct filter_options {
    struct gpume_video_options video;
    struct gpume_place start;
    int64_t duration_us; /* 0: not given */
    double strength;
    struct filter_noise noise;
    const struct gpume_encoder *encoder; /* NULL: not given */
    double crf;                          /* 0: not given, as is qp */
    uint32_t qp;
    uint32_t radius, window_x, window_y;
};

/* Repeated frames are one picture; each has its time. */
struct repeats {
    uint32_t count;
    enum gpume_frame_type type; /* that of the frame which others refer to most */
    int64_t times_us[RUN_MAX];
};

struct filter {
    struct gpume_cli_job job;
    const struct filter_options *options;
    struct gpume_temporal_params params;
    struct gpume_temporal_choice choice;
    struct gpume_temporal *temporal;
    struct gpume_picture *picture;
    struct gpume_plane chroma[2][2]; /* of the last frame, and of the one before it */
    struct gpume_plane last[PLANES]; /* frame */
    struct repeats runs[RING];       /* of pictures that are not written yet */
    uint64_t put, written;           /* pictures */
    double variances;                /* of luma's noise, in squared steps of 8 bits, added up */
    uint64_t references;
    uint8_t *types; /* of all frames, with --for */
    size_t type_count, type_room;
};

/* With --for: what the encoder's quantizer leaves no trace of, at its QP, counts as noise: half of
 * its usual error. In 1/100 of a step of 8 bits: 100 * 2^(2 (QP - 22) / 15). By measurement. */
static const uint16_t least_sigmas[QP_MAX + 1] = {13, 14, 16, 17, 19, 21, 23, 25, 27, 30, 33, 36,
    40, 44, 48, 52, 57, 63, 69, 76, 83, 91, 100, 110, 120, 132, 145, 159, 174, 191, 209, 230, 252,
    276, 303, 332, 365, 400, 439, 481, 528, 579, 635, 696, 764, 838, 919, 1008, 1106, 1213, 1330,
    1459};

/* --- fields in, pictures out */

static int write_picture(struct filter *filter)
{
    struct gpume_temporal_facts facts;
    const struct gpume_plane *planes;
    const struct repeats *run = &filter->runs[filter->written++ % RING];
    const uint32_t bits = filter->params.bits < 10 ? filter->params.bits : 10;
    const struct filter_options *options = filter->options;
    struct gpume_temporal_choice choice = filter->choice;
    if (options->encoder && run->type != GPUME_FRAME_B) {
        choice.least = least_sigmas[options->qp ? options->qp : (uint32_t)lround(options->crf)];
    }
    gpume_temporal_filter(filter->temporal, &choice, &planes, &facts);
    filter->variances += ldexp((double)facts.variance[0] / 256, -2 * (int)(bits - 8));
    filter->references += facts.references;
    for (uint32_t i = 0; i < run->count; i++) {
        GPUME_CHECK(gpume_picture_write_planes(filter->picture, planes, run->times_us[i]));
    }
    return GPUME_OK;
}

/* Takes a field, if there is one. */
static int receive_field(struct filter *filter)
{
    const struct gpume_field *field = NULL;
    int status = gpume_receive(filter->job.ctx, &field, 0);
    while (status == GPUME_OK && filter->written < field->frame) {
        status = write_picture(filter);
    }
    if (status == GPUME_OK) {
        gpume_temporal_add(filter->temporal, field);
    }
    gpume_field_release(&field);
    return status;
}

static int send_picture(struct filter *filter, const struct gpume_plane *planes, int64_t time_us)
{
    while (!gpume_temporal_has_room(filter->temporal)) {
        GPUME_CHECK(filter->job.ctx ? receive_field(filter) : write_picture(filter));
    }
    int status = GPUME_OK;
    while (filter->job.ctx &&
           (status = gpume_send_plane(filter->job.ctx, planes, time_us)) == GPUME_AGAIN) {
        GPUME_CHECK(receive_field(filter));
    }
    GPUME_CHECK(status);
    gpume_temporal_put(filter->temporal, planes);
    filter->runs[filter->put++ % RING] = (struct repeats){.type = GPUME_FRAME_B};
    return GPUME_OK;
}

static bool is_repeated(const struct filter *filter, const struct gpume_plane *planes)
{
    bool same = filter->put > 0;
    for (uint32_t p = 0; p < (filter->params.chroma ? PLANES : 1) && same; p++) {
        const struct gpume_plane *a = &planes[p], *b = &filter->last[p];
        const size_t bytes = (size_t)a->width * (a->bits > 8 ? 2 : 1);
        for (uint32_t y = 0; y < a->height && same; y++) {
            same = memcmp((const uint8_t *)a->data + (ptrdiff_t)y * a->stride,
                       (const uint8_t *)b->data + (ptrdiff_t)y * b->stride, bytes) == 0;
        }
    }
    return same;
}

static int take_filter_frame(void *client, const struct gpume_plane *luma, int64_t time_us)
{
    struct filter *filter = client;
    struct gpume_cli_job *job = &filter->job;
    struct gpume_plane planes[PLANES] = {*luma};
    if (filter->params.chroma) {
        const struct gpume_plane *chroma = filter->chroma[job->frames % 2];
        GPUME_CHECK(gpume_source_take_chroma(job->source, job->skip + job->frames - 1, chroma));
        planes[1] = chroma[0];
        planes[2] = chroma[1];
    }
    struct repeats *run = &filter->runs[(filter->put + RING - 1) % RING];
    if (!is_repeated(filter, planes) || run->count == RUN_MAX) {
        GPUME_CHECK(send_picture(filter, planes, time_us));
        run = &filter->runs[(filter->put + RING - 1) % RING];
    }
    if (job->frames <= filter->type_count && filter->types[job->frames - 1] < run->type) {
        run->type = (enum gpume_frame_type)filter->types[job->frames - 1];
    }
    run->times_us[run->count++] = time_us;
    memcpy(filter->last, planes, sizeof(planes));
    return GPUME_OK;
}

static enum gpume_exit finish_filter(void *client)
{
    struct filter *filter = client;
    int status = filter->job.ctx ? gpume_finish(filter->job.ctx) : GPUME_EOF;
    while (status == GPUME_OK) {
        status = receive_field(filter);
    }
    if (status != GPUME_EOF) {
        return gpume_exit_of_engine(status);
    }
    status = GPUME_OK;
    while (status == GPUME_OK && filter->written < filter->put) {
        status = write_picture(filter);
    }
    return gpume_exit_of_writer(status ? status : gpume_picture_finish(filter->picture));
}

/* --- opening */

static int check_filter_output(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    (void)shape;
    return gpume_picture_check_video(path, log);
}

/* A time is found by reading the input once; it is opened again for the job. */
static enum gpume_exit find_range(struct filter *filter)
{
    const struct filter_options *options = filter->options;
    struct gpume_cli_job *job = &filter->job;
    const int64_t begin = options->start.is_time ? options->start.us : 0;
    const int64_t times[2] = {begin, begin + options->duration_us};
    uint64_t frames[2] = {options->start.frame, GPUME_FIND_NONE};
    if (options->start.is_time || options->duration_us > 0) {
        struct gpume_source_options wanted = job->wanted;
        wanted.log = gpume_console_errors;
        const int status =
            gpume_find_frames(&wanted, times, frames, options->duration_us > 0 ? 2 : 1);
        if (status != GPUME_OK) {
            return gpume_source_exit(status);
        }
    }
    if (frames[0] == GPUME_FIND_NONE) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: ends before the time that --start names; give an earlier one",
            job->common->inputs[0]);
    }
    if (frames[1] == frames[0]) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: no frame lies within --duration; give a longer one", job->common->inputs[0]);
    }
    job->skip = frames[0];
    job->frames_max = frames[1] == GPUME_FIND_NONE ? job->frames_max : frames[1] - frames[0];
    return GPUME_EXIT_DONE;
}

static enum gpume_exit plan_filter(void *client)
{
    static const struct gpume_sink_ops ops = {
        .noun = "a filtered video", .check = check_filter_output};
    struct filter *filter = client;
    struct gpume_cli_job *job = &filter->job;
    job->wanted.chroma = true;
    const enum gpume_exit result = find_range(filter);
    return result ? result
                  : gpume_exit_of_writer(gpume_job_add(job, &ops, job->output ? job->output : "-"));
}

/* --- types of frames, for --for: the input is analysed before it is filtered */

/* Called in coded order. */
static int take_type(void *opaque, const struct gpume_decision *decision)
{
    struct filter *filter = opaque;
    while (filter->type_count <= decision->display) {
        uint8_t *types = gpume_grow(filter->types, filter->type_count, &filter->type_room, 1);
        if (!types) {
            return gpume_refuse(GPUME_NOMEM, "out of memory for the types of frames");
        }
        filter->types = types;
        filter->types[filter->type_count++] = GPUME_FRAME_B;
    }
    filter->types[decision->display] = (uint8_t)decision->type;
    return GPUME_OK;
}

static int analyse_filter_frame(void *opaque, const struct gpume_plane *luma, int64_t time_us)
{
    (void)time_us;
    return gpume_analysis_put(*(struct gpume_analysis **)opaque, luma);
}

/* As `gpume firstpass --qp` has them: without QP offsets, which are not needed. */
static enum gpume_exit find_types(struct filter *filter)
{
    const struct filter_options *options = filter->options;
    const struct gpume_source_info *info = &filter->job.info;
    const bool has_rate = info->rate_num > 0 && info->rate_den > 0;
    struct gpume_analysis *analysis = NULL;
    struct gpume_cli_job job = gpume_job_of(&options->video);
    job.wanted = filter->job.wanted;
    job.wanted.chroma = false;
    job.wanted.log = gpume_console_errors;
    job.skip = filter->job.skip;
    job.frames_max = filter->job.frames_max;
    job.unguarded = true;
    enum gpume_exit result = gpume_job_open_video(&job, true);
    struct gpume_analysis_params params = {
        .lookahead = gpume_job_lookahead(&job), .decide = take_type, .opaque = filter};
    gpume_encode_options_default(&params.options, options->encoder);
    params.options.is_quality = true;
    params.options.bits = info->bits > 8 ? 10 : 8;
    gpume_target_use_qp(&params.options);
    if (result == GPUME_EXIT_DONE &&
        gpume_encode_options_settle(&params.options, has_rate ? info->rate_num : 25,
            has_rate ? info->rate_den : 1, &gpume_console) != GPUME_OK) {
        result = GPUME_EXIT_USAGE;
    }
    if (result == GPUME_EXIT_DONE) {
        const int status = gpume_analysis_open(&analysis, &params);
        result = gpume_job_opened(&job, status, status ? NULL : gpume_analysis_engine(analysis));
    }
    result = result ? result : gpume_job_read(&job, analyse_filter_frame, &analysis);
    result = result ? result : gpume_exit_of_engine(gpume_analysis_finish(analysis));
    gpume_analysis_close(&analysis);
    gpume_job_close(&job);
    return result;
}

static bool open_chroma(struct filter *filter)
{
    struct gpume_source_info half = filter->job.info;
    half.width = (half.width + half.chroma_x) >> half.chroma_x;
    half.height = (half.height + half.chroma_y) >> half.chroma_y;
    bool complete = true;
    for (uint32_t i = 0; i < 4 && filter->params.chroma; i++) {
        filter->chroma[i / 2][i % 2] = gpume_source_plane(&half);
        complete = complete && filter->chroma[i / 2][i % 2].data;
    }
    return complete;
}

/* Whether all its planes can be filtered and written. */
static enum gpume_exit check_filter_input(const struct gpume_source_info *info)
{
    if (info->chroma == GPUME_CHROMA_OTHER) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: pixel format %s is not filtered; only gray, 4:2:0, 4:2:2 and 4:4:4 without "
            "transparency are; convert it, with --vf format=yuv444p for example",
            info->label, info->pixel_format);
    }
    if (info->chroma == GPUME_CHROMA_NONE && info->bits == 14) { /* would be read as 16 bits */
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: gray of 14 bits has no name in Y4M; convert it, with --vf format=gray16",
            info->label);
    }
    if (info->interlaced) {
        gpume_console_warning("%s: is interlaced, and is filtered as whole frames of two fields; "
                              "--vf bwdif makes progressive ones",
            info->label);
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit prepare_filter(void *client)
{
    struct filter *filter = client;
    const struct filter_options *options = filter->options;
    const struct gpume_source_info *info = &filter->job.info;
    if (check_filter_input(info) != GPUME_EXIT_DONE) {
        return GPUME_EXIT_INPUT;
    }
    filter->params = (struct gpume_temporal_params){
        .width = info->width,
        .height = info->height,
        .bits = info->bits,
        .chroma = info->chroma == GPUME_CHROMA_PLANES,
        .shift_x = info->chroma_x,
        .shift_y = info->chroma_y,
        .radius = options->radius,
        .window_x = options->window_x,
        .window_y = options->window_y,
        .threads = options->video.params.threads,
    };
    filter->choice = (struct gpume_temporal_choice){
        .strength = (uint32_t)lround(options->strength * 32),
        .measure = !options->noise.given,
        .sigma = (uint32_t)lround(options->noise.sigma * 100),
    };
    const int status = gpume_temporal_open(&filter->temporal, &filter->params);
    if (status == GPUME_AGAIN) {
        return gpume_exit_of_engine(gpume_log_no_thread(&gpume_console));
    }
    if (status != GPUME_OK || !open_chroma(filter)) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory for filtering", info->label);
    }
    struct gpume_params search = options->video.params;
    struct gpume_prefilter blur;
    search.log = gpume_library_log;
    search.cache_dir = gpume_host_cache_folder();
    gpume_temporal_search(&filter->params, &search, &blur);
    const bool idle = filter->choice.strength == 0 ||
                      (!filter->choice.measure && filter->choice.sigma == 0 && !options->encoder);
    const enum gpume_exit result = options->encoder && !idle ? find_types(filter) : GPUME_EXIT_DONE;
    return idle || result ? result : gpume_job_open_engine(&filter->job, &search);
}

static enum gpume_exit open_filter(void *client)
{
    struct filter *filter = client;
    const struct gpume_picture_options options = {
        .path = filter->job.outputs[0].path,
        .width = filter->params.width,
        .height = filter->params.height,
        .bits = filter->params.bits,
        .complete = true,
        .video = &filter->job.info,
        .set = &filter->job.set,
        .log = gpume_console,
    };
    return gpume_exit_of_writer(gpume_picture_open(&filter->picture, &options));
}

static enum gpume_exit conclude_filter(void *client, FILE *stream)
{
    const struct filter *filter = client;
    const struct gpume_cli_job *job = &filter->job;
    const double pictures = filter->written > 0 ? (double)filter->written : 1;
    if (stream) {
        fprintf(stream,
            "filtered     %" PRIu64 " frame%s of %" PRIu32 "x%" PRIu32 ", %" PRIu32 " bits\n"
            "noise        %.2f steps of 8 bits (luma, root of the mean square)\n"
            "references   %.2f per frame were used\n",
            job->frames, job->frames == 1 ? "" : "s", job->info.width, job->info.height,
            job->info.bits, sqrt(filter->variances / pictures),
            (double)filter->references / pictures);
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit run_filter(const void *opaque)
{
    static const struct gpume_job_work work = {.plan = plan_filter,
        .prepare = prepare_filter,
        .open = open_filter,
        .take = take_filter_frame,
        .finish = finish_filter,
        .conclude = conclude_filter};
    const struct filter_options *options = opaque;
    struct filter *filter = calloc(1, sizeof(*filter)); /* the runs are large */
    if (!filter) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    filter->options = options;
    filter->job = gpume_job_of(&options->video);
    const enum gpume_exit result = gpume_job_run(&filter->job, &work, filter);
    gpume_picture_close(&filter->picture);
    gpume_job_close(&filter->job);
    gpume_temporal_close(&filter->temporal);
    for (uint32_t i = 0; i < 4; i++) {
        free(filter->chroma[i / 2][i % 2].data);
    }
    free(filter->types);
    free(filter);
    return result;
}

/* --- options */

#define OPTIONS struct filter_options

static bool parse_noise(const struct gpume_option *row, const char *text, void *field)
{
    struct filter_noise noise = {.given = strcmp(text, "auto") != 0};
    if (noise.given && !gpume_parse_real(text, '\0', row->min, row->max, &noise.sigma)) {
        return false;
    }
    *(struct filter_noise *)field = noise;
    return true;
}

static const struct gpume_option_type type_noise = {.bytes = sizeof(struct filter_noise),
    .parse = parse_noise,
    .permitted = "auto, or a number from 0 to 50"};

/* One of which a quality may be asked. */
static bool parse_encoder(const struct gpume_option *row, const char *text, void *field)
{
    const struct gpume_encoder *encoder = gpume_encoder_find(text);
    (void)row;
    if (!encoder || !encoder->has_quality) {
        return false;
    }
    *(const struct gpume_encoder **)field = encoder;
    return true;
}

static const struct gpume_option_type type_encoder = {.bytes = sizeof(const struct gpume_encoder *),
    .parse = parse_encoder,
    .permitted = "x264 or x265"};

static struct gpume_option table[] = {
    {.heading = "Filter"},
    {GPUME_ROW_REAL("strength", "S", OPTIONS, strength, 0, 2),
        .help = "how much of other frames is taken, 0 (nothing) to 2 (default 1)"},
    {.name = "noise",
        .value = "auto|SIGMA",
        .type = &type_noise,
        GPUME_FIELD(OPTIONS, noise),
        .min = 0,
        .max = GPUME_TEMPORAL_SIGMA_MAX,
        .words = "auto 2 5 10",
        .help = "standard deviation of the noise, in steps of 8 bits, 0 to 50 (default auto: "
                "measured in every frame)"},
    {.name = "for",
        .value = "x264|x265",
        .type = &type_encoder,
        GPUME_FIELD(OPTIONS, encoder),
        .words = "x264 x265",
        .help =
            "encoder of the output: frames that others refer to are also freed of what it would "
            "not keep at this --crf or --qp"},
    {GPUME_ROW_REAL("crf", "N", OPTIONS, crf, 1, QP_MAX), .needs = "for", .excludes = "qp",
        .help = "the encoder's --crf, 1 to 51"},
    {GPUME_ROW_NUMBER("qp", OPTIONS, qp, 1, QP_MAX), .needs = "for",
        .help = "the encoder's --qp, 1 to 51"},
    {GPUME_ROW_NUMBER("radius", OPTIONS, radius, 1, GPUME_TEMPORAL_RADIUS_MAX),
        .help = "frames before and after each one that are used, 1 to 4 (default 4)"},
    {GPUME_ROW("window", "N|XxY", window, OPTIONS, window_x), .letter = 'w', .min = 1, .max = 128,
        .help = "largest displacement in pixels, 1 to 128 (default 16)"},
    {GPUME_ROW_PARAM(OPTIONS, video.params.metric, metric)},
    {.heading = "Input"},
    {GPUME_ROW("start", "N|TIME", place, OPTIONS, start), .max = UINT32_MAX,
        .help = "index of the first frame, counted from 0, or its time from the first frame, such "
                "as 1:23.4 or 12.5s (default 0)"},
    {GPUME_OPTION_VIDEO_FRAMES(OPTIONS, video.frames)},
    {GPUME_ROW("duration", "TIME", duration, OPTIONS, duration_us), .excludes = "frames",
        .help = "read frames for this long, such as 10s or 1:30, from the time of --start or from "
                "the first frame"},
    {GPUME_OPTION_VF(OPTIONS, video.source.filter)},
    {GPUME_OPTION_STREAM(OPTIONS, video.source.stream)},
    {GPUME_OPTION_HWACCEL(OPTIONS, video.source.hwaccel)},
    {GPUME_OPTION_DECODERS(OPTIONS, video.source.decoders)},
    GPUME_OPTIONS_TRUST(OPTIONS, video.source),
    {GPUME_OPTION_TIMEOUT, .help = "give up after this time (default: no limit)"},
    {.heading = "Output"},
    {GPUME_ROW_FILE("output", "FILE", OPTIONS, video.output), .letter = 'o',
        .help = "write to this file: .y4m, or .mkv or .nut with FFV1 (default: standard output, as "
                "Y4M)"},
    GPUME_OPTIONS_VIDEO_LAST(OPTIONS, video),
};

static void set_filter_defaults(void *opaque)
{
    struct filter_options *options = opaque;
    gpume_video_options_default(&options->video);
    options->strength = 1;
    options->radius = GPUME_TEMPORAL_RADIUS_MAX;
    options->window_x = options->window_y = 16;
}

static int check_filter_options(void *opaque, const struct gpume_line *line)
{
    const struct filter_options *options = opaque;
    const bool is_file = gpume_input_is_file(options->video.common.inputs[0]);
    if ((options->start.is_time || options->duration_us > 0) && !is_file) {
        return gpume_refuse(GPUME_INVALID,
            "--%s: a time needs a video file, which is read twice; give --start and --frames as "
            "numbers of frames",
            options->start.is_time ? "start" : "duration");
    }
    if (options->duration_us > 0 && !options->start.is_time && options->start.frame > 0) {
        return gpume_refuse(GPUME_INVALID,
            "--duration: needs a --start that is a time, too, or none; or give --frames");
    }
    if (options->encoder && options->crf <= 0 && options->qp == 0) {
        return gpume_refuse(
            GPUME_INVALID, "--for: needs the encoder's quality; give its --crf or --qp");
    }
    if (options->encoder && !is_file) {
        return gpume_refuse(GPUME_INVALID,
            "--for: needs a video file, which is read twice; leave it out for other inputs");
    }
    return gpume_video_options_check(opaque, line);
}

const struct gpume_command gpume_filter_command = {
    .name = "filter",
    .summary = "remove noise along the motion, before a video is encoded",
    .usage = "filter INPUT [-o FILE] [options]",
    .about = "Averages every frame with its neighbours along the motion between them, as far as "
             "they fit, by the noise that it finds. Encoders then need fewer bits; a clean video "
             "stays as it is.",
    GPUME_COMMAND_OPTIONS(table, struct filter_options),
    GPUME_COMMAND_ONE_VIDEO,
    .catches_signals = true,
    .set_defaults = set_filter_defaults,
    .check = check_filter_options,
    .run = run_filter,
};
