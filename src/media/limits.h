/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits on inputs; those on pictures (--max-pixels, --max-memory, the engine's largest side) are
 * enforced here. */
#ifndef GPUME_MEDIA_LIMITS_H
#define GPUME_MEDIA_LIMITS_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

struct AVCodecParameters;

/* What an input may access, and how large it may be. Zeroed: nothing else, and any size. */
struct gpume_trust {
    bool network; /* the input, and what it refers to, may be on the network (--allow-network) */
    bool files;   /* it may refer to other local files (--allow-files) */
    uint64_t max_pixels; /* of a picture, before and after filters; 0 = any (--max-pixels) */
    uint64_t max_memory; /* bytes that one decoded picture per input may take; 0 = any
                            (--max-memory) */
};

/* The AVCodecContext.max_pixels that enforces both options. */
int64_t gpume_limits_decoder(const struct gpume_trust *trust);

/* Bytes of a decoded picture, according to the container; 0: unknown. */
uint64_t gpume_limits_bytes(const struct AVCodecParameters *codec);

/* Checks a picture of the input called `label`. GPUME_UNSUPPORTED, logged: it has too many pixels.
 * graph: the filters that produced it, or NULL. */
int gpume_limits_check_size(const struct gpume_trust *trust, const char *label, const char *graph,
    int width, int height, const struct gpume_log *log);

/* Checks the size for the engine. GPUME_UNSUPPORTED, logged: a side above GPUME_SIDE_MAX. */
int gpume_limits_check_sides(const char *label, const char *graph, uint32_t width, uint32_t height,
    const struct gpume_log *log);

/* Checks the bytes that pictures of `inputs` inputs take. GPUME_UNSUPPORTED, logged: too many. */
int gpume_limits_check_bytes(const struct gpume_trust *trust, const char *label, uint64_t bytes,
    uint32_t inputs, const struct gpume_log *log);

/* Call this when the decoder has refused a picture because of max_pixels after `frames` good ones.
 * Logs the option that set the limit and returns GPUME_UNSUPPORTED, or GPUME_OK if none did. */
int gpume_limits_refuse(const struct gpume_trust *trust, const char *label, uint64_t frames,
    const struct gpume_log *log);

#endif
