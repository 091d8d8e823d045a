/* SPDX-License-Identifier: BSD-2-Clause */
#include "commands.h"

#include <string.h>

const struct gpume_command *const gpume_commands[] = {
    &gpume_estimate_command,
    &gpume_sort_command,
    &gpume_bench_command,
    &gpume_compare_command,
    &gpume_convert_command,
    &gpume_devices_command,
    &gpume_help_command,
    NULL,
};

const struct gpume_command *gpume_command_named(const char *name)
{
    for (size_t i = 1; gpume_commands[i]; i++) {
        if (strcmp(gpume_commands[i]->name, name) == 0) {
            return gpume_commands[i];
        }
    }
    return NULL;
}

const struct gpume_option *gpume_command_option(
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
