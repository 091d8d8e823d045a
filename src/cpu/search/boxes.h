/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Box sums of a padded reference frame, made once per task: sums[y][x] of the samples in the square
 * whose upper left corner is (x,y). The difference of two blocks' sums never exceeds the sum of
 * their absolute differences, and the same holds for sub-blocks, so a candidate whose bound reaches
 * the best cost so far cannot win and is pruned without comparing a sample. model/cost.h has the
 * proof.
 *
 * W. Li, E. Salari, "Successive elimination algorithm for motion estimation", IEEE Trans. Image
 * Processing 4 (1995): one sum per block. X. Q. Gao, C. J. Duanmu, C. R. Zou, "A multilevel
 * successive elimination algorithm for block matching motion estimation", ibid. 9 (2000): sums of
 * its sub-blocks.
 */
#ifndef GPUME_CPU_SEARCH_BOXES_H
#define GPUME_CPU_SEARCH_BOXES_H

#include "model/plan.h"

#define GPUME_BOX_SIZES 4u  /* of all layers: 4, 8, 16 and 12 samples per side */
#define GPUME_BOX_LEVELS 3u /* of these sizes in one layer */
#define GPUME_BOX_SLACK                                                                            \
    64u /* entries past the last one that may be read; their values do not matter */

/* Level 0 has boxes of 4x4 samples. Boxes of 12x12 are made of those, others of the level before.
 * 16 bits hold a sum: 16 * 16 * 255 = 65280. */
struct gpume_boxes {
    uint32_t levels;                 /* 0: this plan has no elimination */
    uint32_t sizes[GPUME_BOX_SIZES]; /* samples per side */
    uint16_t *sums[GPUME_BOX_SIZES];
    uint32_t stride, rows; /* of the padded frame; no box begins in the last size - 1 rows */
};

/* Levels and sizes for all layers of a plan; sums are NULL. */
struct gpume_boxes gpume_boxes_plan(const struct gpume_plan *plan);

/* Boxes of one size that lie within a block, from its upper left corner on. */
struct gpume_tiles {
    uint32_t across, down;
};

/* The levels that bound the candidates of one layer, by rising size. */
struct gpume_layer_boxes {
    uint32_t levels; /* 1 or more */
    uint32_t sizes[GPUME_BOX_LEVELS];
    struct gpume_tiles tiles[GPUME_BOX_LEVELS]; /* of a whole block */
    const uint16_t *sums[GPUME_BOX_LEVELS];
    uint32_t stride;
};

struct gpume_layer_boxes gpume_boxes_of_layer(
    const struct gpume_boxes *boxes, const struct gpume_shape *layer);

/* Entries of one level, slack included. */
uint64_t gpume_boxes_entries(const struct gpume_boxes *boxes);

/* Rows of a level that hold boxes. */
static inline uint32_t gpume_boxes_rows(const struct gpume_boxes *boxes, uint32_t level)
{
    return boxes->rows < boxes->sizes[level] ? 0 : boxes->rows - boxes->sizes[level] + 1;
}

#endif
