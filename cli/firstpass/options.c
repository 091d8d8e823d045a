/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of `gpume firstpass`. Those of the encoders have their names and defaults: the rows
 * are made from the encoders' tables, one for each name. Their values are kept until the encoder is
 * known, which may be named last.
 */
#include "firstpass/firstpass.h"

#include "base/base.h"
#include "console.h"
#include "encode/encoder.h"
#include "encoder_options.h"
#include "files/path.h"
#include "firstpass/trial.h"
#include "options/common.h"
#include "options/option.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define OPTIONS struct gpume_firstpass_options

static const char *const switches[] = {"0", "1", NULL};

/* --- values of gpume's own options */

static bool keep_rung(struct gpume_firstpass_rungs *list, const struct gpume_firstpass_rung *rung)
{
    if (list->count <= GPUME_FIRSTPASS_MAX) {
        list->items[list->count++] = *rung;
    }
    return true;
}

static bool parse_rate(const struct gpume_option *option, const char *text, void *field)
{
    struct gpume_firstpass_rung rung = {.target = {.goal = GPUME_GOAL_BITRATE}};
    return gpume_bitrate_parse(option, text, &rung.target.value) && keep_rung(field, &rung);
}

static const struct gpume_option_type gpume_type_rates = {
    .bytes = sizeof(struct gpume_firstpass_rungs),
    .parse = parse_rate,
    .describe = gpume_bitrate_describe,
    .hint = gpume_bitrate_hint};

static bool parse_goal(const struct gpume_option *option, const char *text, void *field)
{
    struct gpume_firstpass_rung rung = {0};
    return gpume_goal_parse(gpume_goal_of(option), text, &rung.target) && keep_rung(field, &rung);
}

const struct gpume_option_type gpume_type_goals = {.bytes = sizeof(struct gpume_firstpass_rungs),
    .parse = parse_goal,
    .describe = gpume_goal_describe,
    .hint = gpume_goal_hint};

/* Sides are even, for chroma at half resolution. length: of the text that is the size. */
static bool parse_sides(const char *text, size_t length, struct gpume_firstpass_rung *rung)
{
    const char *by = memchr(text, 'x', length), *end = text + length;
    uint64_t width, height;
    if (!by || !gpume_parse_digits(text, (size_t)(by - text), GPUME_FIRSTPASS_SIDE_MAX, &width) ||
        !gpume_parse_digits(by + 1, (size_t)(end - by - 1), GPUME_FIRSTPASS_SIDE_MAX, &height) ||
        width < GPUME_FIRSTPASS_SIDE_MIN || height < GPUME_FIRSTPASS_SIDE_MIN ||
        (width | height) & 1 || width * height > GPUME_FIRSTPASS_PIXELS_MAX) {
        return false;
    }
    rung->width = (uint32_t)width;
    rung->height = (uint32_t)height;
    return true;
}

static bool parse_size(const struct gpume_option *option, const char *text, void *field)
{
    struct gpume_firstpass_rung rung = {0};
    (void)option;
    return parse_sides(text, strlen(text), &rung) && keep_rung(field, &rung);
}

static void describe_size(const struct gpume_option *option, char *text, size_t bytes)
{
    (void)option;
    snprintf(text, bytes,
        "WxH, each even and from %u to %u, with at most %u million pixels, e.g. 1280x720",
        GPUME_FIRSTPASS_SIDE_MIN, GPUME_FIRSTPASS_SIDE_MAX, GPUME_FIRSTPASS_PIXELS_MAX / 1000000);
}

const struct gpume_option_type gpume_type_sizes = {
    .bytes = sizeof(struct gpume_firstpass_rungs), .parse = parse_size, .describe = describe_size};

