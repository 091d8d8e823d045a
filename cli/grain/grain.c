/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume grain: what a filter took from a video, as a table of film grain for AV1 encoders
 * (src/grain/grain.h). The filter is that of gpume filter, or has been at work before: then both
 * videos are read. Main thread only.
 */
#include "grain/grain.h"

#include "base/base.h"
#include "filter/filter.h"
#include "gpume/filter.h"
#include "options/option.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PLANES GPUME_GRAIN_PLANES
#define TICKS_PER_US 10 /* of tables */
#define STEPS_MOST 40.0 /* of 8 bits: heavier grain hides the picture */
#define BLOCKS_FEW 256u /* with as many, strengths are within some percent */
#define SEED_FIRST 7391u
#define SEED_STEP 3381u

struct grain_options {
    struct gpume_filter_options filter;
    bool single;
};

struct grain {
    const struct grain_options *options;
    struct gpume_grain *grain;
    struct gpume_out *out;
    const char *label;
    int64_t first_us;
    uint64_t pictures;
    const struct gpume_grain_segment *segments;
    size_t count;
    /* with a filtered video */
    struct gpume_cli_job job;
    struct gpume_source *clean;
    struct gpume_source_info clean_info;
    struct gpume_plane planes[2][PLANES]; /* of the clean video; chroma alone of the input */
};

/* --- pictures in, a table out */

static enum gpume_exit open_grain(void *client, const struct gpume_cli_job *job)
{
    struct grain *grain = client;
    const struct gpume_source_info *info = &job->info;
    const struct gpume_grain_params params = {
        .width = info->width,
        .height = info->height,
        .bits = info->bits,
        .chroma = info->chroma == GPUME_CHROMA_PLANES,
        .shift_x = info->chroma_x,
        .shift_y = info->chroma_y,
        .keeps = job->common->input_count < 2,
        .single = grain->options->single,
        .threads = grain->options->filter.video.params.threads,
    };
    grain->out = job->outputs[0].out;
    grain->label = info->label;
    const int status = gpume_grain_open(&grain->grain, &params);
    if (status == GPUME_AGAIN) {
        return gpume_exit_of_engine(gpume_log_no_thread(&gpume_console));
    }
    return status == GPUME_OK
               ? GPUME_EXIT_DONE
               : gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory for its grain", info->label);
}

static uint32_t guess_noise(void *client, const struct gpume_plane *picture)
{
    return gpume_grain_guess(((const struct grain *)client)->grain, picture);
}

static int put_grain_pair(void *client, const struct gpume_plane *picture,
    const struct gpume_plane *filtered, int64_t time_us)
{
    struct grain *grain = client;
    if (grain->pictures++ == 0) {
        grain->first_us = time_us;
    }
    const int status = gpume_grain_add(grain->grain, picture, filtered, time_us - grain->first_us);
    return status == GPUME_OK
               ? status
               : gpume_refuse(status, "%s: out of memory for its grain", grain->label);
}

