/* SPDX-License-Identifier: BSD-2-Clause */
/* What the colours of an overlay stand for, drawn once, to be put in a corner. */
#ifndef GPUME_DRAW_KEY_H
#define GPUME_DRAW_KEY_H

#include "draw/overlay.h"
#include "draw/sprite.h"

/* Cost a pixel at which the heat of GPUME_OVERLAY_COST is full, in steps of 8-bit samples. */
#define GPUME_KEY_COST_MAX 32.0

/* The key of a style for a picture of that size: its origin belongs in the picture's lower right
 * corner. blocks: of a field. An empty one where the picture is too small. NULL: out of memory. */
struct gpume_sprite *gpume_key_create(
    enum gpume_overlay_style style, uint32_t width, uint32_t height, uint64_t blocks);

#endif
