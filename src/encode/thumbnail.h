/* SPDX-License-Identifier: BSD-2-Clause */
/* A frame as a small picture of mean values. */
#ifndef GPUME_ENCODE_THUMBNAIL_H
#define GPUME_ENCODE_THUMBNAIL_H

#include <gpume/gpume.h>

#include <stdint.h>

#define GPUME_THUMBNAIL_X 32u
#define GPUME_THUMBNAIL_Y 18u
#define GPUME_THUMBNAIL_CELLS (GPUME_THUMBNAIL_X * GPUME_THUMBNAIL_Y)

struct gpume_thumbnail {
    int16_t means[GPUME_THUMBNAIL_CELLS]; /* in 1/64 of an 8-bit sample, in raster order */
    double mean;                          /* of all samples, in 8-bit samples */
};

/* No sample may exceed its depth. */
void gpume_thumbnail_make(struct gpume_thumbnail *thumbnail, const struct gpume_plane *luma);

/* The sum over all cells of (a - origin) * (b - origin), at most 2^38. */
int64_t gpume_thumbnail_dot(const struct gpume_thumbnail *origin, const struct gpume_thumbnail *a,
    const struct gpume_thumbnail *b);

#endif
