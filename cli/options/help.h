/* SPDX-License-Identifier: BSD-2-Clause */
/* Help and completion, made from the tables of the commands. Standard output; the caller checks
 * that it arrived. Main thread only. */
#ifndef GPUME_CLI_OPTIONS_HELP_H
#define GPUME_CLI_OPTIONS_HELP_H

#include "options/common.h"

/* One of the commands: the most used options of the first, all options of another. */
void gpume_help_print(
    const struct gpume_command *const *commands, const struct gpume_command *command);

/* Every option of every command. */
void gpume_help_print_all(const struct gpume_command *const *commands);

/* The script by which a shell completes command lines: GPUME_REQUEST_BASH, _ZSH or _FISH. */
void gpume_completion_print(enum gpume_line_request shell);

#endif
