/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of `gpume firstpass`. Those of the encoders have their names and defaults: the rows
 * are made from the encoders' tables, one for each name. Their values are kept until the encoder is
 * known, which may be named last.
 */
#include "firstpass/firstpass.h"

#include "base/status.h"
#include "commands.h"
#include "console.h"
#include "encode/encoder.h"
#include "files/text_file.h"
#include "options/line.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define OPTIONS struct gpume_firstpass_options
#define RATE_MIN UINT64_C(1000)
#define RATE_MAX UINT64_C(2000000000)

static const char *const switches[] = {"0", "1", NULL};

/* --- values of gpume's own options */

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

/* --- values of the encoders' options */

/* Limits are checked when the encoder is known. */
static bool parse_number(const struct gpume_option *option, const char *text, void *field)
{
    return gpume_type_number.parse(option, text, field);
}

static bool parse_real(const struct gpume_option *option, const char *text, void *field)
{
    return gpume_type_real.parse(option, text, field);
}

/* Those of the first encoder, then those of others if they differ. */
static void describe_limits(
    const struct gpume_option *option, const char *kind, char *text, size_t bytes)
{
    const struct gpume_encode_option *first = NULL;
    size_t used = 0;
    for (size_t i = 0; gpume_encoders[i]; i++) {
        const struct gpume_encode_option *found =
            gpume_encode_option_find(gpume_encoders[i], option->name);
        if (found && !first) {
            first = found;
            used = (size_t)snprintf(text, bytes, "%s%s%s from %.10g to %.10g", kind,
                found->unit ? " of " : "", found->unit ? found->unit : "", found->min, found->max);
        } else if (found && (found->min != first->min || found->max != first->max)) {
            used += (size_t)snprintf(text + used, bytes - used, " or, with %s, from %.10g to %.10g",
                gpume_encoders[i]->name, found->min, found->max);
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

/* --- rows that are made from the encoders' tables */

#define ENCODERS_MAX 8
#define HELP_BYTES 512
#define LIMITS_BYTES 160
#define WORDS_MAX 32

/* The texts of a row. */
struct made {
    const char *name, *help;
    const char *words[WORDS_MAX + 1]; /* of all encoders, each once, then NULL; or none */
    char text[HELP_BYTES];
};

/* Those of the encoders, in an order that is that of every encoder. */
static struct made made[GPUME_FIRSTPASS_ENCODER_OPTIONS_MAX];
static size_t made_count;
static struct made made_encoder, made_preset, made_tune, made_depth;

static void add_word(struct made *row, const char *word)
{
    size_t count = 0;
    for (; row->words[count]; count++) {
        if (strcmp(row->words[count], word) == 0) {
            return;
        }
    }
    assert(count < WORDS_MAX);
    row->words[count] = word;
}

/* What an encoder takes of an option, and its default. */
struct taken {
    char limits[LIMITS_BYTES], otherwise[64];
};

static void append_limit(struct taken *taken, const char *word, bool is_last)
{
    const size_t used = strlen(taken->limits);
    snprintf(taken->limits + used, LIMITS_BYTES - used, "%s%s",
        used == 0 ? ""
        : is_last ? " or "
                  : ", ",
        word);
}

static void describe_option(const struct gpume_encoder *encoder,
    const struct gpume_encode_option *option, struct taken *taken)
{
    struct gpume_encode_options medium;
    gpume_encode_options_default(&medium, encoder);
    const double value = gpume_encode_option_value(option, &medium);
    if (option->words || (value == 0 && option->zero)) {
        snprintf(taken->otherwise, sizeof(taken->otherwise), "%s",
            option->words ? option->words[(size_t)value] : option->zero);
    } else {
        snprintf(taken->otherwise, sizeof(taken->otherwise), "%.10g", value);
    }
    if (!option->words) {
        const bool is_bit = option->type != GPUME_ENCODE_REAL && option->max == option->min + 1;
        snprintf(taken->limits, LIMITS_BYTES, "%.10g %s %.10g", option->min, is_bit ? "or" : "to",
            option->max);
    }
    for (size_t i = 0; option->words && (double)i <= option->max; i++) {
        append_limit(taken, option->words[i], (double)i == option->max);
    }
}

/* False: the encoder has no such option. */
static bool describe_row(
    const struct made *row, const struct gpume_encoder *encoder, struct taken *taken)
{
    *taken = (struct taken){0};
    if (row == &made_preset) {
        for (const struct gpume_encode_options *p = encoder->presets; p->preset; p++) {
            append_limit(taken, p->preset, !p[1].preset);
        }
        snprintf(taken->otherwise, sizeof(taken->otherwise), "%s", encoder->preset);
        return true;
    }
    if (row == &made_tune) {
        for (const struct gpume_tuning *t = encoder->tunings; t->name; t++) {
            append_limit(taken, t->name, !t[1].name);
        }
        snprintf(taken->otherwise, sizeof(taken->otherwise), "none");
        return true;
    }
    if (row == &made_depth) {
        snprintf(taken->limits, LIMITS_BYTES, "%s",
            encoder->bits_max == 8    ? "8"
            : encoder->bits_max == 10 ? "8 or 10"
                                      : "8, 10 or 12");
        snprintf(taken->otherwise, sizeof(taken->otherwise), "8, or 10 for deeper input");
        return true;
    }
    const struct gpume_encode_option *option = gpume_encode_option_find(encoder, row->name);
    if (option) {
        describe_option(encoder, option, taken);
    }
    return option != NULL;
}

GPUME_PRINTF(2, 3) static void append_help(char text[HELP_BYTES], const char *format, ...)
{
    const size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, HELP_BYTES - used, format, values);
    va_end(values);
}

/* "HELP, LIMITS (default D)", or what each encoder takes if they differ. Names the encoders if not
 * all have the option. */
static void make_help(struct made *row)
{
    struct taken taken[ENCODERS_MAX];
    const char *names[ENCODERS_MAX];
    bool limits = true, defaults = true; /* are the same */
    size_t count = 0;
    for (size_t i = 0; gpume_encoders[i]; i++) {
        assert(i < ENCODERS_MAX);
        if (describe_row(row, gpume_encoders[i], &taken[count])) {
            limits = limits && strcmp(taken[count].limits, taken[0].limits) == 0;
            defaults = defaults && strcmp(taken[count].otherwise, taken[0].otherwise) == 0;
            names[count++] = gpume_encoders[i]->name;
        }
    }
    char *text = row->text;
    text[0] = '\0';
    for (size_t i = 0; gpume_encoders[count] && i < count; i++) {
        append_help(text, "%s%s", names[i], i + 1 < count ? ", " : ": ");
    }
    append_help(text, "%s", row->help);
    if (limits && strcmp(taken[0].limits, "0 or 1") != 0) {
        append_help(text, ", %s", taken[0].limits);
    }
    for (size_t i = 0; i < count && !(limits && defaults); i++) {
        append_help(text, "%s%s",
            i > 0    ? limits ? ", " : "; "
            : limits ? " (default "
                     : " (",
            names[i]);
        if (!limits) {
            append_help(text, ": %s", taken[i].limits);
        }
        if (!defaults) {
            append_help(text, "%s %s", limits ? "" : ", default", taken[i].otherwise);
        }
    }
    if (defaults) {
        append_help(text, "%s%s %s", limits ? " (default" : "; default",
            strchr(taken[0].otherwise, ' ') ? ":" : "", taken[0].otherwise);
    }
    append_help(text, ")");
}

static struct made *find_made(const char *name)
{
    for (size_t i = 0; i < made_count; i++) {
        if (strcmp(made[i].name, name) == 0) {
            return &made[i];
        }
    }
    return NULL;
}

/* The row of an encoder's option, which is added before those that follow it in the encoder. */
static struct made *add_made(const struct gpume_encode_option *option)
{
    struct made *row = find_made(option->name);
    if (row) {
        return row;
    }
    for (const struct gpume_encode_option *next = option; next->name && !row; next++) {
        row = find_made(next->name);
    }
    row = row ? row : &made[made_count];
    assert(made_count < GPUME_FIRSTPASS_ENCODER_OPTIONS_MAX);
    memmove(row + 1, row, (size_t)(&made[made_count++] - row) * sizeof(*row));
    *row = (struct made){.name = option->name};
    return row;
}

static void add_encoder(const struct gpume_encoder *encoder)
{
    add_word(&made_encoder, encoder->name);
    for (const struct gpume_encode_options *p = encoder->presets; p->preset; p++) {
        add_word(&made_preset, p->preset);
    }
    for (const struct gpume_tuning *t = encoder->tunings; t->name; t++) {
        add_word(&made_tune, t->name);
    }
    for (const struct gpume_encode_option *o = encoder->options; o->name; o++) {
        struct made *row = add_made(o);
        row->help = row->help ? row->help : o->help;
        for (size_t i = 0; o->words && o->words[i]; i++) {
            add_word(row, o->words[i]);
        }
    }
}

/* By the first encoder that has the option. */
static struct gpume_option make_row(size_t index)
{
    const struct made *row = &made[index];
    const struct gpume_encode_option *option = NULL;
    for (size_t i = 0; !option; i++) {
        option = gpume_encode_option_find(gpume_encoders[i], row->name);
    }
    const bool is_real = option->type == GPUME_ENCODE_REAL;
    const bool is_switch = gpume_encode_option_is_switch(option) && !option->words;
    return (struct gpume_option){
        .name = row->name,
        .value = option->words ? "NAME"
                 : is_switch   ? "0|1"
                               : "N",
        .type = option->words || is_switch ? &gpume_type_choice
                : is_real                  ? &gpume_type_encoder_real
                                           : &gpume_type_encoder_number,
        .offset = offsetof(struct gpume_firstpass_options, values) +
                  index * sizeof(union gpume_firstpass_value),
        .bytes = sizeof(union gpume_firstpass_value),
        .min = is_real && option->optional ? option->min : 0, /* 0 stands for none */
        .max = UINT32_MAX,
        .choices = option->words ? row->words
                   : is_switch   ? switches
                                 : NULL,
        .help = row->text,
    };
}

/* --- the table */

static const struct gpume_option first_rows[] = {
    {.heading = "First pass"},
    {GPUME_ROW_CHOICE("encoder", made_encoder.text, OPTIONS, encoder, made_encoder.words),
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
    {GPUME_ROW_CHOICE("preset", "NAME", OPTIONS, preset, made_preset.words),
        .help = made_preset.text},
    {GPUME_ROW_CHOICE("tune", "NAME", OPTIONS, tune, made_tune.words), .help = made_tune.text},
};

static const struct gpume_option last_rows[] = {
    {GPUME_ROW_NUMBER("output-depth", OPTIONS, encode.bits, 8, 12), .step = 2,
        .help = made_depth.text},
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

static struct gpume_option table[GPUME_OPTIONS_MAX]; /* rows without a name are empty */

static void make_table(void)
{
    const size_t firsts = sizeof(first_rows) / sizeof(first_rows[0]);
    const size_t lasts = sizeof(last_rows) / sizeof(last_rows[0]);
    if (made_count > 0) {
        return;
    }
    made_preset.help = "the encoder's preset, which sets the options below";
    made_tune.help = "the encoder's tuning, which sets some of them";
    made_depth.help = "bits per sample of the encoded video";
    for (size_t i = 0; gpume_encoders[i]; i++) {
        const size_t used = strlen(made_encoder.text);
        snprintf(made_encoder.text + used, HELP_BYTES - used, "%s%s", i > 0 ? "|" : "",
            gpume_encoders[i]->name);
        add_encoder(gpume_encoders[i]);
    }
    make_help(&made_preset);
    make_help(&made_tune);
    make_help(&made_depth);
    assert(firsts + made_count + lasts <= GPUME_OPTIONS_MAX);
    memcpy(table, first_rows, sizeof(first_rows));
    for (size_t i = 0; i < made_count; i++) {
        make_help(&made[i]);
        table[firsts + i] = make_row(i);
    }
    memcpy(table + firsts + made_count, last_rows, sizeof(last_rows));
}

/* --- checks */

static void set_defaults(void *opaque)
{
    struct gpume_firstpass_options *options = opaque;
    gpume_video_options_default(&options->video);
    options->encoder = options->preset = options->tune = -1;
}

/* Replaces what the preset and tuning say of an option by a value that was given. */
static int set_encode_option(
    struct gpume_encode_options *encode, const union gpume_firstpass_value *value, size_t index)
{
    const struct made *row = &made[index];
    const struct gpume_encode_option *option = gpume_encode_option_find(encode->encoder, row->name);
    if (!option) {
        return gpume_refuse(
            GPUME_INVALID, "--%s: not an option of %s", row->name, encode->encoder->name);
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
            return gpume_refuse(GPUME_INVALID, "--%s %s: %s has no such value", row->name, word,
                encode->encoder->name);
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
    const char *preset =
        options->preset >= 0 ? made_preset.words[options->preset] : encoder->preset;
    if (!gpume_encode_options_preset(&encode, encoder, preset)) {
        return gpume_refuse(GPUME_INVALID, "--preset %s: %s has no such preset; leave it out",
            preset, encoder->name);
    }
    if (options->tune >= 0 && !gpume_encode_options_tune(&encode, made_tune.words[options->tune])) {
        return gpume_refuse(GPUME_INVALID, "--tune %s: %s has no such tuning; leave it out",
            made_tune.words[options->tune], encoder->name);
    }
    encode.bits = options->encode.bits;
    if (encode.bits > encoder->bits_max) {
        return gpume_refuse(GPUME_INVALID, "--output-depth %" PRIu32 ": %s takes up to %" PRIu32,
            encode.bits, encoder->name, encoder->bits_max);
    }
    for (size_t i = 0; i < made_count; i++) {
        if (gpume_line_has(line, made[i].name)) {
            GPUME_CHECK(set_encode_option(&encode, &options->values[i], i));
        }
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
        return gpume_refuse(GPUME_INVALID, "give --encoder %s", made_encoder.text);
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
    .about = "Analyses a video once and writes the files that an encoder's second pass "
             "reads, for any number of bitrates and picture sizes. Prints the command lines of "
             "the second passes: replace OUTPUT in them by the name of the encoded video.",
    GPUME_COMMAND_OPTIONS(table, struct gpume_firstpass_options),
    .make_options = make_table,
    .operands_min = 1,
    .operands_max = 1,
    .operands = "a video",
    .catches_signals = true,
    .set_defaults = set_defaults,
    .check = check,
    .run = run,
};
