/* SPDX-License-Identifier: BSD-2-Clause */
/* What files and frames say of their colours. */
#ifndef GPUME_MEDIA_COLOURS_H
#define GPUME_MEDIA_COLOURS_H

#include "base/colours.h"

struct AVFrame;
struct AVStream;

/* Of a stream that is not decoded yet. */
void gpume_colours_of_stream(const struct AVStream *stream, struct gpume_colours *colours);

/* Of a frame. *colours: those of its stream, which count where the frame says nothing. What is said
 * of light counts only with a transfer of HDR. */
void gpume_colours_of_frame(const struct AVFrame *frame, struct gpume_colours *colours);

#endif
