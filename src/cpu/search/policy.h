/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides for every field of a layer whether it is searched with elimination. Every PROBE_FIELDS
 * fields a few work items are searched the other way. Both kinds are timed by the processor time of
 * their threads, and the cheaper one is used until the next probe. This affects speed only: the
 * results are the same either way.
 *
 * gpume_policy_next is called when a field is queued, gpume_policy_learn when a field that probed
 * is complete, both from one thread. Other fields may be queued between the two.
 */
#ifndef GPUME_CPU_SEARCH_POLICY_H
#define GPUME_CPU_SEARCH_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* How one field is searched. */
struct gpume_choice {
    bool eliminating; /* most items of this field */
    bool probing;     /* some items are searched the other way, and all are timed */
    uint32_t period;  /* while probing, one item of every `period` is searched the other way, */
    uint32_t first;   /* beginning with this one */
};

/* The times of a field that probed; [0] without elimination, [1] with it. */
struct gpume_probe {
    uint64_t ns[2], items[2];
    uint64_t box_ns; /* to make the box sums, all threads together */
};

struct gpume_policy {
    bool possible; /* the search and the plan allow elimination */
    bool eliminating;
    uint64_t fields; /* queued so far */
    uint32_t items;  /* per field */
    uint32_t period;
    uint64_t item_ns[2]; /* without and with elimination, as last measured; 0: never */
};

/* wide: the window is so large that elimination is the better first guess. */
void gpume_policy_init(struct gpume_policy *policy, bool possible, bool wide, uint32_t items);

struct gpume_choice gpume_policy_next(struct gpume_policy *policy);

void gpume_policy_learn(struct gpume_policy *policy, const struct gpume_probe *probe);

/* Is this item searched with elimination? */
static inline bool gpume_choice_eliminates(const struct gpume_choice *choice, uint32_t item)
{
    return choice->eliminating != (choice->probing && item % choice->period == choice->first);
}

/* Does any item of the field need box sums? */
static inline bool gpume_choice_needs_boxes(const struct gpume_choice *choice)
{
    return choice->eliminating || choice->probing;
}

#endif