static bool parse_target(
    const struct gpume_option *option, const char *text, struct gpume_encode_target *target)
{
    for (size_t i = 0; i < GPUME_GOAL_ROWS; i++) {
        const char *word = gpume_target_option(gpume_goal_rows[i].goal);
        const size_t length = strlen(word);
        if (strncmp(text, word, length) == 0 && text[length] == '=') {
            return gpume_goal_parse(&gpume_goal_rows[i], text + length + 1, target);
        }
    }
    target->goal = GPUME_GOAL_BITRATE;
    return gpume_bitrate_parse(option, text, &target->value);
}

static bool parse_rung(const struct gpume_option *option, const char *text, void *field)
{
    const char *colon = strchr(text, ':');
    struct gpume_firstpass_rung rung;
    return colon && parse_sides(text, (size_t)(colon - text), &rung) &&
           parse_target(option, colon + 1, &rung.target) && keep_rung(field, &rung);
}

static void describe_rung(const struct gpume_option *option, char *text, size_t bytes)
{
    (void)option;
    snprintf(text, bytes,
        "a size as --size takes it with a bitrate, crf=N, qp=N, psnr=N, ssim=N, xpsnr=N or size=N, "
        "e.g. "
        "640x360:600k or 640x360:crf=24");
}

static void hint_rung(const struct gpume_option *option, const char *text, char *hint, size_t bytes)
{
    const char *colon = strchr(text, ':');
    struct gpume_firstpass_rung rung;
    if (!colon || !parse_sides(text, (size_t)(colon - text), &rung)) {
        return;
    }
    if (strncmp(colon + 1, "size=", 5) == 0) {
        gpume_suffix_hint(option, colon + 6, hint, bytes);
    } else {
        gpume_bitrate_hint(option, colon + 1, hint, bytes);
    }
}

static const struct gpume_option_type gpume_type_rungs = {
    .bytes = sizeof(struct gpume_firstpass_rungs),
    .parse = parse_rung,
    .describe = describe_rung,
    .hint = hint_rung};

/* --- rows that are made from the encoders' tables */

static void describe_encoder_number(const struct gpume_option *option, char *text, size_t bytes)
{
    snprintf(text, bytes, "a whole number, ");
    gpume_encoder_row_limits(text, bytes, gpume_encoder_row_find(option->name));
}

static void describe_encoder_kbits(const struct gpume_option *option, char *text, size_t bytes)
{
    snprintf(text, bytes, "a %s such as 345k or 1.5M, or a whole number of %s, ",
        strcmp(option->unit, "kbit/s") == 0 ? "bitrate" : "size", option->unit);
    gpume_encoder_row_limits(text, bytes, gpume_encoder_row_find(option->name));
}

static void describe_encoder_real(const struct gpume_option *option, char *text, size_t bytes)
{
    snprintf(text, bytes, "a number, ");
    gpume_encoder_row_limits(text, bytes, gpume_encoder_row_find(option->name));
}

/* Limits are checked when the encoder is known. */
static const struct gpume_option_type gpume_type_encoder_number = {
    .parse = gpume_type_number_parse, .describe = describe_encoder_number};
static const struct gpume_option_type gpume_type_encoder_kbits = {
    .parse = gpume_type_kbits_parse, .describe = describe_encoder_kbits, .hint = gpume_suffix_hint};
static const struct gpume_option_type gpume_type_encoder_real = {
    .bytes = sizeof(double), .parse = gpume_type_real_parse, .describe = describe_encoder_real};

