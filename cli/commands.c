/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of commands, and what is printed of all their tables: help, the scripts by which shells
 * complete command lines, and the command `help`. Main thread only.
 */
#include "console.h"
#include "options/common.h"
#include "options/option.h"

#include <stdio.h>
#include <string.h>

#include "completion_bash.inc"
#include "completion_fish.inc"
#include "completion_zsh.inc"

/* A row each, in the order of lists; the first needs no name on the command line. */
#define COMMANDS(X)                                                                                \
    X(estimate)                                                                                    \
    X(sort)                                                                                        \
    X(bench)                                                                                       \
    X(compare)                                                                                     \
    X(convert)                                                                                     \
    X(firstpass)                                                                                   \
    X(scenes)                                                                                      \
    X(complexity)                                                                                  \
    X(ladder)                                                                                      \
    X(filter)                                                                                      \
    X(grain)                                                                                       \
    X(flow)                                                                                        \
    X(methods)                                                                                     \
    X(qpmap)                                                                                       \
    X(plan)                                                                                        \
    X(merge)                                                                                       \
    X(luma)                                                                                        \
    X(vectors)                                                                                     \
    X(devices)                                                                                     \
    X(help)

#define DECLARE(name) extern const struct gpume_command gpume_##name##_command;
#define LIST(name) &gpume_##name##_command,

COMMANDS(DECLARE)

const struct gpume_command *const gpume_commands[] = {COMMANDS(LIST) NULL};

/* --- help */

#define WIDTH 80
#define INDENT 30       /* columns before an option's help; longer options have their help below */
#define SHORT_INDENT 36 /* the same in the short help, where each option has one line */

