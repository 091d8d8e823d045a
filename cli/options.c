/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parser, driven by the table in option_table.c. Numbers are read strictly, abbreviations are
 * refused, and every refusal is one line that names the option, the value and what is permitted.
 */
#include "options.h"

#include "console.h"
#include "option_checks.h"
#include "option_store.h"
#include "option_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_digits(const char *text, size_t length, uint64_t max, uint64_t *number)
{
    uint64_t value = 0;
    if (length == 0) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        /* Stays at max + 1 however long the text is; max is at most 2^32. */
        value = value * 10 + (uint64_t)(text[i] - '0');
        value = value > max ? max + 1 : value;
    }
    *number = value;
    return value <= max;
}

static bool parse_uint(
    const struct gpume_option_row *row, const char *text, union gpume_option_value *value)
{
    if (parse_digits(text, strlen(text), (uint64_t)row->max, &value->number) &&
        value->number >= (uint64_t)row->min) {
        return true;
    }
    return false;
}

/* Digits with at most one point: neither signs nor exponents, hexadecimals or words of strtod. */
static bool parse_real(
    const struct gpume_option_row *row, const char *text, union gpume_option_value *value)
{
    const size_t digits = strspn(text, "0123456789.");
    const char *point = strchr(text, '.');
    if (text[digits] != '\0' || digits == 0 || digits > 32 || (point && strchr(point + 1, '.')) ||
        (point && digits == 1)) {
        return false;
    }
    value->real = strtod(text, NULL);
    return value->real >= row->min && value->real <= row->max;
}

/* "XxY", or "N" for both where that is allowed. */
static bool parse_pair(
    const char *text, uint64_t min, uint64_t max, bool single, union gpume_option_value *value)
{
    uint64_t x, y;
    const char *by = strchr(text, 'x');
    const size_t length = by ? (size_t)(by - text) : strlen(text);
    if ((!by && !single) || !parse_digits(text, length, max, &x)) {
        return false;
    }
    y = x;
    if (by && !parse_digits(by + 1, strlen(by + 1), max, &y)) {
        return false;
    }
    value->pair[0] = (uint32_t)x;
    value->pair[1] = (uint32_t)y;
    return x >= min && y >= min;
}

static bool parse_choice(
    const struct gpume_option_row *row, const char *text, union gpume_option_value *value)
{
    for (int i = 0; i < 4 && row->choices[i]; i++) {
        if (strcmp(text, row->choices[i]) == 0) {
            value->choice = i;
            return true;
        }
    }
    return false;
}

static bool parse_value(
    const struct gpume_option_row *row, const char *text, union gpume_option_value *value)
{
    switch (row->kind) {
    case GPUME_KIND_FLAG:
        return true;
    case GPUME_KIND_UINT:
        return parse_uint(row, text, value) &&
               (row->id != GPUME_OPTION_BLOCK || value->number % 4 == 0);
    case GPUME_KIND_REAL:
        return parse_real(row, text, value);
    case GPUME_KIND_WINDOW:
        return parse_pair(text, 0, GPUME_WINDOW_MAX, true, value);
    case GPUME_KIND_SIZE:
        return parse_pair(text, (uint64_t)row->min, (uint64_t)row->max, false, value);
    case GPUME_KIND_CHOICE:
        return parse_choice(row, text, value);
    case GPUME_KIND_TEXT:
        value->text = text;
        return text[0] != '\0';
    }
    return false;
}

