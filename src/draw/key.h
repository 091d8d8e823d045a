/* SPDX-License-Identifier: BSD-2-Clause */
/* The key to an overlay's colours, drawn once. */
#ifndef GPUME_DRAW_KEY_H
#define GPUME_DRAW_KEY_H

#include "draw/overlay.h"
#include "draw/sprite.h"

/* The key for pictures and blocks of these sizes times options->look.scale; its origin belongs in
 * the picture's lower right corner. Empty if no key is to be drawn. flow_max: pixels of motion at
 * the rim of the wheel of flow, which are written below it; no more than 0: not written. NULL: out
 * of memory. */
struct gpume_sprite *gpume_key_create(const struct gpume_overlay_options *options, double flow_max);

#endif
