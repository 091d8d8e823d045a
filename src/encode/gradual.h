/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds gradual changes of scene: dissolves, fades from and to a uniform picture, and wipes. One
 * thread.
 *
 * While one scene turns into another, every frame is a mixture (1 - a) A + a B of both, with a
 * rising from 0 to 1. Two properties of mixtures decide:
 *   - Thumbnails of the frames lie on a straight line from A to B, and move along it in one
 *     direction. Camera motion bends the line. This is judged cell by cell, so that what lies above
 *     both scenes, such as a logo or a time code, and what moves in a part of the picture, does not
 *     hide the line of the others.
 *   - The variance of a mixture of independent pictures, (1 - a)^2 var(A) + a^2 var(B), stays below
 *     the straight line between the variances of the ends, in the middle by half. Motion and
 *     changes of light do not reduce it. (Alattar 1993, "Detecting and compressing dissolve regions
 *     in video sequences with a DVI multimedia image compression algorithm")
 * A fade is a mixture with a uniform picture. (Lienhart 1999, "Comparison of automatic shot
 * boundary detection algorithms") In a wipe each cell changes from A to B at its own time,
 * neighbours at nearly the same. After any of them, motion does not explain B from A.
 */
#ifndef GPUME_ENCODE_GRADUAL_H
#define GPUME_ENCODE_GRADUAL_H

#include "encode/changes.h"
#include "encode/thumbnail.h"

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