/* By the first encoder that has the option. */
static struct gpume_option make_row(size_t index)
{
    const struct gpume_encoder_row *row = &gpume_encoder_rows[index];
    const struct gpume_encode_option *option =
        gpume_encode_option_find(gpume_encoder_find(row->taken[0].encoder), row->name);
    const bool is_real = option->type == GPUME_ENCODE_REAL;
    const bool is_switch = gpume_encode_option_is_switch(option) && !option->words;
    return (struct gpume_option){
        .name = row->name,
        .value = option->words ? "NAME"
                 : is_switch   ? "0|1"
                               : "N",
        .type = option->words || is_switch ? &gpume_type_choice
                : is_real                  ? &gpume_type_encoder_real
                : option->unit             ? &gpume_type_encoder_kbits
                                           : &gpume_type_encoder_number,
        .offset = offsetof(struct gpume_firstpass_options, values) +
                  index * sizeof(union gpume_firstpass_value),
        .bytes = sizeof(union gpume_firstpass_value),
        .min = is_real && option->optional ? 0.001 : 0, /* 0 stands for none */
        .max = UINT32_MAX,
        .unit = option->unit,
        .choices = option->words ? row->words
                   : is_switch   ? switches
                                 : NULL,
        .help = row->text,
    };
}

/* --- the table */

static const char *const spans[] = {"video", "scene", NULL};

static const struct gpume_option first_rows[] = {
    {.heading = "First pass"},
    {GPUME_ROW_CHOICE(
         "encoder", gpume_encoder_names.value, OPTIONS, encoder, gpume_encoder_names.words),
        .help = "encoder of the second pass"},
    {GPUME_ROW("bitrate", "RATE", rates, OPTIONS, targets),
        .help = "bitrate in bits per second, e.g. 345k or 1.5M; repeat it for several"},
    {GPUME_ROW("crf", "N", goals, OPTIONS, targets),
        .help = "constant quality, as the encoder's own --crf, 1 to 51, e.g. 24 or 23.5; repeat it "
                "for several"},
    {GPUME_ROW("qp", "N", goals, OPTIONS, targets),
        .help = "constant QP of P frames, as the encoder's own --qp, 1 to 51; repeat it for "
                "several"},
    {GPUME_ROW("target-psnr", "DB", goals, OPTIONS, targets),
        .help =
            "aim at this PSNR of luma, 20 to 60 dB, by choosing the CRF; repeat it for several"},
    {GPUME_ROW("target-ssim", "S", goals, OPTIONS, targets),
        .help = "the same for the SSIM of luma, 0.5 to 0.9999; repeat it for several"},
    {GPUME_ROW("target-xpsnr", "DB", goals, OPTIONS, targets),
        .help = "the same for the XPSNR of luma, in which errors count less where the source is "
                "rough or moves, 20 to 60 dB; repeat it for several"},
    {GPUME_ROW("target-size", "BYTES", goals, OPTIONS, targets),
        .help = "aim at this size of the encoded video stream, e.g. 700M, by choosing the bitrate; "
                "clips of a few seconds can miss it by 10 to 20 %; repeat it for several"},
    {GPUME_ROW_CHOICE("per", "video|scene", OPTIONS, per, spans),
        .help = "what is to have the quality of --target-psnr, --target-ssim or --target-xpsnr: "
                "the whole video, or every scene, from each I frame to the next (default video)"},
    {GPUME_ROW_NUMBER("probes", OPTIONS, probes, 0, 8),
        .help = "encode the whole video up to N times with the encoder's program, and correct the "
                "CRF of a target by the measured quality (default 0: the CRF is predicted only)"},
    {GPUME_ROW("size", "WxH", sizes, OPTIONS, sizes),
        .help = "size of the encoded picture; repeat it for several, each with all bitrates and "
                "qualities (default: the input's size, at which the analysis runs in any case)"},
    {GPUME_ROW("rung", "WxH:RATE", rungs, OPTIONS, rungs),
        .help = "one picture size with one bitrate, quality or target, e.g. 640x360:600k, "
                "640x360:crf=24 or 640x360:psnr=42; repeat it for a ladder"},
    {GPUME_ROW_FILE("output", "NAME", OPTIONS, video.output), .letter = 'o',
        .help = "beginning of the names of all files; NAME.json says which second pass reads "
                "which files"},
    {GPUME_OPTION_OVERWRITE, .help = "replace existing files"},
    {GPUME_ROW_REAL("filter", "S", OPTIONS, strength, 0.05, 2), .excludes = "verify",
        .help = "analyse the output of gpume filter with this --strength, usually 1, or 0.25 for "
                "SVT-AV1, which filters itself; the command lines encode it: they begin with that "
                "filter, or read the file of --filtered; not with --verify or --probes"},
    {GPUME_ROW_FILE("filtered", "FILE", OPTIONS, filtered), .needs = "filter",
        .help = "write the filtered video to this file, which the command lines then read instead "
                "of filtering again: .y4m, or .mkv or .nut with FFV1"},
    {GPUME_ROW_FLAG("verify", OPTIONS, verify),
        .help = "also encode, and print the results: at a bitrate, rate, PSNR and time with these "
                "files and with the encoder's own two passes; at a quality, rate, PSNR, SSIM and "
                "XPSNR of the printed command line; --frames limits this to the beginning"},
    {.heading = "Options that both passes must have in common"},
    {GPUME_ROW("preset", "NAME", encoder_word, OPTIONS, preset),
        .choices = gpume_encoder_presets.words, .help = gpume_encoder_presets.text},
    {GPUME_ROW("tune", "NAME", encoder_word, OPTIONS, tune), .choices = gpume_encoder_tunes.words,
        .help = gpume_encoder_tunes.text},
};

