/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A field of vectors drawn over its target frame. What is drawn is how the content moved since the
 * reference, -(dx,dy), which is where the eye sees it go. The same frame and field give the same
 * bytes. One thread an overlay.
 */
#ifndef GPUME_DRAW_OVERLAY_H
#define GPUME_DRAW_OVERLAY_H

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stdint.h>

enum gpume_overlay_style {
    GPUME_OVERLAY_ARROWS, /* an arrow a block, coloured by direction; a dot for (0,0) */
    GPUME_OVERLAY_FLOW,   /* blocks tinted by the Middlebury colour wheel, over the frame in gray */
    GPUME_OVERLAY_COST,   /* heat of each block's cost a pixel, over the frame in gray */
    GPUME_OVERLAY_BLOCKS, /* the grid, blocks shaded by rank, likewise */
};

#define GPUME_OVERLAY_SCALE_MAX 16u
#define GPUME_OVERLAY_PIXELS_MAX (UINT64_C(1) << 29) /* of an enlarged picture */

/* The key in the lower right corner: where it can be read and covers little of the picture, or
 * wherever it fits, or not at all. */
enum gpume_overlay_key { GPUME_OVERLAY_KEY_AUTO, GPUME_OVERLAY_KEY_ON, GPUME_OVERLAY_KEY_OFF };

struct gpume_overlay;

struct gpume_overlay_options {
    uint32_t width, height, bits; /* of the frames searched */
    uint32_t block, window_x, window_y;
    enum gpume_overlay_style style;
    uint32_t scale; /* 1 to GPUME_OVERLAY_SCALE_MAX: pixels become squares of that side */
    enum gpume_overlay_key key;
};

/* GPUME_NOMEM, or GPUME_INVALID: more than GPUME_OVERLAY_PIXELS_MAX. Nothing is logged. */
int gpume_overlay_create(
    struct gpume_overlay **overlay, const struct gpume_overlay_options *options);

/* rgb: the frame, width x height triples of bytes R, G, B; bits is not looked at. *picture: width *
 * scale x height * scale such triples, the overlay's memory until the next call. GPUME_NOMEM. */
int gpume_overlay_draw(struct gpume_overlay *overlay, const struct gpume_plane *rgb,
    const struct gpume_field *field, struct gpume_plane *picture);

/* Sets *overlay to NULL. NULL is fine. */
void gpume_overlay_destroy(struct gpume_overlay **overlay);

#endif
