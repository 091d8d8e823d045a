/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads Y4M from regular files, also as standard input, faster than FFmpeg and up to 2^29 pixels
 * (such as 23170x23170); without filters and scaling.
 */
#ifndef GPUME_MEDIA_Y4M_H
#define GPUME_MEDIA_Y4M_H

#include "media/decode.h"

#include <stdbool.h>
#include <stdint.h>

#include <libavutil/pixfmt.h>
#include <libavutil/rational.h>

/* Accepts small sizes, too. Of two inputs, the second must have the first one's size and depth. */
extern const struct gpume_decoder gpume_decode_y4m;

/* Whether the path is a Y4M file that is too large for FFmpeg. Moves no file's position and opens
 * only regular files. */
bool gpume_decode_y4m_needs(const char *path);

/* Whether it is a Y4M file, other than standard input, whose colour space is known. */
bool gpume_decode_y4m_takes(const char *path);

/* The first line of a Y4M file, parsed. */
struct gpume_y4m_header {
    uint64_t width, height; /* as stated, 1 or more; numbers above 2^60 read as 2^60 */
    AVRational rate;        /* frames per second, reduced; 25/1 if not stated */
    AVRational aspect;      /* width of a sample by its height, reduced; 0/1 unknown */
    char space[32];         /* as stated, truncated to fit; "420jpeg" if not stated */
    uint32_t bits;          /* per sample; 0: unknown colour space, and no format */
    enum AVPixelFormat format;
    bool limited_range, full_range; /* neither: not said */
    bool interlaced, progressive;   /* neither: it does not say */
    bool top_first;
    enum AVChromaLocation place; /* of chroma in 4:2:0 */
};

/* line: without its line end. False: not Y4M, or a size is missing or zero; *header is then
 * undefined. */
bool gpume_y4m_parse(const char *line, struct gpume_y4m_header *header);

/* Whether the size is beyond what FFmpeg opens. Its av_image_check_size2 requires (8 width + 1024)
 * * (height + 128) < INT_MAX: for squares, up to 16255. */
bool gpume_y4m_is_large(const struct gpume_y4m_header *header);

#endif
