/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume ladder: from one analysis of a video, what to expect of it at several picture sizes and
 * CRFs. Frames go into the analysis of a first pass, of which no files are written; some of them
 * are scaled to each size and back, which tells what that loses.
 */
#include "ladder/ladder.h"

#include "base/base.h"
#include "encode/analysis.h"
#include "encode/encoder.h"
#include "encode/pass.h"
#include "encoder_options.h"
#include "firstpass/spacing.h"
#include "firstpass/trial.h"
#include "job.h"
#include "media/ffmpeg.h"
#include "options/option.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every such frame is scaled, from the first one on. */
#define SCALED_EVERY 8u
/* Lines of the usual rungs, and how many sizes there are at most. A rung has at most this part of
 * the lines of the one before, in per cent. */
static const uint32_t usual_lines[] = {
    2160, 1440, 1080, 720, 540, 432, 360, 270, 216, 180, 144, 108};
#define USUAL_SIZES 6u
#define USUAL_PERCENT 90u

static const uint32_t usual_crfs[] = {18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48, 51};

#define PROBES_MAX 8 /* rounds, of at most four encodes of a size */

struct ladder_run {
    struct gpume_ladder ladder; /* first */
    struct gpume_spacing spacing;
    uint64_t uneven; /* the first frame that is not where it should be; 0: none */
    struct gpume_pass *pass;
    struct gpume_analysis *analysis;
};

/* --- sizes */

/* Of the encoder, and of what firstpass takes, which reads the ladder. */
static uint32_t least_side(const struct gpume_ladder *ladder)
{
    return gpume_max_u32(ladder->encode.encoder->side_min, GPUME_FIRSTPASS_SIDE_MIN);
}

static int add_size(struct gpume_ladder *ladder, uint32_t width, uint32_t height)
{
    const struct gpume_source_info *info = &ladder->job.info;
    for (size_t i = 0; i < ladder->size_count; i++) {
        if (ladder->sizes[i].width == width && ladder->sizes[i].height == height) {
            return GPUME_OK;
        }
    }
    if (width > info->width || height > info->height) {
        return gpume_refuse(GPUME_INVALID,
            "--size %" PRIu32 "x%" PRIu32 ": %s has %" PRIu32 "x%" PRIu32
            " pixels; give sizes up to that",
            width, height, info->label, info->width, info->height);
    }
    ladder->sizes[ladder->size_count++] =
        (struct gpume_ladder_size){.width = width, .height = height};
    return GPUME_OK;
}

/* A side that is to its own as `lines` is to the shorter side of the input: even, to the nearest.
 */
static uint32_t side_of(uint32_t own, uint32_t lines, uint32_t shorter)
{
    return (uint32_t)(((uint64_t)own * lines + shorter) / (2 * (uint64_t)shorter)) * 2;
}

static int add_usual_sizes(struct gpume_ladder *ladder)
{
    const struct gpume_source_info *info = &ladder->job.info;
    const uint32_t shorter = info->width < info->height ? info->width : info->height;
    uint32_t last = shorter;
    GPUME_CHECK(add_size(ladder, info->width & ~1u, info->height & ~1u));
    for (size_t i = 0; i < sizeof(usual_lines) / sizeof(usual_lines[0]); i++) {
        const uint32_t lines = usual_lines[i];
        const uint32_t width = side_of(info->width, lines, shorter);
        const uint32_t height = side_of(info->height, lines, shorter);
        const uint32_t least = width < height ? width : height;
        if ((uint64_t)lines * 100 <= (uint64_t)last * USUAL_PERCENT &&
            ladder->size_count < USUAL_SIZES && least >= least_side(ladder)) {
            GPUME_CHECK(add_size(ladder, width, height));
            last = lines;
        }
    }
    return GPUME_OK;
}

static int by_area(const void *a, const void *b)
{
    const struct gpume_ladder_size *left = a, *right = b;
    const uint64_t of_left = (uint64_t)left->width * left->height;
    const uint64_t of_right = (uint64_t)right->width * right->height;
    return of_left < of_right ? 1 : of_left > of_right ? -1 : left->width < right->width;
}

