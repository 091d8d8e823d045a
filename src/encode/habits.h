/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is asked for of every frame: predictions, by the distances to their references. They are
 * found before they are asked for, as long as half of the last frames were asked for them. One
 * thread at a time.
 */
#ifndef GPUME_ENCODE_HABITS_H
#define GPUME_ENCODE_HABITS_H

#include "encode/options.h"

#include <stdbool.h>
#include <stdint.h>

#define GPUME_HABIT_DISTANCES (GPUME_BFRAMES_MAX + 2u) /* from 0: no such reference */

struct gpume_habit {
    uint64_t latest; /* frame that it was asked for of */
    uint64_t asked;  /* bit i: it was asked for of frame latest - i */
    uint64_t next;   /* the first frame of which it has not been found ahead */
};

/* Zeroed at first: nothing is expected. */
struct gpume_habits {
    struct gpume_habit of[GPUME_HABIT_DISTANCES][GPUME_HABIT_DISTANCES]; /* past, future */
    uint64_t latest; /* frame of which anything was asked for */
};

/* As if it had been asked for of all frames. */
void gpume_habits_expect(struct gpume_habits *habits, uint32_t past, uint32_t future);

void gpume_habits_note(struct gpume_habits *habits, uint64_t frame, uint32_t past, uint32_t future);

bool gpume_habits_expects(const struct gpume_habits *habits, uint32_t past, uint32_t future);

#endif
