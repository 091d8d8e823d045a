/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds frames by their times. */
#ifndef GPUME_MEDIA_FIND_H
#define GPUME_MEDIA_FIND_H

#include "media/source.h"

#define GPUME_FIND_NONE UINT64_MAX
#define GPUME_FIND_MAX 2u /* times in one call */

/* Whether the input is a file, which can be read before the run. */
bool gpume_find_is_possible(const char *path);

/* For each of the times, which rise: the number of the first frame that comes so many microseconds
 * or more after the first frame, or GPUME_FIND_NONE. options: of a file. It is opened and closed
 * here; packets alone are read where they suffice, else frames are decoded. Failures as those of
 * gpume_source_open and gpume_source_read. */
int gpume_find_frames(const struct gpume_source_options *options, const int64_t *times,
    uint64_t *frames, uint32_t count);

#endif