/* spelled: the option as the user wrote it. */
static int refuse_value(const struct gpume_option_row *row, const char *spelled, const char *text)
{
    char permitted[64];
    switch (row->kind) {
    case GPUME_KIND_UINT:
        if (row->id == GPUME_OPTION_BLOCK) {
            gpume_console_error(
                "%s %s: must be a multiple of 4 from 4 to 128, e.g. %s 8", spelled, text, spelled);
            break;
        }
        gpume_console_error(
            "%s %s: must be a whole number from %.0f to %.0f", spelled, text, row->min, row->max);
        break;
    case GPUME_KIND_REAL:
        gpume_console_error("%s %s: must be a number from %g to %g, e.g. %s 1.5", spelled, text,
            row->min, row->max, spelled);
        break;
    case GPUME_KIND_WINDOW:
        gpume_console_error("%s %s: must be N or XxY, each from 0 to %d, e.g. %s 16x8", spelled,
            text, GPUME_WINDOW_MAX, spelled);
        break;
    case GPUME_KIND_SIZE:
        gpume_console_error("%s %s: must be WxH, each from %.0f to %.0f, e.g. %s 1920x1080",
            spelled, text, row->min, row->max, spelled);
        break;
    case GPUME_KIND_CHOICE:
        permitted[0] = '\0';
        for (int i = 0; i < 4 && row->choices[i]; i++) {
            const size_t used = strlen(permitted);
            snprintf(permitted + used, sizeof(permitted) - used, "%s%s", i ? " or " : "",
                row->choices[i]);
        }
        gpume_console_error("%s %s: must be %s", spelled, text, permitted);
        break;
    default:
        gpume_console_error("%s: its value is empty; give %s %s", spelled, spelled, row->value);
    }
    return GPUME_INVALID;
}

/* Levenshtein's distance between two names; long words are far from everything. */
static unsigned distance(const char *a, size_t length, const char *b)
{
    unsigned line[32];
    const size_t width = strlen(b);
    if (width >= 32 || length >= 32) {
        return 32;
    }
    for (unsigned j = 0; j <= width; j++) {
        line[j] = j;
    }
    for (unsigned i = 1; i <= length; i++) {
        unsigned diagonal = line[0];
        line[0] = i;
        for (size_t j = 1; j <= width; j++) {
            const unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
            const unsigned moved = (line[j] < line[j - 1] ? line[j] : line[j - 1]) + 1;
            diagonal = line[j];
            line[j] = replaced < moved ? replaced : moved;
        }
    }
    return line[width];
}

static int refuse_unknown(const char *name, size_t length)
{
    const struct gpume_option_row *nearest = NULL;
    unsigned best = length > 3 ? 3 : 2;
    for (size_t i = 0; i < GPUME_OPTION_COUNT; i++) {
        const bool begins = length >= 3 && strncmp(gpume_option_rows[i].name, name, length) == 0;
        const unsigned apart = begins ? 1 : distance(name, length, gpume_option_rows[i].name);
        if (apart < best) {
            best = apart;
            nearest = &gpume_option_rows[i];
        }
    }
    if (nearest) {
        gpume_console_error("unknown option --%.*s; did you mean --%s? (gpume --help lists all)",
            (int)length, name, nearest->name);
    } else {
        gpume_console_error(
            "unknown option --%.*s; try 'gpume --help'", length > 200 ? 200 : (int)length, name);
    }
    return GPUME_INVALID;
}

/* Walks over argv. */
struct cursor {
    struct gpume_options *options;
    char **argv;
    int argc, at;
    bool named;     /* "--" has been seen: the rest are names */
    uint64_t given; /* options seen: one bit an id */
};

static int take(struct cursor *cursor, const struct gpume_option_row *row, const char *spelled,
    const char *text)
{
    union gpume_option_value value = {0};
    if (row->kind != GPUME_KIND_FLAG && !text) {
        if (cursor->at + 1 >= cursor->argc) {
            gpume_console_error(
                "%s needs a value: %s %s; try 'gpume --help'", spelled, spelled, row->value);
            return GPUME_INVALID;
        }
        text = cursor->argv[++cursor->at];
    }
    if (!parse_value(row, text, &value)) {
        return refuse_value(row, spelled, text);
    }
    cursor->given |= UINT64_C(1) << row->id;
    gpume_option_store(cursor->options, row->id, &value);
    return GPUME_OK;
}

