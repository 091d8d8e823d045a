/* SPDX-License-Identifier: BSD-2-Clause */
/* The plain loops, and the choice among all. */
#include "filter/loops_body.h"

#include <stddef.h>

static bool has_plain_loops(void)
{
    return true;
}

static const struct gpume_loops plain = GPUME_LOOPS(has_plain_loops);

const struct gpume_loops *gpume_loops_at(uint32_t index)
{
    static const struct gpume_loops *const all[] = {
        &plain,
#if defined(GPUME_FILTER_X86)
        &gpume_loops_avx2,
#endif
    };
    return index < sizeof(all) / sizeof(all[0]) ? all[index] : NULL;
}

const struct gpume_loops *gpume_loops(void)
{
    const struct gpume_loops *best = NULL, *loops;
    for (uint32_t i = 0; (loops = gpume_loops_at(i)); i++) {
        best = loops->available() ? loops : best;
    }
    return best;
}