static const struct gpume_option last_rows[] = {
    {GPUME_ROW_NUMBER("output-depth", OPTIONS, encode.bits, 8, 12), .step = 2,
        .help = gpume_encoder_depths.text},
    {.heading = "Input"},
    {GPUME_OPTION_VF(OPTIONS, video.source.filter)},
    {GPUME_OPTION_STREAM(OPTIONS, video.source.stream)},
    {GPUME_ROW_NUMBER("frames", OPTIONS, video.frames, 1, UINT32_MAX),
        .help = "encode no more frames than this (default: all)"},
    {GPUME_ROW("hwaccel", "TYPE[:DEVICE]", text, OPTIONS, video.source.hwaccel),
        .help = "decode on video hardware, e.g. cuda, vaapi or auto (default: in software)"},
    {GPUME_OPTION_DECODERS(OPTIONS, video.source.decoders)},
    GPUME_OPTIONS_TRUST(OPTIONS, video.source),
    {.heading = "Engine"},
    GPUME_OPTIONS_ENGINE(OPTIONS, video.params),
    {GPUME_OPTION_TIMEOUT},
    {.heading = "Messages"},
    GPUME_OPTIONS_MESSAGES("do not print the command lines"),
};

static struct gpume_option table[GPUME_OPTIONS_MAX]; /* rows without a name are empty */

static void make_table(void)
{
    const size_t firsts = sizeof(first_rows) / sizeof(first_rows[0]);
    const size_t lasts = sizeof(last_rows) / sizeof(last_rows[0]);
    gpume_encoder_rows_make();
    assert(firsts + gpume_encoder_row_count + lasts <= GPUME_OPTIONS_MAX);
    memcpy(table, first_rows, sizeof(first_rows));
    for (size_t i = 0; i < gpume_encoder_row_count; i++) {
        table[firsts + i] = make_row(i);
    }
    memcpy(table + firsts + gpume_encoder_row_count, last_rows, sizeof(last_rows));
}

/* --- checks */

static void firstpass_set_defaults(void *opaque)
{
    struct gpume_firstpass_options *options = opaque;
    gpume_video_options_default(&options->video);
    options->encoder = -1;
}

static uint32_t count_goal(const struct gpume_firstpass_options *options, enum gpume_goal goal)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < options->targets.count; i++) {
        count += options->targets.items[i].target.goal == goal;
    }
    for (uint32_t i = 0; i < options->rungs.count; i++) {
        count += options->rungs.items[i].target.goal == goal;
    }
    return count;
}