static int take_long(struct cursor *cursor, const char *argument)
{
    const char *name = argument + 2;
    const char *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    for (size_t i = 0; i < GPUME_OPTION_COUNT; i++) {
        if (strlen(gpume_option_rows[i].name) != length ||
            strncmp(gpume_option_rows[i].name, name, length) != 0) {
            continue;
        }
        char spelled[32];
        snprintf(spelled, sizeof(spelled), "--%s", gpume_option_rows[i].name);
        if (gpume_option_rows[i].kind == GPUME_KIND_FLAG && equals) {
            gpume_console_error("%s: takes no value; leave out %s", spelled, equals);
            return GPUME_INVALID;
        }
        return take(cursor, &gpume_option_rows[i], spelled, equals ? equals + 1 : NULL);
    }
    return refuse_unknown(name, length);
}

/* "-b8", "-b 8", "-yq", "-yb8". */
static int take_short(struct cursor *cursor, const char *argument)
{
    for (const char *letter = argument + 1; *letter; letter++) {
        const struct gpume_option_row *row = NULL;
        for (size_t i = 0; i < GPUME_OPTION_COUNT; i++) {
            if (gpume_option_rows[i].letter == *letter) {
                row = &gpume_option_rows[i];
            }
        }
        if (!row) {
            gpume_console_error("unknown option -%c; try 'gpume --help'", *letter);
            return GPUME_INVALID;
        }
        const char spelled[] = {'-', *letter, '\0'};
        const bool has_value = row->kind != GPUME_KIND_FLAG;
        const int status = take(cursor, row, spelled, has_value && letter[1] ? letter + 1 : NULL);
        if (status != GPUME_OK || has_value || cursor->options->command > GPUME_COMMAND_DEVICES) {
            return status;
        }
    }
    return GPUME_OK;
}

static int take_name(struct cursor *cursor, const char *name)
{
    struct gpume_options *options = cursor->options;
    if (options->command == GPUME_COMMAND_DEVICES) {
        gpume_console_error("%s: 'gpume devices' takes no input", name);
        return GPUME_INVALID;
    }
    if (options->command == GPUME_COMMAND_ESTIMATE && options->input_count == 0 && !cursor->named) {
        if (strcmp(name, "devices") == 0) {
            options->command = GPUME_COMMAND_DEVICES;
            return GPUME_OK;
        }
        if (strcmp(name, "bench") == 0) {
            options->command = GPUME_COMMAND_BENCH;
            return GPUME_OK;
        }
        if (strcmp(name, "sort") == 0) {
            gpume_console_error(
                "%s: this version has no such command; a file of that name is given as ./%s", name,
                name);
            return GPUME_INVALID;
        }
    }
    if (name[0] == '\0') {
        gpume_console_error("an input's name is empty; try 'gpume --help'");
        return GPUME_INVALID;
    }
    if (options->input_count == 2) {
        gpume_console_error("%s: too many inputs; give one video, or two still pictures", name);
        return GPUME_INVALID;
    }
    options->inputs[options->input_count++] = name;
    return GPUME_OK;
}

int gpume_options_parse(struct gpume_options *options, int argc, char **argv)
{
    struct cursor cursor = {.options = options, .argv = argv, .argc = argc, .at = 1};
    *options = (struct gpume_options){
        .stream = -1, .gain = 1, .gamma = 1, .scale = 1, .report_pictures = 26, .seconds = 0.5};
    gpume_params_default(&options->params);
    for (; cursor.at < argc; cursor.at++) {
        const char *argument = argv[cursor.at];
        int status;
        if (cursor.named || argument[0] != '-' || argument[1] == '\0') {
            status = take_name(&cursor, argument);
        } else if (strcmp(argument, "--") == 0) {
            cursor.named = true;
            status = GPUME_OK;
        } else if (argument[1] == '-') {
            status = take_long(&cursor, argument);
        } else {
            status = take_short(&cursor, argument);
        }
        if (status != GPUME_OK || options->command > GPUME_COMMAND_DEVICES) {
            return status;
        }
    }
    return gpume_options_check(options, cursor.given);
}
