/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that all parts have in common, and what becomes of them. Main thread only. */
#ifndef GPUME_CLI_MERGE_OUTPUTS_H
#define GPUME_CLI_MERGE_OUTPUTS_H

#include "files/out_set.h"
#include "merge/join.h"
#include "merge/part.h"
#include "merge/total.h"

#include <stdbool.h>
#include <stddef.h>

/* vectors.csv, frames.csv, six that options name, and summary.json. */
#define GPUME_MERGE_OUTPUTS_MAX 9

struct gpume_merge_output {
    const char *name;              /* in the folder of every part, and of the result */
    char *path;                    /* in the result */
    bool series;                   /* numbered files */
    bool report;                   /* whose rows depend on those before */
    struct gpume_join_file *files; /* one per part, in their order; NULL: not joined */
    struct gpume_out *out;
};

/* Starts as zero, but for the folder. */
struct gpume_merge_outputs {
    const char *folder;
    struct gpume_merge_output items[GPUME_MERGE_OUTPUTS_MAX];
    size_t count, parts;
};

/* Adds an output, a report if so. GPUME_INVALID after one line: its files cannot be joined. */
int gpume_merge_outputs_add(struct gpume_merge_outputs *outputs, const char *name, bool report);

/* Before any work: GPUME_INVALID after one line if an output exists and must not be replaced, or is
 * a file of a part under another name. */
int gpume_merge_outputs_check(const struct gpume_merge_outputs *outputs, bool overwrite);

/* Removes temporary files of merges into these outputs that were killed. */
void gpume_merge_outputs_clear(const struct gpume_merge_outputs *outputs);

/* Looks at the files of all parts that are joined. GPUME_INVALID after one line: one is missing,
 * incomplete, or not like the others. */
int gpume_merge_outputs_look(
    struct gpume_merge_outputs *outputs, const struct gpume_merge_part *parts, size_t count);

/* Opens the joined outputs, and writes them. total: complete. */
int gpume_merge_outputs_join(struct gpume_merge_outputs *outputs,
    const struct gpume_merge_total *total, struct gpume_out_set *set);

void gpume_merge_outputs_finish(struct gpume_merge_outputs *outputs);

#endif
