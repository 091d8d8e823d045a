/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Surfaces: what engines keep of every frame, in padded planes with the layout that plan.h draws.
 * With fractions of a pixel a surface has a plane for each: sample (x,y) of plane fy * units + fx
 * lies fx / units to the right of pixel (x,y) and fy / units below it. Plane 0 is the picture. A
 * plan says which of them a run has, which one is searched and which one predicted frames and sums
 * are made of.
 */
#ifndef GPUME_MODEL_SURFACE_H
#define GPUME_MODEL_SURFACE_H

enum gpume_surface {
    GPUME_SURFACE_SOURCE,   /* the frame as it was sent */
    GPUME_SURFACE_FILTERED, /* the source after params.prefilter */
    GPUME_SURFACE_COUNT,
};

#endif
