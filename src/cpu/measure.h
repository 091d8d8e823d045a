/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The predicted frame and the sums of differences before and after prediction, part by part of a
 * block row.
 */
#ifndef GPUME_CPU_MEASURE_H
#define GPUME_CPU_MEASURE_H

#include "cpu/search/search.h"

/* Adds one to the other. */
void gpume_measure_add(struct gpume_sums *to, const struct gpume_sums *from);

/* Adds the differences of `count` samples, at most GPUME_DIFFERENCES_MAX, to all sums but `zero`.
 */
void gpume_measure_run(const struct gpume_search *search, uint32_t sample_bytes, const void *target,
    const void *reference, const void *predicted, uint32_t count, struct gpume_sums *sums);

/* Sums of a span. vectors: of the whole layer; predicted: the start of a whole plane with
 * plan.plane_stride, or NULL. Spans may be measured in parallel. */
struct gpume_sums gpume_measure_span(const struct gpume_search *search,
    const struct gpume_search_field *field, const struct gpume_span *span,
    const struct gpume_vector *vectors, void *predicted);

#endif
