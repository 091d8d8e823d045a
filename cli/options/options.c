/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parser, driven by the table in option_table.c. Numbers are read strictly, abbreviations are
 * refused, and every refusal is one line that names the option, the value and what is permitted.
 */
#include "options/options.h"

#include "console.h"
#include "estimate/compat.h"
#include "options/option_checks.h"
#include "options/option_table.h"
#include "options/option_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (!gpume_option_parse(row, text, &value)) {
        return gpume_option_refuse(row, spelled, text);
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
        if (strcmp(name, "compare") == 0) {
            options->command = GPUME_COMMAND_COMPARE;
            return GPUME_OK;
        }
        if (strcmp(name, "convert") == 0) {
            options->command = GPUME_COMMAND_CONVERT;
            return GPUME_OK;
        }
        if (strcmp(name, "sort") == 0) {
            options->command = GPUME_COMMAND_SORT;
            return GPUME_OK;
        }
    }
    if (name[0] == '\0') {
        gpume_console_error("an input's name is empty; try 'gpume --help'");
        return GPUME_INVALID;
    }
    if (options->command == GPUME_COMMAND_SORT && options->input_count == 1) {
        gpume_console_error("%s: 'gpume sort' takes one file; give several through a pipe: "
                            "cat FILES | gpume sort",
            name);
        return GPUME_INVALID;
    }
    if (options->input_count == 2) {
        gpume_console_error("%s: too many inputs; give %s", name,
            options->command == GPUME_COMMAND_COMPARE   ? "two runs to compare"
            : options->command == GPUME_COMMAND_CONVERT ? "a file of vectors and a name for another"
                                                        : "one video, or two still pictures");
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
    const int status = gpume_options_check(options, cursor.given);
    if (status == GPUME_OK && options->compat_ffmpeg) {
        gpume_compat_apply(options);
    }
    return status;
}
