/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reference search: plain loops that define the right answer.
 */
#ifndef GPUME_CPU_SEARCH_REF_H
#define GPUME_CPU_SEARCH_REF_H

#include "cpu/search/search.h"

/* As gpume_search.span; boxes and hints mean nothing to it. */
void gpume_search_ref_span(const struct gpume_search_field *field, const struct gpume_span *span,
    struct gpume_vector *vectors, uint32_t *costs);

#endif
