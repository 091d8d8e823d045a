/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume firstpass: the video goes frame by frame into the analysis, whose decisions go to the files
 * of all second passes. NAME.json, which names the other files, is completed last. Main thread
 * only, except that another thread may call decide() (encode/analysis.h).
 */
#include "firstpass/firstpass.h"

#include "base/base.h"
#include "base/os.h"
#include "encode/analysis.h"
#include "encode/pass.h"
#include "files/out.h"
#include "files/path.h"
#include "firstpass/report.h"
#include "firstpass/spacing.h"
#include "firstpass/trial.h"
#include "job.h"
#include "media/source.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Packets that are read to find uneven times before the analysis: a few seconds of a disk's time */
#define TIMES_BYTES (UINT64_C(1) << 30)
/* Frames per second. A single frame cannot show whether more are the unit of times. */
#define RATE_LIKELY 240u
#define RATE_ALONE 25u
/* Frames that are read after the first that is not in its place, to find a rate: ten seconds */
#define MEASURED 250u

struct firstpass {
    struct gpume_cli_job job;
    const struct gpume_firstpass_options *options;
    struct gpume_encode_options encode; /* settled */
    struct gpume_spacing spacing;
    uint64_t uneven; /* the first frame that is not where it should be; 0: none */
    double after;    /* seconds from the frame before to it */
    bool has_times;  /* distances: of the packets, or else of the frames that were read */
    struct gpume_distances distances;
    struct gpume_filter_options filter; /* with --filter */
    gpume_filter_stage *stage;
    struct gpume_analysis *analysis;
    uint64_t start_ns;
    double seconds; /* that the analysis took */
    struct gpume_pass *pass;
    struct gpume_firstpass_report report;
    struct gpume_out_set corrected; /* files after --probes */
};

/* The nearest side that --size and the encoder take. */
static uint32_t even_side(const struct gpume_encoder *encoder, uint32_t side)
{
    const uint32_t least =
        encoder->side_min > GPUME_FIRSTPASS_SIDE_MIN ? encoder->side_min : GPUME_FIRSTPASS_SIDE_MIN;
    return side < least                      ? least
           : side > GPUME_FIRSTPASS_SIDE_MAX ? GPUME_FIRSTPASS_SIDE_MAX
                                             : (side + 1) & ~1u;
}

#define TAKEN_BYTES 64

