/* SPDX-License-Identifier: BSD-2-Clause */
/* The general search: its kernels, and the search of one block in one reference. */
#ifndef GPUME_CPU_GENERAL_GENERAL_H
#define GPUME_CPU_GENERAL_GENERAL_H

#include "model/cost.h"
#include "model/plan.h"

/*
 * --- What is hot in the general search, as plain loops for the compiler's vectors. Each
 * instruction set has its own copy, chosen with the search (search/search.h).
 */

#define GPUME_FRACTION_ROWS 8u /* that one call makes */
#define GPUME_BOXES_MAX 1024u  /* of 4x4 samples in a block of 128x128 */

/* A block of the target. Planes have the plan's padded stride. */
struct gpume_target {
    const void *samples;    /* its upper left corner */
    const void *other;      /* the other match of a mean; NULL: one match alone */
    ptrdiff_t stride;       /* samples */
    uint32_t width, height; /* visible */
    uint32_t tile;          /* side of the tiles that SATD transforms */
};

/* The sums of a block's boxes, by which candidates are bounded (model/cost.h). */
struct gpume_bound {
    uint32_t box;          /* side in samples, 8 or 4; 0: the block is not bounded */
    uint32_t across, down; /* boxes */
    ptrdiff_t stride;      /* sums from one row of them to the next */
    uint32_t target[GPUME_BOXES_MAX];
};

/* The boxes that bound the blocks of a layer: 0 those of 4x4 samples, 1 those of 8x8. */
static inline uint32_t gpume_bound_boxes(const struct gpume_shape *layer)
{
    return layer->block_w % 8 == 0 && layer->block_h % 8 == 0;
}

/* For `count` candidates side by side, a number that their D is not below. sums: at the place of
 * the first one, of one plane. */
typedef void (*gpume_bound_fn)(
    const struct gpume_bound *bound, const void *sums, uint32_t count, uint32_t *bounds);

/* D of the match that begins at `match`, or of its mean with the target's other one. Where that is
 * more than `limit`, any value above limit. */
typedef uint32_t (*gpume_distortion_fn)(
    const struct gpume_target *target, const void *match, uint32_t limit);

/* The same of `count` matches, for each of which D is written. */
typedef void (*gpume_distortions_fn)(const struct gpume_target *target, const void *const *matches,
    uint32_t count, uint32_t limit, uint32_t *d);

struct gpume_general_kernels {
    /* By metric; for samples of one byte, whose sums have two, and of two bytes, whose sums have
     * four. */
    gpume_bound_fn bounds[GPUME_METRIC_LAST + 1][2];
    /* Makes GPUME_FRACTION_ROWS rows of sums of box x box samples of a plane from `row` on: each at
     * the place of its upper left sample. Where a box would pass the plane's end there is none. */
    void (*sum_rows)(
        const struct gpume_plan *plan, const void *plane, void *sums, uint32_t box, uint32_t row);
    /* By metric; for samples of one byte or two. */
    gpume_distortion_fn distortions[GPUME_METRIC_LAST + 1][2];
    /* SATD of samples of one byte, where that is faster than one match after the other; NULL. */
    gpume_distortions_fn several_satd8;
    /* Makes padded rows `row` to row + GPUME_FRACTION_ROWS - 1 of all planes of a surface but the
     * first, which is complete. Rows may be made in parallel. */
    void (*fraction_rows)(const struct gpume_plan *plan, void *surface, uint32_t row);
};

extern const struct gpume_general_kernels gpume_kernels_plain;  /* defines the answer */
extern const struct gpume_general_kernels gpume_kernels_avx2;   /* x86-64 only */
extern const struct gpume_general_kernels gpume_kernels_avx512; /* x86-64 only */
extern const struct gpume_general_kernels gpume_kernels_neon;   /* aarch64 only */

/*
 * --- The general search of one block in one reference: by any metric, with the price of the
 * vector, in whole pixels or fractions, for one match or for several. Vectors count in the plan's
 * units.
 */

/* A block to search, and where. */
struct gpume_matcher {
    const struct gpume_plan *plan;
    const struct gpume_general_kernels *kernels;
    struct gpume_target target;
    const uint8_t *reference;        /* plane 0 of the reference, at the block's place */
    const struct gpume_bound *bound; /* NULL: every candidate is compared */
    const uint8_t *sums;             /* of plane 0 of the reference, at the block's place */
    uint32_t x, y;                   /* of the block's upper left corner */
    int32_t predictor_x, predictor_y;
    uint32_t more_bits; /* of the vector that target.other is made of, or 0 */
};

/* layer, index: of the block. target, reference: surfaces, plane 0. */
struct gpume_matcher gpume_matcher_make(const struct gpume_plan *plan,
    const struct gpume_general_kernels *kernels, const struct gpume_shape *layer, uint32_t index,
    const void *target, const void *reference);

/* Where the match of a vector begins. */
const void *gpume_matcher_match(const struct gpume_matcher *matcher, int32_t dx, int32_t dy);

/* D of the match that begins there; where that is more than `limit`, any value above limit. */
uint32_t gpume_matcher_distortion(const struct gpume_matcher *matcher, enum gpume_metric metric,
    const void *match, uint32_t limit);

struct gpume_matcher_counts {
    uint64_t tried, compared; /* candidates, and those that sums of boxes did not exclude */
};

#endif
