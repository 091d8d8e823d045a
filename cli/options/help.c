/* SPDX-License-Identifier: BSD-2-Clause */
#include "options/common.h"

#include "options/option.h"

#include <stdio.h>
#include <string.h>

#include "completion_bash.inc"
#include "completion_fish.inc"
#include "completion_zsh.inc"

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
static void print_command_names(const struct gpume_command *const *commands)
{
    static const char indent[] = "       gpume ";
    size_t column = sizeof(indent) - 1;
    printf("%s", indent);
    for (size_t i = 1; commands[i]; i++) {
        const size_t width = strlen(commands[i]->name) + 1;
        if (column + width > 79) {
            column = sizeof(indent) - 1;
            printf("\n%*s", (int)column, "");
        }
        printf("%s%s", commands[i]->name, commands[i + 1] ? "|" : "\n");
        column += width;
    }
}

/* 21 lines, so that a terminal of 24 shows them all. */
static void print_short(const struct gpume_command *const *commands)
{
    const struct gpume_command *command = commands[0];
    print_usage(command);
    print_command_names(commands);
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

void gpume_help_print(
    const struct gpume_command *const *commands, const struct gpume_command *command)
{
    if (command == commands[0]) {
        print_short(commands);
    } else {
        print_command(command);
    }
}

void gpume_help_print_all(const struct gpume_command *const *commands)
{
    for (size_t i = 0; commands[i]; i++) {
        if (i > 0) {
            printf("\n-- gpume %s: %s\n\n", commands[i]->name, commands[i]->summary);
        }
        print_command(commands[i]);
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
