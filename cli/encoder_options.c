/* SPDX-License-Identifier: BSD-2-Clause */
#include "encoder_options.h"

#include "console.h"
#include "encode/chunk_encoders.h"
#include "encode/encoder.h"
#include "options/option.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- goals */

const struct gpume_goal_row gpume_goal_rows[GPUME_GOAL_ROWS] = {
    {"crf", GPUME_GOAL_CRF, 2, GPUME_CRF_MIN, GPUME_CRF_MAX, "e.g. 24 or 23.5"},
    {"qp", GPUME_GOAL_QP, 0, GPUME_CRF_MIN, GPUME_CRF_MAX, NULL},
    {"target-psnr", GPUME_GOAL_PSNR, 2, 20, 60, "in dB, e.g. 42 or 41.5"},
    {"target-ssim", GPUME_GOAL_SSIM, 4, 0.5, 0.9999, "e.g. 0.98"},
    {"target-xpsnr", GPUME_GOAL_XPSNR, 2, 20, 60, "in dB, e.g. 40 or 38.5"},
    {"target-size", GPUME_GOAL_SIZE, 0, 1000, 1e12,
        "a size from 1000 bytes to 1000G, e.g. 700M or 1.5G"},
};

/* How many digits stand in front of a decimal point, or of the end; the whole part may be missing
 * where decimals follow. *value: that part. */
static bool parse_whole_part(const char *text, uint64_t most, size_t *digits, uint64_t *value)
{
    const size_t length = *digits = strspn(text, "0123456789");
    *value = 0;
    return length == 0 ? text[0] == '.' && text[1] >= '0' && text[1] <= '9'
                       : gpume_parse_digits(text, length, most, value);
}

/* A decimal number, in units of its last possible digit, or of 1/100 where it is whole. */
static bool parse_goal_number(const struct gpume_goal_row *row, const char *text, uint64_t *value)
{
    size_t whole;
    if (!parse_whole_part(text, (uint64_t)row->most, &whole, value)) {
        return false;
    }
    const bool has_point = text[whole] == '.';
    const char *decimals = text + whole + has_point;
    const size_t count = strspn(decimals, "0123456789");
    if (count > (size_t)row->decimals || decimals[count] || (has_point && count == 0)) {
        return false;
    }
    double unit = 1;
    for (int i = 0; i < row->decimals || (row->decimals == 0 && i < 2); i++) {
        *value = *value * 10 + ((size_t)i < count ? (uint64_t)(decimals[i] - '0') : 0);
        unit *= 10;
    }
    return (double)*value >= row->least * unit && (double)*value <= row->most * unit;
}

/* A decimal number, followed by nothing, or by k, M or G and perhaps by `name`, up to `most`. A
 * plain one counts `plain` each. Not by way of a double: 0.9M is 900000. */
static bool parse_thousands(
    const char *text, const char *name, uint64_t plain, uint64_t most, uint64_t *number)
{
    const size_t length = strspn(text, "0123456789.");
    const char *unit = text + length, *point = memchr(text, '.', length);
    const char *rest = *unit ? unit + 1 : unit;
    uint64_t factor = *rest && strcmp(rest, name) != 0 ? 0
                      : *unit == '\0'                  ? plain
                      : *unit == 'k' || *unit == 'K'   ? 1000
                      : *unit == 'M'                   ? 1000000
                      : *unit == 'G'                   ? 1000000000
                                                       : 0;
    size_t whole;
    if (factor == 0 || !parse_whole_part(text, most / factor, &whole, number)) {
        return false;
    }
    *number *= factor;
    for (const char *at = point ? point + 1 : unit; at < unit; at++) {
        if (*at == '.' || (*at != '0' && factor < 10)) {
            return false; /* a second point, or less than one */
        }
        factor /= 10;
        *number += factor * (uint64_t)(*at - '0');
    }
    return *number <= most;
}

bool gpume_goal_parse(
    const struct gpume_goal_row *row, const char *text, struct gpume_encode_target *target)
{
    target->goal = row->goal;
    return row->goal == GPUME_GOAL_SIZE
               ? parse_thousands(text, "B", 1, (uint64_t)row->most, &target->value) &&
                     target->value >= (uint64_t)row->least
               : parse_goal_number(row, text, &target->value);
}

const struct gpume_goal_row *gpume_goal_of(const struct gpume_option *option)
{
    const struct gpume_goal_row *row = gpume_goal_rows;
    while (strcmp(row->option, option->name) != 0) {
        row++;
    }
    return row;
}

