/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume filter: frames in, filtered frames out (gpume/filter.h). Main thread only: it sends a
 * frame, and receives and writes one when it can send no more.
 */
#include "filter/filter.h"

#include "base/base.h"
#include "console.h"
#include "encode/analysis.h"
#include "encode/encoder.h"
#include "encode/pass.h"
#include "encoder_options.h"
#include "files/path.h"
#include "firstpass/spacing.h"
#include "gpume/filter.h"
#include "host.h"
#include "job.h"
#include "media/picture.h"
#include "options/option.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PLANES GPUME_FILTER_PLANES
#define QP_MAX 51
#define QUALITY_MAX 63 /* of SVT-AV1 */
#define RING 24u       /* pictures, more than a filter has under way */

struct filter {
    struct gpume_cli_job job;
    const struct gpume_filter_options *options;
    struct gpume_picture *picture; /* NULL: the filtered video is not written */
    const char *path;              /* of it */
    struct gpume_filter_report *report;
    const struct gpume_filter_taker *taker; /* NULL: there is none */
    gpume_job_take_fn put;                  /* of a stage: where frames go; NULL: it is none */
    void *client;
    struct gpume_plane chroma[2];
    /* For the taker or the report: pictures, and the first frame of each, that are not filtered
     * yet. Frames that repeat the one before them are the same picture. */
    struct gpume_plane sources[RING][PLANES];
    uint64_t firsts[RING];
    uint64_t kept, used;
    uint64_t pictures; /* that were filtered */
    double variances;  /* of luma's noise, in squared steps of 8 bits, added up */
    uint64_t references;
    uint64_t replaced;            /* samples of luma in spots */
    struct gpume_spacing spacing; /* of frames, for an output without times */
    uint64_t uneven;              /* the first frame that is not in its place; 0: none */
    uint32_t qp;                  /* with --for: of least_sigmas */
    struct gpume_pass *pass;      /* with --bitrate, while the input is analysed */
};

/* With --for: noise counts as at least what the encoder's quantizer leaves no trace of, at its QP:
 * half of its usual error. In 1/100 of a step of 8 bits: 100 * 2^(2 (QP - 22) / 15). By
 * measurement. */
static const uint16_t least_sigmas[QP_MAX + 1] = {13, 14, 16, 17, 19, 21, 23, 25, 27, 30, 33, 36,
    40, 44, 48, 52, 57, 63, 69, 76, 83, 91, 100, 110, 120, 132, 145, 159, 174, 191, 209, 230, 252,
    276, 303, 332, 365, 400, 439, 481, 528, 579, 635, 696, 764, 838, 919, 1008, 1106, 1213, 1330,
    1459};

/* --- frames in, frames out */

/* The planes of a filtered frame before it was filtered. */
static const struct gpume_plane *unfiltered(struct filter *filter, uint64_t frame)
{
    while (filter->used + 1 < filter->kept && filter->firsts[(filter->used + 1) % RING] <= frame) {
        filter->used++;
    }
    return filter->sources[filter->used % RING];
}

/* Shows the next filtered picture to the taker or the report. */
static int show_picture(struct filter *filter, const struct gpume_filter_result *result)
{
    const struct gpume_plane *source = unfiltered(filter, result->frame);
    if (filter->taker) {
        return filter->taker->take(filter->client, source, result->planes, result->time_us);
    }
    const int status = gpume_filter_report_add(filter->report, source, result);
    return status == GPUME_OK ? status : gpume_log_nomem(&gpume_console, filter->options->report);
}

/* Receives the next filtered frame and gives it to all that take it. */
static int pass_frame(struct filter *filter)
{
    struct gpume_filter_result result = {.size = sizeof(result)};
    GPUME_CHECK(gpume_filter_receive(filter->job.filter, &result));
    if (!result.repeats) {
        filter->pictures++;
        filter->variances += result.sigma[0] * result.sigma[0];
        filter->references += result.references;
        filter->replaced += result.replaced;
        GPUME_CHECK(filter->taker || filter->report ? show_picture(filter, &result) : GPUME_OK);
    }
    if (filter->report) {
        gpume_filter_report_count(filter->report);
    }
    if (filter->picture) {
        GPUME_CHECK(gpume_picture_write_planes(filter->picture, result.planes, result.time_us));
    }
    return filter->put ? filter->put(filter->client, &result.planes[0], result.time_us) : GPUME_OK;
}

static bool is_equal(const struct gpume_plane *a, const struct gpume_plane *b)
{
    bool same = true;
    for (uint32_t y = 0; y < a->height && same; y++) {
        same = memcmp(gpume_plane_row(a, y), gpume_plane_row(b, y), gpume_plane_row_bytes(a)) == 0;
    }
    return same;
}

