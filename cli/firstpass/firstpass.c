/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume firstpass: the video goes frame by frame into the analysis, whose decisions go to the files
 * of all second passes. NAME.json, which names the other files, is completed last. Main thread
 * only, except that another thread may call decide() (encode/analysis.h).
 */
#include "firstpass/firstpass.h"

#include "base/clock.h"
#include "base/status.h"
#include "console.h"
#include "encode/analysis.h"
#include "encode/pass.h"
#include "files/out.h"
#include "files/out_set.h"
#include "files/path.h"
#include "files/text_file.h"
#include "firstpass/report.h"
#include "firstpass/spacing.h"
#include "firstpass/verify.h"
#include "media/timeline.h"
#include "signals.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Packets that are read to find uneven times before the analysis: a few seconds of a disk's time */
#define TIMES_BYTES (UINT64_C(1) << 30)
/* Frames that are read after the first that is not in its place, to find a rate: ten seconds */
#define MEASURED 250u

struct job {
    const struct gpume_firstpass_options *options;
    struct gpume_video video;
    struct gpume_encode_options encode; /* settled */
    struct gpume_spacing spacing;
    uint64_t uneven; /* the first frame that is not where it should be; 0: none */
    double after;    /* seconds from the frame before to it */
    bool has_times;  /* distances: of the packets, or else of the frames that were read */
    struct gpume_distances distances;
    struct gpume_analysis *analysis;
    double seconds; /* that the analysis took */
    struct gpume_pass *pass;
    struct gpume_firstpass_report report;
    struct gpume_out_set set;
    char *json_path;
    struct gpume_out *json;
};

/* The nearest side that --size takes. */
static uint32_t even_side(uint32_t side)
{
    return side < GPUME_FIRSTPASS_SIDE_MIN   ? GPUME_FIRSTPASS_SIDE_MIN
           : side > GPUME_FIRSTPASS_SIDE_MAX ? GPUME_FIRSTPASS_SIDE_MAX
                                             : (side + 1) & ~1u;
}

#define TAKEN_BYTES 64

/* Whether the encoder takes pictures of the input's size. what: what it takes instead. */
static bool takes_size(const struct job *job, char what[TAKEN_BYTES])
{
    const uint32_t width = job->video.info.width, height = job->video.info.height;
    const uint32_t least = width < height ? width : height, most = width < height ? height : width;
    snprintf(what, TAKEN_BYTES, "sides of %" PRIu32 " to %u pixels", job->encode.encoder->side_min,
        GPUME_FIRSTPASS_SIDE_MAX);
    if ((width | height) & 1) {
        snprintf(what, TAKEN_BYTES, "even sides");
        return false;
    }
    return least >= job->encode.encoder->side_min && most <= GPUME_FIRSTPASS_SIDE_MAX;
}

/* Does a filter graph choose or change frames by their times? By names of filters and options. */
static bool is_by_time(const char *graph)
{
    static const char *const words[] = {
        "trim", "fade", "fps", "rate", "select", "enable", "interpolate"};
    bool found = false;
    for (size_t i = 0; graph && i < sizeof(words) / sizeof(words[0]); i++) {
        found = found || strstr(graph, words[i]);
    }
    return found;
}

static enum gpume_exit settle(struct job *job)
{
    const struct gpume_source_info *info = &job->video.info;
    job->encode = job->options->encode;
    if (job->encode.bits == 0) {
        job->encode.bits = info->bits > 8 ? 10 : 8;
    }
    if (info->rate_num == 0 || info->rate_den == 0) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: its frame rate is unknown; set one with --vf fps=25", info->label);
    }
    char what[TAKEN_BYTES];
    const bool is_coded = job->options->rates.count > 0 && job->options->sizes.count == 0;
    if (is_coded && !takes_size(job, what)) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: %" PRIu32 "x%" PRIu32 " pixels: %s takes %s; give --size %" PRIu32 "x%" PRIu32,
            info->label, info->width, info->height, job->encode.encoder->name, what,
            even_side(info->width), even_side(info->height));
    }
    if (info->interlaced) {
        gpume_console_warning("%s: is interlaced, and is encoded as progressive; --vf "
                              "bwdif=send_frame deinterlaces it",
            info->label);
    }
    if (info->late && is_by_time(job->options->video.source.filter)) {
        gpume_console_warning("%s: another stream begins before the video, so --vf may choose "
                              "other frames in command lines that read no sound; copy the video "
                              "first: ffmpeg -i INPUT -c copy COPY.mkv",
            info->label);
    }
    gpume_spacing_init(&job->spacing, info->rate_num, info->rate_den);
    return gpume_encode_options_settle(&job->encode, info->rate_num, info->rate_den, &gpume_console)
               ? GPUME_EXIT_USAGE
               : GPUME_EXIT_DONE;
}

