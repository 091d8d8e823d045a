/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * XPSNR (C. Helmrich and others, "XPSNR: a low-complexity extension of the perceptually weighted
 * peak signal-to-noise ratio for high-resolution video quality assessment", ICASSP 2020) weights
 * the errors of a block by the inverse of its activity, which is found in the source alone: how
 * much its samples differ from their neighbours, and from those of the frames before. Of luma, as
 * FFmpeg's filter of this name. Frames come one by one, in the order of presentation. One thread at
 * a time.
 */
#ifndef GPUME_ENCODE_XPSNR_H
#define GPUME_ENCODE_XPSNR_H

#include <gpume/gpume.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A plane of samples, with its last row and column repeated once: where sides are odd, filters
 * reach beyond them. */
struct gpume_samples {
    uint16_t *data;
    size_t stride; /* samples */
};

/* False: out of memory. The data are for free(). */
bool gpume_samples_open(struct gpume_samples *samples, uint32_t width, uint32_t height);
void gpume_samples_take(struct gpume_samples *samples, const struct gpume_plane *plane);

struct gpume_xpsnr_params {
    uint32_t width, height, bits; /* bits: 8 to 16 */
    /* Frames per second. A frame is compared with one frame before it, from 32 per second on with
     * two. rate_den 0: unknown, which counts as few. */
    uint32_t rate_num, rate_den;
};

struct gpume_xpsnr {
    struct gpume_xpsnr_params params;
    uint32_t side;          /* of a block, a multiple of 4; 0: the picture is too small for any, and
                             * XPSNR is PSNR */
    uint32_t columns, rows; /* of blocks; those at the right and lower edge may be smaller */
    bool is_large;          /* the activity is that of 2x2 samples */
    bool second;            /* differences between frames are of the second order */
    double scale;           /* of weighted errors */
    double least;           /* activity */
    double *weights;        /* of the blocks of the last frame: the inverse of their activity */
    struct gpume_samples source, before, before2; /* the last frame, and before it: at first 0 */
};

/* GPUME_NOMEM, without a word. */
int gpume_xpsnr_open(struct gpume_xpsnr **xpsnr, const struct gpume_xpsnr_params *params);

/* Finds the weights of the next frame. */
void gpume_xpsnr_take(struct gpume_xpsnr *xpsnr, const struct gpume_plane *source);

/* The weights of the last frame as parts of the largest that there is, in 1/65536; where there are
 * no blocks, one that is 1. */
void gpume_xpsnr_parts(const struct gpume_xpsnr *xpsnr, uint32_t *parts);

/* How many times as much an error with the largest weight counts as one in PSNR, in pictures of
 * this many pixels. */
double gpume_xpsnr_factor(uint64_t pixels);

/* Sets *xpsnr to NULL. NULL is fine. */
void gpume_xpsnr_close(struct gpume_xpsnr **xpsnr);

#endif