/* Prints the text from column `column` on, and indents further lines by `indent`. */
static void print_wrapped(const char *text, size_t column, size_t indent)
{
    size_t at = column;
    while (*text) {
        const size_t length = strcspn(text, " ");
        if (at > indent && at + 1 + length > WIDTH) {
            printf("\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            putchar(' ');
            at++;
        }
        printf("%.*s", (int)length, text);
        at += length;
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

/* indent: columns before the help. */
static void print_option(const struct gpume_option *option, const char *help, size_t indent)
{
    char left[64];
    const char letter[] = {'-', option->letter, ',', '\0'};
    snprintf(left, sizeof(left), "  %-3s --%s%s%s", option->letter ? letter : "", option->name,
        option->value ? " " : "", option->value ? option->value : "");
    if (strlen(left) + 1 > indent) {
        printf("%s\n%*s", left, (int)indent, "");
    } else {
        printf("%-*s", (int)indent, left);
    }
    print_wrapped(help, indent, indent);
}

static void print_options(const struct gpume_command *command)
{
    for (size_t i = 0; i < command->option_count; i++) {
        const struct gpume_option *option = &command->options[i];
        if (option->heading) {
            printf("\n%s:\n", option->heading);
        } else if (option->name) {
            print_option(option, option->help, INDENT);
        }
    }
}

static void print_usage(const struct gpume_command *command)
{
    const char *before = "Usage:";
    for (const char *line = command->usage; *line; before = "      ") {
        const size_t length = strcspn(line, "\n");
        printf("%s gpume %.*s\n", before, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void print_command(const struct gpume_command *command)
{
    print_usage(command);
    putchar('\n');
    print_wrapped(command->about, 0, 0);
    print_options(command);
}

/* The names of all commands but the first, in lines of up to 79 columns. */
static void print_command_names(void)
{
    static const char indent[] = "       gpume ";
    size_t column = sizeof(indent) - 1;
    printf("%s", indent);
    for (size_t i = 1; gpume_commands[i]; i++) {
        const size_t width = strlen(gpume_commands[i]->name) + 1;
        if (column + width > 79) {
            column = sizeof(indent) - 1;
            printf("\n%*s", (int)column, "");
        }
        printf("%s%s", gpume_commands[i]->name, gpume_commands[i + 1] ? "|" : "\n");
        column += width;
    }
}

/* 21 lines, so that a terminal of 24 shows them all. */
static void print_short(void)
{
    const struct gpume_command *command = gpume_commands[0];
    print_usage(command);
    print_command_names();
    putchar('\n');
    print_wrapped(command->summary, 0, 0);
    putchar('\n');
    for (size_t i = 0; i < command->option_count; i++) {
        if (command->options[i].brief) {
            print_option(&command->options[i], command->options[i].brief, SHORT_INDENT);
        }
    }
    printf("\n'gpume --help all' lists all options, 'gpume COMMAND --help' those of a command.\n");
}

void gpume_help_print(const struct gpume_command *command)
{
    if (command == gpume_commands[0]) {
        print_short();
    } else {
        print_command(command);
    }
}

void gpume_help_print_all(void)
{
    for (size_t i = 0; gpume_commands[i]; i++) {
        if (i > 0) {
            printf("\n-- gpume %s: %s\n\n", gpume_commands[i]->name, gpume_commands[i]->summary);
        }
        print_command(gpume_commands[i]);
    }
    printf("\nExit status: 0 success, 1 failure, 2 wrong usage, 3 unusable input, 4 no usable\n"
           "device, 5 --check or 'gpume compare' found a difference.\n");
}

/* --- completion */

#define PLACE "@TABLE@"
#define WORDS_BYTES 256

/* How the value is completed. words: what it may be, or begin with, separated by blanks. */
static const char *kind_of(const struct gpume_option *option, char words[WORDS_BYTES])
{
    words[0] = '\0';
    if (!option->value) {
        return "flag";
    }
    if (option->complete == GPUME_COMPLETE_FILES) {
        return "file";
    }
    if (option->complete == GPUME_COMPLETE_DEVICES) {
        snprintf(words, WORDS_BYTES, "%s", option->words ? option->words : "");
        return "device";
    }
    if (option->type->words) {
        option->type->words(option, words, WORDS_BYTES);
    } else if (option->words) {
        snprintf(words, WORDS_BYTES, "%s", option->words);
    }
    return words[0] ? "words" : "value";
}

/* The table is between single quotes: `quote` stands for one within it. */
static void print_text(const char *text, const char *quote)
{
    for (; *text; text++) {
        printf(*text == '\'' ? "%s" : "%.1s", *text == '\'' ? quote : text);
    }
}

static void print_completion_table(const char *quote)
{
    const char *between = "";
    for (size_t c = 0; gpume_commands[c]; c++) {
        const struct gpume_command *command = gpume_commands[c];
        if (c > 0) { /* motion estimation needs no name */
            printf("%s%s|||||", between, command->name);
            print_text(command->summary, quote);
        }
        for (size_t i = 0; i < command->option_count; i++) {
            const struct gpume_option *option = &command->options[i];
            const char letter[] = {'-', option->letter, '\0'};
            char words[WORDS_BYTES];
            if (option->name) {
                const char *kind = kind_of(option, words);
                printf("%s%s|--%s|%s|%s|%s|", between, command->name, option->name,
                    option->letter ? letter : "", kind, words);
                print_text(option->help, quote);
                between = "\n";
            }
        }
    }
}

void gpume_completion_print(enum gpume_line_request shell)
{
    const char *script = shell == GPUME_REQUEST_BASH  ? completion_bash
                         : shell == GPUME_REQUEST_ZSH ? completion_zsh
                                                      : completion_fish;
    const char *place = strstr(script, PLACE);
    printf("%.*s", (int)(place - script), script);
    print_completion_table(shell == GPUME_REQUEST_FISH ? "\\'" : "'\\''");
    fputs(place + strlen(PLACE), stdout);
}

/* --- the command */

static int check_topic(void *opaque, const struct gpume_line *line)
{
    const struct gpume_common_options *options = opaque;
    const char *topic = options->inputs[0];
    (void)line;
    if (topic && strcmp(topic, "all") != 0 && !gpume_command_named(gpume_commands, topic)) {
        const struct gpume_command *near = gpume_command_near(gpume_commands, topic);
        return near ? gpume_refuse(GPUME_INVALID,
                          "%s: not a command; did you mean 'gpume help %s'?", topic, near->name)
                    : gpume_refuse(
                          GPUME_INVALID, "%s: not a command; 'gpume help' lists them", topic);
    }
    return GPUME_OK;
}

static enum gpume_exit print_topic(const void *opaque)
{
    const struct gpume_common_options *options = opaque;
    const char *topic = options->inputs[0];
    if (topic && strcmp(topic, "all") == 0) {
        gpume_help_print_all();
    } else {
        gpume_help_print(topic ? gpume_command_named(gpume_commands, topic) : gpume_commands[0]);
    }
    return GPUME_EXIT_DONE;
}

static struct gpume_option help_table[] = {
    {.heading = "Messages"},
    GPUME_OPTIONS_LAST,
};

const struct gpume_command gpume_help_command = {
    .name = "help",
    .summary = "show help",
    .usage = "help [COMMAND|all]",
    .about = "Shows the most used options; given COMMAND, the options of that command; given all, "
             "every option of every command.",
    GPUME_COMMAND_OPTIONS(help_table, struct gpume_common_options),
    .operands_max = 1,
    .operands = "the name of a command, or all",
    .check = check_topic,
    .run = print_topic,
};
