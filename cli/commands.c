/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of commands, and the command `help`, which needs that list. */
#include "options/option.h"

#include "console.h"
#include "options/common.h"

#include <string.h>

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

const struct gpume_command *gpume_command_named(const char *name)
{
    for (size_t i = 1; gpume_commands[i]; i++) {
        if (strcmp(gpume_commands[i]->name, name) == 0) {
            return gpume_commands[i];
        }
    }
    return NULL;
}

static int check_topic(void *opaque, const struct gpume_line *line)
{
    const struct gpume_common_options *options = opaque;
    const char *topic = options->inputs[0];
    (void)line;
    if (topic && strcmp(topic, "all") != 0 && !gpume_command_named(topic)) {
        const struct gpume_command *near = gpume_command_near(topic);
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
        gpume_help_print_all(gpume_commands);
    } else {
        gpume_help_print(gpume_commands, topic ? gpume_command_named(topic) : gpume_commands[0]);
    }
    return GPUME_EXIT_DONE;
}

static struct gpume_option help_table[] = {
    {.heading = "Messages"},
    GPUME_OPTIONS_LAST("show this help"),
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