/* Keeps the frame that was read last, unless it repeats the one before it. */
static void keep_source(struct filter *filter, const struct gpume_plane *planes, uint32_t count)
{
    const struct gpume_plane *last = filter->sources[(filter->kept + RING - 1) % RING];
    bool repeats = filter->kept > 0;
    for (uint32_t p = 0; p < count && repeats; p++) {
        repeats = is_equal(&planes[p], &last[p]);
    }
    if (repeats) {
        return;
    }
    for (uint32_t p = 0; p < count; p++) {
        gpume_plane_copy(&filter->sources[filter->kept % RING][p], &planes[p]);
    }
    filter->firsts[filter->kept++ % RING] = filter->job.frames - 1;
}

static int take_filter_frame(void *client, const struct gpume_plane *luma, int64_t time_us)
{
    struct filter *filter = client;
    struct gpume_cli_job *job = &filter->job;
    const bool chroma = job->info.chroma == GPUME_CHROMA_PLANES;
    struct gpume_filter_frame frame = {.size = sizeof(frame),
        .planes = {*luma, filter->chroma[0], filter->chroma[1]},
        .time_us = time_us,
        .least_sigma = filter->options->encoder ? least_sigmas[filter->qp] / 100.0 : 0};
    int status = GPUME_OK;
    if (chroma) {
        GPUME_CHECK(
            gpume_source_take_chroma(job->source, job->skip + job->frames - 1, filter->chroma));
    }
    if (filter->taker || filter->report) {
        keep_source(filter, frame.planes, chroma ? PLANES : 1);
    }
    if (filter->taker && filter->taker->guess && !filter->options->noise.given) {
        frame.sigma = filter->taker->guess(filter->client, frame.planes) / 100.0;
    }
    if (filter->spacing.num > 0 && !gpume_spacing_add(&filter->spacing, time_us) &&
        filter->uneven == 0) {
        filter->uneven = job->skip + job->frames - 1;
    }
    while ((status = gpume_filter_send(job->filter, &frame)) == GPUME_AGAIN) {
        GPUME_CHECK(pass_frame(filter));
    }
    return status;
}

/* Why the noise is not known, and what to do; NULL: it is. */
static const char *unknown_noise(const struct filter *filter)
{
    const struct gpume_filter_options *options = filter->options;
    const bool guessed = options->noise.given || (filter->taker && filter->taker->guess);
    return options->strength * 64 < 1 && options->spatial * 64 < 1
               ? "with --strength 0 no noise is removed"
           : !guessed && filter->pictures == 1
               ? "that needs two frames that differ; give --noise a number"
               : NULL;
}

/* What --despot cannot do. */
static void warn_of_spots(const struct filter *filter)
{
    if (filter->options->despot && filter->pictures < 3) {
        gpume_console_warning("%s: --despot needs three frames or more that differ; no dirt was "
                              "removed",
            filter->job.info.label);
    }
}

/* What the output does not say of the video. */
static void warn_of_output(const struct filter *filter)
{
    const struct gpume_source_info *info = &filter->job.info;
    const char *ending = strrchr(filter->path, '.');
    if (filter->uneven > 0) {
        gpume_console_warning("%s: frame %" PRIu64 " is not where %" PRIu32 "/%" PRIu32
                              " frames per second have it, and Y4M has no times; write .mkv, which "
                              "keeps them",
            info->label, filter->uneven, info->rate_num, info->rate_den);
    }
    if (!filter->options->video.source.filter) {
        gpume_source_warn_of_rotation(info, "the output does not say so");
    }
    if (info->full_range && ending && strcasecmp(ending, ".nut") == 0) {
        gpume_console_warning("%s: NUT does not say that samples have the full range; state it "
                              "where the video is read, or write .mkv",
            filter->path);
    }
}

/* Takes all that are left. */
static int drain_filter(struct filter *filter)
{
    int status = gpume_filter_finish(filter->job.filter);
    while (status == GPUME_OK) {
        status = pass_frame(filter);
    }
    return status == GPUME_EOF ? GPUME_OK : status;
}

static enum gpume_exit finish_filter(void *client)
{
    struct filter *filter = client;
    int status = drain_filter(filter);
    if (status != GPUME_OK) {
        return gpume_exit_of_engine(status);
    }
    if (filter->taker) {
        return filter->taker->finish(filter->client);
    }
    warn_of_output(filter);
    warn_of_spots(filter);
    if (filter->report) {
        const struct gpume_job_output *output = &filter->job.outputs[1];
        status = gpume_filter_report_write(
            filter->report, !unknown_noise(filter), output->out, output->path);
    }
    return gpume_exit_of_writer(status ? status : gpume_picture_finish(filter->picture));
}