void gpume_goal_describe(const struct gpume_option *option, char *text, size_t bytes)
{
    gpume_goal_describe_row(gpume_goal_of(option), text, bytes);
}

void gpume_goal_describe_row(const struct gpume_goal_row *row, char *text, size_t bytes)
{
    char decimals[48] = "";
    if (row->goal == GPUME_GOAL_SIZE) {
        snprintf(text, bytes, "%s", row->what);
        return;
    }
    if (row->decimals > 0) {
        snprintf(decimals, sizeof(decimals), " with at most %d decimals", row->decimals);
    }
    snprintf(text, bytes, "a %snumber from %g to %g%s%s%s", row->decimals == 0 ? "whole " : "",
        row->least, row->most, decimals, row->what ? ", " : "", row->what ? row->what : "");
}

void gpume_suffix_hint(
    const struct gpume_option *option, const char *text, char *hint, size_t bytes)
{
    const size_t length = strspn(text, "0123456789.");
    const char *suffix = text + length;
    const bool is_known = *suffix && strchr("kKMG", *suffix) && suffix[1] == '\0';
    (void)option;
    if (length > 0 && *suffix && !is_known) {
        snprintf(hint, bytes,
            "the suffixes are k, M and G (M and G as capital letters), for powers of 1000");
    }
}

void gpume_goal_hint(const struct gpume_option *option, const char *text, char *hint, size_t bytes)
{
    if (gpume_goal_of(option)->goal == GPUME_GOAL_SIZE) {
        gpume_suffix_hint(option, text, hint, bytes);
    }
}

/* --- bitrates */

#define KILO UINT64_C(1000)
#define RATE_LEAST (10 * KILO)    /* bits per second: fewer are no video */
#define RATE_MOST (300000 * KILO) /* those of H.264's level 5.2 */
#define DOUBTFUL_MAX 32u          /* of which a warning is given */

/* Numbers that are likely to be meant in another unit. */
static struct {
    struct {
        const struct gpume_option *option;
        const char *text;
        uint64_t kbits, other; /* what it means, and what may be meant, in the suffix's unit */
        char suffix;
    } items[DOUBTFUL_MAX];
    size_t count;
} doubtful;

bool gpume_bitrate_warn(void)
{
    for (size_t i = 0; i < doubtful.count; i++) {
        const struct gpume_option *option = doubtful.items[i].option;
        const char *unit = option->unit ? option->unit : "kbit/s";
        const char suffix = doubtful.items[i].suffix;
        gpume_console_warning("--%s %s: means %" PRIu64 " %s; for %" PRIu64 " %c%s write %" PRIu64
                              "%c",
            option->name, doubtful.items[i].text, doubtful.items[i].kbits, unit,
            doubtful.items[i].other, suffix, unit + 1, doubtful.items[i].other, suffix);
    }
    return doubtful.count > 0;
}

/* Whole kilobits, of which encoders count no parts. plain: bits that each of a plain number counts.
 * Where such a number is likely to be meant in another unit, it is noted. */
static bool parse_kilobits(
    const struct gpume_option *option, const char *text, uint64_t plain, uint64_t *bits)
{
    if (!parse_thousands(text, "", plain, KILO * GPUME_KBITS_MAX, bits) || *bits % KILO != 0) {
        return false;
    }
    const bool is_plain = strspn(text, "0123456789.") == strlen(text);
    const bool is_low = *bits < RATE_LEAST, is_high = plain == KILO && *bits > RATE_MOST;
    const uint64_t kbits = *bits / KILO;
    if (*bits > 0 && is_plain && (is_low || is_high) && doubtful.count < DOUBTFUL_MAX) {
        doubtful.items[doubtful.count].option = option;
        doubtful.items[doubtful.count].text = text;
        doubtful.items[doubtful.count].kbits = kbits;
        doubtful.items[doubtful.count].other = is_high ? kbits / KILO : *bits / plain;
        doubtful.items[doubtful.count++].suffix = is_low && plain == KILO ? 'M' : 'k';
    }
    return true;
}

bool gpume_bitrate_parse(const struct gpume_option *option, const char *text, void *bits)
{
    uint64_t number;
    if (!parse_kilobits(option, text, 1, &number) || number == 0) {
        return false;
    }
    *(uint64_t *)bits = number;
    return true;
}

void gpume_bitrate_describe(const struct gpume_option *option, char *text, size_t bytes)
{
    (void)option;
    snprintf(text, bytes, "bits per second in whole kilobits from 1k to 2000M, e.g. 345k or 1.5M");
}

