/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys to the colours of pictures, each drawn once, and one thread for each. */
#ifndef GPUME_DRAW_LEGEND_H
#define GPUME_DRAW_LEGEND_H

#include "draw/colours.h"
#include "draw/overlay.h"
#include "draw/sprite.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- in colours, for overlays */

/* The key for pictures and blocks of these sizes times options->look.scale; its origin belongs in
 * the picture's lower right corner. Empty if no key is to be drawn. flow_max: pixels of motion at
 * the rim of the wheel of flow, which are written below it; no more than 0: not written. NULL: out
 * of memory. */
struct gpume_sprite *gpume_key_create(const struct gpume_overlay_options *options, double flow_max);

/* --- in words, for pictures with few kinds of colours */

/* A ramp of colours and what it means, in letters that it draws itself: digits, small letters, A, B
 * and . , - = < > / %. */
struct gpume_legend_row {
    struct gpume_colour from, to;
    bool plain; /* words alone */
    const char *text;
};

/* The legend for pictures of this size; its origin belongs in the picture's lower right corner.
 * With AUTO it is empty where it would take more than a third of the width or height, or letters
 * would be too small. NULL: out of memory. */
struct gpume_sprite *gpume_legend_create(const struct gpume_legend_row *rows, size_t count,
    uint32_t width, uint32_t height, enum gpume_overlay_key key);

#endif
