/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/habits.h"

#define SPAN 16u /* frames that are looked back at */

void gpume_habits_expect(struct gpume_habits *habits, uint32_t past, uint32_t future)
{
    struct gpume_habit *habit = &habits->of[past][future];
    habit->latest = habits->latest;
    habit->asked = UINT64_MAX;
}

void gpume_habits_note(struct gpume_habits *habits, uint64_t frame, uint32_t past, uint32_t future)
{
    struct gpume_habit *habit = &habits->of[past][future];
    if (frame > habit->latest) {
        const uint64_t later = frame - habit->latest;
        habit->asked = later < 64 ? habit->asked << later : 0;
        habit->latest = frame;
    }
    if (habit->latest - frame < 64) {
        habit->asked |= UINT64_C(1) << (habit->latest - frame);
    }
    habits->latest = frame > habits->latest ? frame : habits->latest;
}

bool gpume_habits_expects(const struct gpume_habits *habits, uint32_t past, uint32_t future)
{
    const struct gpume_habit *habit = &habits->of[past][future];
    uint32_t count = 0;
    for (uint64_t since = habits->latest - habit->latest; since < SPAN; since++) {
        count += habit->asked >> (since - (habits->latest - habit->latest)) & 1;
    }
    return 2 * count >= SPAN;
}
