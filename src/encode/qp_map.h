/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QP offsets of a frame on a coarser grid, for encoders that take such maps, or of a picture of
 * another size. Any thread.
 */
#ifndef GPUME_ENCODE_QP_MAP_H
#define GPUME_ENCODE_QP_MAP_H

#include "encode/decision.h"

#include <stddef.h>

/* Columns or rows of squares that cover this many blocks of 16x16 pixels. per_square: blocks across
 * a square. */
uint32_t gpume_qp_map_squares(uint32_t blocks, uint32_t per_square);

/* Fills in the offset of each square, the mean of its blocks in 1/256 QP, in raster order. */
void gpume_qp_map_make(
    const struct gpume_decision *decision, uint32_t per_square, int16_t *offsets);

/* Subtracts the mean of such values of all squares, weighed by the blocks that they cover, to the
 * nearest whole number. blocks_x, blocks_y: of the frame. */
void gpume_qp_map_centre(
    int16_t *values, uint32_t blocks_x, uint32_t blocks_y, uint32_t per_square);

/* Replaces values so that at most `levels` different ones remain, within their range, which is
 * divided evenly. levels: 2 or more. */
void gpume_qp_map_limit(int16_t *values, size_t count, uint32_t levels);

/* --- maps for a picture of another size */

/* One axis of the picture. Positions are in units of which a pixel of the analysed frame has `to`
 * and a pixel of the encoded picture has `from`. */
struct gpume_map_axis {
    uint32_t from, to;             /* pixels of the analysed frame, of the encoded picture */
    uint32_t from_count, to_count; /* squares */
};

struct gpume_map_axis gpume_map_axis_of(uint32_t from, uint32_t to);

/* Each square gets the mean of those that it covers, by area. from: of the frame that was analysed;
 * to: of the encoded picture. */
void gpume_qp_map_scale(const struct gpume_map_axis *x, const struct gpume_map_axis *y,
    const int16_t *from, int16_t *to);

#endif
