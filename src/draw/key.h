/* SPDX-License-Identifier: BSD-2-Clause */
/* What the colours of an overlay stand for, drawn once, to be put in a corner. */
#ifndef GPUME_DRAW_KEY_H
#define GPUME_DRAW_KEY_H

#include "draw/overlay.h"
#include "draw/sprite.h"

/* The key of a style for pictures of options->width x height times scale, blocks likewise: its
 * origin belongs in the picture's lower right corner. An empty one where it is not to be. NULL: out
 * of memory. */
struct gpume_sprite *gpume_key_create(const struct gpume_overlay_options *options);

#endif
