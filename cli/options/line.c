/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line: rows that tables share or other tables complete, the parser, and checks of
 * options against each other and against names of files. The parser is driven by the tables of the
 * commands that its caller lists. The command is the first operand if that is a command's name,
 * wherever options stand. Abbreviations are refused, and every refusal is one line that names the
 * option, its value and what is permitted.
 */
#include "options/common.h"

#include "base/base.h"
#include "base/params.h"
#include "console.h"
#include "files/out.h"
#include "options/option.h"
#include "vectors/format.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- rows */

static void complete_row(struct gpume_option *row)
{
    static const struct gpume_option_type *const types[] = {
        [GPUME_PARAM_NUMBER] = &gpume_type_number,
        [GPUME_PARAM_FLAG] = &gpume_type_flag,
        [GPUME_PARAM_CHOICE] = &gpume_type_choice,
        [GPUME_PARAM_TEXT] = &gpume_type_text,
    };
    const struct gpume_param *param = gpume_param_of(row->param);
    row->name = param->option;
    row->value = row->value ? row->value : param->option_value;
    row->help = row->help ? row->help : param->help;
    row->type = row->type ? row->type : types[param->type];
    row->choices = row->choices ? row->choices : param->choices;
    row->min = row->max > 0 ? row->min : (double)param->least;
    row->max = row->max > 0 ? row->max : (double)param->most;
}

/* Makes the rows of all commands that are made from other tables. Call it first. */
static void options_complete_rows(const struct gpume_command *const *commands)
{
    for (size_t c = 0; commands[c]; c++) {
        if (commands[c]->make_options) {
            commands[c]->make_options();
        }
        for (size_t i = 0; i < commands[c]->option_count; i++) {
            struct gpume_option *row = &commands[c]->options[i];
            if (row->param > 0) {
                complete_row(row);
            }
        }
    }
}

/* The option of this name, which has `length` bytes; NULL: the command has none. */
static const struct gpume_option *command_option(
    const struct gpume_command *command, const char *name, size_t length)
{
    for (size_t i = 0; i < command->option_count; i++) {
        const struct gpume_option *option = &command->options[i];
        if (option->name && strlen(option->name) == length &&
            strncmp(option->name, name, length) == 0) {
            return option;
        }
    }
    return NULL;
}

bool gpume_line_has(const struct gpume_line *line, const char *name)
{
    const struct gpume_option *option = command_option(line->command, name, strlen(name));
    return option && line->given[option - line->command->options];
}

const struct gpume_option *gpume_line_unused(const struct gpume_line *line, unsigned uses)
{
    for (size_t i = 0; i < line->command->option_count; i++) {
        const struct gpume_option *option = &line->command->options[i];
        if (line->given[i] && option->uses && !(option->uses & uses)) {
            return option;
        }
    }
    return NULL;
}

/* --- the parser */

#define PERMITTED_BYTES 256
#define HINT_BYTES 128

/* Walks over argv. */
struct cursor {
    struct gpume_line *line;
    char **argv;
    int argc, at;
    int command_at;   /* the command's name; 0: motion estimation, which has none */
    bool options_end; /* "--" was seen: only operands follow */
};

static const struct gpume_option *find_letter(const struct gpume_command *command, char letter)
{
    for (size_t i = 0; i < command->option_count; i++) {
        if (command->options[i].letter == letter) {
            return &command->options[i];
        }
    }
    return NULL;
}

/* True if the argument after this one is the value of an option, by any command's table. */
static bool takes_next(const struct gpume_command *const *commands, const char *argument)
{
    for (size_t c = 0; commands[c]; c++) {
        const struct gpume_option *option = NULL;
        if (argument[1] == '-') {
            option = command_option(commands[c], argument + 2, strlen(argument + 2));
            if (option && option->value) {
                return true;
            }
            continue;
        }
        for (const char *letter = argument + 1; *letter; letter++) {
            option = find_letter(commands[c], *letter);
            if (option && option->value) {
                return letter[1] == '\0';
            }
        }
    }
    return false;
}

static bool is_option(const char *argument)
{
    return argument[0] == '-' && argument[1] != '\0';
}