/* A plain number that is no whole number of kilobits may be one of kilobits. */
void gpume_bitrate_hint(
    const struct gpume_option *option, const char *text, char *hint, size_t bytes)
{
    uint64_t bits;
    gpume_suffix_hint(option, text, hint, bytes);
    if (!hint[0] && parse_thousands(text, "", KILO, KILO * GPUME_KBITS_MAX, &bits) && bits > 0) {
        const bool is_whole = bits % KILO == 0;
        snprintf(hint, bytes, "for %s %cbit/s write %s%c", text, is_whole ? 'k' : 'M', text,
            is_whole ? 'k' : 'M');
    }
}

const struct gpume_option_type gpume_type_bitrate = {.bytes = sizeof(uint64_t),
    .parse = gpume_bitrate_parse,
    .describe = gpume_bitrate_describe,
    .hint = gpume_bitrate_hint};

bool gpume_type_kbits_parse(const struct gpume_option *option, const char *text, void *field)
{
    uint64_t bits;
    if (!parse_kilobits(option, text, KILO, &bits) || bits < KILO * (uint64_t)option->min) {
        return false;
    }
    *(uint64_t *)field = bits / KILO;
    return true;
}

static void describe_kbits(const struct gpume_option *option, char *text, size_t bytes)
{
    snprintf(text, bytes,
        "a bitrate such as 345k or 1.5M, or a whole number of %s from %.0f to %.0f", option->unit,
        option->min, option->max);
}

const struct gpume_option_type gpume_type_kbits = {.bytes = sizeof(uint64_t),
    .parse = gpume_type_kbits_parse,
    .describe = describe_kbits,
    .hint = gpume_suffix_hint};

/* --- the video that is to be encoded */

enum gpume_exit gpume_encoder_check_rate(const struct gpume_source_info *info, const char *why)
{
    return info->rate_num > 0 && info->rate_den > 0
               ? GPUME_EXIT_DONE
               : gpume_refuse(GPUME_EXIT_INPUT,
                     "%s: its frame rate is unknown, on which %s; set one with --vf fps=25",
                     info->label, why);
}

enum gpume_exit gpume_encoder_check_video(const char *name, uint32_t side_min,
    const struct gpume_source_info *info, const char *why, const char *remedy)
{
    const enum gpume_exit checked = gpume_encoder_check_rate(info, why);
    const bool is_odd = (info->width | info->height) & 1;
    if (checked == GPUME_EXIT_DONE &&
        (is_odd || info->width < side_min || info->height < side_min)) {
        const uint64_t least = gpume_min_u32(info->width, info->height); /* the shape is kept */
        const uint64_t wanted = least < side_min ? side_min : least;
        const uint32_t width = ((uint32_t)(info->width * wanted / least) + 1) & ~1u;
        const uint32_t height = ((uint32_t)(info->height * wanted / least) + 1) & ~1u;
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: %" PRIu32 "x%" PRIu32 " pixels: %s takes even sides of %" PRIu32
            " pixels and more; give --vf scale=%" PRIu32 ":%" PRIu32 "%s",
            info->label, info->width, info->height, name, side_min, width, height, remedy);
    }
    return checked;
}

void gpume_encoder_warn_of_fields(const struct gpume_source_info *info)
{
    if (info->interlaced) {
        gpume_console_warning("%s: is interlaced, and is encoded as progressive; --vf "
                              "bwdif=send_frame deinterlaces it",
            info->label);
    }
}

/* --- rows that are made from the encoders' tables */

struct gpume_encoder_row gpume_encoder_rows[GPUME_ENCODER_ROWS_MAX];
size_t gpume_encoder_row_count;
struct gpume_encoder_list gpume_encoder_names, gpume_encoder_known, gpume_encoder_chunks;
struct gpume_encoder_row gpume_encoder_presets = {
    .help = "the encoder's preset, which sets the options below"};
struct gpume_encoder_row gpume_encoder_tunes = {
    .help = "the encoder's tuning, which sets some of them"};
struct gpume_encoder_row gpume_encoder_depths = {.help = "bits per sample of the encoded video"};

static struct gpume_encoder_taken *add_taken(
    struct gpume_encoder_row *row, const struct gpume_encoder *encoder, const char *otherwise)
{
    assert(row->count < GPUME_ENCODERS_MAX);
    struct gpume_encoder_taken *taken = &row->taken[row->count++];
    *taken = (struct gpume_encoder_taken){.encoder = encoder->name};
    snprintf(taken->otherwise, sizeof(taken->otherwise), "%s", otherwise);
    return taken;
}

