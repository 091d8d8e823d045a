/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * With or without elimination, field by field: every PROBE_FIELDS fields a few work items are
 * searched the other way, both kinds are timed by the processor time of their threads, and the
 * cheaper one is used as soon as that is known, until the next probe. It decides about time alone:
 * results are the same either way.
 *
 * next is called when a field is queued, learn when one that probed is over, both from one thread;
 * other fields may be queued between the two.
 */
#ifndef GPUME_CPU_SEARCH_CHOOSER_H
#define GPUME_CPU_SEARCH_CHOOSER_H

#include <stdbool.h>
#include <stdint.h>

/* How one field is searched. */
struct gpume_choice {
    bool eliminating; /* most items of this field */
    bool probing;     /* some items the other way, and everything timed */
    uint32_t period;  /* while probing, one item in so many goes the other way, */
    uint32_t first;   /* from this one on */
};

/* What a field that probed took; [0] without elimination, [1] with it. */
struct gpume_probe {
    uint64_t ns[2], items[2];
    uint64_t box_ns; /* for the sums of boxes, all threads together */
};

struct gpume_chooser {
    bool possible; /* the search and the plan allow elimination */
    bool eliminating;
    uint64_t fields; /* queued so far */
    uint32_t items;  /* of a field */
    uint32_t period;
    uint64_t item_ns[2]; /* without and with elimination, as measured last; 0: never */
};

/* wide: windows so large that elimination is the better first guess. */
void gpume_chooser_init(struct gpume_chooser *chooser, bool possible, bool wide, uint32_t items);

struct gpume_choice gpume_chooser_next(struct gpume_chooser *chooser);

void gpume_chooser_learn(struct gpume_chooser *chooser, const struct gpume_probe *probe);

/* Is this item to be searched by elimination? */
static inline bool gpume_choice_eliminates(const struct gpume_choice *choice, uint32_t item)
{
    return choice->eliminating != (choice->probing && item % choice->period == choice->first);
}

/* Does the field need box sums? */
static inline bool gpume_choice_needs_boxes(const struct gpume_choice *choice)
{
    return choice->eliminating || choice->probing;
}

#endif
