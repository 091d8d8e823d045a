/* SPDX-License-Identifier: BSD-2-Clause */
/* How several decoders share a video: see media/segments/segments.h. */
#ifndef GPUME_MEDIA_DIVISION_H
#define GPUME_MEDIA_DIVISION_H

#include <stdbool.h>
#include <stdint.h>

struct gpume_division {
    uint32_t decoders; /* at most; 1: it is not divided */
    uint64_t bytes;    /* of memory that all but the first, and frames that wait, may take */
    bool asked;        /* by the user, who is told if it does not come about */
    uint64_t length;   /* frames that are to be read, about; 0: unknown */
    uint32_t gpus;     /* whose video hardware may decode, with a hwaccel without DEVICE; 0: one */
    /* set by struct gpume_decoder's divide: */
    uint32_t threads; /* of each decoder but the first */
    uint32_t frames;  /* that may wait */
};

#endif
