/* SPDX-License-Identifier: BSD-2-Clause */
#include "options/help.h"

#include "commands.h"
#include "console.h"
#include "options/line.h"

#include <stdio.h>
#include <string.h>

#define WIDTH 80
#define INDENT 30       /* columns before an option's help; longer options have their help below */
#define SHORT_INDENT 36 /* likewise in the short help, where each option has one line */

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
        } else {
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

/* 20 lines, so that a terminal shows them all. */
static void print_short(const struct gpume_command *command)
{
    print_usage(command);
    printf("       gpume COMMAND ...  (");
    for (size_t i = 1; gpume_commands[i]; i++) {
        printf("%s%s", gpume_commands[i]->name, gpume_commands[i + 1] ? ", " : ")\n\n");
    }
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
        print_short(command);
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

static int check(void *opaque, const struct gpume_line *line)
{
    const struct gpume_common_options *options = opaque;
    const char *topic = options->inputs[0];
    (void)line;
    if (topic && strcmp(topic, "all") != 0 && !gpume_command_named(topic)) {
        return gpume_refuse(GPUME_INVALID, "%s: not a command; 'gpume help' lists them", topic);
    }
    return GPUME_OK;
}

static enum gpume_exit run(const void *opaque)
{
    const struct gpume_common_options *options = opaque;
    const char *topic = options->inputs[0];
    if (topic && strcmp(topic, "all") == 0) {
        gpume_help_print_all();
    } else {
        gpume_help_print(topic ? gpume_command_named(topic) : gpume_commands[0]);
    }
    return GPUME_EXIT_DONE;
}

static const struct gpume_option table[] = {
    {.heading = "Messages"},
    GPUME_OPTIONS_LAST("show this help"),
};

const struct gpume_command gpume_help_command = {
    .name = "help",
    .summary = "show help",
    .usage = "help [COMMAND|all]",
    .about = "Shows the most used options, those of a command, or every option.",
    .options = table,
    .option_count = sizeof(table) / sizeof(table[0]),
    .bytes = sizeof(struct gpume_common_options),
    .operands_max = 1,
    .operands = "the name of a command, or all",
    .check = check,
    .run = run,
};