const struct gpume_command *gpume_command_named(
    const struct gpume_command *const *commands, const char *name)
{
    for (size_t i = 1; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

static const struct gpume_command *find_command(struct cursor *cursor)
{
    const struct gpume_command *const *commands = cursor->line->commands;
    for (int i = 1; i < cursor->argc && strcmp(cursor->argv[i], "--") != 0; i++) {
        if (!is_option(cursor->argv[i])) {
            const struct gpume_command *command = gpume_command_named(commands, cursor->argv[i]);
            cursor->command_at = command ? i : 0;
            return command ? command : commands[0];
        }
        i += takes_next(commands, cursor->argv[i]);
    }
    return commands[0];
}

/* "gpume" or "gpume sort", until the next call. */
static const char *program(const struct gpume_command *command, const struct gpume_line *line)
{
    static char text[32];
    const bool named = command != line->commands[0];
    snprintf(text, sizeof(text), "gpume%s%s", named ? " " : "", named ? command->name : "");
    return text;
}

#define WORD_BYTES 32u /* longer words are far from everything */

/* How many letters are missing, too many, wrong, or swapped with the next. */
static unsigned distance(const char *a, size_t length, const char *b)
{
    unsigned rows[3][WORD_BYTES] = {{0}};
    const size_t width = strlen(b);
    if (width >= WORD_BYTES || length >= WORD_BYTES) {
        return WORD_BYTES;
    }
    for (unsigned j = 0; j <= width; j++) {
        rows[0][j] = j;
    }
    for (unsigned i = 1; i <= length; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *before = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            const unsigned replaced = before[j - 1] + (a[i - 1] != b[j - 1]);
            const unsigned moved = gpume_min_u32(before[j], row[j - 1]) + 1;
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            row[j] = gpume_min_u32(replaced, moved);
            row[j] = swapped ? gpume_min_u32(row[j], second[j - 2] + 1) : row[j];
        }
    }
    return rows[length % 3][width];
}

/* True if the name is nearer to the word than *best, which it then becomes: the beginning of a name
 * is near. *best starts as what is too far. */
static bool is_nearer(const char *word, size_t length, const char *name, unsigned *best)
{
    const bool begins = length >= 3 && strncmp(name, word, length) == 0;
    const unsigned apart = begins ? 1 : distance(word, length, name);
    const bool nearer = apart < *best;
    *best = nearer ? apart : *best;
    return nearer;
}

/* From here on a name is too far from a word to be meant. */
static unsigned too_far(size_t length)
{
    return length > 3 ? 3 : 2;
}

static const struct gpume_option *find_nearest(
    const struct gpume_command *command, const char *name, size_t length)
{
    const struct gpume_option *nearest = NULL;
    unsigned best = too_far(length);
    for (size_t i = 0; i < command->option_count; i++) {
        const struct gpume_option *option = &command->options[i];
        if (option->name && is_nearer(name, length, option->name, &best)) {
            nearest = option;
        }
    }
    return nearest;
}

const struct gpume_command *gpume_command_near(
    const struct gpume_command *const *commands, const char *word)
{
    const struct gpume_command *nearest = NULL;
    const size_t length = strlen(word);
    unsigned best = too_far(length);
    for (size_t i = 1; commands[i]; i++) {
        if (is_nearer(word, length, commands[i]->name, &best)) {
            nearest = commands[i];
        }
    }
    return nearest;
}

/* The next command from this one on that has the option; NULL: none. */
static const struct gpume_command *const *next_owner(
    const struct gpume_command *const *command, const char *name, size_t length)
{
    while (*command && !command_option(*command, name, length)) {
        command++;
    }
    return *command ? command : NULL;
}

/* What follows --help to list every option of the command. */
static const char *help_word(const struct gpume_line *line)
{
    return line->command == line->commands[0] ? " all" : "";
}

#define OWNERS_NAMED 3

/* Names the other commands that have the option, if any: the first of many. spelled: the option as
 * the message calls it. */
static bool refuse_foreign(
    const struct gpume_line *line, const char *spelled, const char *name, size_t length)
{
    char owners[256] = "";
    if (line->command->last_is_output && length == 6 && strncmp(name, "output", length) == 0) {
        gpume_console_error("%s: '%s' takes the output as its last argument, not as an option",
            spelled, program(line->command, line));
        return true;
    }
    const struct gpume_command *const *owner = next_owner(line->commands, name, length);
    int named = 0;
    for (; owner; named++) {
        const struct gpume_command *const *next = next_owner(owner + 1, name, length);
        if (named == OWNERS_NAMED) {
            gpume_text_join(owners, sizeof(owners), "", " and others");
            break;
        }
        gpume_text_join(
            owners, sizeof(owners), next ? ", " : " and ", "'%s'", program(*owner, line));
        owner = next;
    }
    if (owners[0]) {
        gpume_console_error("%s: is not an option of '%s'; %s %s it; try '%s --help%s'", spelled,
            program(line->command, line), owners, named == 1 ? "has" : "have",
            program(line->command, line), help_word(line));
    }
    return owners[0] != '\0';
}

/* The switch that --no-NAME means, which takes 0 or 1 here; NULL: none. */
static const struct gpume_option *find_negated(
    const struct gpume_command *command, const char *name, size_t length)
{
    const struct gpume_option *option = length > 3 && strncmp(name, "no-", 3) == 0
                                            ? command_option(command, name + 3, length - 3)
                                            : NULL;
    return option && option->choices && strcmp(option->choices[0], "0") == 0 ? option : NULL;
}

static int refuse_unknown(const struct gpume_line *line, const char *name, size_t length)
{
    const struct gpume_command *command = line->command;
    const struct gpume_option *nearest = find_negated(command, name, length);
    if (nearest) {
        return gpume_refuse(
            GPUME_INVALID, "unknown option --no-%s; give --%s 0", nearest->name, nearest->name);
    }
    if (length < 32) {
        char spelled[40];
        snprintf(spelled, sizeof(spelled), "--%.*s", (int)length, name);
        if (refuse_foreign(line, spelled, name, length)) {
            return GPUME_INVALID;
        }
    }
    nearest = find_nearest(command, name, length);
    if (nearest) {
        gpume_console_error("unknown option --%.*s; did you mean --%s? '%s --help%s' lists all",
            (int)length, name, nearest->name, program(command, line), help_word(line));
    } else {
        gpume_console_error("unknown option --%.*s; '%s --help%s' lists all",
            length > 200 ? 200 : (int)length, name, program(command, line), help_word(line));
    }
    return GPUME_INVALID;
}

static int refuse_letter(const struct gpume_line *line, char letter)
{
    for (size_t c = 0; line->commands[c]; c++) {
        const struct gpume_option *option = find_letter(line->commands[c], letter);
        if (option) {
            char spelled[40];
            snprintf(spelled, sizeof(spelled), "-%c (--%s)", letter, option->name);
            (void)refuse_foreign(line, spelled, option->name, strlen(option->name));
            return GPUME_INVALID;
        }
    }
    return gpume_refuse(GPUME_INVALID, "unknown option -%c; '%s --help%s' lists all", letter,
        program(line->command, line), help_word(line));
}

/* Refuses an argument that is no option, but the name of a file. */
static int check_file_name(const char *argument)
{
    return access(argument, F_OK) != 0
               ? GPUME_OK
               : gpume_refuse(GPUME_INVALID,
                     "unknown option %s; if the file is meant, give it as ./%s", argument,
                     argument);
}

static int refuse_value(const struct gpume_option *option, const char *spelled, const char *text)
{
    char permitted[PERMITTED_BYTES], hint[HINT_BYTES] = "";
    if (option->type->describe) {
        option->type->describe(option, permitted, sizeof(permitted));
    } else if (option->type->permitted) {
        snprintf(permitted, sizeof(permitted), option->type->permitted, option->min, option->max);
    } else {
        return gpume_refuse(
            GPUME_INVALID, "%s: its value is empty; give %s %s", spelled, spelled, option->value);
    }
    if (option->type->hint) {
        option->type->hint(option, text, hint, sizeof(hint));
    }
    const bool has_unit = option->unit && !option->type->describe;
    return gpume_refuse(GPUME_INVALID, "%s %s: must be %s%s%s%s%s", spelled, text, permitted,
        has_unit ? ", in " : "", has_unit ? option->unit : "", hint[0] ? "; " : "", hint);
}

/* True if the argument is an option of the command, with or without a value, or their end. */
static bool names_option(const struct gpume_command *command, const char *argument)
{
    if (!is_option(argument)) {
        return false;
    }
    return strcmp(argument, "--") == 0 ? true
           : argument[1] == '-'
               ? command_option(command, argument + 2, strcspn(argument + 2, "=")) != NULL
               : find_letter(command, argument[1]) != NULL;
}

/* What is read is known before anything is opened, so that no output replaces it. */
static int add_input(const struct gpume_command *command, const char *name)
{
    const int status = command->reads_folders ? gpume_inputs_add_all(name) : gpume_inputs_add(name);
    return status == GPUME_OK ? GPUME_OK : gpume_refuse(GPUME_NOMEM, "out of memory");
}

/* spelled: the option as the user wrote it. text: its value, or NULL if that is the next argument.
 */
static int take_option(
    struct cursor *cursor, const struct gpume_option *option, const char *spelled, const char *text)
{
    struct gpume_line *line = cursor->line;
    const bool separate = option->value && !text;
    assert(option->type->bytes == 0 || option->type->bytes == option->bytes);
    if (separate) {
        if (cursor->at + 1 >= cursor->argc) {
            return gpume_refuse(GPUME_INVALID, "%s needs a value: %s %s; see '%s --help%s'",
                spelled, spelled, option->value, program(line->command, line), help_word(line));
        }
        text = cursor->argv[++cursor->at];
    }
    const char *const *before = (const void *)((const char *)line->options + option->offset);
    if (line->given[option - line->command->options] && option->type == &gpume_type_text &&
        option->complete == GPUME_COMPLETE_FILES && strcmp(*before, text) != 0) {
        return gpume_refuse(GPUME_INVALID, "%s %s: takes one file, and was given %s before",
            spelled, text, *before);
    }
    /* A text may be anything, but hardly an option that stands in the place of a forgotten value.
     */
    const bool forgotten = separate && names_option(line->command, text);
    if ((forgotten && option->type == &gpume_type_text) ||
        !option->type->parse(option, text, (char *)line->options + option->offset)) {
        return forgotten ? gpume_refuse(GPUME_INVALID,
                               "%s needs a value: %s %s; it is followed by the option %s", spelled,
                               spelled, option->value, text)
                         : refuse_value(option, spelled, text);
    }
    line->given[option - line->command->options] = true;
    return option->reads ? add_input(line->command, text) : GPUME_OK;
}

static int take_long(struct cursor *cursor, const char *argument)
{
    const char *name = argument + 2;
    const char *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct gpume_option *option = command_option(cursor->line->command, name, length);
    if (!option) {
        GPUME_CHECK(check_file_name(argument));
        return refuse_unknown(cursor->line, name, length);
    }
    char spelled[32];
    snprintf(spelled, sizeof(spelled), "--%s", option->name);
    if (!option->value && equals) {
        return gpume_refuse(GPUME_INVALID, "%s: takes no value; leave out %s", spelled, equals);
    }
    return take_option(cursor, option, spelled, equals ? equals + 1 : NULL);
}

/* Refuses "-preset", with one hyphen as ffmpeg has it. "-help" is "-h". */
static int check_hyphens(const struct gpume_line *line, const char *argument)
{
    const char *name = argument + 1;
    const size_t length = strcspn(name, "=");
    if (length < 3 || strcmp(name, "help") == 0) {
        return GPUME_OK;
    }
    if (find_negated(line->command, name, length)) {
        return refuse_unknown(line, name, length);
    }
    if (!command_option(line->command, name, length)) {
        return GPUME_OK;
    }
    GPUME_CHECK(check_file_name(argument));
    return gpume_refuse(GPUME_INVALID, "unknown option -%.*s; did you mean --%.*s?", (int)length,
        name, (int)length, name);
}

/* "-b8", "-b 8", "-yq", "-yb8". */
static int take_short(struct cursor *cursor, const char *argument)
{
    const struct gpume_command *command = cursor->line->command;
    GPUME_CHECK(check_hyphens(cursor->line, argument));
    for (const char *letter = argument + 1; *letter; letter++) {
        const struct gpume_option *option = find_letter(command, *letter);
        if (!option) {
            GPUME_CHECK(check_file_name(argument));
            return refuse_letter(cursor->line, *letter);
        }
        const char spelled[] = {'-', *letter, '\0'};
        if (option->value && letter[1] == '=') {
            return letter[2] == '\0'
                       ? refuse_value(option, spelled, "")
                       : gpume_refuse(GPUME_INVALID, "%s%s: write %s %s or --%s%s", spelled,
                             letter + 1, spelled, letter + 2, option->name, letter + 1);
        }
        const int status =
            take_option(cursor, option, spelled, option->value && letter[1] ? letter + 1 : NULL);
        if (status != GPUME_OK || option->value || cursor->line->options->request) {
            return status;
        }
    }
    return GPUME_OK;
}

/* True if the argument is options of the command that take no value: "--despot", "-yq". */
static bool names_flag(const struct gpume_command *command, const char *argument)
{
    if (!is_option(argument)) {
        return false;
    }
    if (argument[1] == '-') {
        const struct gpume_option *option =
            command_option(command, argument + 2, strlen(argument + 2));
        return option && !option->value;
    }
    const struct gpume_option *option = NULL;
    for (const char *letter = argument + 1; *letter; letter++) {
        option = find_letter(command, *letter);
        if (!option || option->value) {
            return false;
        }
    }
    return true;
}

/* Refuses a name that is not a file but looks like the value of a flag, "--despot 1", or an
 * option's second value, "-w 7 7". */
static int check_second_value(const struct cursor *cursor, const char *name)
{
    if (name[strspn(name, "0123456789x.,")] || access(name, F_OK) == 0) {
        return GPUME_OK;
    }
    if (!cursor->options_end && names_flag(cursor->line->command, cursor->argv[cursor->at - 1])) {
        return gpume_refuse(
            GPUME_INVALID, "%s: takes no value; leave out %s", cursor->argv[cursor->at - 1], name);
    }
    const bool follows = cursor->at >= 3 && is_option(cursor->argv[cursor->at - 2]) &&
                         takes_next(cursor->line->commands, cursor->argv[cursor->at - 2]);
    if (!follows) {
        return GPUME_OK;
    }
    const char *option = cursor->argv[cursor->at - 2], *value = cursor->argv[cursor->at - 1];
    return gpume_refuse(GPUME_INVALID,
        "%s: is not a file, and %s takes one value; write %s %sx%s if both are meant", name, option,
        option, value, name);
}

/* Refuses a name that is not a file but is nearly that of a command: "gpume device". */
static int check_command(const struct cursor *cursor, const char *name)
{
    const bool may_be = cursor->command_at == 0 && !cursor->options_end && !strchr(name, '/');
    const struct gpume_command *near =
        may_be ? gpume_command_near(cursor->line->commands, name) : NULL;
    return near && access(name, F_OK) != 0
               ? gpume_refuse(GPUME_INVALID,
                     "%s: no such file or command; did you mean 'gpume %s'?", name, near->name)
               : GPUME_OK;
}

static int take_operand(struct cursor *cursor, const char *name)
{
    const struct gpume_command *command = cursor->line->command;
    struct gpume_common_options *options = cursor->line->options;
    GPUME_CHECK(check_second_value(cursor, name));
    GPUME_CHECK(options->input_count == 0 ? check_command(cursor, name) : GPUME_OK);
    if (name[0] == '\0') {
        return gpume_refuse(GPUME_INVALID, "an input's name is empty; try '%s --help'",
            program(command, cursor->line));
    }
    if (options->input_count == command->operands_max) {
        return gpume_refuse(GPUME_INVALID, "%s: too many inputs; '%s' takes %s", name,
            program(command, cursor->line), command->operands);
    }
    if (options->operands) {
        options->operands[options->input_count] = name;
    }
    if (options->input_count < sizeof(options->inputs) / sizeof(options->inputs[0])) {
        options->inputs[options->input_count] = name;
    }
    options->input_count++;
    return command->last_is_output && options->input_count == command->operands_max
               ? GPUME_OK
               : add_input(command, name);
}

static int take_argument(struct cursor *cursor)
{
    const char *argument = cursor->argv[cursor->at];
    if (cursor->at == cursor->command_at) {
        return GPUME_OK;
    }
    if (cursor->options_end || !is_option(argument)) {
        return take_operand(cursor, argument);
    }
    if (strcmp(argument, "--") == 0) {
        cursor->options_end = true;
        return GPUME_OK;
    }
    return argument[1] == '-' ? take_long(cursor, argument) : take_short(cursor, argument);
}

/* The option that writes a file of this name; NULL: no file of a known kind is named so. */
static const char *option_of_file(const char *path)
{
    static const struct {
        const char *ending, *option;
    } files[] = {{".html", "--report"}, {".json", "--report"}, {".mkv", "--overlay"},
        {".mp4", "--overlay"}, {".mov", "--overlay"}, {".webm", "--overlay"}, {".avi", "--overlay"},
        {".nut", "--predicted"}, {".y4m", "--predicted"}, {".gif", "--overlay"},
        {".png", "--overlay"}, {".jpg", "--overlay"}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof files / sizeof files[0]; i++) {
        if (strcasecmp(dot, files[i].ending) == 0) {
            return files[i].option;
        }
    }
    return gpume_vectors_format_of(path) ? "--vectors" : NULL;
}

/* True if the name ends as that of a kind of file that is not for any text: what options write, raw
 * samples, or a compressed file. */
static bool name_is_known(const char *path)
{
    static const char *const others[] = {".yuv", ".raw", ".gz", ".zst", ".xz", ".bz2", ".zip"};
    const char *dot = strrchr(path, '.');
    bool known = option_of_file(path) != NULL;
    for (size_t i = 0; dot && i < sizeof(others) / sizeof(others[0]); i++) {
        known = known || strcasecmp(dot, others[i]) == 0;
    }
    return known;
}

/* Sets a choice that was not given by the ending of the file's name, which may have any but that of
 * another kind of file. */
static int follow_name(const struct gpume_line *line, const struct gpume_option *option)
{
    const struct gpume_option *named =
        command_option(line->command, option->follows, strlen(option->follows));
    const char *path = *(const char *const *)(const void *)((char *)line->options + named->offset);
    const char *dot = path ? strrchr(path, '.') : NULL;
    char permitted[PERMITTED_BYTES];
    for (size_t i = 0; dot && option->choices[i]; i++) {
        if (strcasecmp(dot + 1, option->choices[i]) == 0) {
            (void)option->type->parse(
                option, option->choices[i], (char *)line->options + option->offset);
            return GPUME_OK;
        }
    }
    if (!path || !name_is_known(path)) {
        return GPUME_OK;
    }
    option->type->describe(option, permitted, sizeof(permitted));
    return gpume_refuse(GPUME_INVALID,
        "--%s %s: ends in none of the formats %s; give another name, or --%s", named->name, path,
        permitted, option->name);
}

/* Checks the options that depend on each other, as the rows say. */
static int check_rows(const struct gpume_line *line)
{
    const struct gpume_command *command = line->command;
    for (size_t i = 0; i < command->option_count; i++) {
        const struct gpume_option *option = &command->options[i];
        if (line->given[i] && option->needs && !gpume_line_has(line, option->needs)) {
            return gpume_refuse(GPUME_INVALID, "--%s: needs --%s %s", option->name, option->needs,
                command_option(command, option->needs, strlen(option->needs))->value);
        }
        if (line->given[i] && option->excludes && gpume_line_has(line, option->excludes)) {
            return gpume_refuse(GPUME_INVALID,
                "--%s: cannot be combined with --%s; leave one of them out", option->name,
                option->excludes);
        }
        if (!line->given[i] && option->follows) {
            GPUME_CHECK(follow_name(line, option));
        }
    }
    return GPUME_OK;
}

static int check_line(const struct gpume_line *line)
{
    const struct gpume_command *command = line->command;
    if (line->options->input_count < command->operands_min) {
        return gpume_refuse(GPUME_INVALID, "%s; '%s' takes %s; try '%s --help'",
            line->options->input_count ? "too few inputs" : "no input", program(command, line),
            command->operands, program(command, line));
    }
    const int status = check_rows(line);
    return status || !command->check ? status : command->check(line->options, line);
}

int gpume_line_parse(
    struct gpume_line *line, const struct gpume_command *const *commands, int argc, char **argv)
{
    options_complete_rows(commands);
    struct cursor cursor = {.line = line, .argv = argv, .argc = argc, .at = 1};
    *line = (struct gpume_line){.commands = commands};
    line->command = find_command(&cursor);
    assert(line->command->option_count <= GPUME_OPTIONS_MAX);
    line->options = calloc(1, line->command->bytes);
    if (line->options && line->command->operands_max > 2) {
        line->options->operands = calloc((size_t)argc, sizeof(*line->options->operands));
    }
    if (!line->options || (line->command->operands_max > 2 && !line->options->operands)) {
        return gpume_refuse(GPUME_NOMEM, "out of memory");
    }
    if (line->command->set_defaults) {
        line->command->set_defaults(line->options);
    }
    for (; cursor.at < argc; cursor.at++) {
        GPUME_CHECK(take_argument(&cursor));
        if (line->options->request != GPUME_REQUEST_NONE) {
            const bool all = line->options->request == GPUME_REQUEST_HELP && argv[cursor.at + 1] &&
                             strcmp(argv[cursor.at + 1], "all") == 0;
            line->options->request = all ? GPUME_REQUEST_HELP_ALL : line->options->request;
            return GPUME_OK;
        }
    }
    return check_line(line);
}

void gpume_line_finish(struct gpume_line *line)
{
    if (line->options) {
        free(line->options->operands);
    }
    free(line->options);
    *line = (struct gpume_line){0};
}

/* --- checks that several commands share */

static bool is_among(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0) {
        names++;
    }
    return *names != NULL;
}

