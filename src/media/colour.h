/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames that have gone on as luma, kept until somebody asks for their colours, and turned into R,
 * G, B then. One thread keeps, another one takes; the rest belongs to the one that takes.
 */
#ifndef GPUME_MEDIA_COLOUR_H
#define GPUME_MEDIA_COLOUR_H

#include "gpume/gpume.h"

struct AVFrame;
struct gpume_colour;
struct gpume_source_y4m;

/* Frames before the first are not kept. */
int gpume_colour_create(struct gpume_colour **colour, uint64_t first);

/* Holds a reference of the frame, not a copy. Indices rise. */
int gpume_colour_keep(struct gpume_colour *colour, uint64_t index, const struct AVFrame *frame);

/* Holds nothing but the place in its file of the frame that was read last. */
int gpume_colour_keep_y4m(
    struct gpume_colour *colour, uint64_t index, const struct gpume_source_y4m *y4m);

/* The frame's colours at that size, by its own matrix and range, 8 bits each, any alpha left out:
 * triples of bytes in memory of this object's, until the next call. Lets go of the frame and of
 * those before it; the same index again gives the same. y4m: what keep_y4m was given, or NULL.
 * GPUME_INVALID: it is not there. GPUME_UNSUPPORTED: its format cannot be converted. Not logged. */
int gpume_colour_take(struct gpume_colour *colour, uint64_t index, struct gpume_source_y4m *y4m,
    uint32_t width, uint32_t height, struct gpume_plane *rgb);

/* NULL is fine. Sets *colour to NULL. */
void gpume_colour_destroy(struct gpume_colour **colour);

#endif
