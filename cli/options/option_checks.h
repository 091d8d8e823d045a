/* SPDX-License-Identifier: BSD-2-Clause */
/* What no single option can tell: which of them go together. */
#ifndef GPUME_CLI_OPTIONS_OPTION_CHECKS_H
#define GPUME_CLI_OPTIONS_OPTION_CHECKS_H

#include "options/option_table.h"
#include "options/options.h"

/* The options that a command has a use for, one bit an id. */
uint64_t gpume_option_mask(enum gpume_command command);

/* given: the options on the command line, one bit an id. GPUME_OK, or GPUME_INVALID after one line
 * through gpume_console_error. */
int gpume_options_check(const struct gpume_options *options, uint64_t given);

/* The line for pictures, in stills or in a video, of frames with two fields. who: "X: gives". */
void gpume_option_refuse_two_fields(
    const char *who, enum gpume_option_id picture, const char *instead);

#endif