static bool has_quality(const struct gpume_firstpass_options *options)
{
    bool found = false;
    for (size_t i = 0; i < GPUME_GOAL_ROWS; i++) {
        found = found || (gpume_goal_is_quality(gpume_goal_rows[i].goal) &&
                             count_goal(options, gpume_goal_rows[i].goal) > 0);
    }
    return found;
}

/* What is filtered suits one kind of second passes. */
static int check_filter(const struct gpume_firstpass_options *options)
{
    const uint32_t crfs = count_goal(options, GPUME_GOAL_CRF),
                   qps = count_goal(options, GPUME_GOAL_QP),
                   rates = count_goal(options, GPUME_GOAL_BITRATE);
    const uint32_t all = options->targets.count + options->rungs.count;
    const bool is_mixed = crfs + qps + rates > 0 && crfs != all && qps != all && rates != all;
    return options->strength > 0 && is_mixed
               ? gpume_refuse(GPUME_INVALID,
                     "--filter: no filtered video suits qualities, bitrates and targets at "
                     "the same time; give those of one kind, and the others in a run of their own")
               : GPUME_OK;
}

/* Of an encoder whose second passes keep to no quality. quality: an option that asks for one; NULL:
 * there is only an option that goes with one. */
static int refuse_quality(
    const struct gpume_firstpass_options *options, const char *quality, const char *needing)
{
    const char *encoder = gpume_encoders[options->encoder]->name;
    if (!quality) {
        return gpume_refuse(GPUME_INVALID,
            "%s: needs a constant quality, for which %s reads no files; leave it out", needing,
            encoder);
    }
    return gpume_refuse(GPUME_INVALID,
        "--%s: %s codes a constant quality in one pass, to which a first pass adds nothing; %s, or "
        "give --bitrate here",
        quality, encoder,
        count_goal(options, GPUME_GOAL_PSNR) + count_goal(options, GPUME_GOAL_SSIM) > 0
            ? "'gpume scenes --format av1an' says which CRF to give its program"
            : "give its program --crf");
}

/* Of a video that can be read only once. */
static int check_filtered_stream(const struct gpume_firstpass_options *options)
{
    if (gpume_firstpass_filter_options(options).kbits > 0) {
        return gpume_refuse(
            GPUME_INVALID, "--filter: at a bitrate the video is read twice; give a file, or --crf");
    }
    return options->filtered
               ? GPUME_OK
               : gpume_refuse(GPUME_INVALID,
                     "--filter: the command lines read the video again; give a file, or keep the "
                     "filtered video for them with --filtered FILE");
}

static int check_qualities(const struct gpume_firstpass_options *options)
{
    const struct gpume_encoder *encoder = gpume_encoders[options->encoder];
    const uint32_t qps = count_goal(options, GPUME_GOAL_QP);
    const char *quality = NULL, *other = NULL; /* the first one; what --qp is given with */
    bool has_fidelity = false;
    for (size_t i = 0; i < GPUME_GOAL_ROWS; i++) {
        const bool is_given = count_goal(options, gpume_goal_rows[i].goal) > 0;
        const bool is_quality = is_given && gpume_goal_is_quality(gpume_goal_rows[i].goal);
        has_fidelity |= is_given && gpume_goal_is_fidelity(gpume_goal_rows[i].goal);
        quality = is_quality && !quality ? gpume_goal_rows[i].option : quality;
        other = is_given && gpume_goal_rows[i].goal != GPUME_GOAL_QP ? gpume_goal_rows[i].option
                                                                     : other;
    }
    other = count_goal(options, GPUME_GOAL_BITRATE) > 0 ? "bitrate" : other;
    const char *needing = options->per == GPUME_PER_SCENE ? "--per scene"
                          : options->probes > 0           ? "--probes"
                                                          : NULL;
    if (!encoder->has_quality && (quality || needing)) {
        return refuse_quality(options, quality, needing);
    }
    if (needing && !has_fidelity) {
        return gpume_refuse(GPUME_INVALID,
            "%s: needs --target-psnr, --target-ssim or --target-xpsnr; give one", needing);
    }
    if (!quality) {
        return GPUME_OK;
    }
    if (qps > 0 && other) {
        return gpume_refuse(GPUME_INVALID,
            "--qp turns off QP offsets of blocks in the whole run; give --%s in another run",
            other);
    }
    return GPUME_OK;
}