/* Whether the encoder takes pictures of the input's size. what: what it takes instead. */
static bool takes_size(const struct firstpass *first, char what[TAKEN_BYTES])
{
    const uint32_t width = first->job.info.width, height = first->job.info.height;
    const uint32_t least = width < height ? width : height, most = width < height ? height : width;
    const uint32_t side_min = first->encode.encoder->side_min;
    snprintf(
        what, TAKEN_BYTES, "sides of %" PRIu32 " to %u pixels", side_min, GPUME_FIRSTPASS_SIDE_MAX);
    if ((width | height) & 1) {
        snprintf(what, TAKEN_BYTES, "even sides");
        return false;
    }
    return least >= side_min && most <= GPUME_FIRSTPASS_SIDE_MAX;
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

/* A size or a bitrate that was given; 0: not this one. */
static enum gpume_exit check_rung(
    const struct gpume_encoder *encoder, const struct gpume_firstpass_rung *rung)
{
    const uint32_t side = rung->width < rung->height ? rung->width : rung->height;
    const uint64_t kbit = rung->target.goal == GPUME_GOAL_BITRATE ? rung->target.value / 1000 : 0;
    if (rung->width > 0 && side < encoder->side_min) {
        return gpume_refuse(GPUME_EXIT_USAGE,
            "%" PRIu32 "x%" PRIu32 " pixels: %s takes sides of %" PRIu32 " pixels and more",
            rung->width, rung->height, encoder->name, encoder->side_min);
    }
    if (encoder->kbit_max > 0 && kbit > encoder->kbit_max) {
        return gpume_refuse(GPUME_EXIT_USAGE,
            "%" PRIu64 " kbit/s: %s takes at most %" PRIu32 " kbit/s", kbit, encoder->name,
            encoder->kbit_max);
    }
    return GPUME_EXIT_DONE;
}

/* What the encoder does not take, though gpume does. */
static enum gpume_exit check_encoder(const struct firstpass *first)
{
    const struct gpume_encoder *encoder = first->encode.encoder;
    const struct gpume_firstpass_rungs *const lists[] = {
        &first->options->sizes, &first->options->targets, &first->options->rungs};
    for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++) {
        for (uint32_t i = 0; i < lists[list]->count; i++) {
            const enum gpume_exit result = check_rung(encoder, &lists[list]->items[i]);
            if (result != GPUME_EXIT_DONE) {
                return result;
            }
        }
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit settle_options(struct firstpass *first)
{
    const struct gpume_source_info *info = &first->job.info;
    first->encode = first->options->encode;
    if (first->encode.bits == 0) {
        first->encode.bits = info->bits > 8 ? 10 : 8;
    }
    const enum gpume_exit rated = gpume_encoder_check_rate(info, "both passes depend");
    if (rated != GPUME_EXIT_DONE) {
        return rated;
    }
    char what[TAKEN_BYTES];
    const bool is_coded = first->options->targets.count > 0 && first->options->sizes.count == 0;
    if (is_coded && !takes_size(first, what)) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: %" PRIu32 "x%" PRIu32 " pixels: %s takes %s; give --size %" PRIu32 "x%" PRIu32,
            info->label, info->width, info->height, first->encode.encoder->name, what,
            even_side(first->encode.encoder, info->width),
            even_side(first->encode.encoder, info->height));
    }
    gpume_encoder_warn_of_fields(info);
    if (info->late && is_by_time(first->options->video.source.filter)) {
        gpume_console_warning("%s: another stream begins before the video, so --vf may choose "
                              "other frames in command lines that read no sound; copy the video "
                              "first: ffmpeg -i INPUT -c copy COPY.mkv",
            info->label);
    }
    const enum gpume_exit checked = check_encoder(first);
    if (checked != GPUME_EXIT_DONE) {
        return checked;
    }
    gpume_spacing_init(&first->spacing, info->rate_num, info->rate_den);
    return gpume_encode_options_settle(
               &first->encode, info->rate_num, info->rate_den, &gpume_console)
               ? GPUME_EXIT_USAGE
               : GPUME_EXIT_DONE;
}

static bool is_added(const struct firstpass *first, const struct gpume_firstpass_rung *rung)
{
    for (size_t i = 0; i < first->report.count; i++) {
        const struct gpume_firstpass_entry *entry = &first->report.entries[i];
        if (entry->video.width == rung->width && entry->video.height == rung->height &&
            entry->target.goal == rung->target.goal && entry->target.value == rung->target.value) {
            return true;
        }
    }
    return false;
}

/* Whether what encodes it can be tried, if that is asked for. */
static enum gpume_exit check_trial(const struct firstpass *first,
    const struct gpume_firstpass_rung *rung, const struct gpume_pass_video *video)
{
    const struct gpume_firstpass_options *options = first->options;
    const bool probes = options->probes > 0 && gpume_goal_is_fidelity(rung->target.goal);
    const bool verifies = options->verify && gpume_goal_is_quality(rung->target.goal);
    return probes || verifies ? gpume_trial_check_video(GPUME_EXIT_USAGE,
                                    probes ? "--probes" : "--verify", first->encode.encoder, video)
                              : GPUME_EXIT_DONE;
}

/* Adds a second pass; once, if its size and target are given several times. */
static int add_pass(struct firstpass *first, const struct gpume_firstpass_rung *rung)
{
    const struct gpume_source_info *info = &first->job.info;
    const struct gpume_pass_video video = {
        rung->width, rung->height, info->rate_num, info->rate_den};
    const struct gpume_firstpass_entry *entry = NULL;
    if (is_added(first, rung)) {
        return GPUME_OK;
    }
    if (check_trial(first, rung, &video) != GPUME_EXIT_DONE) {
        return GPUME_INVALID;
    }
    GPUME_CHECK(
        gpume_firstpass_report_add(&first->report, &first->encode, &video, &rung->target, &entry));
    char *tree =
        gpume_path_join(entry->stats, strlen(entry->stats), first->encode.encoder->offsets);
    if (tree) { /* the killed run may have had one */
        gpume_text_clear(tree, false);
    }
    free(tree);
    return gpume_pass_add(first->pass, &video, &rung->target, entry->stats);
}

