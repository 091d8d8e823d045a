/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/search/search.h"

#include <string.h>

static const struct gpume_search *const searches[] = {
    &gpume_search_plain,
#if defined(GPUME_SEARCH_X86)
    &gpume_search_avx2,
    &gpume_search_avx512,
#endif
#if defined(GPUME_SEARCH_ARM)
    &gpume_search_neon,
#endif
    NULL,
};

const struct gpume_search *gpume_search_at(uint32_t index)
{
    return searches[index];
}

const struct gpume_search *gpume_search_select(const char *name)
{
    const struct gpume_search *best = NULL;
    for (uint32_t i = 0; searches[i]; i++) {
        bool meant = !name || strcmp(name, searches[i]->name) == 0;
        best = meant && searches[i]->available() ? searches[i] : best;
    }
    return best;
}
