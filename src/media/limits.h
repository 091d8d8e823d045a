/* SPDX-License-Identifier: BSD-2-Clause */
/* The limits on pictures: those that --max-pixels and --max-memory set, and the engine's. */
#ifndef GPUME_MEDIA_LIMITS_H
#define GPUME_MEDIA_LIMITS_H

#include "base/log.h"
#include "media/trust.h"

#include <stdint.h>

struct AVCodecParameters;

/* AVCodecContext.max_pixels for both limits. */
int64_t gpume_limits_decoder(const struct gpume_trust *trust);

/* Bytes of a decoded picture, according to the container; 0: unknown. */
uint64_t gpume_limits_bytes(const struct AVCodecParameters *codec);

/* A picture of the input called `label`. GPUME_UNSUPPORTED, logged: it has too many pixels. graph:
 * the filters that it comes from, or NULL. */
int gpume_limits_check_size(const struct gpume_trust *trust, const char *label, const char *graph,
    int width, int height, const struct gpume_log *log);

/* Pictures that the engine is to search. GPUME_UNSUPPORTED, logged: a side above GPUME_SIDE_MAX. */
int gpume_limits_check_sides(const char *label, const char *graph, uint32_t width, uint32_t height,
    const struct gpume_log *log);

/* So many bytes of decoded pictures, of `inputs` inputs. GPUME_UNSUPPORTED, logged: too many. */
int gpume_limits_check_bytes(const struct gpume_trust *trust, const char *label, uint64_t bytes,
    uint32_t inputs, const struct gpume_log *log);

/* The decoder has refused a picture for its max_pixels after `frames` good ones: logs the limit
 * that was set and returns GPUME_UNSUPPORTED, or GPUME_OK if none was. */
int gpume_limits_refuse(const struct gpume_trust *trust, const char *label, uint64_t frames,
    const struct gpume_log *log);

#endif
