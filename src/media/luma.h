/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extracts a decoded frame's luma: plane 0 of YUV and gray, unchanged; other formats are converted
 * to gray; and the chroma of YUV, unchanged. A frame whose size or depth differs from the
 * destination's is scaled (bicubic). One thread.
 */
#ifndef GPUME_MEDIA_LUMA_H
#define GPUME_MEDIA_LUMA_H

#include "base/workers.h"
#include "gpume/gpume.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavutil/pixfmt.h>

struct AVFrame;
struct SwsContext;

/* The bit depth of a frame's luma: 8, 9, 10, 12, 14 or 16. 0: the format cannot be used. */
uint32_t gpume_luma_bits(const struct AVFrame *frame);

/* Whether the format has luma, so that none is converted from other colours. */
bool gpume_luma_is_there(const struct AVFrame *frame);

/* Whether luma uses 0..peak, rather than a limited range such as 16..235. */
bool gpume_luma_full_range(const struct AVFrame *frame);

/* Whether its lines are those of two fields, taken at different times. */
bool gpume_luma_is_interlaced(const struct AVFrame *frame);
bool gpume_luma_is_top_first(const struct AVFrame *frame);
void gpume_luma_set_interlaced(struct AVFrame *frame, bool interlaced, bool top_first);

/* The shallowest gray format that holds samples of this depth. */
enum AVPixelFormat gpume_luma_gray_format(int bits);

/* That of luma and chroma, in planes; chroma_x, chroma_y: see struct gpume_source_info. */
enum AVPixelFormat gpume_luma_yuv_format(uint32_t chroma_x, uint32_t chroma_y, uint32_t bits);

/* Moves the samples of a frame in memory to a planar format with the same subsampling, without
 * computing any; of deeper samples the upper bits are kept. Not logged: GPUME_UNSUPPORTED (the
 * formats do not correspond), GPUME_NOMEM; the frame is then unchanged. */
int gpume_frame_to_planar(struct AVFrame *frame, enum AVPixelFormat planar);

/* A swscale context and the conversion for which it was created. Zeroed: none yet. */
struct gpume_scaler {
    struct SwsContext *context;
    int made_for[8];
    struct AVFrame *out; /* where luma.c scales to */
};

/* Zeroed: ready for gpume_luma_write. */
struct gpume_luma {
    struct gpume_scaler gray;   /* RGB and similar to gray */
    struct gpume_scaler resize; /* gray to gray */
    struct AVFrame *plain;      /* luma at its own size, before resizing */
    struct gpume_bands bands;   /* who moves samples; zeroed: the caller alone */
    uint16_t *row;
    size_t row_samples;
};

/* Writes the frame into *plane. GPUME_UNSUPPORTED: the format cannot be used; not logged. */
int gpume_luma_write(
    struct gpume_luma *luma, const struct AVFrame *frame, const struct gpume_plane *plane);

/* If the frame's own memory holds what gpume_luma_write would write, 8 bits a sample, sets where
 * *plane lies and returns true. */
bool gpume_luma_find(const struct AVFrame *frame, struct gpume_plane *plane);

void gpume_luma_close(struct gpume_luma *luma);

/* --- colours: frames that were delivered as luma are kept; on request they are converted to R, G,
 * B, or their chroma is taken.
 * One thread keeps frames and another may take them; the taking thread calls all other functions.
 */

struct gpume_colour_frames;

/* Frames before the first are not kept. */
int gpume_colour_frames_create(struct gpume_colour_frames **colour, uint64_t first);

/* Keeps a reference to the frame, not a copy. Indices increase. */
int gpume_colour_frames_keep(
    struct gpume_colour_frames *colour, uint64_t index, const struct AVFrame *frame);

/* Converts the frame to the given size, by its own matrix and range, into R, G, B byte triples
 * without alpha. They are valid until the next call. Drops earlier frames; the same index again
 * gives the same result. rgb may be NULL: then it only drops. Not logged: GPUME_INVALID (no such
 * frame), GPUME_UNSUPPORTED (its format cannot be converted). */
int gpume_colour_frames_take(struct gpume_colour_frames *colour, uint64_t index, uint32_t width,
    uint32_t height, struct gpume_plane *rgb);

/* Writes the chroma of a kept frame, which is dropped with all before it, into two planes. Not
 * logged: GPUME_INVALID (no such frame), GPUME_UNSUPPORTED (a format that is converted to gray). */
int gpume_colour_frames_take_chroma(
    struct gpume_colour_frames *colour, uint64_t index, const struct gpume_plane *planes);

/* NULL is fine. Sets *colour to NULL. */
void gpume_colour_frames_destroy(struct gpume_colour_frames **colour);

#endif