/* --- opening */

int gpume_filter_check_output(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    (void)shape;
    return gpume_picture_check_video(path, log);
}

static int check_filter_page(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    (void)shape;
    return gpume_name_is_stdout(path)
               ? gpume_refuse(GPUME_INVALID, "--report %s: a page needs a file; name one", path)
               : gpume_text_check_named(path, "report", ".html", log);
}

static enum gpume_exit plan_filter(void *client)
{
    static const struct gpume_sink_ops ops = {
        .noun = "a filtered video", .check = gpume_filter_check_output};
    static const struct gpume_sink_ops page_ops = {.noun = "a report", .check = check_filter_page};
    struct filter *filter = client;
    struct gpume_cli_job *job = &filter->job;
    job->wanted.chroma = true;
    const enum gpume_exit result = gpume_job_find_range(job, &filter->options->range);
    int status =
        result ? GPUME_OK
               : gpume_job_add(job, filter->taker ? NULL : &ops, job->output ? job->output : "-");
    if (status == GPUME_OK && filter->options->report) {
        status = gpume_job_add(job, &page_ops, filter->options->report);
    }
    return result ? result : gpume_exit_of_writer(status);
}

/* --- the CRF of a --bitrate: the input is analysed before it is filtered; as whole frames also
 * with --fields, since the encoder gets them, and the CRF found by fields is farther off */

/* Called in coded order. */
static int take_crf_decision(void *opaque, const struct gpume_decision *decision)
{
    const struct filter *filter = opaque;
    return gpume_pass_add_frame(filter->pass, decision);
}

/* Of a long video, a part of every 256 frames is enough: of 480 frames, to analyse them all took a
 * third of the processor time of the filter and the first pass on a GPU. One that ends before its
 * second part does may begin with a title or in black, so all of its frames are analysed. */
#define CRF_PART 64u
#define CRF_EACH 256u
#define CRF_LONG (CRF_EACH + CRF_PART)

struct crf_search {
    struct gpume_analysis *analysis;
    uint64_t frames; /* read so far */
    bool whole;
};

static int analyse_filter_frame(void *opaque, const struct gpume_plane *luma, int64_t time_us)
{
    struct crf_search *search = opaque;
    (void)time_us;
    return search->frames++ % CRF_EACH < CRF_PART || search->whole
               ? gpume_analysis_put(search->analysis, luma)
               : GPUME_OK;
}

/* The QP that a quality stands for. AV1's quantizers have indices from 0 to 255, which SVT-AV1
 * chooses by fours; the highest is as coarse as QP 51. */
static uint32_t qp_of_quality(const struct gpume_encoder *encoder, uint32_t quality)
{
    static const uint32_t indices_per_qp = 5;
    return encoder->has_quality ? quality : (4 * quality + indices_per_qp / 2) / indices_per_qp;
}

/* Of the picture that the encoder codes. */
static uint32_t coded_width(const struct filter *filter)
{
    return filter->options->coded_width ? filter->options->coded_width : filter->job.info.width;
}

static uint32_t coded_height(const struct filter *filter)
{
    return filter->options->coded_height ? filter->options->coded_height : filter->job.info.height;
}

/* Decisions go to a pass without files, which finds the CRF. */
static int open_crf_search(struct filter *filter, const struct gpume_encode_options *encode)
{
    const struct gpume_source_info *info = &filter->job.info;
    const struct gpume_pass_params params = {
        .options = encode,
        .width = info->width,
        .height = info->height,
        .chunks = true,
        .crf_least = 100 * GPUME_CRF_MIN,
        .crf_most = 100 * GPUME_CRF_MAX,
        .ended = gpume_signals_caught,
        .log = gpume_console,
    };
    const struct gpume_pass_video video = {
        coded_width(filter), coded_height(filter), info->rate_num, info->rate_den};
    const struct gpume_encode_target target = {GPUME_GOAL_BITRATE, 1000 * filter->options->kbits};
    GPUME_CHECK(gpume_pass_open(&filter->pass, &params));
    return gpume_pass_add(filter->pass, &video, &target, NULL);
}

/* What the encoder has to know or take, for a bitrate to say something. */
static enum gpume_exit check_crf_search(const struct filter *filter)
{
    const struct gpume_encoder *encoder = filter->options->encoder;
    struct gpume_source_info coded = filter->job.info;
    coded.width = coded_width(filter);
    coded.height = coded_height(filter);
    return gpume_encoder_check_video(encoder->name, encoder->side_min, &coded, "--bitrate depends",
        ", name the coded size with --size, or give --crf in place of --bitrate");
}

/* A bitrate that no CRF comes near, unless its unit has been called doubtful. A first pass has
 * the same warning. */
