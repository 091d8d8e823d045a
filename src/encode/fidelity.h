/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How close decoded luma is to the luma of the source: PSNR, SSIM and XPSNR (xpsnr.h), as FFmpeg's
 * filters of these names state them in their last lines. Frames are compared one by one, in the
 * order of presentation. A comparison belongs to one thread at a time.
 */
#ifndef GPUME_ENCODE_FIDELITY_H
#define GPUME_ENCODE_FIDELITY_H

#include "base/log.h"

struct gpume_fidelity;

struct gpume_fidelity_params {
    uint32_t width, height, bits; /* of both; bits: 8 to 16 */
    uint32_t rate_num, rate_den;  /* frames per second, for XPSNR; rate_den 0: unknown */
    struct gpume_log log;
};

struct gpume_fidelity_frame {
    uint64_t sse;  /* sum of squared errors */
    double ssim;   /* NAN where a side is below 8 pixels */
    uint64_t wsse; /* XPSNR's weighted sum of squared errors */
};

/* Over all frames. */
struct gpume_fidelity_scores {
    uint64_t frames;
    uint32_t bits; /* of a sample, as in the parameters */
    double psnr;   /* dB, of the mean squared error of all frames; INFINITY: they are the same */
    double ssim;   /* the mean of the frames, 1: they are the same */
    double xpsnr;  /* dB; INFINITY: they are the same */
};

/* GPUME_NOMEM, logged. */
int gpume_fidelity_open(
    struct gpume_fidelity **fidelity, const struct gpume_fidelity_params *params);

/* Compares the next frame. Both planes have the size and bits of the parameters, and are not kept.
 * *frame: what it gave; NULL: not wanted. */
void gpume_fidelity_add(struct gpume_fidelity *fidelity, const struct gpume_plane *source,
    const struct gpume_plane *decoded, struct gpume_fidelity_frame *frame);

/* Of the frames so far; without frames all are NAN. */
struct gpume_fidelity_scores gpume_fidelity_scores(const struct gpume_fidelity *fidelity);

/* Sets *fidelity to NULL. NULL is fine. */
void gpume_fidelity_close(struct gpume_fidelity **fidelity);

#endif
