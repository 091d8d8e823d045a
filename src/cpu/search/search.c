/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/search/search.h"

#include "cpu/search/ref.h"

#include <string.h>

static bool always(void)
{
    return true;
}

static void plain_span(const struct gpume_search_field *field, const struct gpume_span *span,
    struct gpume_vector *vectors, uint32_t *costs, struct gpume_search_counts *counts)
{
    (void)counts; /* nothing is dropped here */
    gpume_search_ref_span(field, span, vectors, costs);
}

static struct gpume_differences plain_differences8(
    const uint8_t *a, const uint8_t *b, uint32_t count)
{
    return gpume_differences8(a, b, count);
}

static struct gpume_differences plain_differences16(
    const uint16_t *a, const uint16_t *b, uint32_t count)
{
    return gpume_differences16(a, b, count);
}

const struct gpume_search gpume_search_plain = {.name = "plain",
    .summary = "portable C, every candidate in full; defines the answer",
    .available = always,
    .span = plain_span,
    .differences8 = plain_differences8,
    .differences16 = plain_differences16};

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
