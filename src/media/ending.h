/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is an input whole? libavformat takes the end of the file for the end of the video in several
 * formats; what their headers, indexes and trailers say about the end is compared here with what
 * was read.
 */
#ifndef GPUME_MEDIA_ENDING_H
#define GPUME_MEDIA_ENDING_H

#include <stdint.h>

struct AVFormatContext;
struct AVStream;

/* Once av_read_frame has returned the end: why the video should have gone on after its first
 * `taken` packets, for a message, or NULL if nothing says so. Moves the format's position. */
const char *gpume_ending_flaw(
    struct AVFormatContext *format, struct AVStream *stream, uint64_t taken);

/* How many frames the header promises; 0: it does not say. */
uint64_t gpume_ending_promised(const struct AVFormatContext *format, const struct AVStream *stream);

#endif