static void add_word(
    struct gpume_encoder_row *row, struct gpume_encoder_taken *taken, const char *word)
{
    size_t i = 0;
    gpume_text_join(taken->limits, GPUME_ENCODER_LIMITS_BYTES, ", ", "%s", word);
    while (row->words[i] && strcmp(row->words[i], word) != 0) {
        i++;
    }
    assert(i < GPUME_ENCODER_WORDS_MAX);
    row->words[i] = word;
}

struct gpume_encoder_row *gpume_encoder_row_find(const char *name)
{
    for (size_t i = 0; i < gpume_encoder_row_count; i++) {
        if (strcmp(gpume_encoder_rows[i].name, name) == 0) {
            return &gpume_encoder_rows[i];
        }
    }
    return NULL;
}

/* The row of an encoder's option, which is added before those that follow it in the encoder. */
static struct gpume_encoder_row *add_made(const struct gpume_encode_option *option)
{
    struct gpume_encoder_row *row = NULL;
    for (const struct gpume_encode_option *next = option; next->name && !row; next++) {
        row = gpume_encoder_row_find(next->name);
    }
    if (row && strcmp(row->name, option->name) == 0) {
        return row;
    }
    row = row ? row : &gpume_encoder_rows[gpume_encoder_row_count];
    assert(gpume_encoder_row_count < GPUME_ENCODER_ROWS_MAX);
    memmove(row + 1, row,
        (size_t)(&gpume_encoder_rows[gpume_encoder_row_count++] - row) * sizeof(*row));
    *row = (struct gpume_encoder_row){.name = option->name};
    return row;
}

static void add_option(
    const struct gpume_encoder *encoder, const struct gpume_encode_option *option)
{
    struct gpume_encoder_row *row = add_made(option);
    struct gpume_encode_options medium;
    gpume_encode_options_default(&medium, encoder);
    const double value = gpume_encode_option_value(option, &medium);
    const bool is_bit = option->type != GPUME_ENCODE_REAL && option->max == option->min + 1;
    char number[32];
    snprintf(number, sizeof(number), "%.10g", value);
    struct gpume_encoder_taken *taken = add_taken(row, encoder,
        option->words                ? option->words[(size_t)value]
        : value == 0 && option->zero ? option->zero
                                     : number);
    row->help = row->help ? row->help : option->help;
    for (size_t i = 0; option->words && option->words[i]; i++) {
        add_word(row, taken, option->words[i]);
    }
    if (!option->words) {
        snprintf(taken->limits, GPUME_ENCODER_LIMITS_BYTES, "%.10g %s %.10g", option->min,
            is_bit ? "or" : "to", option->max);
    }
}

static void add_name(struct gpume_encoder_list *list, const char *name)
{
    size_t i = 0;
    while (list->words[i]) {
        i++;
    }
    assert(i < GPUME_ENCODERS_MAX);
    list->words[i] = name;
    gpume_text_join(list->value, sizeof(list->value), "|", "%s", name);
}

static void add_encoder(const struct gpume_encoder *encoder)
{
    add_name(&gpume_encoder_names, encoder->name);
    if (encoder->has_quality && encoder->losses) {
        add_name(&gpume_encoder_known, encoder->name);
    }
    struct gpume_encoder_taken *taken = add_taken(&gpume_encoder_presets, encoder, encoder->preset);
    for (const struct gpume_encode_options *p = encoder->presets; p->preset; p++) {
        add_word(&gpume_encoder_presets, taken, p->preset);
    }
    taken = add_taken(&gpume_encoder_tunes, encoder, "none");
    for (const struct gpume_tuning *t = encoder->tunings; t->name; t++) {
        add_word(&gpume_encoder_tunes, taken, t->name);
    }
    taken = add_taken(&gpume_encoder_depths, encoder, "8, or 10 for deeper input");
    for (uint32_t bits = 8; bits <= encoder->bits_max; bits += 2) {
        gpume_text_join(taken->limits, GPUME_ENCODER_LIMITS_BYTES,
            bits + 2 > encoder->bits_max ? " or " : ", ", "%" PRIu32, bits);
    }
    for (const struct gpume_encode_option *o = encoder->options; o->name; o++) {
        add_option(encoder, o);
    }
}

/* Of all encoders that have the option. */
void gpume_encoder_row_limits(char *text, size_t bytes, const struct gpume_encoder_row *row)
{
    bool same = true;
    for (size_t i = 1; i < row->count; i++) {
        same = same && strcmp(row->taken[i].limits, row->taken[0].limits) == 0;
    }
    for (size_t i = 0; i < (same ? 1 : row->count); i++) {
        gpume_text_join(text, bytes, i > 0 ? "; " : "", "%s%s%s", same ? "" : row->taken[i].encoder,
            same ? "" : ": ", row->taken[i].limits);
    }
}