static int choose_sizes(struct gpume_ladder *ladder)
{
    const struct gpume_firstpass_rungs *asked = &ladder->options->sizes;
    if (asked->count == 0) {
        return add_usual_sizes(ladder);
    }
    for (uint32_t i = 0; i < asked->count; i++) {
        GPUME_CHECK(add_size(ladder, asked->items[i].width, asked->items[i].height));
    }
    qsort(ladder->sizes, ladder->size_count, sizeof(ladder->sizes[0]), by_area);
    return GPUME_OK;
}

static int open_scalers(struct gpume_ladder *ladder)
{
    const struct gpume_source_info *info = &ladder->job.info;
    for (size_t i = 0; i < ladder->size_count; i++) {
        struct gpume_ladder_size *size = &ladder->sizes[i];
        if (size->width != info->width || size->height != info->height) {
            GPUME_CHECK(gpume_rescale_open(&size->rescale, info->width, info->height, info->bits,
                size->width, size->height, &gpume_console));
        }
    }
    return GPUME_OK;
}

/* --- CRFs */

static int by_value(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void choose_crfs(struct gpume_ladder *ladder)
{
    const struct gpume_firstpass_rungs *asked = &ladder->options->crfs;
    const size_t usual = sizeof(usual_crfs) / sizeof(usual_crfs[0]);
    uint32_t found[GPUME_FIRSTPASS_MAX];
    const size_t count = asked->count > 0 ? asked->count : usual;
    for (size_t i = 0; i < count; i++) {
        found[i] = asked->count > 0 ? (uint32_t)asked->items[i].target.value : 100 * usual_crfs[i];
    }
    qsort(found, count, sizeof(found[0]), by_value);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || found[i] != found[i - 1]) {
            ladder->crfs[ladder->crf_count++] = found[i];
        }
    }
}

/* --- the analysis */

static enum gpume_exit plan_ladder(void *client)
{
    struct gpume_ladder *ladder = client;
    for (uint32_t i = 0; i < ladder->options->outputs.count; i++) {
        const int status = gpume_job_add(&ladder->job, NULL, ladder->options->outputs.items[i]);
        if (status != GPUME_OK) {
            return gpume_exit_of_writer(status);
        }
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit prepare_ladder(void *client)
{
    struct ladder_run *run = client;
    struct gpume_ladder *ladder = &run->ladder;
    const struct gpume_source_info *info = &ladder->job.info;
    ladder->encode = ladder->options->encode;
    ladder->encode.bits = info->bits > 8 ? 10 : 8;
    const uint32_t least = least_side(ladder);
    const enum gpume_exit rated = gpume_encoder_check_rate(info, "bitrates depend");
    if (rated != GPUME_EXIT_DONE) {
        return rated;
    }
    if (info->width < least || info->height < least) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: %" PRIu32 "x%" PRIu32 " pixels: rungs have sides of %" PRIu32
            " pixels and more; enlarge the pictures with --vf scale",
            info->label, info->width, info->height, least);
    }
    gpume_encoder_warn_of_fields(info);
    gpume_spacing_init(&run->spacing, info->rate_num, info->rate_den);
    choose_crfs(ladder);
    if (gpume_encode_options_settle(
            &ladder->encode, info->rate_num, info->rate_den, &gpume_console) != GPUME_OK) {
        return GPUME_EXIT_USAGE;
    }
    return choose_sizes(ladder) == GPUME_OK ? gpume_ladder_trials_check(ladder) : GPUME_EXIT_USAGE;
}

static int add_ladder_decision(void *opaque, const struct gpume_decision *decision)
{
    const struct ladder_run *run = opaque;
    return gpume_signals_caught() ? GPUME_CANCELLED : gpume_pass_add_frame(run->pass, decision);
}

static int open_curves(struct ladder_run *run)
{
    const struct gpume_ladder *ladder = &run->ladder;
    const struct gpume_source_info *info = &ladder->job.info;
    const struct gpume_pass_params params = {
        .options = &ladder->encode,
        .width = info->width,
        .height = info->height,
        .chunks = true,
        .ended = gpume_signals_caught,
        .log = gpume_console,
    };
    GPUME_CHECK(gpume_pass_open(&run->pass, &params));
    for (size_t i = 0; i < ladder->size_count; i++) {
        const struct gpume_pass_video video = {
            ladder->sizes[i].width, ladder->sizes[i].height, info->rate_num, info->rate_den};
        for (size_t k = 0; k < ladder->crf_count; k++) {
            const struct gpume_encode_target target = {GPUME_GOAL_CRF, ladder->crfs[k]};
            GPUME_CHECK(gpume_pass_add(run->pass, &video, &target, NULL));
        }
    }
    return GPUME_OK;
}