static bool is_added(const struct job *job, const struct gpume_firstpass_rung *rung)
{
    for (size_t i = 0; i < job->report.count; i++) {
        const struct gpume_firstpass_entry *entry = &job->report.entries[i];
        if (entry->video.width == rung->width && entry->video.height == rung->height &&
            entry->bitrate == rung->rate) {
            return true;
        }
    }
    return false;
}

/* Adds a second pass; once, if its size and bitrate are given several times. */
static int add_pass(struct job *job, const struct gpume_firstpass_rung *rung)
{
    const struct gpume_source_info *info = &job->video.info;
    const struct gpume_pass_video video = {
        rung->width, rung->height, info->rate_num, info->rate_den};
    const struct gpume_firstpass_entry *entry = NULL;
    if (is_added(job, rung)) {
        return GPUME_OK;
    }
    GPUME_CHECK(gpume_firstpass_report_add(&job->report, &job->encode, &video, rung->rate, &entry));
    char *tree = gpume_path_join(entry->stats, strlen(entry->stats), job->encode.encoder->offsets);
    if (tree) { /* the killed run may have had one */
        gpume_text_clear(tree, false);
    }
    free(tree);
    return gpume_pass_add(job->pass, &video, rung->rate, entry->stats);
}

static int add_passes(struct job *job)
{
    const struct gpume_source_info *info = &job->video.info;
    const struct gpume_firstpass_options *options = job->options;
    const struct gpume_firstpass_rung own = {info->width, info->height, 0};
    const uint32_t sizes = options->sizes.count > 0 ? options->sizes.count : 1;
    for (uint32_t i = 0; i < sizes * options->rates.count; i++) {
        struct gpume_firstpass_rung rung =
            options->sizes.count > 0 ? options->sizes.items[i / options->rates.count] : own;
        rung.rate = options->rates.items[i % options->rates.count].rate;
        GPUME_CHECK(add_pass(job, &rung));
    }
    for (uint32_t i = 0; i < options->rungs.count; i++) {
        GPUME_CHECK(add_pass(job, &options->rungs.items[i]));
    }
    return GPUME_OK;
}

static enum gpume_exit open_outputs(struct job *job)
{
    const struct gpume_pass_params params = {
        .options = &job->encode,
        .width = job->video.info.width,
        .height = job->video.info.height,
        .set = &job->set,
        .log = gpume_console,
    };
    const size_t bytes = strlen(job->options->video.output) + sizeof(".json");
    job->json_path = malloc(bytes);
    if (!job->json_path) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory", job->options->video.output);
    }
    snprintf(job->json_path, bytes, "%s.json", job->options->video.output);
    job->set.seal = job->json_path;
    int status = gpume_pass_open(&job->pass, &params);
    status = status ? status : add_passes(job);
    status =
        status ? status : gpume_out_open_in(&job->json, &job->set, job->json_path, &gpume_console);
    return status == GPUME_INVALID ? GPUME_EXIT_USAGE : gpume_exit_of_writer(status);
}

static int decide(void *opaque, const struct gpume_decision *decision)
{
    const struct job *job = opaque;
    return gpume_signals_caught() ? GPUME_CANCELLED : gpume_pass_add_frame(job->pass, decision);
}

