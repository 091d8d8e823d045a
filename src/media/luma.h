/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A decoded frame's luma: plane 0 of YUV and gray as it is, anything else converted to gray. A
 * frame of another size or depth than the destination is scaled to it (bicubic). One thread.
 */
#ifndef GPUME_MEDIA_LUMA_H
#define GPUME_MEDIA_LUMA_H

#include "gpume/gpume.h"

struct AVFrame;
struct gpume_luma;

int gpume_luma_create(struct gpume_luma **luma);

/* The depth that a frame's luma has: 8, 9, 10, 12, 14 or 16. 0: the format cannot be used. */
uint32_t gpume_luma_bits(const struct AVFrame *frame);

/* Is the luma taken as it is, and not made of other colours? */
bool gpume_luma_is_there(const struct AVFrame *frame);

/* Is the luma 0..peak, rather than 16..235 and its likes? */
bool gpume_luma_full_range(const struct AVFrame *frame);

/* The frame's matrix as swscale numbers them, its default where none is known. */
int gpume_luma_matrix(const struct AVFrame *frame);

/* Writes the frame into *plane. GPUME_UNSUPPORTED: the format cannot be used; not logged. */
int gpume_luma_write(
    struct gpume_luma *luma, const struct AVFrame *frame, const struct gpume_plane *plane);

void gpume_luma_destroy(struct gpume_luma **luma);

#endif
