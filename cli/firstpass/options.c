/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of `gpume firstpass`. Those of the encoder have its names and defaults. */
#include "firstpass/firstpass.h"

#include "base/status.h"
#include "commands.h"
#include "console.h"
#include "encode/presets.h"
#include "files/text_file.h"
#include "options/line.h"

#include <string.h>

#define OPTIONS struct gpume_firstpass_options
#define RATE_MIN UINT64_C(1000)
#define RATE_MAX UINT64_C(2000000000)

/* Encoders: bits of a row's `uses`. */
enum { X264 = 1 << GPUME_ENCODER_X264, X265 = 1 << GPUME_ENCODER_X265 };

static const char *const encoders[] = {"x264", "x265", NULL};
static const char *const pyramids[] = {"none", "strict", "normal", NULL};
static const char *const switches[] = {"0", "1", NULL};

/* A decimal number, followed by nothing, k or M. Not by way of a double: 0.9M is 900000. Encoders
 * count whole kilobits. */
static bool parse_bits(const char *text, uint64_t *bits)
{
    const size_t length = strspn(text, "0123456789.");
    const char *unit = text + length, *point = memchr(text, '.', length);
    uint64_t factor = strcmp(unit, "k") == 0 ? 1000 : strcmp(unit, "M") == 0 ? 1000000 : 1;
    const size_t whole = point ? (size_t)(point - text) : length;
    if ((*unit && factor == 1) || !gpume_parse_digits(text, whole, RATE_MAX / factor, bits)) {
        return false;
    }
    *bits *= factor;
    for (const char *at = point ? point + 1 : unit; at < unit; at++) {
        if (*at == '.' || (*at != '0' && factor < 10)) {
            return false; /* a second point, or less than a bit */
        }
        factor /= 10;
        *bits += factor * (uint64_t)(*at - '0');
    }
    return *bits >= RATE_MIN && *bits <= RATE_MAX && *bits % 1000 == 0;
}

static bool keep(struct gpume_firstpass_rungs *list, const struct gpume_firstpass_rung *rung)
{
    if (list->count <= GPUME_FIRSTPASS_MAX) {
        list->items[list->count++] = *rung;
    }
    return true;
}

static bool parse_rate(const struct gpume_option *option, const char *text, void *field)
{
    struct gpume_firstpass_rung rung = {0};
    (void)option;
    return parse_bits(text, &rung.rate) && keep(field, &rung);
}

static void describe_rate(const struct gpume_option *option, char *text, size_t bytes)
{
    (void)option;
    snprintf(text, bytes, "bits per second in whole kilobits from 1k to 2000M, e.g. 345k or 1.5M");
}

static const struct gpume_option_type gpume_type_rates = {
    sizeof(struct gpume_firstpass_rungs), parse_rate, describe_rate, NULL};

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
    return parse_sides(text, strlen(text), &rung) && keep(field, &rung);
}

static void describe_size(const struct gpume_option *option, char *text, size_t bytes)
{
    (void)option;
    snprintf(text, bytes,
        "WxH, each even and from %u to %u, with at most %u million pixels, e.g. 1280x720",
        GPUME_FIRSTPASS_SIDE_MIN, GPUME_FIRSTPASS_SIDE_MAX, GPUME_FIRSTPASS_PIXELS_MAX / 1000000);
}

static const struct gpume_option_type gpume_type_sizes = {
    sizeof(struct gpume_firstpass_rungs), parse_size, describe_size, NULL};

static bool parse_rung(const struct gpume_option *option, const char *text, void *field)
{
    const char *colon = strchr(text, ':');
    struct gpume_firstpass_rung rung;
    (void)option;
    return colon && parse_sides(text, (size_t)(colon - text), &rung) &&
           parse_bits(colon + 1, &rung.rate) && keep(field, &rung);
}

static void describe_rung(const struct gpume_option *option, char *text, size_t bytes)
{
    (void)option;
    snprintf(
        text, bytes, "a size and a bitrate as --size and --bitrate take them, e.g. 640x360:600k");
}

static const struct gpume_option_type gpume_type_rungs = {
    sizeof(struct gpume_firstpass_rungs), parse_rung, describe_rung, NULL};

/* The limits of an encoder's option are those of encode/options.c, which are checked when all
 * options are known. */
