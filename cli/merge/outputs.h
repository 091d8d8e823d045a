/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that all parts have in common, and what becomes of them. Main thread only. */
#ifndef GPUME_CLI_MERGE_OUTPUTS_H
#define GPUME_CLI_MERGE_OUTPUTS_H

#include "job.h"
#include "merge/join.h"
#include "merge/part.h"
#include "merge/total.h"

#include <stdbool.h>
#include <stddef.h>

#define GPUME_MERGE_OUTPUTS_MAX 8 /* vectors.csv, frames.csv, and six that options name */

struct gpume_merge_output {
    const char *name;              /* in the folder of every part, and of the result */
    bool series;                   /* numbered files */
    bool report;                   /* whose rows depend on those before */
    struct gpume_join_file *files; /* one per part, in their order; NULL: not joined */
};

/* Starts as zero. */
struct gpume_merge_outputs {
    struct gpume_merge_output items[GPUME_MERGE_OUTPUTS_MAX]; /* as in the job */
    size_t count, parts;
};

extern const struct gpume_sink_ops gpume_merge_file; /* for the name of one file of the result */

/* Adds an output, a report if so, here and to the job. GPUME_INVALID after one line: its files
 * cannot be joined. */
int gpume_merge_outputs_add(
    struct gpume_merge_outputs *outputs, struct gpume_cli_job *job, const char *name, bool report);

/* Looks at the files of all parts that are joined. GPUME_INVALID after one line: one is missing,
 * incomplete, or not like the others. */
int gpume_merge_outputs_look(
    struct gpume_merge_outputs *outputs, const struct gpume_merge_part *parts, size_t count);

/* Opens the joined outputs, and writes them. total: complete. */
int gpume_merge_outputs_join(struct gpume_merge_outputs *outputs, struct gpume_cli_job *job,
    const struct gpume_merge_total *total);

void gpume_merge_outputs_finish(struct gpume_merge_outputs *outputs);

#endif
