/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The implementations of the exact search: one table, chosen from at run time. Each gives the
 * vectors and costs of search_ref.c, bit for bit, and differs in speed alone.
 */
#ifndef GPUME_CPU_SEARCH_SEARCH_H
#define GPUME_CPU_SEARCH_SEARCH_H

#include "cpu/search/boxes.h"
#include "cpu/search/differences.h"

#include <stdatomic.h>

/* Implementations read up to this many bytes past the last sample of a padded frame, without a
 * meaning for the result: two vectors of 64 bytes. Buffers are longer by it. */
#define GPUME_SEARCH_SLACK_BYTES 128u

/* Neighbouring blocks of one row: first .. end - 1. */
struct gpume_span {
    uint32_t row, first, end;
};

/* One layer of one field to search. */
struct gpume_search_field {
    const struct gpume_plan *plan;
    const struct gpume_shape *layer;
    const void *target, *reference; /* whole padded frames with slack behind them */
    /* Box sums of the reference for this layer, to search by elimination; NULL: without. */
    const struct gpume_boxes *boxes;
    /* Vectors of this layer in an earlier field, likely to be good; or NULL. They only decide how
     * soon candidates are dropped. May be the array that is being written. */
    const struct gpume_vector *hints;
    /* Looked at before every block: true leaves the rest of the span as it is. NULL: never. */
    const atomic_bool *cancelled;
};

static inline bool gpume_search_cancelled(const struct gpume_search_field *field)
{
    return field->cancelled && atomic_load_explicit(field->cancelled, memory_order_relaxed);
}

/* How far candidates came in blocks that were searched by elimination. */
struct gpume_search_counts {
    uint64_t candidates;  /* all of them */
    uint64_t past_blocks; /* not dropped by the sums of the largest boxes */
    uint64_t past_parts;  /* nor by those of smaller ones: compared sample by sample */
};

struct gpume_search {
    const char *name, *summary;
    bool (*available)(void); /* on this processor */
    /* Writes the vectors and costs of the span's blocks into the arrays of the whole layer, and
     * adds to counts. Spans may be searched in parallel. Layers may have any shape. */
    void (*span)(const struct gpume_search_field *field, const struct gpume_span *span,
        struct gpume_vector *vectors, uint32_t *costs, struct gpume_search_counts *counts);
    /* Makes one row of box sums of one level (box_rows.h); NULL: no elimination here. */
    void (*box_row)(
        const struct gpume_boxes *boxes, const uint8_t *padded, uint32_t level, uint32_t row);
    /* Of `count` samples, GPUME_DIFFERENCES_MAX at most. */
    struct gpume_differences (*differences8)(const uint8_t *a, const uint8_t *b, uint32_t count);
    struct gpume_differences (*differences16)(const uint16_t *a, const uint16_t *b, uint32_t count);
    uint64_t (*ceiling)(uint64_t rounds); /* see ceiling.h; NULL: not known */
};

extern const struct gpume_search gpume_search_plain;  /* search_ref.c behind this interface */
extern const struct gpume_search gpume_search_neon;   /* aarch64 only */
extern const struct gpume_search gpume_search_avx512; /* x86-64 only */
extern const struct gpume_search gpume_search_avx2;   /* x86-64 only */

/* Implementations from the plain one to the fastest; NULL past the last one. Some may not be
 * available here. */
const struct gpume_search *gpume_search_at(uint32_t index);

/* The one of that name, or the fastest that is available for NULL; NULL if the name is of none that
 * is available. */
const struct gpume_search *gpume_search_select(const char *name);

#endif
