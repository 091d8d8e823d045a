/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the CPU engine does beside the search: padding a frame, the predicted frame with the sums of
 * differences, and the rank of every block. One row, span or field at a time.
 */
#ifndef GPUME_CPU_MEASURE_H
#define GPUME_CPU_MEASURE_H

#include "cpu/search/search.h"

/* Fills row `row` of a padded frame from a plane. */
void gpume_pad_row(
    const struct gpume_plan *plan, const struct gpume_plane *plane, void *padded, uint32_t row);

/* Repeats the first and the last sample of a picture's row outwards; row: where the padded row
 * begins. */
void gpume_extend_row(const struct gpume_plan *plan, void *row);

/* Sums of a span. vectors: of the whole layer; predicted: base of a whole plane with
 * plan.plane_stride, or NULL. */
struct gpume_sums gpume_measure_span(const struct gpume_search *search,
    const struct gpume_search_field *field, const struct gpume_span *span,
    const struct gpume_vector *vectors, void *predicted);

/* ranks[i] = place of block i by falling cost, equal costs in raster order. scratch: 2 * blocks
 * words. */
void gpume_rank_costs(
    const struct gpume_shape *layer, const uint32_t *costs, uint32_t *ranks, uint32_t *scratch);

#endif