static bool parse_number(const struct gpume_option *option, const char *text, void *field)
{
    return gpume_type_number.parse(option, text, field);
}

static bool parse_real(const struct gpume_option *option, const char *text, void *field)
{
    return gpume_type_real.parse(option, text, field);
}

/* Those of x264, then those of x265 if they differ. */
static void describe_limits(
    const struct gpume_option *option, const char *kind, char *text, size_t bytes)
{
    const struct gpume_encode_option *first = NULL;
    size_t used = 0;
    for (enum gpume_encoder i = 0; i < GPUME_ENCODERS; i++) {
        const struct gpume_encode_option *found = gpume_encode_option_find(option->name, i);
        if (found && !first) {
            first = found;
            used = (size_t)snprintf(text, bytes, "%s%s%s from %.10g to %.10g", kind,
                found->unit ? " of " : "", found->unit ? found->unit : "", found->min, found->max);
        } else if (found && (found->min != first->min || found->max != first->max)) {
            used += (size_t)snprintf(text + used, bytes - used, " or, with %s, from %.10g to %.10g",
                gpume_encoder_name(i), found->min, found->max);
        }
    }
}

static void describe_number(const struct gpume_option *option, char *text, size_t bytes)
{
    describe_limits(option, "a whole number", text, bytes);
}

static void describe_real(const struct gpume_option *option, char *text, size_t bytes)
{
    describe_limits(option, "a number", text, bytes);
}

static const struct gpume_option_type gpume_type_encoder_number = {
    0, parse_number, describe_number, NULL};
static const struct gpume_option_type gpume_type_encoder_real = {
    sizeof(double), parse_real, describe_real, NULL};

#define NUMBER(option, field)                                                                      \
    GPUME_ROW(option, "N", encoder_number, OPTIONS, encode.field), .max = UINT32_MAX
#define REAL(option, field)                                                                        \
    GPUME_ROW(option, "N", encoder_real, OPTIONS, encode.field), .max = UINT32_MAX
#define SWITCH(option, field) GPUME_ROW_CHOICE(option, "0|1", OPTIONS, encode.field, switches)

