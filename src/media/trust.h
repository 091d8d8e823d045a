/* SPDX-License-Identifier: BSD-2-Clause */
/* How far an input is trusted. Zeroed: it may reach nothing else, and have any size. */
#ifndef GPUME_MEDIA_TRUST_H
#define GPUME_MEDIA_TRUST_H

#include <stdbool.h>
#include <stdint.h>

struct gpume_trust {
    bool network;        /* the input and names in it may be on the network (--allow-network) */
    bool files;          /* it may open other files of this machine (--allow-files) */
    uint64_t max_pixels; /* of a picture, before and after filters; 0 = any (--max-pixels) */
    uint64_t max_memory; /* bytes that one decoded picture of each input may take; 0 = any
                            (--max-memory) */
};

static inline bool gpume_trust_too_large(const struct gpume_trust *trust, int width, int height)
{
    return trust->max_pixels > 0 && width > 0 && height > 0 &&
           (uint64_t)width * (uint64_t)height > trust->max_pixels;
}

#endif