static void warn_of_end(const struct filter *filter)
{
    const bool is_finest = filter->qp == GPUME_CRF_MIN;
    if (!filter->put && !filter->options->doubtful && (is_finest || filter->qp == GPUME_CRF_MAX)) {
        gpume_console_warning("--bitrate: %" PRIu64
                              " kbit/s are %s; filtered as with --crf %" PRIu32 ", the %s",
            filter->options->kbits,
            is_finest ? "more than the video can use" : "too few for the video", filter->qp,
            is_finest ? "finest" : "coarsest");
    }
}

static enum gpume_exit finish_crf_search(struct filter *filter)
{
    const int status = gpume_pass_finish(filter->pass);
    if (status == GPUME_OK) {
        const struct gpume_encode_target found = gpume_pass_outcome(filter->pass, 0).target;
        filter->qp = (uint32_t)((found.value + 50) / 100);
        const bool fields = filter->options->fields == GPUME_FILTER_FIELDS;
        gpume_console_info("--bitrate: %" PRIu64 " kbit/s are about CRF %" PRIu32 "%s",
            filter->options->kbits, filter->qp, fields ? " for whole frames, as encoded" : "");
        warn_of_end(filter);
    }
    gpume_pass_close(&filter->pass);
    return gpume_exit_of_writer(status);
}

/* Whether frames were left out of a video that turned out not to be long. */
static bool is_incomplete(const struct crf_search *search)
{
    return !search->whole && search->frames > CRF_PART && search->frames < CRF_LONG;
}

/* Sets filter->qp, unless the search is incomplete. */
static enum gpume_exit read_for_crf(struct filter *filter, struct crf_search *search)
{
    const struct gpume_filter_options *options = filter->options;
    const struct gpume_source_info *info = &filter->job.info;
    const bool has_rate = info->rate_num > 0 && info->rate_den > 0;
    struct gpume_cli_job job = gpume_job_of(&options->video);
    job.wanted = filter->job.wanted;
    job.wanted.chroma = false;
    job.wanted.log = gpume_console_errors;
    job.skip = filter->job.skip;
    job.frames_max = filter->job.frames_max;
    job.unguarded = true;
    enum gpume_exit result = gpume_job_open_video(&job, true);
    struct gpume_analysis_params params = {
        .lookahead = gpume_job_lookahead(&job), .decide = take_crf_decision, .opaque = filter};
    if (!search->whole) {
        params.lookahead.lent = 0; /* frames that are left out overwrite those before them */
    }
    gpume_encode_options_default(&params.options, options->encoder);
    params.options.bits = info->bits > 8 ? 10 : 8;
    if (result == GPUME_EXIT_DONE &&
        gpume_encode_options_settle(&params.options, has_rate ? info->rate_num : 25,
            has_rate ? info->rate_den : 1, &gpume_console) != GPUME_OK) {
        result = GPUME_EXIT_USAGE;
    }
    if (result == GPUME_EXIT_DONE) {
        result = gpume_exit_of_writer(open_crf_search(filter, &params.options));
    }
    if (result == GPUME_EXIT_DONE) {
        const int status = gpume_analysis_open(&search->analysis, &params);
        result =
            gpume_job_opened(&job, status, status ? NULL : gpume_analysis_engine(search->analysis));
    }
    result = result ? result : gpume_job_read(&job, analyse_filter_frame, search);
    result = result ? result : gpume_exit_of_engine(gpume_analysis_finish(search->analysis));
    if (result == GPUME_EXIT_DONE && !is_incomplete(search)) {
        result = finish_crf_search(filter);
    }
    gpume_pass_close(&filter->pass);
    gpume_analysis_close(&search->analysis);
    gpume_job_close(&job);
    return result;
}

static enum gpume_exit find_crf(struct filter *filter)
{
    const struct gpume_cli_job *job = &filter->job;
    const uint64_t all = job->info.frames > job->skip ? job->info.frames - job->skip : UINT64_MAX;
    const uint64_t most = job->frames_max > 0 ? job->frames_max : UINT64_MAX;
    struct crf_search search = {.whole = gpume_min_u64(all, most) < CRF_LONG};
    enum gpume_exit result = check_crf_search(filter);
    result = result ? result : read_for_crf(filter, &search);
    if (result == GPUME_EXIT_DONE && is_incomplete(&search)) { /* the container said otherwise */
        search = (struct crf_search){.whole = true};
        result = read_for_crf(filter, &search);
    }
    return result;
}

struct gpume_plane gpume_filter_chroma_plane(const struct gpume_source_info *info)
{
    struct gpume_source_info half = *info;
    half.width = (half.width + half.chroma_x) >> half.chroma_x;
    half.height = (half.height + half.chroma_y) >> half.chroma_y;
    return gpume_source_plane(&half);
}