static enum gpume_exit finish_grain(void *client)
{
    struct grain *grain = client;
    char text[GPUME_GRAIN_TEXT_BYTES];
    if (gpume_grain_finish(grain->grain, &grain->segments, &grain->count) != GPUME_OK) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory for its grain", grain->label);
    }
    uint64_t blocks = 0;
    double heaviest = 0;
    int status = gpume_out_text(grain->out, GPUME_GRAIN_HEAD);
    for (size_t i = 0; i < grain->count && status == GPUME_OK; i++) {
        const struct gpume_grain_segment *segment = &grain->segments[i];
        const int64_t end =
            i + 1 < grain->count ? TICKS_PER_US * segment[1].start_us : GPUME_GRAIN_END;
        gpume_grain_text(&segment->table, TICKS_PER_US * segment->start_us, end,
            (SEED_FIRST + (uint32_t)i * SEED_STEP) & 0xffff, text);
        status = gpume_out_text(grain->out, text);
        blocks += segment->blocks;
        heaviest = segment->deviation > heaviest ? segment->deviation : heaviest;
    }
    if (status == GPUME_OK && heaviest > STEPS_MOST && grain->clean) {
        gpume_console_warning("%s: differs from %s by %.0f steps of 8-bit samples; is it the same "
                              "video, frame by frame?",
            grain->clean_info.label, grain->label, heaviest);
    }
    if (status == GPUME_OK && blocks == 0) {
        gpume_console_warning("%s: no grain was found, so the table adds none%s", grain->label,
            grain->clean ? "; INPUT comes first, the filtered video second" : "");
    } else if (status == GPUME_OK && blocks < BLOCKS_FEW) {
        gpume_console_warning("%s: only %" PRIu64
                              " flat block%s of 32x32 pixels show grain, so the "
                              "table may be far off; a longer part of the video has more",
            grain->label, blocks, gpume_plural(blocks));
    }
    return gpume_exit_of_writer(status);
}

static void conclude_grain(const void *client, FILE *stream)
{
    const struct grain *grain = client;
    double variance = 0;
    uint64_t blocks = 0;
    for (size_t i = 0; i < grain->count; i++) {
        const struct gpume_grain_segment *segment = &grain->segments[i];
        variance += segment->deviation * segment->deviation * (double)segment->blocks;
        blocks += segment->blocks;
    }
    fprintf(stream,
        "grain        %.2f steps of 8 bits (luma, root of the mean square), from %" PRIu64
        " flat block%s\n"
        "segments     %zu\n",
        blocks > 0 ? sqrt(variance / (double)blocks) : 0, blocks, gpume_plural(blocks),
        grain->count);
}

/* --- with a filtered video */

static enum gpume_exit plan_grain(void *client)
{
    struct grain *grain = client;
    struct gpume_cli_job *job = &grain->job;
    job->wanted.path_count = 1;
    job->wanted.chroma = true;
    const enum gpume_exit result = gpume_job_find_range(job, &grain->options->filter.range);
    return result ? result
                  : gpume_exit_of_writer(gpume_job_add(job, NULL, job->output ? job->output : "-"));
}

static enum gpume_exit check_pair(const struct grain *grain)
{
    const struct gpume_source_info *a = &grain->job.info, *b = &grain->clean_info;
    if (a->width != b->width || a->height != b->height) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: has %" PRIu32 "x%" PRIu32 " pixels, %s %" PRIu32 "x%" PRIu32
            "; the filtered video must have the size of the input",
            b->label, b->width, b->height, a->label, a->width, a->height);
    }
    if (a->bits != b->bits || a->chroma != b->chroma || a->chroma_x != b->chroma_x ||
        a->chroma_y != b->chroma_y) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: has the pixel format %s, %s %s; both must have the same", b->label,
            b->pixel_format, a->label, a->pixel_format);
    }
    return gpume_filter_check_input(a, GPUME_FILTER_WHOLE);
}

static enum gpume_exit prepare_grain(void *client)
{
    struct grain *grain = client;
    const struct gpume_cli_job *job = &grain->job;
    struct gpume_source_options options = job->wanted;
    options.paths[0] = job->common->inputs[1];
    options.filter = NULL;
    options.stream = -1;
    options.divisible = false;
    const int status = gpume_source_open_inputs(&grain->clean, &options, &grain->clean_info);
    if (status != GPUME_OK) {
        return gpume_source_exit(status);
    }
    const enum gpume_exit result = check_pair(grain);
    bool complete = true;
    for (uint32_t i = 0; i < 2 * PLANES && result == GPUME_EXIT_DONE; i++) {
        const bool is_luma = i % PLANES == 0;
        if (is_luma || job->info.chroma == GPUME_CHROMA_PLANES) {
            grain->planes[i / PLANES][i % PLANES] =
                is_luma ? gpume_source_plane(&job->info) : gpume_filter_chroma_plane(&job->info);
            complete = complete && grain->planes[i / PLANES][i % PLANES].data;
        }
    }
    if (!complete) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory", job->info.label);
    }
    return result;
}

