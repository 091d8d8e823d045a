/* SPDX-License-Identifier: BSD-2-Clause */
/* What files and frames say of their colours. */
#ifndef GPUME_MEDIA_COLOURS_H
#define GPUME_MEDIA_COLOURS_H

#include "base/colours.h"

struct AVFrame;
struct AVStream;

/* Of a stream that is not decoded yet. */
void gpume_colours_of_stream(const struct AVStream *stream, struct gpume_colours *colours);

/* The same of light, into a stream that is to be written. Returns 0 or AVERROR(ENOMEM). */
int gpume_colours_to_stream(const struct gpume_colours *colours, struct AVStream *stream);

/* By how many degrees its pictures are to be turned clockwise before they are shown. */
int gpume_rotation_of_stream(const struct AVStream *stream);

/* Of a frame. *colours: those of its stream, which count where the frame says nothing. What is said
 * of light counts only with a transfer of HDR. */
void gpume_colours_of_frame(const struct AVFrame *frame, struct gpume_colours *colours);

#endif
