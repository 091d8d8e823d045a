/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How certain it is that a scene ends between two frames, from what differs across the boundary and
 * from what usually differs between frames around it. Any thread.
 */
#ifndef GPUME_ENCODE_CUT_H
#define GPUME_ENCODE_CUT_H

#include "encode/thumbnail.h"

/* What differs between two frames, or, at a boundary, the least of what differs between frames on
 * either side. */
struct gpume_difference {
    struct gpume_unlike unlike;
    double cost;    /* of prediction, of the cost without any */
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

#endif