/* A target that is given twice is meant to be another one, unless a rung has it by chance. */
static void warn_of_repeats(const struct gpume_firstpass_rungs *targets)
{
    for (uint32_t i = 1; i < targets->count; i++) {
        const struct gpume_encode_target *one = &targets->items[i].target;
        bool repeats = false;
        for (uint32_t k = 0; k < i; k++) {
            const struct gpume_encode_target *other = &targets->items[k].target;
            repeats = repeats || (one->goal == other->goal && one->value == other->value);
        }
        if (repeats) {
            char text[GPUME_TARGET_SENTENCE_BYTES];
            gpume_target_sentence(one, text);
            gpume_console_warning("%s is asked for more than once, and written once", text);
        }
    }
}

static int add_passes(struct firstpass *first)
{
    const struct gpume_source_info *info = &first->job.info;
    const struct gpume_firstpass_options *options = first->options;
    const struct gpume_firstpass_rung own = {.width = info->width, .height = info->height};
    const uint32_t sizes = options->sizes.count > 0 ? options->sizes.count : 1;
    warn_of_repeats(&options->targets);
    for (uint32_t i = 0; i < sizes * options->targets.count; i++) {
        struct gpume_firstpass_rung rung =
            options->sizes.count > 0 ? options->sizes.items[i / options->targets.count] : own;
        rung.target = options->targets.items[i % options->targets.count].target;
        GPUME_CHECK(add_pass(first, &rung));
    }
    for (uint32_t i = 0; i < options->rungs.count; i++) {
        GPUME_CHECK(add_pass(first, &options->rungs.items[i]));
    }
    return GPUME_OK;
}

static int check_filtered_name(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    return gpume_text_is_special(path)
               ? gpume_refuse(GPUME_INVALID,
                     "--filtered %s: must be a file, since the command lines read it", path)
               : gpume_filter_check_output(path, shape, log);
}

/* The names of the other files depend on the size of the video, and are checked when they are
 * opened. */
static enum gpume_exit plan_passes(void *client)
{
    static const struct gpume_sink_ops ops = {
        .noun = "a filtered video", .check = check_filtered_name};
    struct firstpass *first = client;
    const char *filtered = first->options->filtered;
    first->job.wanted.chroma = first->options->strength > 0;
    return gpume_exit_of_writer(filtered ? gpume_job_add(&first->job, &ops, filtered) : GPUME_OK);
}

/* The output that is completed last. */
static struct gpume_job_output *json_of(struct gpume_cli_job *job)
{
    return &job->outputs[job->output_count - 1];
}

static int add_json(struct gpume_cli_job *job)
{
    const size_t bytes = strlen(job->output) + sizeof(".json");
    char *path = malloc(bytes);
    if (!path) {
        return gpume_refuse(GPUME_NOMEM, "%s: out of memory", job->output);
    }
    snprintf(path, bytes, "%s.json", job->output);
    const int status = gpume_job_add(job, NULL, path);
    free(path);
    job->set.alone = true;
    job->set.seal = json_of(job)->path;
    return status;
}

static enum gpume_exit open_pass_files(struct firstpass *first)
{
    const struct gpume_pass_params params = {
        .options = &first->encode,
        .width = first->job.info.width,
        .height = first->job.info.height,
        .set = &first->job.set,
        .filtered = first->stage != NULL,
        .probed = first->options->probes > 0,
        .ended = gpume_signals_caught,
        .log = gpume_console,
    };
    int status = add_json(&first->job);
    if (status == GPUME_OK && first->options->filtered) {
        const enum gpume_exit kept = gpume_filter_stage_keep(first->stage, &first->job, 0);
        if (kept != GPUME_EXIT_DONE) {
            return kept;
        }
    }
    status = status ? status : gpume_pass_open(&first->pass, &params);
    status = status ? status : add_passes(first);
    return status == GPUME_INVALID ? GPUME_EXIT_USAGE
           : status != GPUME_OK    ? gpume_exit_of_writer(status)
                                : gpume_job_open_output(&first->job, first->job.output_count - 1);
}

static int decide(void *opaque, const struct gpume_decision *decision)
{
    const struct firstpass *first = opaque;
    return gpume_signals_caught() ? GPUME_CANCELLED : gpume_pass_add_frame(first->pass, decision);
}

/* Whether one of these is asked for. */
static bool has_goal(const struct firstpass *first, bool (*is_one)(enum gpume_goal goal))
{
    bool found = false;
    for (size_t i = 0; i < first->report.count; i++) {
        found = found || is_one(first->report.entries[i].target.goal);
    }
    return found;
}