static struct gpume_option table[] = {
    {.heading = "First pass"},
    {GPUME_ROW_CHOICE("encoder", "x264|x265", OPTIONS, encoder, encoders),
        .help = "encoder of the second pass"},
    {GPUME_ROW("bitrate", "RATE", rates, OPTIONS, rates),
        .help = "bitrate in bits per second, e.g. 345k or 1.5M; repeat it for several"},
    {GPUME_ROW("size", "WxH", sizes, OPTIONS, sizes),
        .help = "size of the encoded picture; repeat it for several, each with all bitrates "
                "(default: the input's size, at which the analysis runs in any case)"},
    {GPUME_ROW("rung", "WxH:RATE", rungs, OPTIONS, rungs),
        .help = "one picture size with one bitrate, e.g. 640x360:600k; repeat it for a ladder"},
    {GPUME_ROW_FILE("output", "NAME", OPTIONS, video.output), .letter = 'o',
        .help = "beginning of the names of all files; NAME.json says which second pass reads "
                "which files"},
    {GPUME_OPTION_OVERWRITE, .help = "replace existing files"},
    {GPUME_ROW_FLAG("verify", OPTIONS, verify),
        .help = "also encode with these files and with the encoder's own two passes, and print "
                "rate, PSNR and time of both; use --frames for a piece"},
    {.heading = "Options that both passes must have in common"},
    {GPUME_ROW_CHOICE("preset", "NAME", OPTIONS, preset, gpume_preset_names),
        .help = "the encoder's preset, from ultrafast to placebo: it sets the options below "
                "(default medium)"},
    {GPUME_ROW_CHOICE("tune", "NAME", OPTIONS, tune, gpume_tune_names),
        .help = "the encoder's tuning: psnr, ssim, animation, grain, fastdecode, with x264 also "
                "film and stillimage (default: none)"},
    {NUMBER("keyint", keyint), .help = "most frames between IDR frames (default 250)"},
    {NUMBER("min-keyint", min_keyint),
        .help = "fewest frames between IDR frames (default 0: a tenth of keyint, at most a "
                "second)"},
    {NUMBER("scenecut", scenecut),
        .help = "how readily scene cuts become I frames, 0 to 400; 0: never (default 40)"},
    {NUMBER("bframes", bframes),
        .help = "most B frames in a row, 0 to 16 (default x264 3, x265 4)"},
    {NUMBER("b-adapt", b_adapt),
        .help = "how the number of B frames is chosen: 0 always the most, 1 or 2 the cheapest "
                "pattern (default x264 1, x265 2)"},
    {GPUME_ROW_CHOICE("b-pyramid", "NAME", OPTIONS, encode.b_pyramid, pyramids),
        .help = "B frames as references: none, strict or normal (default normal)"},
    {SWITCH("open-gop", open_gop),
        .help = "1: frames may refer across I frames (default x264 0, x265 1)"},
    {NUMBER("weightp", weightp),
        .help = "weighted prediction of P frames, x264 0 to 2, x265 0 or 1 (default x264 2, x265 "
                "1)"},
    {SWITCH("weightb", weightb), .help = "weighted B frames (default x264 1, x265 0)"},
    {NUMBER("rc-lookahead", rc_lookahead),
        .help = "frames to look ahead, up to 250 (default x264 40, x265 20)"},
    {SWITCH("mbtree", tree), .help = "x264: spend bits on blocks that later frames use (default 1)",
        .uses = X264},
    {SWITCH("cutree", tree), .help = "x265: spend bits on blocks that later frames use (default 1)",
        .uses = X265},
    {NUMBER("ref", ref),
        .help = "reference frames, x264 1 to 16, x265 1 to 6, to 8 without B frames (default 3)"},
    {NUMBER("aq-mode", aq_mode), .help = "adaptive quantization, 0 to 3 (default x264 1, x265 2)"},
    {REAL("aq-strength", aq_strength), .help = "its strength, 0 to 3 (default 1)"},
    {REAL("qcomp", qcomp),
        .help = "compression of the QP curve, 0 to 1, with x265 0.5 to 1 (default 0.6)"},
    {REAL("ipratio", ipratio),
        .help = "quantizer of P frames divided by that of I frames, 0.1 to 10 (default 1.4)"},
    {REAL("pbratio", pbratio),
        .help = "quantizer of B frames divided by that of P frames, 0.1 to 10 (default 1.3)"},
    {REAL("ratetol", ratetol), .min = 0.001, /* 0 stands for none */
        .help = "x264: how far the bitrate may deviate during the encode, 0.011 to 100 (default 1)",
        .uses = X264},
    {NUMBER("vbv-maxrate", vbv_maxrate),
        .help = "highest local bitrate in kbit/s, without a unit (default: no limit)"},
    {NUMBER("vbv-bufsize", vbv_bufsize),
        .help = "size of the decoder's buffer in kbit, without a unit (default: no limit)"},
    {GPUME_ROW_NUMBER("output-depth", OPTIONS, encode.bits, 8, 12), .step = 2,
        .help = "bits per sample of the encoded video: 8, 10, or with x265 12 (default 8; 10 for "
                "deeper input)"},
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
    {GPUME_OPTION_TIMEOUT, .help = "give up after this time (default: no limit)"},
    {.heading = "Messages"},
    GPUME_OPTIONS_MESSAGES("do not print the command lines", "show this help"),
};

static void set_defaults(void *opaque)
{
    struct gpume_firstpass_options *options = opaque;
    gpume_video_options_default(&options->video);
    options->encoder = options->preset = options->tune = -1;
}

/* Those of the encoder's preset and tuning, except for what was given. */
static int set_encode_options(
    struct gpume_firstpass_options *options, const struct gpume_line *line)
{
    const enum gpume_encoder encoder = (enum gpume_encoder)options->encoder;
    const struct gpume_encode_option *option = NULL;
    struct gpume_encode_options encode;
    gpume_encode_options_default(&encode, encoder);
    if (options->preset >= 0) {
        gpume_encode_options_preset(&encode, encoder, (uint32_t)options->preset);
    }
    if (options->tune >= 0 && !gpume_encode_options_tune(&encode, (uint32_t)options->tune)) {
        return gpume_refuse(GPUME_INVALID, "--tune %s: x265 has no such tuning; leave it out",
            gpume_tune_names[options->tune]);
    }
    encode.min_keyint = 0;
    encode.bits = options->encode.bits;
    while ((option = gpume_encode_option_next(option, encoder)) != NULL) {
        if (gpume_line_has(line, option->name)) {
            gpume_encode_option_copy(option, &encode, &options->encode);
        }
    }
    if (encoder == GPUME_ENCODER_X265 && encode.b_pyramid > 0) {
        encode.b_pyramid = 1;
    }
    options->encode = encode;
    return gpume_encode_options_settle(&encode, 25, 1, &gpume_console);
}

