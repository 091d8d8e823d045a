/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/limits.h"

#include <inttypes.h>
#include <stdbool.h>

#include <libavcodec/codec_par.h>
#include <libavutil/pixdesc.h>

/* 16384 x 16384: limits the memory that a forged header can claim. */
#define PIXELS_MAX (INT64_C(1) << 28)
#define ROUNDED_PIXELS (1u << 20) /* rounding can make narrow pictures more than 4 times larger */

/* Decoders apply the limit to sides rounded up to multiples of 64 and more, so it is lenient here;
 * the frames that they return are checked against the exact limit. */
static uint64_t by_pixels(const struct gpume_trust *trust)
{
    return trust->max_pixels > 0 ? 4 * trust->max_pixels + ROUNDED_PIXELS : UINT64_MAX;
}

/* Every pixel takes at least one byte, in the decoder or in the engine. */
static uint64_t by_memory(const struct gpume_trust *trust)
{
    return trust->max_memory > 0 ? trust->max_memory + ROUNDED_PIXELS : UINT64_MAX;
}

int64_t gpume_limits_decoder(const struct gpume_trust *trust)
{
    const uint64_t pixels = by_pixels(trust), memory = by_memory(trust);
    const uint64_t limit = pixels < memory ? pixels : memory;
    return limit < PIXELS_MAX ? (int64_t)limit : PIXELS_MAX;
}

uint64_t gpume_limits_bytes(const struct AVCodecParameters *codec)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get((enum AVPixelFormat)codec->format);
    const bool known = format && codec->width > 0 && codec->height > 0;
    const uint64_t bits = known ? (uint64_t)av_get_padded_bits_per_pixel(format) : 0;
    return known ? (uint64_t)codec->width * (uint64_t)codec->height * bits / 8 : 0;
}

int gpume_limits_check_size(const struct gpume_trust *trust, const char *label, const char *graph,
    int width, int height, const struct gpume_log *log)
{
    if (trust->max_pixels == 0 || width <= 0 || height <= 0 ||
        (uint64_t)width * (uint64_t)height <= trust->max_pixels) {
        return GPUME_OK;
    }
    return gpume_log_fail(log, GPUME_UNSUPPORTED,
        "%s: %s%s%s%dx%d, more pixels than --max-pixels %" PRIu64 " allows; raise it or %s", label,
        graph ? "--vf " : "its pictures are ", graph ? graph : "", graph ? " gives " : "", width,
        height, trust->max_pixels, graph ? "correct the graph" : "give a smaller video");
}

int gpume_limits_check_sides(const char *label, const char *graph, uint32_t width, uint32_t height,
    const struct gpume_log *log)
{
    if (width <= GPUME_SIDE_MAX && height <= GPUME_SIDE_MAX) {
        return GPUME_OK;
    }
    return gpume_log_fail(log, GPUME_UNSUPPORTED,
        "%s: its pictures are %ux%u%s%s, and no side may be above %d; give smaller pictures", label,
        width, height, graph ? " after --vf " : "", graph ? graph : "", GPUME_SIDE_MAX);
}

int gpume_limits_check_bytes(const struct gpume_trust *trust, const char *label, uint64_t bytes,
    uint32_t inputs, const struct gpume_log *log)
{
    if (trust->max_memory == 0 || bytes <= trust->max_memory) {
        return GPUME_OK;
    }
    return gpume_log_fail(log, GPUME_UNSUPPORTED,
        "%s: at least %" PRIu64 " bytes of memory are needed for decoding%s, --max-memory allows "
        "%" PRIu64 "; raise it or give smaller pictures",
        label, bytes, inputs > 1 ? " both inputs" : "", trust->max_memory);
}

int gpume_limits_refuse(const struct gpume_trust *trust, const char *label, uint64_t frames,
    const struct gpume_log *log)
{
    const bool memory = by_memory(trust) < by_pixels(trust);
    if (gpume_limits_decoder(trust) == PIXELS_MAX) {
        return GPUME_OK;
    }
    return gpume_log_fail(log, GPUME_UNSUPPORTED,
        "%s: after frame %" PRIu64 " it has pictures of more %s than %s %" PRIu64
        " allows; raise it or give a smaller video",
        label, frames, memory ? "bytes" : "pixels", memory ? "--max-memory" : "--max-pixels",
        memory ? trust->max_memory : trust->max_pixels);
}
