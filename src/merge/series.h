/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbered files of a part: one for each frame, or for each frame and its reference. */
#ifndef GPUME_MERGE_SERIES_H
#define GPUME_MERGE_SERIES_H

#include "files/out_set.h"
#include "merge/part.h"

/* GPUME_INVALID after one line: the file of this frame pair is missing or not whole. */
int gpume_merge_series_check(const struct gpume_merge_part *part, const char *pattern,
    uint64_t frame, uint64_t ref, const struct gpume_log *log);

/* Copies it into the folder, where it has its name at once. */
int gpume_merge_series_copy(const struct gpume_merge_part *part, const char *pattern,
    uint64_t frame, uint64_t ref, const char *folder, struct gpume_out_set *set,
    const struct gpume_log *log);

#endif