static enum gpume_exit open_table(void *client)
{
    struct grain *grain = client;
    return open_grain(grain, &grain->job);
}

static int take_grain_frame(void *client, const struct gpume_plane *luma, int64_t time_us)
{
    struct grain *grain = client;
    const struct gpume_cli_job *job = &grain->job;
    struct gpume_plane *clean = grain->planes[0], *own = grain->planes[1];
    int64_t ignored_us;
    const int status = gpume_source_read(grain->clean, clean, &ignored_us);
    if (status == GPUME_EOF) {
        return gpume_refuse(GPUME_INVALID,
            "%s: ends after %" PRIu64 " frame%s, before %s; read as many with --frames",
            grain->clean_info.label, job->frames - 1, gpume_plural(job->frames - 1),
            job->info.label);
    }
    GPUME_CHECK(status);
    struct gpume_plane picture[PLANES] = {*luma, own[1], own[2]};
    if (job->info.chroma == GPUME_CHROMA_PLANES) {
        GPUME_CHECK(gpume_source_take_chroma(grain->clean, job->frames - 1, &clean[1]));
        GPUME_CHECK(gpume_source_take_chroma(job->source, job->skip + job->frames - 1, &own[1]));
    }
    return put_grain_pair(grain, picture, clean, time_us);
}

/* Both have as many frames, unless fewer were asked for. */
static enum gpume_exit finish_pair(void *client)
{
    struct grain *grain = client;
    int64_t ignored_us;
    if (grain->job.frames_max == 0 || grain->job.frames < grain->job.frames_max) {
        const int status = gpume_source_read(grain->clean, grain->planes[0], &ignored_us);
        if (status == GPUME_OK) {
            return gpume_refuse(GPUME_EXIT_INPUT,
                "%s: has more frames than %s, which has %" PRIu64
                "; both must be the same video, or read as many with --frames",
                grain->clean_info.label, grain->job.info.label, grain->job.frames);
        }
        if (status != GPUME_EOF) {
            return gpume_source_exit(status);
        }
    }
    return finish_grain(grain);
}

