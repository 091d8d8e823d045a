/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is hot in the general search, as plain loops for the compiler's vectors. Each instruction
 * set has its own copy, chosen with the search (search/search.h).
 */
#ifndef GPUME_CPU_GENERAL_KERNELS_H
#define GPUME_CPU_GENERAL_KERNELS_H

#include "model/plan.h"

#define GPUME_FRACTION_ROWS 8u /* that one call makes */

/* A block of the target. Planes have the plan's padded stride. */
struct gpume_target {
    const void *samples;    /* its upper left corner */
    const void *other;      /* the other match of a mean; NULL: one match alone */
    ptrdiff_t stride;       /* samples */
    uint32_t width, height; /* visible */
    uint32_t tile;          /* side of the tiles that SATD transforms */
};

/* D of the match that begins at `match`. Where that is more than `limit`, any value above limit. */
typedef uint32_t (*gpume_distortion_fn)(
    const struct gpume_target *target, const void *match, uint32_t limit);

struct gpume_general_kernels {
    /* By metric; of one match or the mean of two; for samples of one byte or two. */
    gpume_distortion_fn distortions[GPUME_METRIC_SSD + 1][2][2];
    /* Makes padded rows `row` to row + GPUME_FRACTION_ROWS - 1 of all planes of a surface but the
     * first, which is complete. Rows may be made in parallel. */
    void (*fraction_rows)(const struct gpume_plan *plan, void *surface, uint32_t row);
};

extern const struct gpume_general_kernels gpume_kernels_plain;  /* defines the answer */
extern const struct gpume_general_kernels gpume_kernels_avx2;   /* x86-64 only */
extern const struct gpume_general_kernels gpume_kernels_avx512; /* x86-64 only */

#endif