static enum gpume_exit open_analysis(struct job *job)
{
    const struct gpume_analysis_params params = {
        .lookahead = gpume_video_lookahead(&job->video),
        .options = job->encode,
        .decide = decide,
        .opaque = job,
    };
    const int status = gpume_analysis_open(&job->analysis, &params);
    return gpume_video_opened(
        &job->video, status, status ? NULL : gpume_analysis_engine(job->analysis));
}

/* FFmpeg restarts a graph where frames change size or format: times may jump despite fps. */
static bool ends_with_fps(const char *graph)
{
    const char *last = graph;
    for (const char *at = graph; *at; at++) {
        last = *at == ',' || *at == ';' ? at + 1 : last;
    }
    last += strspn(last, " \t\n");
    return strncmp(last, "fps", 3) == 0 && !isalnum((unsigned char)last[3]) && last[3] != '_';
}

static int refuse_time(struct job *job)
{
    const struct gpume_source_info *info = &job->video.info;
    const char *graph = job->options->video.source.filter;
    uint32_t num = info->rate_num, den = info->rate_den;
    char before[64] = "";
    if (graph && ends_with_fps(graph)) {
        return gpume_refuse(GPUME_INVALID,
            "%s: frame %" PRIu64 " is not %" PRIu32 "/%" PRIu32
            " of a second after the one before: times jump there, and FFmpeg starts the graph of "
            "--vf anew; encode the parts before and after that place as separate files",
            info->label, job->uneven, den, num);
    }
    (void)gpume_distances_rate(&job->distances, &num, &den);
    if (job->uneven >= MEASURED || job->uneven > job->distances.count / 2) {
        snprintf(
            before, sizeof before, "; --frames %" PRIu64 " encodes those before it", job->uneven);
    }
    return gpume_refuse(GPUME_INVALID,
        "%s: frame %" PRIu64 " comes %.6g s after the one before, not %" PRIu32 "/%" PRIu32
        " s, but both passes need a constant frame rate; %s fps=%" PRIu32 "/%" PRIu32 "%s",
        info->label, job->uneven, job->after, info->rate_den, info->rate_num,
        graph ? "end --vf with" : "give --vf", num, den, before);
}

/* Adds the time of the next frame. */
static int add_time(struct job *job, struct gpume_spacing *spacing, int64_t time_us, bool *even)
{
    /* times of hostile inputs may overflow */
    const uint64_t since = (uint64_t)time_us - (uint64_t)spacing->last_us;
    const int64_t distance = spacing->count > 0 ? (int64_t)since : 0;
    *even = gpume_spacing_add(spacing, time_us);
    job->after = job->uneven == 0 ? (double)distance / 1e6 : job->after;
    return job->has_times || gpume_distances_add(&job->distances, distance)
               ? GPUME_OK
               : gpume_refuse(GPUME_NOMEM, "%s: out of memory", job->video.info.label);
}

struct times {
    struct job *job;
    struct gpume_spacing spacing;
    int status;
};

/* A frame that comes too late by its packet does so: packets may show no frame, but a frame has a
 * packet. One that seems to come too early is left to the frames. */
static bool take_packet_time(void *opaque, int64_t time_us)
{
    struct times *times = opaque;
    struct job *job = times->job;
    const uint64_t most = job->options->video.frames;
    bool even;
    times->status = add_time(job, &times->spacing, time_us, &even);
    if (job->uneven == 0 && gpume_spacing_is_late(&times->spacing)) {
        job->uneven = times->spacing.count - 1;
    }
    return times->status == GPUME_OK && (most == 0 || times->spacing.count < most);
}

