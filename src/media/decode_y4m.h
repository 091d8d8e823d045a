/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads Y4M from regular files, also as standard input, faster than FFmpeg and up to 2^29 pixels
 * (such as 23170x23170); without filters and scaling.
 */
#ifndef GPUME_MEDIA_DECODE_Y4M_H
#define GPUME_MEDIA_DECODE_Y4M_H

#include "media/decode.h"

/* Accepts small sizes, too. Of two inputs, the second must have the first one's size and depth. */
extern const struct gpume_decoder gpume_decode_y4m;

/* Is the path a Y4M file that is too large for FFmpeg? Moves no file's position and opens only
 * regular files. */
bool gpume_decode_y4m_needs(const char *path);

/* Is it a Y4M file, other than standard input, whose colour space is known? */
bool gpume_decode_y4m_takes(const char *path);

#endif
