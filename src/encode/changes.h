/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changes of scene: how certain it is that a scene ends between two frames, from what differs
 * across the boundary and from what usually differs between frames around it; and the list of
 * changes, in the order of their frames; and gradual changes. One thread.
 */
#ifndef GPUME_ENCODE_CHANGES_H
#define GPUME_ENCODE_CHANGES_H

#include "encode/thumbnail.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gpume_change_kind {
    GPUME_CHANGE_CUT,
    GPUME_CHANGE_FADE_IN,  /* from a uniform picture */
    GPUME_CHANGE_FADE_OUT, /* to a uniform picture */
    GPUME_CHANGE_DISSOLVE,
    GPUME_CHANGE_WIPE,
};

struct gpume_change {
    enum gpume_change_kind kind;
    /* Of a cut: the first frame after it, twice. Otherwise the first and the last mixed frame. */
    uint64_t first, last;
    double confidence; /* 0 to 1 */
    double weight;     /* if two are the same change, the heavier one is kept */
};

/* The value, or 0 or 1 if it is beyond them. */
static inline double gpume_limit_to_one(double value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* The weighted sum of evidence, which ends with 1 for the constant. */
static inline double gpume_score(const double *weights, const double *evidence, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += weights[i] * evidence[i];
    }
    return sum;
}

/* The confidence of a score: the logistic function, in straight pieces, since exp() is not the same
 * on every machine. The weights of scores are those with which it is the share of changes that are
 * real. */
double gpume_confidence(double score);

/* Rises from 0 towards 1, and is 1/2 where the value equals `half`. */
static inline double gpume_saturate(double value, double half)
{
    return value / (value + half);
}

/* --- cuts */

/* What differs between two frames, or, at a boundary, the least of what differs between frames on
 * either side. */
struct gpume_difference {
    struct gpume_unlike unlike;
    double cost;    /* of prediction, relative to the cost without any */
    double changed; /* share of the blocks with detail that prediction does not explain; if there
                       are few, thumbnails decide in their place */
    double other;   /* 0 to 1: it is not the same picture in another light (thumbnail.h) */
};

/* Lowers each member to that of the other one. */
void gpume_difference_lower(
    struct gpume_difference *difference, const struct gpume_difference *other);

/* The usual difference of neighbouring frames before and after the boundary; the larger of both. */
struct gpume_usual {
    double plain, relative, structure, cost;
    double quiet; /* the smaller of both residuals */
};

/* From 0 to 1. */
double gpume_cut_confidence(
    const struct gpume_difference *difference, const struct gpume_usual *usual);

/* --- the list */

/* Starts as zero. */
struct gpume_changes {
    struct gpume_change *items;
    size_t count, capacity;
};

/* Adds a change, unless the list has a heavier one of the same frames; removes lighter ones.
 * GPUME_NOMEM: the list is unchanged. */
int gpume_changes_add(struct gpume_changes *changes, const struct gpume_change *change);

/* Whether a gradual change hides the cut. One that is far less certain does not, and is itself as
 * unlikely as the cut is certain. */
bool gpume_changes_cover(struct gpume_changes *changes, const struct gpume_change *cut);

void gpume_changes_finish(struct gpume_changes *changes);

/* --- gradual changes: gradual.c */

/* Between the frames before and after the longest change that is found. */
#define GPUME_GRADUAL_SPAN_MAX 96u
/* Frames beyond both ends that show whether the change lasts. */
#define GPUME_GRADUAL_BEYOND 12u
#define GPUME_GRADUAL_FRAMES (GPUME_GRADUAL_SPAN_MAX + 1 + 2 * GPUME_GRADUAL_BEYOND)

/* Cells in which levels are followed, and regions in which detail is: of a frame. */
#define GPUME_GRADUAL_X 32u
#define GPUME_GRADUAL_Y 18u
#define GPUME_GRADUAL_CELLS (GPUME_GRADUAL_X * GPUME_GRADUAL_Y)
#define GPUME_GRADUAL_REGIONS_X 16u
#define GPUME_GRADUAL_REGIONS_Y 9u
#define GPUME_GRADUAL_REGIONS (GPUME_GRADUAL_REGIONS_X * GPUME_GRADUAL_REGIONS_Y)

struct gpume_gradual {
    struct gpume_gradual_frame {
        struct gpume_thumbnail thumbnail;
        int16_t levels[GPUME_GRADUAL_CELLS];  /* in GPUME_THUMBNAIL_LEVEL */
        float details[GPUME_GRADUAL_REGIONS]; /* variance within squares of 16x16 pixels */
    } ring[GPUME_GRADUAL_FRAMES];
    uint64_t frames; /* put so far */
};

/* The variances of a frame's squares, times 256, in raster order. */
struct gpume_energies {
    const uint32_t *energies;
    uint32_t blocks_x, blocks_y;
};

/* Adds the next frame, and every change that may end GPUME_GRADUAL_BEYOND frames before it to the
 * list, which keeps the larger of two that overlap. Starts as zero. GPUME_NOMEM. */
int gpume_gradual_put(struct gpume_gradual *gradual, const struct gpume_thumbnail *thumbnail,
    const struct gpume_energies *energies, struct gpume_changes *changes);

/* No more frames: adds the changes that may end in the last ones. GPUME_NOMEM. */
int gpume_gradual_finish(struct gpume_gradual *gradual, struct gpume_changes *changes);

#endif
