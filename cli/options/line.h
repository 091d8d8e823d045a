/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line as parsed: a command and its options. Main thread only. */
#ifndef GPUME_CLI_OPTIONS_LINE_H
#define GPUME_CLI_OPTIONS_LINE_H

#include "options/common.h"

#define GPUME_OPTIONS_MAX 96u /* rows of a command's table */

struct gpume_line {
    const struct gpume_command *command;
    struct gpume_common_options *options; /* the command's struct, which begins with these */
    bool given[GPUME_OPTIONS_MAX];        /* by row: the option was on the command line */
};

/* GPUME_OK, or another status after one line through gpume_console_error. Release with
 * gpume_line_finish in either case. */
int gpume_line_parse(struct gpume_line *line, int argc, char **argv);

void gpume_line_finish(struct gpume_line *line);

/* Was the option of this name given? */
bool gpume_line_has(const struct gpume_line *line, const char *name);

/* The first option given that is of no use: its row names uses, but none of these. NULL: there is
 * none. */
const struct gpume_option *gpume_line_unused(const struct gpume_line *line, unsigned uses);

#endif