/* Replaces what the preset and tuning say of an option by a value that was given. */
static int set_encode_option(
    struct gpume_encode_options *encode, const union gpume_firstpass_value *value, size_t index)
{
    const struct gpume_encoder_row *row = &gpume_encoder_rows[index];
    const struct gpume_encode_option *option = gpume_encode_option_find(encode->encoder, row->name);
    if (!option) {
        return gpume_refuse(GPUME_INVALID, "--%s: not an option of %s; leave it out", row->name,
            encode->encoder->name);
    }
    if (option->type == GPUME_ENCODE_REAL) {
        gpume_encode_option_set(option, encode, value->real);
    } else if (!option->words) {
        gpume_encode_option_set(option, encode, (double)value->number);
    } else {
        double number = 0;
        const char *word = row->words[value->number];
        while (option->words[(size_t)number] && strcmp(option->words[(size_t)number], word) != 0) {
            number++;
        }
        if (!option->words[(size_t)number]) {
            return gpume_encoder_refuse_word(row, row->name, encode->encoder, word);
        }
        gpume_encode_option_set(option, encode, number > option->max ? option->max : number);
    }
    return GPUME_OK;
}

/* Those of the encoder's preset and tuning, except for what was given. */
static int set_encode_options(
    struct gpume_firstpass_options *options, const struct gpume_line *line)
{
    const struct gpume_encoder *encoder = gpume_encoders[options->encoder];
    struct gpume_encode_options encode;
    GPUME_CHECK(gpume_encoder_choose(&encode, encoder, options->preset, options->tune));
    encode.bits = options->encode.bits;
    if (encode.bits > encoder->bits_max) {
        return gpume_refuse(GPUME_INVALID, "--output-depth %" PRIu32 ": %s takes %s", encode.bits,
            encoder->name, gpume_encoder_depths.taken[options->encoder].limits);
    }
    for (size_t i = 0; i < gpume_encoder_row_count; i++) {
        if (gpume_line_has(line, gpume_encoder_rows[i].name)) {
            GPUME_CHECK(set_encode_option(&encode, &options->values[i], i));
        }
    }
    const uint32_t qps = count_goal(options, GPUME_GOAL_QP);
    if (qps > 0) {
        gpume_target_use_qp(&encode);
    }
    if ((encode.vbv_maxrate > 0 || encode.vbv_bufsize > 0) && has_quality(options)) {
        return gpume_refuse(GPUME_INVALID,
            "--vbv-maxrate and --vbv-bufsize: a constant quality has no limits of the rate; give "
            "--bitrate with them, or leave them out");
    }
    options->encode = encode;
    return gpume_encode_options_settle(&encode, 25, 1, &gpume_console);
}