int gpume_check_mode(const struct gpume_line *line, const struct gpume_mode *mode)
{
    static const char *const always[] = {
        "timeout", "quiet", "verbose", "progress", "no-progress", NULL};
    for (size_t i = 0; i < line->command->option_count; i++) {
        const char *name = line->command->options[i].name;
        if (line->given[i] && strcmp(name, mode->option) != 0 && !is_among(mode->takes, name) &&
            !is_among(always, name)) {
            return gpume_refuse(GPUME_INVALID,
                "--%s: cannot be combined with --%s, which %s; leave one of them out", name,
                mode->option, mode->does);
        }
    }
    return GPUME_OK;
}

int gpume_name_check_kind(const char *path, const char *kind, const char *ending)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (!dot || strcasecmp(dot, ending) == 0 || !name_is_known(path)) {
        return GPUME_OK;
    }
    const size_t length = (size_t)(dot - path), tail = strlen(ending);
    const bool has_both = length > tail && strncasecmp(dot - tail, ending, tail) == 0;
    return gpume_refuse(GPUME_INVALID,
        "--output %s: is %s, which its ending does not say; name it %.*s%s", path, kind,
        (int)length, path, has_both ? "" : ending);
}

int gpume_name_check_folder(const char *path)
{
    struct stat info;
    const char *option = option_of_file(path);
    return option && (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
               ? gpume_refuse(GPUME_INVALID,
                     "-o %s: names a folder for several files; for only this file, write %s %s",
                     path, option, path)
               : GPUME_OK;
}

static bool is_stream(const char *name, struct stat *info)
{
    const int failed = strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, info) : stat(name, info);
    return failed == 0 && (S_ISFIFO(info->st_mode) || S_ISSOCK(info->st_mode));
}

