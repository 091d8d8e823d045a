/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of commands. Each, gpume_NAME_command, is defined beside the code that runs it. */
#ifndef GPUME_CLI_COMMANDS_H
#define GPUME_CLI_COMMANDS_H

#include "options/option.h"

/* The first is motion estimation, which needs no name on the command line. Ends with NULL. */
extern const struct gpume_command *const gpume_commands[];

/* NULL: no such command. */
const struct gpume_command *gpume_command_named(const char *name);

#endif
