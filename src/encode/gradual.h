/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds gradual changes of scene: dissolves, and fades from and to a uniform picture. One thread.
 *
 * While one scene turns into another, every frame is a mixture (1 - a) A + a B of both, with a
 * rising from 0 to 1. Two properties of mixtures decide:
 *   - Thumbnails of the frames lie on a straight line from A to B, and move along it in one
 *     direction. Camera motion bends the line.
 *   - The variance of a mixture of independent pictures, (1 - a)^2 var(A) + a^2 var(B), stays below
 *     the straight line between the variances of the ends, in the middle by half. Motion and
 *     changes of light do not reduce it. (Alattar 1993, "Detecting and compressing dissolve regions
 *     in video sequences with a DVI multimedia image compression algorithm")
 * A fade is a mixture with a uniform picture. (Lienhart 1999, "Comparison of automatic shot
 * boundary detection algorithms")
 */
#ifndef GPUME_ENCODE_GRADUAL_H
#define GPUME_ENCODE_GRADUAL_H

#include "encode/changes.h"
#include "encode/thumbnail.h"

/* Between the frames before and after the longest change that is found. */
#define GPUME_GRADUAL_SPAN_MAX 96u
#define GPUME_GRADUAL_FRAMES (GPUME_GRADUAL_SPAN_MAX + 1)

struct gpume_gradual {
    struct {
        struct gpume_thumbnail thumbnail;
        double energy;
    } ring[GPUME_GRADUAL_FRAMES];
    uint64_t frames; /* put so far */
};

/* Adds the next frame, and every change that may end before it to the list, which keeps the larger
 * of two that overlap. energy: mean variance of its squares. Starts as zero. GPUME_NOMEM. */
int gpume_gradual_put(struct gpume_gradual *gradual, const struct gpume_thumbnail *thumbnail,
    double energy, struct gpume_changes *changes);

#endif
