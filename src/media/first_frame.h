/* SPDX-License-Identifier: BSD-2-Clause */
/* The first frame of an input of which there are two: a still picture, unless a video is wanted. */
#ifndef GPUME_MEDIA_FIRST_FRAME_H
#define GPUME_MEDIA_FIRST_FRAME_H

#include "media/decode.h"

/* Decodes the first frame of an input that has just been opened into a new *frame, which the caller
 * frees. Failures are logged, those of the decoder by it. GPUME_INVALID: others follow, unless they
 * are allowed to. A container that does not say how many frames it has is read on; files and pipes
 * of pictures are not, because previews may follow a picture. */
int gpume_first_frame(const struct gpume_decoder *decoder, void *state,
    const struct gpume_decode_facts *facts, bool others_allowed, const char *label,
    const struct gpume_log *log, struct AVFrame **frame);

#endif
