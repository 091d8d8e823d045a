/* SPDX-License-Identifier: BSD-2-Clause */
#include "options/option.h"

#include "base/params.h"
#include "commands.h"
#include "options/types.h"

#include <string.h>

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

void gpume_options_complete_rows(void)
{
    for (size_t c = 0; gpume_commands[c]; c++) {
        if (gpume_commands[c]->make_options) {
            gpume_commands[c]->make_options();
        }
        for (size_t i = 0; i < gpume_commands[c]->option_count; i++) {
            struct gpume_option *row = &gpume_commands[c]->options[i];
            if (row->param > 0) {
                complete_row(row);
            }
        }
    }
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