static void make_help(struct gpume_encoder_row *row)
{
    char limits[GPUME_ENCODER_HELP_BYTES] = "";
    bool same = true;
    for (size_t i = 1; i < row->count; i++) {
        same = same && strcmp(row->taken[i].otherwise, row->taken[0].otherwise) == 0;
    }
    for (size_t i = 0; gpume_encoders[row->count] && i < row->count; i++) {
        gpume_text_join(row->text, GPUME_ENCODER_HELP_BYTES, "", "%s%s", row->taken[i].encoder,
            i + 1 < row->count ? ", " : ": ");
    }
    gpume_encoder_row_limits(limits, sizeof(limits), row);
    gpume_text_join(row->text, GPUME_ENCODER_HELP_BYTES, "", "%s", row->help);
    if (strcmp(limits, "0 or 1") != 0) {
        gpume_text_join(row->text, GPUME_ENCODER_HELP_BYTES, "", ", %s", limits);
    }
    gpume_text_join(row->text, GPUME_ENCODER_HELP_BYTES, "", " (default%s",
        strchr(row->taken[0].otherwise, ' ') ? ":" : "");
    for (size_t i = 0; i < (same ? 1 : row->count); i++) {
        gpume_text_join(row->text, GPUME_ENCODER_HELP_BYTES, "", "%s%s%s %s", i > 0 ? "," : "",
            same ? "" : " ", same ? "" : row->taken[i].encoder, row->taken[i].otherwise);
    }
    gpume_text_join(row->text, GPUME_ENCODER_HELP_BYTES, "", ")");
}

void gpume_encoder_rows_make(void)
{
    if (gpume_encoder_row_count > 0) {
        return;
    }
    for (size_t i = 0; gpume_encoders[i]; i++) {
        add_encoder(gpume_encoders[i]);
    }
    for (size_t i = 0; i < GPUME_CHUNK_ENCODERS; i++) {
        add_name(&gpume_encoder_chunks, gpume_chunk_encoders[i].name);
    }
    make_help(&gpume_encoder_presets);
    make_help(&gpume_encoder_tunes);
    make_help(&gpume_encoder_depths);
    for (size_t i = 0; i < gpume_encoder_row_count; i++) {
        make_help(&gpume_encoder_rows[i]);
    }
}

static bool parse_encoder(const struct gpume_option *option, const char *text, void *field)
{
    for (size_t i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], text) == 0) {
            *(const struct gpume_encoder **)field = gpume_encoder_find(text);
            return true;
        }
    }
    return false;
}

const struct gpume_option_type gpume_type_encoder = {.bytes = sizeof(const struct gpume_encoder *),
    .parse = parse_encoder,
    .describe = gpume_type_choice_describe,
    .words = gpume_type_choice_words};

static bool parse_encoder_word(const struct gpume_option *option, const char *text, void *field)
{
    (void)option;
    *(const char **)field = text;
    return *text != '\0';
}

const struct gpume_option_type gpume_type_encoder_word = {
    .bytes = sizeof(const char *), .parse = parse_encoder_word, .words = gpume_type_choice_words};

int gpume_encoder_refuse_word(const struct gpume_encoder_row *row, const char *option,
    const struct gpume_encoder *encoder, const char *word)
{
    size_t i = 0;
    while (strcmp(row->taken[i].encoder, encoder->name) != 0) {
        i++;
    }
    return row->taken[i].limits[0] ? gpume_refuse(GPUME_INVALID,
                                         "--%s %s: %s has %s; give one of these, or leave it out",
                                         option, word, encoder->name, row->taken[i].limits)
                                   : gpume_refuse(GPUME_INVALID, "--%s: %s has none; leave it out",
                                         option, encoder->name);
}

int gpume_encoder_choose(struct gpume_encode_options *options, const struct gpume_encoder *encoder,
    const char *preset, const char *tune)
{
    if (!gpume_encode_options_preset(options, encoder, preset ? preset : encoder->preset)) {
        return gpume_encoder_refuse_word(&gpume_encoder_presets, "preset", encoder, preset);
    }
    return !tune || gpume_encode_options_tune(options, tune)
               ? GPUME_OK
               : gpume_encoder_refuse_word(&gpume_encoder_tunes, "tune", encoder, tune);
}