static bool open_planes(struct filter *filter)
{
    const struct gpume_source_info *info = &filter->job.info;
    bool complete = true;
    const uint32_t planes = info->chroma == GPUME_CHROMA_PLANES ? PLANES : 1;
    for (uint32_t i = 0; i + 1 < planes; i++) {
        filter->chroma[i] = gpume_filter_chroma_plane(info);
        complete = complete && filter->chroma[i].data;
    }
    for (uint32_t i = 0; i < RING && (filter->taker || filter->options->report); i++) {
        for (uint32_t p = 0; p < planes; p++) {
            filter->sources[i][p] =
                p > 0 ? gpume_filter_chroma_plane(info) : gpume_source_plane(info);
            complete = complete && filter->sources[i][p].data;
        }
    }
    return complete;
}

enum gpume_exit gpume_filter_check_input(
    const struct gpume_source_info *info, enum gpume_filter_lines fields)
{
    if (info->chroma == GPUME_CHROMA_OTHER) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: pixel format %s is not filtered; only gray, 4:2:0, 4:2:2 and 4:4:4 without "
            "transparency are; convert it, with --vf format=yuv444p for example",
            info->label, info->pixel_format);
    }
    if (info->lost_alpha) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: has transparency, which would be lost; to filter the video without it, add --vf "
            "format=%s",
            info->label, info->pixel_format);
    }
    if (info->chroma == GPUME_CHROMA_NONE && info->bits == 14) { /* would be read as 16 bits */
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: gray of 14 bits has no name in Y4M; convert it, with --vf format=gray16",
            info->label);
    }
    if (info->interlaced && fields == GPUME_FILTER_WHOLE) {
        gpume_console_warning("%s: is interlaced, and is filtered as whole frames of two fields; "
                              "--vf bwdif=send_frame makes progressive frames, and gpume filter "
                              "--fields same filters field by field",
            info->label);
    }
    if (info->progressive && fields == GPUME_FILTER_FIELDS) {
        gpume_console_warning("%s: is marked as progressive, so --fields brings nothing and halves "
                              "the lines in which motion is searched; leave it out",
            info->label);
    }
    return GPUME_EXIT_DONE;
}

