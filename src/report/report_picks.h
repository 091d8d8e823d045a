/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which fields of a run get pictures, its length unknown until the end: the run is divided into
 * equal segments, and of each the first field is kept, and the worst of the others, which is a
 * scene cut's candidate or else the one with the largest sse_after. When there are too many
 * segments, or they take too many bytes, two become one and half of the pictures go. One thread.
 */
#ifndef GPUME_REPORT_REPORT_PICKS_H
#define GPUME_REPORT_REPORT_PICKS_H

#include "report/report_set.h"

#include <stddef.h>
#include <stdint.h>

struct gpume_report_segment {
    struct gpume_report_set first, worst;
};

struct gpume_report_picks {
    struct gpume_report_camera *camera;
    bool with_worst;
    uint64_t bytes_max; /* in the page */
    uint64_t fields;    /* seen */
    uint64_t stride;    /* fields a segment */
    size_t capacity, count;
    struct gpume_report_segment *segments;
    struct gpume_report_draft draft; /* the worst so far of the last segment, unless encoded */
    struct gpume_report_draft spare;
};

/* pictures: fields with pictures at most, 1 or more. Failures are logged. Release with
 * gpume_report_picks_finish either way. */
int gpume_report_picks_init(struct gpume_report_picks *picks, const char *label,
    const struct gpume_run *run, uint32_t pictures, uint64_t bytes_max);

int gpume_report_picks_add(
    struct gpume_report_picks *picks, const struct gpume_field *field, bool cut);

/* No more fields. Drops pictures until all take bytes_max at most. */
int gpume_report_picks_complete(struct gpume_report_picks *picks, uint64_t bytes_max);

void gpume_report_picks_finish(struct gpume_report_picks *picks);

#endif
