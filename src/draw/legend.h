/* SPDX-License-Identifier: BSD-2-Clause */
/* A key in words for pictures with few kinds of colours, drawn once. One thread per legend. */
#ifndef GPUME_DRAW_LEGEND_H
#define GPUME_DRAW_LEGEND_H

#include "draw/colours.h"
#include "draw/overlay.h"
#include "draw/sprite.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A ramp of colours and what it means, in the letters of draw/text.h. */
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