static enum gpume_exit conclude_pair(void *client, FILE *stream)
{
    const struct grain *grain = client;
    if (stream) {
        fprintf(stream, "compared     %" PRIu64 " frame%s\n", grain->job.frames,
            gpume_plural(grain->job.frames));
        conclude_grain(grain, stream);
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit compare_with_filtered(struct grain *grain)
{
    static const struct gpume_job_work work = {.plan = plan_grain,
        .prepare = prepare_grain,
        .open = open_table,
        .take = take_grain_frame,
        .finish = finish_pair,
        .conclude = conclude_pair};
    grain->job = gpume_job_of(&grain->options->filter.video);
    const enum gpume_exit result = gpume_job_run(&grain->job, &work, grain);
    gpume_job_close(&grain->job);
    gpume_source_close(&grain->clean);
    for (uint32_t i = 0; i < 2 * PLANES; i++) {
        free(grain->planes[i / PLANES][i % PLANES].data);
    }
    return result;
}

static enum gpume_exit run_grain(const void *opaque)
{
    static const struct gpume_filter_taker taker = {.open = open_grain,
        .guess = guess_noise,
        .take = put_grain_pair,
        .finish = finish_grain,
        .conclude = conclude_grain};
    const struct grain_options *options = opaque;
    struct grain grain = {.options = options};
    const enum gpume_exit result = options->filter.video.common.input_count == 2
                                       ? compare_with_filtered(&grain)
                                       : gpume_filter_run(&options->filter, &taker, &grain);
    gpume_grain_close(&grain.grain);
    return result;
}

/* --- options */

#define OPTIONS struct grain_options
#define USED_BY_FILTER 1u

static struct gpume_option table[] = {
    {.heading = "Grain"},
    {GPUME_ROW_FLAG("single", OPTIONS, single),
        .help = "write one set of parameters for the whole video, even if its grain changes"},
    {.heading = "Filter, without FILTERED"},
    {GPUME_ROW_REAL("strength", "S", OPTIONS, filter.strength, 0, 2), .uses = USED_BY_FILTER,
        .help = "weight of the other frames, 0 (none) to 2 (default 2)"},
    {.name = "noise",
        .value = "auto|SIGMA",
        .type = &gpume_type_noise,
        GPUME_FIELD(OPTIONS, filter.noise),
        .min = 0,
        .max = (uint32_t)GPUME_FILTER_SIGMA_MAX,
        .words = "auto 2 5 10",
        .uses = USED_BY_FILTER,
        .help = "standard deviation of the grain, in steps of 8-bit samples, 0 to 50 (default "
                "auto: measured in every frame)"},
    {GPUME_ROW_NUMBER("radius", OPTIONS, filter.radius, 1, GPUME_FILTER_RADIUS_MAX),
        .uses = USED_BY_FILTER,
        .help = "number of frames used before and after each frame, 1 to 4 (default 4)"},
    {GPUME_ROW("window", "N|XxY", window, OPTIONS, filter.window_x), .letter = 'w', .min = 1,
        .max = 128, .uses = USED_BY_FILTER,
        .help = "largest displacement in pixels, 1 to 128 (default 16)"},
    {GPUME_ROW_PARAM(OPTIONS, filter.video.params.metric, metric), .uses = USED_BY_FILTER},
    {.heading = "Input"},
    GPUME_OPTIONS_RANGE(OPTIONS, filter.range, filter.video),
    GPUME_OPTIONS_SOURCE(OPTIONS, filter.video.source),
    {GPUME_OPTION_TIMEOUT},
    {.heading = "Output"},
    {GPUME_ROW_FILE("output", "FILE", OPTIONS, filter.video.output), .letter = 'o',
        .help = "write the table to this file (default: standard output)"},
    GPUME_OPTIONS_VIDEO_LAST(OPTIONS, filter.video),
};

static void set_grain_defaults(void *opaque)
{
    struct grain_options *options = opaque;
    gpume_filter_options_default(&options->filter);
    options->filter.strength = 2;
}

static int check_grain_options(void *opaque, const struct gpume_line *line)
{
    const struct gpume_common_options *common = opaque;
    const bool filters = common->input_count < 2;
    const struct gpume_option *unused = gpume_line_unused(line, filters ? USED_BY_FILTER : 0);
    if (unused) {
        return gpume_refuse(GPUME_INVALID,
            "--%s: belongs to the filter, and there is a filtered video; leave one of them out",
            unused->name);
    }
    GPUME_CHECK(gpume_check_streams(common, "videos"));
    GPUME_CHECK(gpume_name_check_kind(
        ((const struct gpume_video_options *)opaque)->output, "a table of grain", ".tbl"));
    return gpume_filter_options_check(opaque, line);
}

const struct gpume_command gpume_grain_command = {
    .name = "grain",
    .summary = "measure film grain, as a table for AV1 encoders",
    .usage = "grain INPUT [FILTERED] [-o FILE] [options]",
    .about =
        "Measures the film grain that a filter removes from a video, and writes it as a table. AV1 "
        "encoders put it into the video, so that players restore the grain. FILTERED is INPUT "
        "without grain; if it is not given, INPUT is filtered as by 'gpume filter'.",
    GPUME_COMMAND_OPTIONS(table, struct grain_options),
    .operands_min = 1,
    .operands_max = 2,
    .operands = "one video, or two",
    .catches_signals = true,
    .set_defaults = set_grain_defaults,
    .check = check_grain_options,
    .run = run_grain,
};
