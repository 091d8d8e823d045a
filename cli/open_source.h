/* SPDX-License-Identifier: BSD-2-Clause */
/* The input that the options name. */
#ifndef GPUME_CLI_OPEN_SOURCE_H
#define GPUME_CLI_OPEN_SOURCE_H

#include "media/source.h"
#include "options/options.h"

/* colour: gpume_source_take_colour will be called for target frames. On success the caller closes
 * it. One line on failure. */
int gpume_open_source(const struct gpume_options *options, bool colour,
    struct gpume_source **source, struct gpume_source_info *info);

/* What a failure of opening or reading is to the caller of the program. */
enum gpume_exit gpume_source_exit(int status);

/* The input has ended after so many frames, before the first field. Names what asks for more. */
enum gpume_exit gpume_refuse_short_source(
    const struct gpume_options *options, const struct gpume_source_info *info, uint64_t found);

#endif
