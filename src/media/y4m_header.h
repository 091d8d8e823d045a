/* SPDX-License-Identifier: BSD-2-Clause */
/* The first line of a Y4M file, parsed. */
#ifndef GPUME_MEDIA_Y4M_HEADER_H
#define GPUME_MEDIA_Y4M_HEADER_H

#include <stdbool.h>
#include <stdint.h>

struct gpume_y4m_header {
    uint64_t width, height;      /* as stated, 1 or more; numbers above 2^32 read as 2^32 */
    uint32_t rate_num, rate_den; /* frames per second, reduced; 25/1 if not stated */
    char space[32];              /* as stated, cut to fit; "420jpeg" where none is stated */
    uint32_t bits;               /* of a sample; 0: unknown colour space */
    uint32_t others;             /* planes after luma */
    uint32_t shift_x, shift_y;   /* of the other planes' size, which is rounded up */
    char pixel_format[16];       /* FFmpeg's name */
    bool full_range;
};

/* line: without its end. False: no Y4M, or a size is missing or zero; *header is then undefined. */
bool gpume_y4m_parse(const char *line, struct gpume_y4m_header *header);

/* Is the size beyond what FFmpeg opens? Its av_image_check_size2 wants (8 width + 1024) * (height +
 * 128) below INT_MAX, which squares up to 16255 keep. */
bool gpume_y4m_is_large(const struct gpume_y4m_header *header);

/* Of a frame after its FRAME line. The size has been bounded so that 8 bytes a pixel fit 64 bits.
 */
uint64_t gpume_y4m_luma_bytes(const struct gpume_y4m_header *header);
uint64_t gpume_y4m_frame_bytes(const struct gpume_y4m_header *header);

#endif
