/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads Y4M pictures that are too large for FFmpeg, up to 2^29 pixels (such as 23170x23170), from
 * regular files, also as standard input; without filters and scaling.
 */
#ifndef GPUME_MEDIA_DECODE_Y4M_H
#define GPUME_MEDIA_DECODE_Y4M_H

#include "media/decode.h"

/* Accepts small sizes, too. Of two inputs, the second must have the first one's size and depth. */
extern const struct gpume_decoder gpume_decode_y4m;

/* Is the path a Y4M file that is too large for FFmpeg? Moves no file's position and opens only
 * regular files. */
bool gpume_decode_y4m_wants(const char *path);

#endif
