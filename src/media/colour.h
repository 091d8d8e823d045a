/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps frames that were delivered as luma, and converts them to R, G, B on request. One thread
 * keeps frames and another may take them; the taking thread calls all other functions.
 */
#ifndef GPUME_MEDIA_COLOUR_H
#define GPUME_MEDIA_COLOUR_H

#include "gpume/gpume.h"

struct AVFrame;
struct gpume_colour_frames;

/* Frames before the first are not kept. */
int gpume_colour_frames_create(struct gpume_colour_frames **colour, uint64_t first);

/* Keeps a reference to the frame, not a copy. Indices increase. */
int gpume_colour_frames_keep(
    struct gpume_colour_frames *colour, uint64_t index, const struct AVFrame *frame);

/* Converts the frame to the given size, by its own matrix and range, into R, G, B byte triples
 * without alpha. They are valid until the next call. Drops earlier frames; the same index again
 * gives the same result. rgb may be NULL: then it only drops. Not logged: GPUME_INVALID (no such
 * frame), GPUME_UNSUPPORTED (its format cannot be converted). */
int gpume_colour_frames_take(struct gpume_colour_frames *colour, uint64_t index, uint32_t width,
    uint32_t height, struct gpume_plane *rgb);

/* NULL is fine. Sets *colour to NULL. */
void gpume_colour_frames_destroy(struct gpume_colour_frames **colour);

#endif
