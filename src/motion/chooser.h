/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * With or without elimination, field by field: every PROBE_FIELDS fields a few rows are searched
 * the other way, both kinds are timed by the processor time of their threads, and the cheaper one
 * is used until the next probe. It decides about time alone: results are the same either way.
 *
 * begin and end are called between parallel loops, the rest from any thread of one.
 */
#ifndef GPUME_MOTION_CHOOSER_H
#define GPUME_MOTION_CHOOSER_H

#include <stdbool.h>
#include <stdint.h>

struct gpume_chooser {
    bool possible;    /* the search and the plan allow elimination */
    bool eliminating; /* most rows of this field */
    bool probing;     /* some rows the other way, and everything timed */
    uint64_t fields;
    uint32_t rows;         /* of blocks in a field */
    uint32_t period;       /* while probing, one row in so many goes the other way */
    uint64_t row_ns[2];    /* a row without and with elimination, as measured last; 0: never */
    uint64_t *searched_ns; /* of each row of this field; the owner allocates `rows` */
};

/* wide: windows so large that elimination is the better first guess. */
void gpume_chooser_init(struct gpume_chooser *chooser, bool possible, bool wide, uint32_t rows);

void gpume_chooser_begin(struct gpume_chooser *chooser);

/* Does this field need box sums? */
bool gpume_chooser_needs_boxes(const struct gpume_chooser *chooser);

/* Is this row to be searched by elimination? */
bool gpume_chooser_eliminates(const struct gpume_chooser *chooser, uint32_t row);

/* box_ns: what the box sums took, all threads together. */
void gpume_chooser_end(struct gpume_chooser *chooser, uint64_t box_ns);

#endif
