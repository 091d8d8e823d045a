/* SPDX-License-Identifier: BSD-2-Clause */
#include "options/option.h"

#include <string.h>

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

bool gpume_line_has(const struct gpume_line *line, const char *name)
{
    const struct gpume_option *option = gpume_command_option(line->command, name, strlen(name));
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
