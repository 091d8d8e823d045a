/* SPDX-License-Identifier: BSD-2-Clause */
#include "firstpass/spacing.h"

#define SECOND INT64_C(1000000)

void gpume_spacing_init(struct gpume_spacing *spacing, uint32_t rate_num, uint32_t rate_den)
{
    *spacing = (struct gpume_spacing){.num = rate_num, .den = rate_den};
}

bool gpume_spacing_add(struct gpume_spacing *spacing, int64_t time_us)
{
    if (spacing->count == 0) {
        spacing->first_us = time_us;
    }
    const uint64_t n = spacing->count++;
    const int64_t frame = (int64_t)((uint64_t)SECOND * spacing->den / spacing->num);
    /* seconds, and the rest in parts of a second: without overflow for 2^32 frames */
    const uint64_t seconds = n * spacing->den / spacing->num,
                   rest = n * spacing->den % spacing->num;
    const int64_t expected =
        (int64_t)(seconds * (uint64_t)SECOND + rest * (uint64_t)SECOND / spacing->num);
    const int64_t difference = time_us - spacing->first_us - expected;
    spacing->early = difference < spacing->early ? difference : spacing->early;
    spacing->late = difference > spacing->late ? difference : spacing->late;
    return spacing->late - spacing->early <= frame / 2;
}