static enum gpume_exit open_passes(void *client)
{
    struct firstpass *first = client;
    const enum gpume_exit opened = open_pass_files(first);
    if (opened != GPUME_EXIT_DONE) {
        return opened;
    }
    struct gpume_analysis_params params = {
        .lookahead = gpume_job_lookahead(&first->job),
        .options = first->encode,
        .losses = has_goal(first, gpume_goal_is_fidelity),
        .xpsnr = has_goal(first, gpume_goal_is_weighed),
        .rate_num = first->job.info.rate_num,
        .rate_den = first->job.info.rate_den,
        .decide = decide,
        .opaque = first,
    };
    params.lookahead.lent = first->stage ? 0 : params.lookahead.lent;
    const int status = gpume_analysis_open(&first->analysis, &params);
    first->start_ns = gpume_clock_ns();
    return gpume_job_opened(
        &first->job, status, status ? NULL : gpume_analysis_engine(first->analysis));
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

/* Whether the encoder takes this rate; if not, it becomes the nearest that the encoder takes. */
static bool limit_rate(const struct gpume_encoder *encoder, uint32_t *num, uint32_t *den)
{
    const bool is_fast = *num > (uint64_t)encoder->frames_max * *den;
    if (encoder->frames_max == 0 || (!is_fast && *num >= *den)) {
        return true;
    }
    *num = is_fast ? encoder->frames_max : 1;
    *den = 1;
    return false;
}

static bool takes_rate(const struct firstpass *first)
{
    uint32_t num = first->job.info.rate_num, den = first->job.info.rate_den;
    return limit_rate(first->encode.encoder, &num, &den);
}

/* The rate for --vf: of the frames, as far as they have been read. Containers of frames at uneven
 * times may name the unit of their times instead, such as 1000/1. */
static void find_rate(struct firstpass *first, uint32_t *num, uint32_t *den)
{
    *num = first->job.info.rate_num;
    *den = first->job.info.rate_den;
    (void)gpume_distances_rate(&first->distances, num, den);
    (void)limit_rate(first->encode.encoder, num, den);
}

/* A rate that the encoder does not take, once it is known to be that of the frames. */
static int refuse_rate(struct firstpass *first)
{
    const struct gpume_source_info *info = &first->job.info;
    uint32_t num, den;
    find_rate(first, &num, &den);
    return gpume_refuse(GPUME_INVALID,
        "%s: %s takes 1 to %" PRIu32 " frames per second, not %" PRIu32 "/%" PRIu32
        "; %s fps=%" PRIu32 "/%" PRIu32,
        info->label, first->encode.encoder->name, first->encode.encoder->frames_max, info->rate_num,
        info->rate_den, first->options->video.source.filter ? "end --vf with" : "give --vf", num,
        den);
}

static int refuse_time(struct firstpass *first)
{
    const struct gpume_source_info *info = &first->job.info;
    const char *graph = first->options->video.source.filter;
    uint32_t num, den;
    char before[64] = "";
    if (graph && ends_with_fps(graph)) {
        return gpume_refuse(GPUME_INVALID,
            "%s: frame %" PRIu64 " is not %" PRIu32 "/%" PRIu32
            " of a second after the one before: times jump there, and FFmpeg starts the graph of "
            "--vf anew; encode the parts before and after that place as separate files",
            info->label, first->uneven, info->rate_den, info->rate_num);
    }
    find_rate(first, &num, &den);
    if (first->uneven >= MEASURED || first->uneven > first->distances.count / 2) {
        snprintf(
            before, sizeof before, "; --frames %" PRIu64 " encodes those before it", first->uneven);
    }
    return gpume_refuse(GPUME_INVALID,
        "%s: frame %" PRIu64 " comes %.6g s after the one before, not %" PRIu32 "/%" PRIu32
        " s, but both passes need a constant frame rate; %s fps=%" PRIu32 "/%" PRIu32 "%s",
        info->label, first->uneven, first->after, info->rate_den, info->rate_num,
        graph ? "end --vf with" : "give --vf", num, den, before);
}

/* Adds the time of the next frame. */
static int add_time(
    struct firstpass *first, struct gpume_spacing *spacing, int64_t time_us, bool *even)
{
    /* times of hostile inputs may overflow */
    const uint64_t since = (uint64_t)time_us - (uint64_t)spacing->last_us;
    const int64_t distance = spacing->count > 0 ? (int64_t)since : 0;
    *even = gpume_spacing_add(spacing, time_us);
    first->after = first->uneven == 0 ? (double)distance / 1e6 : first->after;
    return first->has_times || gpume_distances_add(&first->distances, distance)
               ? GPUME_OK
               : gpume_refuse(GPUME_NOMEM, "%s: out of memory", first->job.info.label);
}

struct times {
    struct firstpass *first;
    struct gpume_spacing spacing;
    int status;
};

/* A frame that comes too late by its packet does so: packets may show no frame, but a frame has a
 * packet. One that seems to come too early is left to the frames. */
static bool take_packet_time(void *opaque, int64_t time_us)
{
    struct times *times = opaque;
    struct firstpass *first = times->first;
    const uint64_t most = first->options->video.frames;
    bool even;
    times->status = add_time(first, &times->spacing, time_us, &even);
    if (first->uneven == 0 && gpume_spacing_is_late(&times->spacing)) {
        first->uneven = times->spacing.count - 1;
    }
    return times->status == GPUME_OK && (most == 0 || times->spacing.count < most);
}

/* Finds uneven times before the analysis, which may take hours, is made in vain. */
static enum gpume_exit check_times(struct firstpass *first)
{
    const struct gpume_video_options *video = &first->options->video;
    const struct gpume_source_options source =
        gpume_source_options_make(&video->common, &video->source, &video->params);
    struct times times = {.first = first, .spacing = first->spacing};
    if (video->source.filter) {
        return takes_rate(first) || !ends_with_fps(video->source.filter)
                   ? GPUME_EXIT_DONE
                   : gpume_exit_of_engine(refuse_rate(first));
    }
    const int status = gpume_packet_times_read(&source, TIMES_BYTES, take_packet_time, &times);
    if (times.status != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    first->has_times = status == GPUME_OK && times.spacing.count > 1;
    if (first->has_times && first->uneven > 0) {
        return gpume_exit_of_engine(refuse_time(first));
    }
    first->uneven = 0;
    first->distances.count = first->has_times ? first->distances.count : 0;
    struct gpume_source_info *info = &first->job.info;
    if (times.spacing.count == 1 && info->rate_num > (uint64_t)RATE_LIKELY * info->rate_den) {
        info->rate_num = RATE_ALONE;
        info->rate_den = 1;
    }
    if (first->has_times && !takes_rate(first)) {
        return gpume_exit_of_engine(refuse_rate(first));
    }
    return GPUME_EXIT_DONE;
}

static int analyse_frame(void *opaque, const struct gpume_plane *luma, int64_t time_us)
{
    struct firstpass *first = opaque;
    bool even;
    GPUME_CHECK(add_time(first, &first->spacing, time_us, &even));
    if (even) {
        return first->spacing.count > MEASURED && !takes_rate(first)
                   ? refuse_rate(first)
                   : gpume_analysis_put(first->analysis, luma);
    }
    first->uneven = first->uneven == 0 ? first->spacing.count - 1 : first->uneven;
    const char *graph = first->options->video.source.filter;
    const bool measured = first->has_times || first->spacing.count > first->uneven + MEASURED;
    return measured || (graph && ends_with_fps(graph)) ? refuse_time(first) : GPUME_OK;
}

static int take_first_frame(void *opaque, const struct gpume_plane *luma, int64_t time_us)
{
    struct firstpass *first = opaque;
    return first->stage ? gpume_filter_stage_put(first->stage, first->job.frames - 1, luma, time_us)
                        : analyse_frame(first, luma, time_us);
}

static enum gpume_exit finish_analysis(void *client)
{
    struct firstpass *first = client;
    const struct gpume_cli_job *job = &first->job;
    const int drained = first->stage ? gpume_filter_stage_finish(first->stage) : GPUME_OK;
    if (drained != GPUME_OK) {
        return gpume_exit_of_engine(drained);
    }
    if (first->uneven > 0) { /* the video ended while it was measured */
        return gpume_exit_of_engine(refuse_time(first));
    }
    if (!takes_rate(first)) {
        return gpume_exit_of_engine(refuse_rate(first));
    }
    const enum gpume_exit result = gpume_exit_of_engine(gpume_analysis_finish(first->analysis));
    first->seconds = (double)(gpume_clock_ns() - first->start_ns) / 1e9;
    if (result == GPUME_EXIT_DONE) {
        gpume_console_info("%s: %" PRIu64 " frame%s analysed in %.3f s, %.1f per second",
            job->info.label, job->frames, gpume_plural(job->frames), first->seconds,
            (double)job->frames / first->seconds);
    }
    if (result == GPUME_EXIT_DONE && first->options->per == GPUME_PER_SCENE &&
        gpume_pass_split(first->pass, NULL, 0) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    return result ? result : gpume_exit_of_writer(gpume_pass_finish(first->pass));
}

static struct gpume_firstpass_source source_of(const struct firstpass *first)
{
    const struct gpume_cli_job *job = &first->job;
    return (struct gpume_firstpass_source){
        .input = job->common->inputs[0],
        .filter = job->choice->filter,
        .info = &job->info,
        .frames = job->frames,
        .filtered = first->stage ? &first->filter : NULL,
        .kept = first->options->filtered,
    };
}

static enum gpume_exit complete_passes(void *client)
{
    struct firstpass *first = client;
    struct gpume_cli_job *job = &first->job;
    const struct gpume_firstpass_source source = source_of(first);
    for (size_t i = 0; i < first->report.count; i++) {
        first->report.entries[i].outcome = gpume_pass_outcome(first->pass, i);
    }
    first->report.pass = first->pass;
    int status = gpume_firstpass_report_make(&first->report, &first->encode, &source);
    status = status ? status : gpume_firstpass_report_write(&first->report, json_of(job)->out);
    return status ? gpume_exit_of_writer(status) : gpume_job_complete(job);
}

static enum gpume_exit prepare_passes(void *client)
{
    struct firstpass *first = client;
    enum gpume_exit result = settle_options(first);
    result = result ? result : check_times(first);
    if (result == GPUME_EXIT_DONE && first->options->probes > 0) {
        result = gpume_trial_check_program("--probes", first->encode.encoder->name);
    }
    if (result == GPUME_EXIT_DONE && first->options->verify) {
        result = gpume_firstpass_verify_check(first->options, &first->encode, &first->job.info);
    }
    if (result == GPUME_EXIT_DONE && first->options->strength > 0) {
        first->filter = gpume_firstpass_filter_options(first->options);
        result = gpume_filter_stage_open(
            &first->stage, &first->filter, &first->job, analyse_frame, first);
    }
    const uint32_t crf =
        result == GPUME_EXIT_DONE && first->stage ? gpume_filter_stage_crf(first->stage) : 0;
    if (crf > 0) { /* spares the filter of the command lines the analysis that found it */
        first->filter.crf = crf;
        first->filter.kbits = first->filter.coded_width = first->filter.coded_height = 0;
    }
    return result;
}

enum gpume_exit gpume_firstpass_run(const struct gpume_firstpass_options *options)
{
    static const struct gpume_job_work work = {.plan = plan_passes,
        .prepare = prepare_passes,
        .open = open_passes,
        .take = take_first_frame,
        .finish = finish_analysis,
        .complete = complete_passes};
    struct firstpass first = {
        .options = options,
        .job = gpume_job_of(&options->video),
        .report = {.name = options->video.output},
    };
    enum gpume_exit result = gpume_job_run(&first.job, &work, &first);
    if (result == GPUME_EXIT_DONE && options->probes > 0) {
        const struct gpume_firstpass_source source = source_of(&first);
        first.corrected = (struct gpume_out_set){.overwrite = true,
            .own = true,
            .together = true,
            .over_input = true,
            .seal = json_of(&first.job)->path};
        result = gpume_firstpass_probe(
            options, &first.encode, &source, first.pass, &first.report, &first.corrected);
    }
    if (result == GPUME_EXIT_DONE && options->video.common.verbosity >= 0) {
        gpume_firstpass_report_print(&first.report);
    }
    if (result == GPUME_EXIT_DONE) {
        result = gpume_console_flush_output("the command lines") ? result : GPUME_EXIT_FAILED;
    }
    if (result == GPUME_EXIT_DONE && options->verify) {
        result = gpume_firstpass_verify(options, &first.encode, &first.report, first.seconds);
    }
    gpume_distances_finish(&first.distances);
    gpume_filter_stage_close(&first.stage);
    gpume_analysis_close(&first.analysis);
    gpume_pass_close(&first.pass);
    gpume_firstpass_report_finish(&first.report);
    gpume_job_close(&first.job);
    return result;
}
