/* SPDX-License-Identifier: BSD-2-Clause */
/* Joins reports in .csv and .json. Whether a frame is a cut depends on the one before, which may be
 * in another part. */
#ifndef GPUME_MERGE_REPORT_H
#define GPUME_MERGE_REPORT_H

#include "merge/join.h"
#include "merge/total.h"

/* files: one per part of the total, which is complete. GPUME_INVALID after one line: a report is
 * damaged, or has another number of rows than its part. */
int gpume_merge_report_write(struct gpume_out *out, const struct gpume_join_file *files,
    const struct gpume_merge_total *total, const struct gpume_log *log);

#endif
