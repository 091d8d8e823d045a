/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of commands. Each is defined beside the code that runs it. */
#ifndef GPUME_CLI_COMMANDS_H
#define GPUME_CLI_COMMANDS_H

#include "options/option.h"

extern const struct gpume_command gpume_estimate_command, gpume_sort_command, gpume_bench_command,
    gpume_compare_command, gpume_convert_command, gpume_firstpass_command, gpume_scenes_command,
    gpume_complexity_command, gpume_methods_command, gpume_qpmap_command, gpume_luma_command,
    gpume_vectors_command, gpume_plan_command, gpume_merge_command, gpume_devices_command,
    gpume_help_command;

/* The first is motion estimation, which needs no name on the command line. Ends with NULL. */
extern const struct gpume_command *const gpume_commands[];

/* NULL: no such command. */
const struct gpume_command *gpume_command_named(const char *name);

#endif
