/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame as a small picture of mean values, and how two of them differ. Means of this many samples
 * hardly know coding noise and grain, and motion is short there. Any thread.
 */
#ifndef GPUME_ENCODE_THUMBNAIL_H
#define GPUME_ENCODE_THUMBNAIL_H

#include <gpume/gpume.h>

#include <stdbool.h>
#include <stdint.h>

#define GPUME_THUMBNAIL_X 64u
#define GPUME_THUMBNAIL_Y 36u
#define GPUME_THUMBNAIL_CELLS (GPUME_THUMBNAIL_X * GPUME_THUMBNAIL_Y)
#define GPUME_THUMBNAIL_LEVEL 64 /* of a cell, to an 8-bit sample */

struct gpume_thumbnail {
    int16_t means[GPUME_THUMBNAIL_CELLS]; /* in GPUME_THUMBNAIL_LEVEL, in raster order */
    double mean;                          /* of all samples, in 8-bit samples */
};

/* No sample may exceed its depth. */
void gpume_thumbnail_make(struct gpume_thumbnail *thumbnail, const struct gpume_plane *luma);

/* The mean difference of the cells, in 8-bit samples. */
double gpume_thumbnail_distance(const struct gpume_thumbnail *a, const struct gpume_thumbnail *b);

/* The thumbnail with another one's mean, as far as its cells can have it: without a change of
 * light. Leaves `mean` unset. */
void gpume_thumbnail_level(struct gpume_thumbnail *level, const struct gpume_thumbnail *thumbnail,
    const struct gpume_thumbnail *other);

/* Whether it has no structure: black, white, or nearly. */
bool gpume_thumbnail_is_even(const struct gpume_thumbnail *thumbnail);

/* Whether the second one is a mixture of the other two. */
bool gpume_thumbnail_is_mixture(const struct gpume_thumbnail *a,
    const struct gpume_thumbnail *mixed, const struct gpume_thumbnail *b);

/* From 1 to 0 as the outlines of two thumbnails agree where their cells differ much: 0 if it is the
 * same picture in another light, wherever that light falls. */
double gpume_thumbnail_other(const struct gpume_thumbnail *a, const struct gpume_thumbnail *b);

/* How one thumbnail differs from another. */
struct gpume_unlike {
    double plain;    /* mean difference of the cells, in 8-bit samples */
    double residual; /* the same after motion compensation, of the better direction */
    double relative; /* the residual, of the detail of both */
    double share;    /* of squares that motion does not explain; flat ones alike count less */
    /* 1 - correlation of the cells, 0 to 1: brightness and contrast do not matter. 1 where neither
     * has any structure. */
    double structure;
};

/* Squares of 4x4 cells may have moved by an eighth of the picture's width and two ninths of its
 * height. moves: without it, they are taken to stay, which costs little and gives no less. */
void gpume_thumbnail_compare(struct gpume_unlike *unlike, const struct gpume_thumbnail *a,
    const struct gpume_thumbnail *b, bool moves);

#endif
