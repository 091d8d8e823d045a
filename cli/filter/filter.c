/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume filter: frames in, filtered frames out (gpume/filter.h). Main thread only: it sends a
 * frame, and receives and writes one when it can send no more.
 */
#include "gpume/filter.h"

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

#define PLANES GPUME_FILTER_PLANES
#define QP_MAX 51

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

struct filter {
    struct gpume_cli_job job;
    const struct filter_options *options;
    struct gpume_picture *picture;
    struct gpume_plane chroma[2];
    uint64_t pictures; /* frames but those that repeat the one before them */
    double variances;  /* of luma's noise, in squared steps of 8 bits, added up */
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

/* --- frames in, frames out */

/* Writes the next filtered frame. */
static int write_frame(struct filter *filter)
{
    struct gpume_filter_result result = {.size = sizeof(result)};
    GPUME_CHECK(gpume_filter_receive(filter->job.filter, &result));
    if (!result.repeats) {
        filter->pictures++;
        filter->variances += result.sigma[0] * result.sigma[0];
        filter->references += result.references;
    }
    return gpume_picture_write_planes(filter->picture, result.planes, result.time_us);
}

/* Of the frame that was read last. */
static double least_sigma(const struct filter *filter)
{
    const struct filter_options *options = filter->options;
    const size_t index = filter->job.frames - 1;
    const bool referred = index < filter->type_count && filter->types[index] != GPUME_FRAME_B;
    return referred
               ? least_sigmas[options->qp ? options->qp : (uint32_t)lround(options->crf)] / 100.0
               : 0;
}

static int take_filter_frame(void *client, const struct gpume_plane *luma, int64_t time_us)
{
    struct filter *filter = client;
    struct gpume_cli_job *job = &filter->job;
    struct gpume_filter_frame frame = {.size = sizeof(frame),
        .planes = {*luma, filter->chroma[0], filter->chroma[1]},
        .time_us = time_us,
        .least_sigma = least_sigma(filter)};
    int status = GPUME_OK;
    if (job->info.chroma == GPUME_CHROMA_PLANES) {
        GPUME_CHECK(
            gpume_source_take_chroma(job->source, job->skip + job->frames - 1, filter->chroma));
    }
    while ((status = gpume_filter_send(job->filter, &frame)) == GPUME_AGAIN) {
        GPUME_CHECK(write_frame(filter));
    }
    return status;
}

static enum gpume_exit finish_filter(void *client)
{
    struct filter *filter = client;
    int status = gpume_filter_finish(filter->job.filter);
    while (status == GPUME_OK) {
        status = write_frame(filter);
    }
    return status == GPUME_EOF ? gpume_exit_of_writer(gpume_picture_finish(filter->picture))
                               : gpume_exit_of_engine(status);
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
    for (uint32_t i = 0; i < 2 && half.chroma == GPUME_CHROMA_PLANES; i++) {
        filter->chroma[i] = gpume_source_plane(&half);
        complete = complete && filter->chroma[i].data;
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

static struct gpume_filter_params filter_params(const struct filter *filter)
{
    const struct filter_options *options = filter->options;
    const struct gpume_params *engine = &options->video.params;
    const struct gpume_source_info *info = &filter->job.info;
    /* Without noise there is nothing to do, unless frames get some for an encoder. */
    const bool idle = options->noise.given && options->noise.sigma <= 0 && !options->encoder;
    struct gpume_filter_params params;
    gpume_filter_params_default(&params);
    params.width = info->width;
    params.height = info->height;
    params.bits = info->bits;
    params.plane_count = info->chroma == GPUME_CHROMA_PLANES ? PLANES : 1;
    params.chroma_x = info->chroma_x;
    params.chroma_y = info->chroma_y;
    params.strength = idle ? 0 : options->strength;
    params.sigma = options->noise.given ? options->noise.sigma : GPUME_FILTER_MEASURE;
    params.radius = options->radius;
    params.window_x = options->window_x;
    params.window_y = options->window_y;
    params.metric = engine->metric;
    params.backend = engine->backend;
    params.device = engine->device;
    params.devices = engine->devices;
    params.threads = engine->threads;
    params.memory_max = engine->memory_max;
    params.validate = engine->validate;
    params.cache_dir = gpume_host_cache_folder();
    params.log = gpume_library_log;
    return params;
}

/* Whether the search can use the metric, at this depth. */
static enum gpume_exit check_filter_search(const struct filter *filter)
{
    struct gpume_params search = filter->options->video.params;
    search.bits = filter->job.info.bits;
    search.block = 16;
    return gpume_library_check(&search) == GPUME_OK ? GPUME_EXIT_DONE : GPUME_EXIT_USAGE;
}

static enum gpume_exit prepare_filter(void *client)
{
    struct filter *filter = client;
    const struct gpume_source_info *info = &filter->job.info;
    if (check_filter_input(info) != GPUME_EXIT_DONE) {
        return GPUME_EXIT_INPUT;
    }
    if (check_filter_search(filter) != GPUME_EXIT_DONE) {
        return GPUME_EXIT_USAGE;
    }
    if (!open_chroma(filter)) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory for filtering", info->label);
    }
    const struct gpume_filter_params params = filter_params(filter);
    if (filter->options->encoder && params.strength * 64 >= 1) {
        const enum gpume_exit result = find_types(filter);
        if (result != GPUME_EXIT_DONE) {
            return result;
        }
    }
    struct gpume_filter_info running = {.size = sizeof(running)};
    const int status = gpume_filter_open(&filter->job.filter, &params);
    (void)gpume_filter_info_fill(filter->job.filter, &running);
    const char *engine = status ? NULL : running.device[0] ? running.device : "none";
    return gpume_job_opened(&filter->job, status, engine);
}

static enum gpume_exit open_filter(void *client)
{
    struct filter *filter = client;
    const struct gpume_picture_options options = {
        .path = filter->job.outputs[0].path,
        .width = filter->job.info.width,
        .height = filter->job.info.height,
        .bits = filter->job.info.bits,
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
    const double pictures = filter->pictures > 0 ? (double)filter->pictures : 1;
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
    struct filter *filter = calloc(1, sizeof(*filter));
    if (!filter) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    filter->options = options;
    filter->job = gpume_job_of(&options->video);
    const enum gpume_exit result = gpume_job_run(&filter->job, &work, filter);
    gpume_picture_close(&filter->picture);
    gpume_job_close(&filter->job);
    free(filter->chroma[0].data);
    free(filter->chroma[1].data);
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
        .max = (uint32_t)GPUME_FILTER_SIGMA_MAX,
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
    {GPUME_ROW_NUMBER("radius", OPTIONS, radius, 1, GPUME_FILTER_RADIUS_MAX),
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
    options->radius = GPUME_FILTER_RADIUS_MAX;
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