static enum gpume_exit open_ladder(void *client)
{
    struct ladder_run *run = client;
    int status = open_scalers(&run->ladder);
    status = status ? status : open_curves(run);
    if (status != GPUME_OK) {
        return gpume_exit_of_writer(status);
    }
    const struct gpume_analysis_params params = {
        .lookahead = gpume_job_lookahead(&run->ladder.job),
        .options = run->ladder.encode,
        .losses = true,
        .decide = add_ladder_decision,
        .opaque = run,
    };
    status = gpume_analysis_open(&run->analysis, &params);
    return gpume_job_opened(
        &run->ladder.job, status, status ? NULL : gpume_analysis_engine(run->analysis));
}

static int take_ladder_frame(void *client, const struct gpume_plane *luma, int64_t time_us)
{
    struct ladder_run *run = client;
    struct gpume_ladder *ladder = &run->ladder;
    const uint64_t frame = run->spacing.count;
    if (!gpume_spacing_add(&run->spacing, time_us) && run->uneven == 0) {
        run->uneven = frame;
    }
    GPUME_CHECK(gpume_analysis_put(run->analysis, luma));
    if (frame % SCALED_EVERY != 0) {
        return GPUME_OK;
    }
    for (size_t i = 0; i < ladder->size_count; i++) {
        struct gpume_ladder_size *size = &ladder->sizes[i];
        size->error += size->rescale ? gpume_rescale_error(size->rescale, luma) : 0;
    }
    ladder->measured++;
    return GPUME_OK;
}

static void warn_of_ladder_times(const struct ladder_run *run)
{
    const struct gpume_spacing *spacing = &run->spacing;
    if (run->uneven > 0) {
        gpume_console_warning("%s: frame %" PRIu64 " is not %" PRIu64 "/%" PRIu64
                              " s after the one before; bitrates are those of evenly spaced "
                              "frames, which 'gpume firstpass' requires: give both the same --vf "
                              "fps",
            run->ladder.job.info.label, run->uneven, spacing->den, spacing->num);
    }
}

static void warn_of_ladder_noise(const struct ladder_run *run)
{
    const struct gpume_ladder *ladder = &run->ladder;
    if (ladder->options->probes == 0 && gpume_pass_is_noisy(run->pass)) {
        gpume_console_warning("%s: bitrates and PSNR may be off by far, because of the noise; "
                              "correct them with --probes 2, or remove the noise with 'gpume "
                              "filter' first",
            ladder->job.info.label);
    }
}

static void take_expected(struct ladder_run *run)
{
    struct gpume_ladder *ladder = &run->ladder;
    const struct gpume_source_info *info = &ladder->job.info;
    const double pixels = (double)info->width * info->height;
    const double seconds = (double)ladder->job.frames * info->rate_den / info->rate_num;
    for (size_t i = 0; i < ladder->size_count; i++) {
        struct gpume_ladder_size *size = &ladder->sizes[i];
        for (size_t k = 0; k < ladder->crf_count; k++) {
            const struct gpume_pass_outcome outcome =
                gpume_pass_outcome(run->pass, i * ladder->crf_count + k);
            size->expected[k] = (struct gpume_ladder_encode){
                .crf = (double)ladder->crfs[k] / 100,
                .bitrate = fmax((double)outcome.bits, 1) / seconds,
                .error = 255.0 * 255.0 / pow(10, outcome.expected[GPUME_MEASURE_PSNR] / 10),
            };
        }
        size->facts = (struct gpume_ladder_facts){
            .model = ladder->encode.encoder->ladder,
            .octaves = log2(pixels / ((double)size->width * size->height)),
            .scaling = (double)size->error / 65536 / pixels / (double)ladder->measured,
            .expected = size->expected,
            .expected_count = ladder->crf_count,
            .encodes = size->encodes,
        };
    }
}

