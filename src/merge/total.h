/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary of all parts: exact sums, from the rows of their frames.csv, and the sums of their
 * times. */
#ifndef GPUME_MERGE_TOTAL_H
#define GPUME_MERGE_TOTAL_H

#include "merge/part.h"
#include "sinks/summary.h"

struct gpume_merge_total {
    const struct gpume_merge_part *parts;
    size_t count;
    struct gpume_run run; /* as much of it as gpume_summary_put_results needs */
    struct gpume_summary summary;
};

/* Before the first row. The parts have been checked and outlive it. */
void gpume_merge_total_begin(
    struct gpume_merge_total *total, const struct gpume_merge_part *parts, size_t count);

/* Is called with each row's frame and reference; a status other than GPUME_OK ends the reading. */
typedef int (*gpume_merge_total_fn)(void *opaque, uint64_t frame, uint64_t ref);

/* Adds the rows of a part's frames.csv, in the order of the parts. GPUME_INVALID after one line:
 * it is no such table, or does not fit the part's summary. */
int gpume_merge_total_add(struct gpume_merge_total *total, const struct gpume_merge_part *part,
    gpume_merge_total_fn row, void *opaque, const struct gpume_log *log);

/* After the last row: puts all members of summary.json but its format into the current object, */
void gpume_merge_total_put(const struct gpume_merge_total *total, struct gpume_json *json);

/* or writes the file. */
void gpume_merge_total_write(const struct gpume_merge_total *total, struct gpume_out *out);

#endif
