/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The implementations of the exact search: a table from which one is selected at run time. Each
 * gives exactly the vectors and costs of ref.c; they differ in speed only.
 */
#ifndef GPUME_CPU_SEARCH_SEARCH_H
#define GPUME_CPU_SEARCH_SEARCH_H

#include "cpu/general/kernels.h"
#include "cpu/search/boxes.h"
#include "cpu/search/differences.h"

#include <stdatomic.h>

/* Implementations read up to this many bytes past the last sample of a padded frame: two vectors of
 * 64 bytes. The values do not affect the result, but the buffers must be that much longer. */
#define GPUME_SEARCH_SLACK_BYTES 128u

/* Neighbouring blocks of one block row: first .. end - 1. */
struct gpume_span {
    uint32_t row, first, end;
};

/* One layer of one field to search. */
struct gpume_search_field {
    const struct gpume_plan *plan;
    const struct gpume_shape *layer;
    const void *target, *reference; /* whole padded frames with slack behind them */
    /* Box sums of the reference for this layer, to search by elimination; NULL: without. */
    const struct gpume_layer_boxes *boxes;
    /* Vectors of this layer in an earlier field, likely to be good; or NULL. They only affect how
     * soon candidates are pruned. May be the array that is being written. */
    const struct gpume_vector *hints;
    /* Checked before every block: true leaves the rest of the span unchanged. NULL: never. */
    const atomic_bool *cancelled;
};

static inline bool gpume_search_cancelled(const struct gpume_search_field *field)
{
    return field->cancelled && atomic_load_explicit(field->cancelled, memory_order_relaxed);
}

/* Candidates of blocks that were searched with elimination. */
struct gpume_search_counts {
    uint64_t candidates;  /* all */
    uint64_t past_blocks; /* survived the sums of the largest boxes */
    uint64_t past_parts;  /* survived those of smaller ones too: compared sample by sample */
};

struct gpume_search {
    const char *name, *summary;
    bool (*available)(void); /* on this processor */
    /* Writes the vectors and costs of the span's blocks into the arrays of the whole layer, and
     * adds to counts. Spans may be searched in parallel. Layers may have any shape. */
    void (*span)(const struct gpume_search_field *field, const struct gpume_span *span,
        struct gpume_vector *vectors, uint32_t *costs, struct gpume_search_counts *counts);
    /* Makes one row of box sums of one level (box_rows.h). NULL: without elimination. */
    void (*box_row)(
        const struct gpume_boxes *boxes, const uint8_t *padded, uint32_t level, uint32_t row);
    /* Of `count` samples, at most GPUME_DIFFERENCES_MAX. */
    struct gpume_differences (*differences8)(const uint8_t *a, const uint8_t *b, uint32_t count);
    struct gpume_differences (*differences16)(const uint16_t *a, const uint16_t *b, uint32_t count);
    const struct gpume_general_kernels *general; /* for plans that `span` cannot search */
};

extern const struct gpume_search gpume_search_plain;  /* ref.c */
extern const struct gpume_search gpume_search_neon;   /* aarch64 only */
extern const struct gpume_search gpume_search_avx512; /* x86-64 only */
extern const struct gpume_search gpume_search_avx2;   /* x86-64 only */

/* Implementations from the plain one to the fastest; NULL past the last one. Some may be
 * unavailable on this processor. */
const struct gpume_search *gpume_search_at(uint32_t index);

/* The available implementation of that name; for NULL the fastest available one. NULL: there is no
 * such implementation. */
const struct gpume_search *gpume_search_select(const char *name);

#endif