static struct gpume_filter_params filter_params(const struct filter *filter)
{
    const struct gpume_filter_options *options = filter->options;
    const struct gpume_params *engine = &options->video.params;
    const struct gpume_source_info *info = &filter->job.info;
    const bool idle = options->noise.given && options->noise.sigma <= 0; /* nothing to remove */
    struct gpume_filter_params params;
    gpume_filter_params_default(&params);
    params.width = info->width;
    params.height = info->height;
    params.bits = info->bits;
    params.plane_count = info->chroma == GPUME_CHROMA_PLANES ? PLANES : 1;
    params.chroma_x = info->chroma_x;
    params.chroma_y = info->chroma_y;
    params.strength = idle ? 0 : options->strength;
    params.spatial = idle ? 0 : options->spatial;
    params.sigma = options->noise.given ? options->noise.sigma : GPUME_FILTER_MEASURE;
    params.radius = options->radius;
    params.window_x = options->window_x;
    params.window_y = options->window_y;
    params.metric = engine->metric;
    params.despot = options->despot;
    params.fields = options->fields == GPUME_FILTER_FIELDS;
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
    const struct gpume_filter_options *options = filter->options;
    const struct gpume_source_info *info = &filter->job.info;
    if (gpume_filter_check_input(info, options->fields) != GPUME_EXIT_DONE) {
        return GPUME_EXIT_INPUT;
    }
    if (check_filter_search(filter) != GPUME_EXIT_DONE) {
        return GPUME_EXIT_USAGE;
    }
    if (!open_planes(filter)) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory for filtering", info->label);
    }
    const struct gpume_filter_params params = filter_params(filter);
    const bool changes = params.strength * 64 >= 1 || params.spatial * 64 >= 1;
    if (!changes && (options->encoder || options->noise.sigma > 0)) {
        const bool weak = options->strength * 64 < 1;
        gpume_console_warning("--%s %g: no noise is removed, so --%s has no effect",
            weak ? "strength" : "noise", weak ? options->strength : 0,
            options->encoder ? "for" : "noise");
    }
    if (options->encoder) {
        filter->qp = qp_of_quality(
            options->encoder, options->qp ? options->qp : (uint32_t)lround(options->crf));
    }
    if (options->kbits > 0 && changes) {
        const enum gpume_exit result = find_crf(filter);
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

/* Opens the filtered video as an output of the set. */
static enum gpume_exit open_filtered(
    struct filter *filter, const char *path, struct gpume_out_set *set)
{
    const struct gpume_picture_options options = {
        .path = path,
        .width = filter->job.info.width,
        .height = filter->job.info.height,
        .bits = filter->job.info.bits,
        .complete = true,
        .video = &filter->job.info,
        .set = set,
        .log = gpume_console,
    };
    filter->path = path;
    return gpume_exit_of_writer(gpume_picture_open(&filter->picture, &options));
}

static enum gpume_exit open_filter(void *client)
{
    struct filter *filter = client;
    const struct gpume_source_info *info = &filter->job.info;
    const char *path = filter->job.outputs[0].path;
    if (filter->taker) {
        return filter->taker->open(filter->client, &filter->job);
    }
    if (filter->options->report) {
        filter->report = gpume_filter_report_open(filter->options, info, filter->job.skip);
        const enum gpume_exit result =
            filter->report
                ? gpume_job_open_output(&filter->job, 1)
                : gpume_exit_of_writer(gpume_log_nomem(&gpume_console, filter->options->report));
        if (result != GPUME_EXIT_DONE) {
            return result;
        }
    }
    if (gpume_picture_is_timeless(path) && info->rate_den > 0 && info->rate_num > 0) {
        gpume_spacing_init(&filter->spacing, info->rate_num, info->rate_den);
    }
    return open_filtered(filter, path, &filter->job.set);
}

static enum gpume_exit conclude_filter(void *client, FILE *stream)
{
    const struct filter *filter = client;
    const struct gpume_cli_job *job = &filter->job;
    const double pictures = filter->pictures > 0 ? (double)filter->pictures : 1;
    const char *reason = unknown_noise(filter);
    if (stream) {
        fprintf(stream,
            "filtered     %" PRIu64 " frame%s of %" PRIu32 "x%" PRIu32 ", %" PRIu32 " bits\n",
            job->frames, gpume_plural(job->frames), job->info.width, job->info.height,
            job->info.bits);
        if (reason) {
            fprintf(stream, "noise        not measured: %s\n", reason);
        } else {
            fprintf(stream,
                "noise        %.2f steps of 8-bit samples (luma, root of the mean square)%s\n",
                sqrt(filter->variances / pictures), filter->taker ? ", as the filter assumes" : "");
        }
        fprintf(stream, "references   %.2f per frame were used\n",
            (double)filter->references / pictures);
        if (filter->options->despot) {
            fprintf(stream, "spots        %.1f pixels per frame were replaced\n",
                (double)filter->replaced / pictures);
        }
        if (filter->taker) {
            filter->taker->conclude(filter->client, stream);
        }
    }
    return GPUME_EXIT_DONE;
}

static void free_filter(struct filter *filter)
{
    free(filter->chroma[0].data);
    free(filter->chroma[1].data);
    for (uint32_t i = 0; i < RING * PLANES; i++) {
        free(filter->sources[i / PLANES][i % PLANES].data);
    }
    free(filter);
}

enum gpume_exit gpume_filter_run(const struct gpume_filter_options *options,
    const struct gpume_filter_taker *taker, void *client)
{
    static const struct gpume_job_work work = {.plan = plan_filter,
        .prepare = prepare_filter,
        .open = open_filter,
        .take = take_filter_frame,
        .finish = finish_filter,
        .conclude = conclude_filter};
    struct filter *filter = calloc(1, sizeof(*filter));
    if (!filter) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    filter->options = options;
    filter->taker = taker;
    filter->client = client;
    filter->job = gpume_job_of(&options->video);
    const enum gpume_exit result = gpume_job_run(&filter->job, &work, filter);
    gpume_picture_close(&filter->picture);
    gpume_filter_report_close(&filter->report);
    gpume_job_close(&filter->job);
    free_filter(filter);
    return result;
}

/* --- as a stage of another job */

enum gpume_exit gpume_filter_stage_open(gpume_filter_stage **stage,
    const struct gpume_filter_options *options, struct gpume_cli_job *job, gpume_job_take_fn put,
    void *client)
{
    struct filter *filter = *stage = calloc(1, sizeof(*filter));
    if (!filter) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    filter->options = options;
    filter->put = put;
    filter->client = client;
    filter->job = *job; /* what it has remains its own */
    const enum gpume_exit result = prepare_filter(filter);
    job->filter = filter->job.filter;
    return result;
}

enum gpume_exit gpume_filter_stage_keep(
    gpume_filter_stage *stage, struct gpume_cli_job *job, size_t output)
{
    return open_filtered(stage, job->outputs[output].path, &job->set);
}

uint32_t gpume_filter_stage_crf(const gpume_filter_stage *stage)
{
    return stage->options->kbits > 0 ? stage->qp : 0;
}

int gpume_filter_stage_put(
    gpume_filter_stage *stage, uint64_t frame, const struct gpume_plane *luma, int64_t time_us)
{
    stage->job.frames = frame + 1;
    return take_filter_frame(stage, luma, time_us);
}

int gpume_filter_stage_finish(gpume_filter_stage *stage)
{
    const int status = drain_filter(stage);
    if (status != GPUME_OK || !stage->picture) {
        return status;
    }
    return gpume_picture_finish(stage->picture);
}

void gpume_filter_stage_close(gpume_filter_stage **stage)
{
    if (*stage) {
        gpume_picture_close(&(*stage)->picture);
        free_filter(*stage);
    }
    *stage = NULL;
}

static enum gpume_exit run_filter(const void *options)
{
    return gpume_filter_run(options, NULL, NULL);
}

/* --- options */

#define OPTIONS struct gpume_filter_options

static bool parse_noise(const struct gpume_option *row, const char *text, void *field)
{
    struct gpume_filter_noise noise = {.given = strcmp(text, "auto") != 0};
    if (noise.given && !gpume_parse_real(text, '\0', row->min, row->max, &noise.sigma)) {
        return false;
    }
    *(struct gpume_filter_noise *)field = noise;
    return true;
}

const struct gpume_option_type gpume_type_noise = {.bytes = sizeof(struct gpume_filter_noise),
    .parse = parse_noise,
    .permitted = "auto, or a number from 0 to 50"};

/* Limits are checked when the encoder is known. */
#define QUALITY_READ 1e6
static const struct gpume_option_type type_crf = {.bytes = sizeof(double),
    .parse = gpume_type_real_parse,
    .permitted = "a number from 1 to 51; SVT-AV1: to 63"};
static const struct gpume_option_type type_qp = {.bytes = sizeof(uint32_t),
    .parse = gpume_type_number_parse,
    .permitted = "a whole number from 1 to 51; SVT-AV1: to 63"};

static const char *const fields_names[] = {"none", "same", NULL};

static struct gpume_option table[] = {
    {.heading = "Filter"},
    {GPUME_ROW_REAL("strength", "S", OPTIONS, strength, 0, 2),
        .help = "weight of the other frames, 0 (none) to 2 (default 1; 0.25 with --for svt-av1)"},
    {GPUME_ROW_REAL("spatial", "S", OPTIONS, spatial, 0, 2),
        .help = "strength of a second step, which removes the remaining noise within each picture, "
                "0 (none) to 2; 1 to restore a video (default 0)"},
    {.name = "noise",
        .value = "auto|SIGMA",
        .type = &gpume_type_noise,
        GPUME_FIELD(OPTIONS, noise),
        .min = 0,
        .max = (uint32_t)GPUME_FILTER_SIGMA_MAX,
        .words = "auto 2 5 10",
        .help = "standard deviation of the noise, in steps of 8-bit samples, 0 to 50 (default "
                "auto: measured in every frame)"},
    {GPUME_ROW("for", gpume_encoder_names.value, encoder, OPTIONS, encoder),
        .choices = gpume_encoder_names.words,
        .help = "encoder of the output: also remove what it would not keep at this --crf, --qp or "
                "--bitrate"},
    {.name = "crf",
        .value = "N",
        .type = &type_crf,
        GPUME_FIELD(OPTIONS, crf),
        .max = QUALITY_READ,
        .needs = "for",
        .excludes = "qp",
        .help = "the encoder's --crf, 1 to 51; SVT-AV1: to 63"},
    {.name = "qp",
        .value = "N",
        .type = &type_qp,
        GPUME_FIELD(OPTIONS, qp),
        .max = QUALITY_READ,
        .needs = "for",
        .excludes = "bitrate",
        .help = "the encoder's --qp, 1 to 51; SVT-AV1: to 63"},
    {GPUME_ROW("bitrate", "KBITS", kbits, OPTIONS, kbits), .min = 1, .max = GPUME_KBITS_MAX,
        .unit = "kbit/s", .needs = "for", .excludes = "crf",
        .help = "the encoder's --bitrate, in kbit/s, or e.g. 345k or 1.5M; x264 and x265 only"},
    {GPUME_ROW("size", "WxH", size, OPTIONS, coded_width), .min = 16, .max = 16384,
        .needs = "bitrate",
        .help = "size of the encoded picture, if the filtered video is scaled for this bitrate "
                "(default: that of the input)"},
    {GPUME_ROW_NUMBER("radius", OPTIONS, radius, 1, GPUME_FILTER_RADIUS_MAX),
        .help = "number of frames used before and after each frame, 1 to 4 (default 4)"},
    {GPUME_ROW("window", "N|XxY", window, OPTIONS, window_x), .letter = 'w', .min = 1, .max = 128,
        .help = "largest displacement in pixels, 1 to 128 (default 16)"},
    {GPUME_ROW_PARAM(OPTIONS, video.params.metric, metric)},
    {GPUME_ROW_FLAG("despot", OPTIONS, despot),
        .help =
            "remove dirt first: spots that are neither in the frame before nor in the one after"},
    {GPUME_ROW_CHOICE("fields", "none|same", OPTIONS, fields, fields_names),
        .help = "filter the fields of interlaced video, each with those of the same parity "
                "(default none: whole frames)"},
    {.heading = "Input"},
    GPUME_OPTIONS_RANGE(OPTIONS, range, video),
    GPUME_OPTIONS_SOURCE(OPTIONS, video.source),
    {GPUME_OPTION_MAX_MEMORY(OPTIONS, video.params.memory_max)},
    {GPUME_OPTION_TIMEOUT},
    {.heading = "Output"},
    {GPUME_ROW_FILE("output", "FILE", OPTIONS, video.output), .letter = 'o',
        .help = "write to this file: .y4m, or .mkv or .nut with FFV1 (default: standard output, as "
                "Y4M)"},
    {GPUME_ROW_FILE("report", "FILE", OPTIONS, report),
        .help = "write an HTML page: the noise of every frame, and some frames before and after "
                "the filter"},
    GPUME_OPTIONS_VIDEO_LAST(OPTIONS, video),
};

void gpume_filter_options_default(void *opaque)
{
    struct gpume_filter_options *options = opaque;
    gpume_video_options_default(&options->video);
    options->strength = -1;
    options->radius = GPUME_FILTER_RADIUS_MAX;
    options->window_x = options->window_y = 16;
}

static int check_filter_quality(
    const struct gpume_filter_options *options, const struct gpume_line *line)
{
    const bool has_crf = gpume_line_has(line, "crf"), has_qp = gpume_line_has(line, "qp");
    const double quality = has_crf ? options->crf : options->qp;
    const uint32_t most = options->encoder->has_quality ? QP_MAX : QUALITY_MAX;
    if ((has_crf || has_qp) && (quality < 1 || quality > most)) {
        return gpume_refuse(GPUME_INVALID,
            "--%s %g: must be a %snumber from 1 to %" PRIu32 " for %s", has_crf ? "crf" : "qp",
            quality, has_crf ? "" : "whole ", most, options->encoder->name);
    }
    return has_crf || has_qp || options->kbits > 0
               ? GPUME_OK
               : gpume_refuse(GPUME_INVALID,
                     "--for: needs the encoder's quality; give its --crf, --qp or --bitrate");
}

int gpume_filter_options_check(void *opaque, const struct gpume_line *line)
{
    struct gpume_filter_options *options = opaque;
    options->doubtful = gpume_bitrate_warn();
    if (options->strength < 0) {
        options->strength = options->encoder ? options->encoder->filter_strength : 1;
    }
    GPUME_CHECK(gpume_range_check(&options->video.common, &options->range));
    if (options->strength * 64 < 1 && options->spatial * 64 >= 1 && !options->noise.given) {
        return gpume_refuse(GPUME_INVALID, "--spatial: needs to know the noise, which is measured "
                                           "only with a --strength above 0; give --noise a number");
    }
    GPUME_CHECK(options->encoder ? check_filter_quality(options, line) : GPUME_OK);
    if (options->kbits > 0 && !options->encoder->has_quality) {
        return gpume_refuse(GPUME_INVALID,
            "--bitrate: its CRF is not known for %s; give the --crf that comes near it",
            options->encoder->name);
    }
    if (options->kbits > 0 && gpume_input_is_read_once(options->video.common.inputs[0])) {
        return gpume_refuse(GPUME_INVALID,
            "--bitrate: needs a video file, which is read twice; give the --crf that comes near "
            "it");
    }
    return gpume_video_options_check(opaque, line);
}

const struct gpume_command gpume_filter_command = {
    .name = "filter",
    .summary = "remove noise along the motion, before a video is encoded",
    .usage = "filter INPUT [-o FILE] [options]",
    .about = "Removes noise: averages every frame with its neighbours along the motion between "
             "them, where they match. The less noise a frame has, the less it changes. Encoders "
             "then need fewer bits.",
    GPUME_COMMAND_OPTIONS(table, struct gpume_filter_options),
    .make_options = gpume_encoder_rows_make,
    GPUME_COMMAND_ONE_VIDEO,
    .catches_signals = true,
    .set_defaults = gpume_filter_options_default,
    .check = gpume_filter_options_check,
    .run = run_filter,
};
