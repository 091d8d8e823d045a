/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * src/draw draws motion over frames; it is the only folder that includes cairo.
 *
 * An overlay draws a field's first layer, or the blocks that a partition chose, over the target
 * frame. It shows how the content moved since
 * the reference, which is -(dx,dy), the motion that a viewer sees. The same frame and field always
 * give the same bytes. One thread per overlay.
 */
#ifndef GPUME_DRAW_OVERLAY_H
#define GPUME_DRAW_OVERLAY_H

#include "gpume/gpume.h"

#include <stdint.h>

enum gpume_overlay_style {
    /* One arrow per block, or per square of blocks, coloured by direction; a dot for (0,0). */
    GPUME_OVERLAY_ARROWS,
    GPUME_OVERLAY_FLOW,   /* blocks tinted by the Middlebury colour wheel, over the frame in gray */
    GPUME_OVERLAY_COST,   /* each block's cost per pixel as heat, over the frame in gray */
    GPUME_OVERLAY_BLOCKS, /* outlines of blocks, shaded by rank, over the frame in gray */
    /* By how much the best match is cheaper than the second best one, as heat, over the frame in
     * gray: light where the vector is sure, dark where another does as well. For fields with
     * confidence. */
    GPUME_OVERLAY_CONFIDENCE,
    /* How far, in pixels, the reverse vector at the match leads away from the block, as heat, where
     * that is more than GPUME_OVERLAY_RETURN_SMALL; elsewhere the frame in gray. For fields with
     * returns. */
    GPUME_OVERLAY_RETURN,
};

/* Pixels. What the search finds one way and again the other way is as close as this; farther off,
 * the content is hidden in one of the frames, or a vector is wrong. From FULL on the colour is the
 * lightest. */
#define GPUME_OVERLAY_RETURN_SMALL 1.0
#define GPUME_OVERLAY_RETURN_FULL 16.0

#define GPUME_OVERLAY_SCALE_MAX 16u
#define GPUME_OVERLAY_PIXELS_MAX (UINT64_C(1) << 29) /* of an enlarged picture */

/* Is there a key in the lower right corner? AUTO: if it is readable and covers little. */
enum gpume_overlay_key { GPUME_OVERLAY_KEY_AUTO, GPUME_OVERLAY_KEY_ON, GPUME_OVERLAY_KEY_OFF };

/* How long are arrows? FIT: at most a block, by the square root of the vector's length. TRUE: as
 * long as the motion, from where the content was to the block's middle, where it is. */
enum gpume_overlay_length { GPUME_OVERLAY_FIT, GPUME_OVERLAY_TRUE };

#define GPUME_OVERLAY_FLOW_AUTO (-1.0)

/* Pixels between arrows that can be told apart on a screen, in a picture of that shorter side. */
#define GPUME_OVERLAY_SPACING(side) ((side) / 27 > 20 ? (side) / 27 : 20)

/* What users choose. Zeroes but for scale are the defaults. */
struct gpume_overlay_look {
    enum gpume_overlay_style style;
    enum gpume_overlay_key key;
    uint32_t scale; /* 1 to GPUME_OVERLAY_SCALE_MAX: side of the square that shows a pixel */
    enum gpume_overlay_length arrow_length;
    /* Pixels of the picture from one arrow to the next, at least: where blocks are smaller, an
     * arrow is the mean of the fewest k x k blocks of one shape. 0: GPUME_OVERLAY_SPACING. */
    uint32_t arrow_spacing;
    double arrow_width; /* pixels of the picture, of a shaft; 0: by the spacing */
    uint32_t dim;       /* percent by which the frame is darkened */
    double min_length;  /* pixels: shorter vectors have neither mark nor tint */
    /* Motion in pixels that flow shows in full colour. 0: the longest in the window. AUTO: the
     * least of 4, 6, 8, 12, 16, 24, ... that is not exceeded in 90 percent of the area. */
    double flow_max;
};

struct gpume_overlay;

struct gpume_overlay_options {
    uint32_t width, height, bits; /* of the frames */
    uint32_t block_w, block_h;    /* the smallest blocks that are drawn, pixels */
    bool parts;                   /* of a partition, whose number differs from field to field */
    uint32_t window_x, window_y;  /* pixels */
    struct gpume_overlay_look look;
};

/* GPUME_NOMEM; GPUME_INVALID: more than GPUME_OVERLAY_PIXELS_MAX. Logs nothing. */
int gpume_overlay_create(
    struct gpume_overlay **overlay, const struct gpume_overlay_options *options);

/* rgb: the frame, width x height triples of bytes R, G, B; its bits member is ignored. *picture:
 * width * scale x height * scale such triples in memory of the overlay, valid until the next call.
 * GPUME_NOMEM. */
int gpume_overlay_draw(struct gpume_overlay *overlay, const struct gpume_plane *rgb,
    const struct gpume_field *field, struct gpume_plane *picture);

/* Sets *overlay to NULL. NULL is fine. */
void gpume_overlay_destroy(struct gpume_overlay **overlay);

#endif
