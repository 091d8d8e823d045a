/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library's messages, for users of the command: the library names its parameters, the user
 * knows the options that set them.
 */
#ifndef GPUME_CLI_LIBRARY_LOG_H
#define GPUME_CLI_LIBRARY_LOG_H

#include "gpume/gpume.h"

/* A gpume_log_fn for parameters of the library: passes the line to gpume_console_log, with the
 * names of options where it names parameters. opaque is not used. */
void gpume_library_log(void *opaque, enum gpume_log_level level, const char *line);

/* gpume_params_check, whose message goes to gpume_library_log. */
int gpume_library_check(const struct gpume_params *params);

#endif
