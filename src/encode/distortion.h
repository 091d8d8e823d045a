/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a frame loses when it is encoded: its mean squared error, and its SSIM, at a QP.
 *
 * Measured of the source: how many coefficients of what is left after prediction have which size.
 * They are those of 4x4 samples at full resolution (the transform of H.264), of the means of 2x2
 * pixels around each pixel, which the four half planes hold; what that blurs is given back by
 * frequency. A quantizer of step s leaves an error of about s^2 / 12 in a coefficient that it
 * keeps, and drops smaller ones, whose energy is lost. In between, with the energy e and a limit
 * c s^2,
 *
 *     error = (e^-p + (c s^2)^-p)^(-1 / p)
 *
 * A block that is predicted begins with the error r of its references. What moves is interpolated
 * each time, and loses anew; what stands still does not, but for its noise, which the prediction
 * lacks where the references lost it: e = g u^2 + r where it stands, and the larger of r and
 * g u^2 - r where it moves, for a coefficient of size u. The error of a mean of two references is
 * m times the mean of theirs. For XPSNR, r is a mean by weights, too: what weighs much is flat, and
 * refers to what is flat.
 *
 * For SSIM, each 8x8 pixels count by 1 / (2 v + C2), v the variance of the source: 1 - SSIM of a
 * window is nearly its error by that (Wang et al., "Image quality assessment", 2004, for equal
 * means). For XPSNR they count by the weight of the block in which their middle lies (xpsnr.h). The
 * numbers are fitted to encodes, and stand in each encoder's file. Fixed-point numbers. Any thread.
 */
#ifndef GPUME_ENCODE_DISTORTION_H
#define GPUME_ENCODE_DISTORTION_H

#include "encode/spectrum.h"

#include <stdbool.h>
#include <stddef.h>

enum gpume_loss_kind { GPUME_LOSS_ERROR, GPUME_LOSS_SSIM, GPUME_LOSS_XPSNR, GPUME_LOSS_KINDS };

enum gpume_loss_class { GPUME_LOSS_INTRA, GPUME_LOSS_STILL, GPUME_LOSS_MOVING, GPUME_LOSS_CLASSES };

/* Bin k counts sizes of about 2^(k / 2 - 9/4): half an octave each; bin 0 those below. */
#define GPUME_LOSS_BINS 28u
#define GPUME_LOSS_ONE 24 /* shares are in 1/2^24 */
/* Blocks that are looked at, at most: a part of those of spectrum.h. */
#define GPUME_LOSS_BLOCKS 500u

/* Of the coefficients of sampled blocks, the shares in each bin. QP offsets are taken into account:
 * a coefficient counts as large as it is beside the step of its block, and by the square of that
 * step, both beside the frame's. Offsets are at least -51 QP, and at most 51: a share is below
 * 2^17, so that 41 bits would hold it; those of 30 and more are kept as 30. */
struct gpume_losses {
    uint32_t shares[GPUME_LOSS_KINDS][GPUME_LOSS_CLASSES][GPUME_LOSS_BINS];
    uint32_t weight; /* XPSNR's, the mean, in 1/2^24; 0: not wanted */
};

/* XPSNR's weights of a frame: of blocks in raster order, in 1/65536 (gpume_xpsnr_parts). */
struct gpume_loss_weights {
    const uint32_t *of;
    uint32_t side, columns, rows; /* of a block in pixels; of blocks */
};

/* weights: NULL: XPSNR is not wanted, and nothing is lost by it. */
void gpume_losses_measure(struct gpume_losses *losses, const struct gpume_predicted *predicted,
    const struct gpume_loss_weights *weights);

/* An encoder's numbers, in 1/65536; by type of frame: I, P, B. */
struct gpume_loss_model {
    int64_t limit[3], bend[3];        /* c; p */
    int64_t gain, mean, floor;        /* g; m; the error that even the lowest QP leaves */
    int64_t ssim_power, ssim_octaves; /* log2(1 - SSIM) = power * log2(weighted error) + octaves */
    int64_t xpsnr_power, xpsnr_decibels; /* XPSNR = power * that of the weighted error + decibels */
};

#define GPUME_LOSS_FIXED(value) ((int64_t)((value)*65536 + ((value) < 0 ? -0.5 : 0.5)))

/* Of a frame, or the mean over frames: errors of a sample of 8 bits, in 1/65536. By kind: the mean
 * squared error; the same, each window by C2 / (2 v + C2); by XPSNR's weight. Of the last, the mean
 * over frames is the square of the mean of their roots. */
struct gpume_loss {
    uint64_t of[GPUME_LOSS_KINDS];
    uint32_t weight; /* of a frame: as in its losses; of a mean: the largest */
};

/* Of a frame of this type at a QP in 1/256. past, future: the errors of its references; NULL where
 * there is none. */
struct gpume_loss gpume_loss_at(const struct gpume_losses *losses,
    const struct gpume_loss_model *model, enum gpume_frame_type type, int32_t qp,
    const struct gpume_loss *past, const struct gpume_loss *future);

/* All frames of a video, in coded order. Starts as zero; free it with gpume_loss_frames_free. */
struct gpume_loss_frames {
    struct gpume_loss_row *rows;
    struct gpume_loss *found; /* of each frame in displayed order, when last found */
    size_t count, room;
};

/* Adds the next frame, whose losses have been measured. false: no memory. */
bool gpume_loss_frames_add(struct gpume_loss_frames *frames, const struct gpume_decision *decision);
void gpume_loss_frames_free(struct gpume_loss_frames *frames);

/* Some of the frames: those that are displayed from `first` to before `end`, all of which are coded
 * as numbers `begin` to before `after`. At least one. */
struct gpume_loss_range {
    uint64_t first, end;
    size_t begin, after;
};

/* The mean over these frames at these QPs, of all frames in coded order, to which `more` is added.
 * Other frames that they refer to are as they were last found. false: no memory. */
bool gpume_loss_frames_mean(struct gpume_loss_frames *frames, const struct gpume_loss_model *model,
    const int32_t *qps, int32_t more, const struct gpume_loss_range *range,
    struct gpume_loss *mean);

/* How many times as much a coded picture of one area loses as one of the area that was analysed, in
 * 1/65536: the smaller the picture, the finer its details. By the 0.26th power of the area: of 16
 * clips, x264 and x265 lost 0.8, 1.5 and 2.4 dB more at 3/4, 1/2 and 1/4 of both sides. */
uint32_t gpume_loss_growth(uint64_t area, uint64_t area_analysed);

/* Of the mean over frames: PSNR in dB, SSIM, and XPSNR in dB, as floating-point numbers for people.
 * pixels: of the pictures that were analysed. NAN: the weights were not wanted. */
double gpume_loss_psnr(const struct gpume_loss *mean);
double gpume_loss_ssim(const struct gpume_loss *mean, const struct gpume_loss_model *model);
double gpume_loss_xpsnr(
    const struct gpume_loss *mean, const struct gpume_loss_model *model, uint64_t pixels);

#endif