/* "x/", "." and ".." begin no file's name. */
static bool is_folder(const char *name)
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    return *last == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

/* Encoders drop "=" from the beginning of a name. */
static int check_output(const char *name)
{
    if (!name) {
        return gpume_refuse(GPUME_INVALID,
            "give -o NAME, with which the names of several files begin, such as -o clip");
    }
    if (gpume_text_is_special(name) || is_folder(name)) {
        return gpume_refuse(GPUME_INVALID,
            "-o %s: the names of several files begin with it; give a name, such as -o clip", name);
    }
    return name[0] == '=' ? gpume_refuse(GPUME_INVALID,
                                "-o %s: encoders read no name that begins with =; give another, "
                                "such as -o clip",
                                name)
                          : GPUME_OK;
}

static int check(void *opaque, const struct gpume_line *line)
{
    struct gpume_firstpass_options *options = opaque;
    if (options->encoder < 0) {
        return gpume_refuse(GPUME_INVALID, "give --encoder x264 or --encoder x265");
    }
    const char *encoder = encoders[options->encoder];
    const struct gpume_option *unused = gpume_line_unused(line, 1u << options->encoder);
    if (unused) {
        return gpume_refuse(GPUME_INVALID, "--%s: not an option of %s", unused->name, encoder);
    }
    if (options->rates.count == 0 && options->sizes.count > 0) {
        return gpume_refuse(GPUME_INVALID, "--size needs --bitrate; give it, or only --rung");
    }
    if (options->rates.count == 0 && options->rungs.count == 0) {
        return gpume_refuse(GPUME_INVALID,
            "give --bitrate, in bits per second, such as --bitrate 2M, or --rung WxH:RATE");
    }
    const char *repeated = options->rates.count > GPUME_FIRSTPASS_MAX   ? "bitrate"
                           : options->sizes.count > GPUME_FIRSTPASS_MAX ? "size"
                           : options->rungs.count > GPUME_FIRSTPASS_MAX ? "rung"
                                                                        : NULL;
    if (repeated) {
        return gpume_refuse(GPUME_INVALID, "--%s: give at most %u of them in one command", repeated,
            GPUME_FIRSTPASS_MAX);
    }
    GPUME_CHECK(check_output(options->video.output));
    const char *input = options->video.common.inputs[0];
    if (options->verify && gpume_text_is_special(input)) {
        return gpume_refuse(GPUME_INVALID,
            "--verify: %s cannot be read again by the encodes; give a file, or leave it out",
            strcmp(input, "-") == 0 ? "standard input" : input);
    }
    if (options->encode.bits == 12 && options->encoder == GPUME_ENCODER_X264) {
        return gpume_refuse(GPUME_INVALID, "--output-depth 12: x264 takes 8 or 10");
    }
    GPUME_CHECK(gpume_video_options_check(opaque, line));
    return set_encode_options(options, line);
}

static enum gpume_exit run(const void *options)
{
    return gpume_firstpass_run(options);
}

const struct gpume_command gpume_firstpass_command = {
    .name = "firstpass",
    .summary = "do the first pass of a two-pass encode",
    .usage = "firstpass INPUT --encoder NAME --bitrate RATE -o NAME [options]",
    .about = "Analyses a video once and writes the files that the second pass of x264 or x265 "
             "reads, for any number of bitrates and picture sizes. Prints the command lines of "
             "the second passes: replace OUTPUT in them by the name of the encoded video.",
    GPUME_COMMAND_OPTIONS(table, struct gpume_firstpass_options),
    .operands_min = 1,
    .operands_max = 1,
    .operands = "a video",
    .catches_signals = true,
    .set_defaults = set_defaults,
    .check = check,
    .run = run,
};
