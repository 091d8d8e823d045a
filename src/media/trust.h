/* SPDX-License-Identifier: BSD-2-Clause */
/* What an input may access, and how large it may be. Zeroed: nothing else, and any size. */
#ifndef GPUME_MEDIA_TRUST_H
#define GPUME_MEDIA_TRUST_H

#include <stdbool.h>
#include <stdint.h>

struct gpume_trust {
    bool network; /* the input, and what it refers to, may be on the network (--allow-network) */
    bool files;   /* it may refer to other local files (--allow-files) */
    uint64_t max_pixels; /* of a picture, before and after filters; 0 = any (--max-pixels) */
    uint64_t max_memory; /* bytes that one decoded picture per input may take; 0 = any
                            (--max-memory) */
};

static inline bool gpume_trust_too_large(const struct gpume_trust *trust, int width, int height)
{
    return trust->max_pixels > 0 && width > 0 && height > 0 &&
           (uint64_t)width * (uint64_t)height > trust->max_pixels;
}

#endif
