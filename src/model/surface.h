/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Surfaces: the padded planes that engines keep of every frame. All have the layout that plan.h
 * draws. A plan says which of them a run has, which one is searched and which one predicted frames
 * and sums are made of.
 */
#ifndef GPUME_MODEL_SURFACE_H
#define GPUME_MODEL_SURFACE_H

enum gpume_surface {
    GPUME_SURFACE_SOURCE,   /* the frame as it was sent */
    GPUME_SURFACE_FILTERED, /* the source after params.prefilter */
    GPUME_SURFACE_COUNT,
};

#endif
