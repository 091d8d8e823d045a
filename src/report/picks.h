/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses the fields of a run that get pictures, while the length of the run is unknown. Fields are
 * ranked in two orders, neither of which depends on the number of pictures wanted or on their size;
 * so asking for more pictures, or allowing more bytes, never gives fewer:
 *
 * - spread: by the fractional part of index / golden ratio. The fields below any limit are evenly
 *   spaced, with gaps of at most three lengths (the three-distance theorem; Slater, "Gaps and steps
 *   for the sequence n theta mod 1", 1967). Multiplied by 2^64 this is Fibonacci hashing (Knuth,
 *   The Art of Computer Programming 3, 6.4).
 * - worst: the worst field of each group of neighbours. A possible scene cut is worse than any
 * other field; otherwise the larger sse_after is worse.
 *
 * Fields are taken from the two orders alternately until the number or the bytes are used up. The
 * fourth is the liveliest one (set.h), with which the page opens. One thread.
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
    GPUME_REPORT_LEADS = 4, /* the worst so far of a group that is not complete */
    GPUME_REPORT_LIVELIEST = 8,
};

struct gpume_report_pick {
    struct gpume_report_set set;
    uint64_t key;     /* of the spread order, lowest first */
    unsigned reasons; /* one or more of gpume_report_reason */
};

struct gpume_report_picks {
    struct gpume_report_encoder *encoder;
    uint64_t bytes_max;           /* in the page, per order */
    size_t pictures;              /* wanted */
    size_t spread_max, worst_max; /* kept per order while fields arrive */
    uint64_t neighbours;          /* fields per group */
    uint64_t fields;              /* seen */
    uint64_t key_end;             /* keys from here on are not taken */
    bool has_refused;
    struct gpume_report_rating refused; /* the worst of those dropped from the worst order */
    struct gpume_report_pick *picks;    /* after completion in order of frames */
    size_t count;
    struct gpume_report_draft draft; /* if full: the leader of its group, not encoded yet */
    uint64_t draft_index;            /* index of its field */
    struct gpume_report_draft spare;
    struct gpume_report_draft lively; /* if full: the liveliest field so far */
    uint64_t lively_index;            /* index of its field */
};

/* pictures: the largest number of fields with pictures, 1 or more. Failures are logged. Release
 * with gpume_report_picks_finish, also after a failure. */
int gpume_report_picks_init(struct gpume_report_picks *picks, const char *label,
    const struct gpume_run *run, uint32_t pictures, uint64_t bytes_max);

/* liveliest: of the fields until now. */
int gpume_report_picks_add(
    struct gpume_report_picks *picks, const struct gpume_field *field, bool cut, bool liveliest);

/* No more fields will come. Drops pictures until the number wanted and bytes_max are kept. */
int gpume_report_picks_complete(struct gpume_report_picks *picks, uint64_t bytes_max);

void gpume_report_picks_finish(struct gpume_report_picks *picks);

/*
 * What the page plays: one small picture and the blocks of every field or, if these take too many
 * bytes, of every second, fourth... field, beginning with the first. Which fields these are depends
 * on nothing but the sizes of their sets, so equal runs have equal films.
 */
struct gpume_report_film {
    const char *label;
    struct gpume_log log;
    struct gpume_report_encoder *encoder;
    uint64_t bytes_max;            /* in the page */
    uint64_t bytes;                /* of all sets in the page */
    uint64_t step;                 /* of every `step` fields one is kept: a power of 2 */
    uint64_t fields;               /* seen */
    struct gpume_report_set *sets; /* of fields 0, step, 2 step... */
    size_t count, room;
    struct gpume_report_draft draft;
};

/* Failures are logged. Release with gpume_report_film_finish, also after a failure. */
int gpume_report_film_init(struct gpume_report_film *film, const char *label,
    const struct gpume_run *run, uint64_t bytes_max);

int gpume_report_film_add(struct gpume_report_film *film, const struct gpume_field *field);

/* No more fields will come. Keeps fewer, if all would take more than bytes_max. */
void gpume_report_film_complete(struct gpume_report_film *film, uint64_t bytes_max);

void gpume_report_film_finish(struct gpume_report_film *film);

#endif