static enum gpume_exit finish_ladder(void *client)
{
    struct ladder_run *run = client;
    struct gpume_ladder *ladder = &run->ladder;
    warn_of_ladder_times(run);
    enum gpume_exit result = gpume_exit_of_engine(gpume_analysis_finish(run->analysis));
    result = result ? result : gpume_exit_of_writer(gpume_pass_finish(run->pass));
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    warn_of_ladder_noise(run);
    take_expected(run);
    gpume_ladder_fill_curves(ladder);
    result = gpume_ladder_probe(ladder);
    const enum gpume_exit found = gpume_ladder_find(ladder);
    result = result ? result : found;
    result = result || !ladder->options->verify ? result : gpume_ladder_verify(ladder);
    for (size_t i = 0; i < ladder->job.output_count && result == GPUME_EXIT_DONE; i++) {
        const struct gpume_job_output *output = &ladder->job.outputs[i];
        result = gpume_exit_of_writer(gpume_ladder_write(ladder, output->path, output->out));
    }
    return result;
}

static enum gpume_exit run_job(const struct gpume_ladder_options *options, struct ladder_run *run)
{
    static const struct gpume_job_work work = {.plan = plan_ladder,
        .prepare = prepare_ladder,
        .open = open_ladder,
        .take = take_ladder_frame,
        .finish = finish_ladder,
        .print = gpume_ladder_print,
        .optional = true,
        .put_csv = gpume_ladder_put_csv,
        .put_json = gpume_ladder_put_json,
        .format = 1};
    run->ladder.job = gpume_job_of(&options->video);
    run->ladder.options = options;
    const enum gpume_exit result = gpume_job_run(&run->ladder.job, &work, run);
    gpume_analysis_close(&run->analysis);
    gpume_pass_close(&run->pass);
    for (size_t i = 0; i < run->ladder.size_count; i++) {
        gpume_rescale_close(&run->ladder.sizes[i].rescale);
    }
    gpume_job_close(&run->ladder.job);
    return result;
}

static enum gpume_exit run_ladder(const void *options)
{
    struct ladder_run *run = calloc(1, sizeof(*run));
    if (!run) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    const enum gpume_exit result = run_job(options, run);
    free(run);
    return result;
}

/* --- options */

static bool parse_name(const struct gpume_option *option, const char *text, void *field)
{
    struct gpume_ladder_names *names = field;
    (void)option;
    if (!gpume_ladder_knows(text)) {
        return false;
    }
    if (names->count <= GPUME_LADDER_OUTPUTS_MAX) {
        names->items[names->count++] = text;
    }
    return true;
}

static const struct gpume_option_type gpume_type_ladder_names = {
    .bytes = sizeof(struct gpume_ladder_names),
    .parse = parse_name,
    .permitted = "a file whose name ends in .csv, .json or .html"};

static void set_ladder_defaults(void *opaque)
{
    struct gpume_ladder_options *options = opaque;
    gpume_video_options_default(&options->video);
    options->encoder = gpume_encoders[0];
    options->rungs = 6;
}

static int check_ladder(void *opaque, const struct gpume_line *line)
{
    struct gpume_ladder_options *options = opaque;
    (void)gpume_bitrate_warn();
    if (options->outputs.count > GPUME_LADDER_OUTPUTS_MAX) {
        return gpume_refuse(GPUME_INVALID, "--output: give at most %u of them in one command",
            GPUME_LADDER_OUTPUTS_MAX);
    }
    const char *repeated = options->sizes.count > GPUME_FIRSTPASS_MAX  ? "size"
                           : options->crfs.count > GPUME_FIRSTPASS_MAX ? "crf"
                                                                       : NULL;
    if (repeated) {
        return gpume_refuse(GPUME_INVALID, "--%s: give at most %u of them in one command", repeated,
            GPUME_FIRSTPASS_MAX);
    }
    if (options->crfs.count == 1) {
        return gpume_refuse(
            GPUME_INVALID, "--crf: a curve needs two of them at least; give another, or none");
    }
    if (options->min_bitrate > 0 && options->max_bitrate > 0 &&
        options->min_bitrate > options->max_bitrate) {
        return gpume_refuse(GPUME_INVALID,
            "--min-bitrate %" PRIu64 "k: is more than --max-bitrate %" PRIu64
            "k; lower it or raise that",
            options->min_bitrate / 1000, options->max_bitrate / 1000);
    }
    if (options->verify || options->probes > 0) {
        GPUME_CHECK(gpume_trial_check_input(
            options->verify ? "--verify" : "--probes", options->video.common.inputs[0]));
    }
    GPUME_CHECK(
        gpume_encoder_choose(&options->encode, options->encoder, options->preset, options->tune));
    return gpume_video_options_check(opaque, line);
}

