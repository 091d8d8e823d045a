/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which fields of a run get pictures, its length unknown until the end. Two orders rank all fields,
 * and neither depends on how many pictures are asked for or fit, so that more of either never gives
 * fewer:
 *
 * - spread: by the fractional part of index / golden ratio. Those of any run that are below a limit
 *   lie evenly, with gaps of three lengths at most (the three-distance theorem; Slater, "Gaps and
 *   steps for the sequence n theta mod 1", 1967); multiplied by 2^64 it is what Knuth calls
 *   Fibonacci hashing (The Art of Computer Programming 3, 6.4).
 * - worst: of every few neighbours the worst, a scene cut's candidate or else the one with the
 *   largest sse_after, and these by the same rule.
 *
 * Pictures go to the first of both in turn, until there are as many as asked for, or no room. One
 * thread.
 */
#ifndef GPUME_REPORT_PICKS_H
#define GPUME_REPORT_PICKS_H

#include "report/set.h"

#include <stddef.h>
#include <stdint.h>

/* Why a field's pictures are kept. */
enum gpume_report_reason {
    GPUME_REPORT_SPREAD = 1,
    GPUME_REPORT_WORST = 2,
    GPUME_REPORT_LEADS = 4, /* the worst so far of its neighbours, which are not all there yet */
};

struct gpume_report_pick {
    struct gpume_report_set set;
    uint64_t key;     /* in the order by spread; the lowest is the first */
    unsigned reasons; /* 1 or more */
};

struct gpume_report_picks {
    struct gpume_report_camera *camera;
    uint64_t bytes_max;              /* in the page, of each order */
    size_t pictures;                 /* in all */
    size_t spread_max, worst_max;    /* of each order while fields come */
    uint64_t neighbours;             /* fields of a group; groups begin at multiples of it */
    uint64_t fields;                 /* seen */
    uint64_t key_end;                /* fields with such a key or a higher one do not count */
    struct gpume_report_set refused; /* without pictures: of those that did not stay the worst */
    struct gpume_report_pick *picks; /* after completion by rising frame */
    size_t count;
    struct gpume_report_draft draft; /* full: leads its neighbours and has no pictures yet */
    uint64_t draft_index;            /* its field, counted from 0 */
    struct gpume_report_draft spare;
};

/* pictures: fields with pictures at most, 1 or more. Failures are logged. Release with
 * gpume_report_picks_finish either way. */
int gpume_report_picks_init(struct gpume_report_picks *picks, const char *label,
    const struct gpume_run *run, uint32_t pictures, uint64_t bytes_max);

int gpume_report_picks_add(
    struct gpume_report_picks *picks, const struct gpume_field *field, bool cut);

/* No more fields. Drops pictures until there are as many as asked for, and all take bytes_max at
 * most. */
int gpume_report_picks_complete(struct gpume_report_picks *picks, uint64_t bytes_max);

void gpume_report_picks_finish(struct gpume_report_picks *picks);

#endif
