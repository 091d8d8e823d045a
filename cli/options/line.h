/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the command line. Main thread only. */
#ifndef GPUME_CLI_OPTIONS_LINE_H
#define GPUME_CLI_OPTIONS_LINE_H

#include "options/common.h"

/* GPUME_OK, or another status after one line through gpume_console_error. Release with
 * gpume_line_finish in either case. */
int gpume_line_parse(struct gpume_line *line, int argc, char **argv);

void gpume_line_finish(struct gpume_line *line);

#endif