int gpume_check_streams(const struct gpume_common_options *common, const char *what)
{
    struct stat a, b;
    const char *const *names = common->inputs;
    if (common->input_count < 2) {
        return GPUME_OK;
    }
    if (strcmp(names[0], "-") == 0 && strcmp(names[1], "-") == 0) {
        return gpume_refuse(
            GPUME_INVALID, "-: standard input can be one of the two %s, not both", what);
    }
    if (is_stream(names[0], &a) && is_stream(names[1], &b) && a.st_dev == b.st_dev &&
        a.st_ino == b.st_ino) {
        return gpume_refuse(
            GPUME_INVALID, "%s: a pipe can be one of the two %s, not both", names[1], what);
    }
    return GPUME_OK;
}

const char *const gpume_look_keys[] = {"auto", "on", "off", NULL};
const char *const gpume_look_lengths[] = {"fit", "true", NULL};

int gpume_check_look(const struct gpume_overlay_look *look, const struct gpume_line *line)
{
    static const struct {
        const char *option, *styles;
        bool of_use[GPUME_OVERLAY_RETURN + 1];
    } rows[] = {
        {"arrow-length", "arrows", {[GPUME_OVERLAY_ARROWS] = true}},
        {"arrow-spacing", "arrows", {[GPUME_OVERLAY_ARROWS] = true}},
        {"arrow-width", "arrows", {[GPUME_OVERLAY_ARROWS] = true}},
        {"flow-max", "flow", {[GPUME_OVERLAY_FLOW] = true}},
        {"min-length", "arrows or flow",
            {[GPUME_OVERLAY_ARROWS] = true, [GPUME_OVERLAY_FLOW] = true}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (gpume_line_has(line, rows[i].option) && !rows[i].of_use[look->style]) {
            return gpume_refuse(GPUME_INVALID, "--%s: changes nothing without --overlay-style %s",
                rows[i].option, rows[i].styles);
        }
    }
    return GPUME_OK;
}

const char *const gpume_choices_shell[] = {"bash", "zsh", "fish", NULL};
