/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detects truncated inputs. In several formats libavformat takes the end of the file for the end of
 * the video; this module compares what headers, indexes and trailers promise with what was read.
 */
#ifndef GPUME_MEDIA_ENDING_H
#define GPUME_MEDIA_ENDING_H

#include <stdint.h>

struct AVFormatContext;
struct AVStream;

/* After av_read_frame has returned the end: why more than the first `taken` packets should exist,
 * for a message, or NULL if the video seems complete. Moves the format's position. */
const char *gpume_ending_flaw(
    struct AVFormatContext *format, struct AVStream *stream, uint64_t taken);

/* Number of frames that the header promises; 0: none stated. */
uint64_t gpume_ending_promised(const struct AVFormatContext *format, const struct AVStream *stream);

#endif