#define OPTIONS struct gpume_ladder_options

static struct gpume_option table[] = {
    {.heading = "Ladder"},
    {GPUME_ROW("size", "WxH", sizes, OPTIONS, sizes),
        .help = "a picture size, at most that of the input; repeat it for several (default: the "
                "input's, and the usual ones below it: 1080, 720, 540, 432, 360, 270 lines ...)"},
    {GPUME_ROW("crf", "N", goals, OPTIONS, crfs),
        .help = "a point of the curves, 1 to 51; repeat it for several (default 18, 21 ... 51)"},
    {GPUME_ROW_NUMBER("rungs", OPTIONS, rungs, 1, GPUME_LADDER_RUNGS_MAX),
        .help = "rungs of the proposed ladder, 1 to 16 (default 6)"},
    {GPUME_ROW("min-bitrate", "RATE", bitrate, OPTIONS, min_bitrate),
        .help = "bitrate of its lowest rung, e.g. 345k or 1.5M (default: that of the smallest "
                "size at CRF 34)"},
    {GPUME_ROW("max-bitrate", "RATE", bitrate, OPTIONS, max_bitrate),
        .help = "bitrate of its highest rung (default: that of the largest size at CRF 22)"},
    {GPUME_ROW_NUMBER("probes", OPTIONS, probes, 0, PROBES_MAX),
        .help = "correct the curves by up to N rounds of encodes with the encoder's program, of "
                "neighbouring sizes where they are expected to cross (default 0: the curves are "
                "predicted only)"},
    {GPUME_ROW_FLAG("verify", OPTIONS, verify),
        .help = "also encode the proposed rungs, and show the results; --frames limits this to the "
                "beginning"},
    {.heading = "Encoder"},
    {GPUME_ROW("encoder", gpume_encoder_known.value, encoder, OPTIONS, encoder),
        .choices = gpume_encoder_known.words, .help = "the encoder (default x264)"},
    {GPUME_ROW("preset", "NAME", encoder_word, OPTIONS, preset),
        .choices = gpume_encoder_presets.words, .help = "the encoder's preset (default medium)"},
    {GPUME_ROW("tune", "NAME", encoder_word, OPTIONS, tune), .choices = gpume_encoder_tunes.words,
        .help = "the encoder's tuning (default none)"},
    {.heading = "Input"},
    GPUME_OPTIONS_SOURCE(OPTIONS, video.source),
    {GPUME_OPTION_VIDEO_FRAMES(OPTIONS, video.frames)},
    {GPUME_OPTION_TIMEOUT},
    {.heading = "Output"},
    {GPUME_ROW("output", "FILE", ladder_names, OPTIONS, outputs), .letter = 'o',
        .complete = GPUME_COMPLETE_FILES,
        .help = "write the points as .csv, everything as .json, or a page with curves, .html; "
                "repeat it for several"},
    {GPUME_OPTION_OVERWRITE, .help = "replace existing outputs"},
    {GPUME_OPTION_JSON, .help = "print everything as one JSON object"},
    {GPUME_OPTION_CSV, .help = "print the points as CSV"},
    {.heading = "Engine"},
    GPUME_OPTIONS_ENGINE(OPTIONS, video.params),
    {.heading = "Messages"},
    GPUME_OPTIONS_MESSAGES("print no tables and no progress"),
};

const struct gpume_command gpume_ladder_command = {
    .name = "ladder",
    .summary = "find the picture sizes and qualities of a bitrate ladder",
    .usage = "ladder INPUT [-o FILE] [options]",
    .about =
        "Analyses a video once, predicts the bitrate and the PSNR of encodes at several picture "
        "sizes and CRFs, and finds which size is best at which bitrate, and the rungs of a ladder. "
        "PSNR is of luma at the input's size, after scaling back up by FFmpeg's bicubic filter.",
    GPUME_COMMAND_OPTIONS(table, struct gpume_ladder_options),
    .make_options = gpume_encoder_rows_make,
    GPUME_COMMAND_ONE_VIDEO,
    .catches_signals = true,
    .set_defaults = set_ladder_defaults,
    .check = check_ladder,
    .run = run_ladder,
};
