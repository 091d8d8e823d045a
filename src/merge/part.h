/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * src/merge joins the files of runs over consecutive ranges of frames to those of one run. A part
 * is the folder of such a run, known by its summary.json. Main thread only.
 */
#ifndef GPUME_MERGE_PART_H
#define GPUME_MERGE_PART_H

#include "base/log.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts as zero. */
struct gpume_merge_part {
    const char *folder; /* as the user named it */
    json_t *summary;    /* all numbers are reals */
    const json_t *input, *parameters;
    bool is_open; /* it goes on to the end of the input: it was not told how many targets it has */
    uint64_t first, end;     /* target frames: from first to end - 1, or, if open, from first on */
    uint64_t fields, blocks; /* frame pairs, and blocks in tables of them */
    uint32_t candidates;     /* rows of a block in such a table, */
    bool fewer;              /* or, if there are no others, fewer */
    bool two_matches;        /* a block may have two references */
    uint32_t window_x, window_y;
};

/* Reads the folder's summary.json. GPUME_INVALID after one line: there is none, or it is not that
 * of a complete run of a video. GPUME_IO, GPUME_NOMEM. Release it in any case. */
int gpume_merge_part_read(
    struct gpume_merge_part *part, const char *folder, const struct gpume_log *log);
void gpume_merge_part_finish(struct gpume_merge_part *part);

/* Sorts the parts by their frames. GPUME_INVALID after one line: they are not parts of one run,
 * because they overlap, frames are missing between them, or their inputs or parameters differ.
 * whole: they must also begin and end as the run without --start and --frames does. */
int gpume_merge_parts_check(
    struct gpume_merge_part *parts, size_t count, bool whole, const struct gpume_log *log);

/* A count in the object, 0 if it has none. */
uint64_t gpume_merge_part_count(const json_t *object, const char *key);

/* The path of a file of the part, for free(); NULL after one line: out of memory. */
char *gpume_merge_part_path(
    const struct gpume_merge_part *part, const char *name, const struct gpume_log *log);

#endif
