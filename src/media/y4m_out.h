/* SPDX-License-Identifier: BSD-2-Clause */
/* Y4M as it is written: a line of text, then a line and the rows of every frame. */
#ifndef GPUME_MEDIA_Y4M_OUT_H
#define GPUME_MEDIA_Y4M_OUT_H

#include "files/out.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_plane;

struct gpume_y4m_head {
    uint32_t width, height, bits;
    uint32_t rate_num, rate_den;     /* frames per second; 0: unknown, which becomes 25 */
    uint32_t aspect_num, aspect_den; /* of a pixel; 0: unknown */
    bool colour;                     /* YUV 4:4:4 of 8 bits, else luma alone */
    bool full_range;                 /* of luma */
    const char *comment; /* words for the end of the line, each with " X" before; or NULL */
};

/* Luma of a depth that Y4M has no name for is announced as 16 bits. */
int gpume_y4m_write_head(struct gpume_out *out, const struct gpume_y4m_head *head);

/* The samples of a plane, unscaled; above 8 bits in two little-endian bytes. row: memory for 2 *
 * width bytes. */
int gpume_y4m_write_luma(struct gpume_out *out, const struct gpume_plane *plane, uint8_t *row);

#endif
