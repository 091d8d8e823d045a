/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libav's log: nothing of it is printed; the first error line of a call, on the calling thread, is
 * kept as the reason that our own line gives.
 */
#ifndef GPUME_MEDIA_LIBAV_H
#define GPUME_MEDIA_LIBAV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before a call whose reason may be asked for: forgets what was kept. */
void gpume_libav_quiet(void);

/* The kept line, else the text of the AVERROR. Returns buffer. */
const char *gpume_libav_reason(int error, char *buffer, size_t bytes);

/* Since then: has a demultiplexer found that its input stops within something? Its call may yet
 * return a plain end. */
bool gpume_libav_cut(void);

/* How many pictures of any thread's were refused for AVCodecContext.max_pixels. */
uint64_t gpume_libav_oversized(void);

#endif