/* Finds uneven times before the analysis, which may take hours, is made in vain. */
static enum gpume_exit check_times(struct job *job)
{
    const struct gpume_video_options *video = &job->options->video;
    const struct gpume_source_options source =
        gpume_source_options_make(&video->common, &video->source, &video->params);
    struct times times = {.job = job, .spacing = job->spacing};
    if (video->source.filter) {
        return GPUME_EXIT_DONE;
    }
    const int status = gpume_packet_times_read(&source, TIMES_BYTES, take_packet_time, &times);
    if (times.status != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    job->has_times = status == GPUME_OK && times.spacing.count > 1;
    if (job->has_times && job->uneven > 0) {
        return gpume_exit_of_engine(refuse_time(job));
    }
    job->uneven = 0;
    job->distances.count = job->has_times ? job->distances.count : 0;
    return GPUME_EXIT_DONE;
}

static int take(void *opaque, const struct gpume_plane *luma, int64_t time_us)
{
    struct job *job = opaque;
    bool even;
    GPUME_CHECK(add_time(job, &job->spacing, time_us, &even));
    if (even) {
        return gpume_analysis_put(job->analysis, luma);
    }
    job->uneven = job->uneven == 0 ? job->spacing.count - 1 : job->uneven;
    const char *graph = job->options->video.source.filter;
    const bool measured = job->has_times || job->spacing.count > job->uneven + MEASURED;
    return measured || (graph && ends_with_fps(graph)) ? refuse_time(job) : GPUME_OK;
}

static enum gpume_exit analyse(struct job *job)
{
    const uint64_t start = gpume_clock_ns();
    enum gpume_exit result = gpume_video_read(&job->video, take, job);
    if (result == GPUME_EXIT_DONE && job->uneven > 0) { /* the video ended while it was measured */
        return gpume_exit_of_engine(refuse_time(job));
    }
    if (result == GPUME_EXIT_DONE) {
        result = gpume_video_result(gpume_exit_of_engine(gpume_analysis_finish(job->analysis)));
    }
    job->seconds = (double)(gpume_clock_ns() - start) / 1e9;
    if (result == GPUME_EXIT_DONE) {
        gpume_console_info("%s: %" PRIu64 " frames analysed in %.3f s, %.1f per second",
            job->video.info.label, job->video.frames, job->seconds,
            (double)job->video.frames / job->seconds);
    }
    return result;
}

static enum gpume_exit finish_outputs(struct job *job)
{
    const struct gpume_firstpass_source source = {
        .input = job->options->video.common.inputs[0],
        .filter = job->options->video.source.filter,
        .info = &job->video.info,
        .frames = job->video.frames,
    };
    gpume_signals_detach();
    int status = gpume_pass_finish(job->pass);
    status = status ? status : gpume_firstpass_report_make(&job->report, &job->encode, &source);
    status = status ? status : gpume_firstpass_report_write(&job->report, job->json);
    status = status ? status : gpume_out_finish(job->json);
    status = status ? status : gpume_out_set_name(&job->set, &gpume_console);
    return gpume_exit_of_writer(status);
}

static enum gpume_exit work(struct job *job)
{
    const struct gpume_firstpass_options *options = job->options;
    enum gpume_exit result = gpume_video_open(&job->video);
    result = result ? result : settle(job);
    result = result ? result : check_times(job);
    if (result == GPUME_EXIT_DONE && options->verify) {
        result = gpume_firstpass_verify_check(&job->encode, &job->video.info);
    }
    gpume_signals_keep(); /* files that have been begun are removed */
    result = result ? result : open_outputs(job);
    result = result ? result : open_analysis(job);
    result = result ? result : analyse(job);
    result = result ? result : finish_outputs(job);
    if (result == GPUME_EXIT_DONE && options->video.common.verbosity >= 0) {
        gpume_firstpass_report_print(&job->report);
    }
    if (result == GPUME_EXIT_DONE) {
        result = gpume_console_flush_output("the command lines") ? result : GPUME_EXIT_FAILED;
    }
    if (result == GPUME_EXIT_DONE && options->verify) {
        result = gpume_firstpass_verify(options, &job->encode, &job->report, job->seconds);
    }
    return result;
}

enum gpume_exit gpume_firstpass_run(const struct gpume_firstpass_options *options)
{
    struct job job = {
        .options = options,
        .video = {.options = &options->video},
        .report = {.name = options->video.output},
        .set = {.overwrite = options->video.common.overwrite, .alone = true, .together = true},
    };
    const enum gpume_exit result = work(&job);
    gpume_distances_finish(&job.distances);
    gpume_analysis_close(&job.analysis);
    gpume_pass_close(&job.pass);
    gpume_out_close(&job.json);
    gpume_firstpass_report_finish(&job.report);
    gpume_video_close(&job.video);
    free(job.json_path);
    return result;
}
