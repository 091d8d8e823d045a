/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GPUME_MEDIA_SEGMENTS_ALIKE_H
#define GPUME_MEDIA_SEGMENTS_ALIKE_H

#include <stdbool.h>

struct AVFrame;

/* Whether two frames have the same time, format, colours and samples. */
bool gpume_frames_are_alike(const struct AVFrame *a, const struct AVFrame *b);

#endif