/* Encoders drop "=" from the beginning of a name. */
static int check_files_name(const char *name)
{
    if (!name) {
        return gpume_refuse(GPUME_INVALID,
            "give -o NAME, with which the names of several files begin, such as -o clip");
    }
    /* "x/", "." and ".." begin no file's name */
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    if (gpume_text_is_special(name) || *last == '\0' || strcmp(last, ".") == 0 ||
        strcmp(last, "..") == 0) {
        return gpume_refuse(GPUME_INVALID,
            "-o %s: the names of several files begin with it; give a name, such as -o %s%sclip",
            name, gpume_text_is_special(name) ? "" : name,
            gpume_text_is_special(name) || *last == '\0' ? "" : "/");
    }
    static const char *const videos[] = {
        ".mp4", ".mkv", ".mov", ".webm", ".avi", ".264", ".265", ".hevc", ".ivf", ".ts", ".y4m"};
    const char *dot = strrchr(last, '.');
    for (size_t i = 0; dot && i < sizeof(videos) / sizeof(videos[0]); i++) {
        if (strcasecmp(dot, videos[i]) == 0) {
            gpume_console_warning("-o %s: the names of statistics begin with it; the name of the "
                                  "encoded video takes the place of OUTPUT in the printed lines",
                name);
        }
    }
    return name[0] == '=' ? gpume_refuse(GPUME_INVALID,
                                "-o %s: encoders read no name that begins with =; give another, "
                                "such as -o clip",
                                name)
                          : GPUME_OK;
}

static int firstpass_check(void *opaque, const struct gpume_line *line)
{
    struct gpume_firstpass_options *options = opaque;
    (void)gpume_bitrate_warn();
    if (options->encoder < 0) {
        return gpume_refuse(GPUME_INVALID, "give --encoder %s", gpume_encoder_names.value);
    }
    if (options->targets.count == 0 && options->sizes.count > 0) {
        return gpume_refuse(GPUME_INVALID,
            "--size needs --bitrate, --crf, --qp or a target; give one, or only --rung");
    }
    if (options->targets.count == 0 && options->rungs.count == 0) {
        return gpume_refuse(GPUME_INVALID,
            "give --bitrate, in bits per second, such as --bitrate 2M, a quality, such as "
            "--crf 24, a target, such as --target-psnr 42, or --rung WxH:RATE");
    }
    const char *repeated = options->targets.count > GPUME_FIRSTPASS_MAX
                               ? "bitrate, --crf, --qp and targets"
                           : options->sizes.count > GPUME_FIRSTPASS_MAX ? "size"
                           : options->rungs.count > GPUME_FIRSTPASS_MAX ? "rung"
                                                                        : NULL;
    if (repeated) {
        return gpume_refuse(GPUME_INVALID, "--%s: give at most %u of them in one command", repeated,
            GPUME_FIRSTPASS_MAX);
    }
    GPUME_CHECK(check_qualities(options));
    GPUME_CHECK(check_filter(options));
    GPUME_CHECK(check_files_name(options->video.output));
    const char *input = options->video.common.inputs[0];
    if (options->verify || options->probes > 0) {
        GPUME_CHECK(gpume_trial_check_input(options->verify ? "--verify" : "--probes", input));
    }
    if (options->strength > 0 && options->probes > 0) {
        return gpume_refuse(GPUME_INVALID,
            "--probes: compares encodes with the video itself, not with what --filter makes of it; "
            "leave out one of them");
    }
    if (options->strength > 0 && gpume_input_is_read_once(input)) {
        GPUME_CHECK(check_filtered_stream(options));
    }
    GPUME_CHECK(gpume_video_options_check(opaque, line));
    return set_encode_options(options, line);
}

static enum gpume_exit firstpass_run(const void *options)
{
    return gpume_firstpass_run(options);
}

const struct gpume_command gpume_firstpass_command = {
    .name = "firstpass",
    .summary = "do the first pass of a two-pass encode",
    .usage = "firstpass INPUT --encoder E --bitrate R|--crf N -o NAME [options]",
    .about = "Analyses a video once and writes the files that an encoder's second pass "
             "reads, for any number of bitrates, qualities and picture sizes. Prints the command "
             "lines of "
             "the second passes: replace OUTPUT in them by the name of the encoded video.",
    GPUME_COMMAND_OPTIONS(table, struct gpume_firstpass_options),
    .make_options = make_table,
    .operands_min = 1,
    .operands_max = 1,
    .operands = "a video",
    .catches_signals = true,
    .set_defaults = firstpass_set_defaults,
    .check = firstpass_check,
    .run = firstpass_run,
};
