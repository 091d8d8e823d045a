/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Curves of bitrate and quality of several picture sizes: where they cross, which size is best at
 * which bitrate, and rungs of a ladder. The quality is that of pictures scaled back up to the
 * source's size. Between points, the CRF and the logarithms of the bitrate and of the error by
 * coding are linear; the error by scaling is the same everywhere. Floating-point numbers, for
 * people. Any thread.
 */
#ifndef GPUME_ENCODE_LADDER_H
#define GPUME_ENCODE_LADDER_H

#include <stdbool.h>
#include <stddef.h>

struct gpume_ladder_point {
    double crf, bitrate, psnr; /* bits per second, above 0; dB */
};

/* Of a size: points of rising bitrate. */
struct gpume_ladder_curve {
    const struct gpume_ladder_point *points;
    size_t count;
    double scaling; /* error of scaling down and up alone; 0: it is not scaled */
};

/* A mean squared error of luma, of samples of 8 bits, as PSNR. */
double gpume_ladder_psnr(double error);

/* An encode at a CRF: as expected by the analysis, with the error at its size, or as it was, with
 * the error after scaling back up. */
struct gpume_ladder_encode {
    double crf, bitrate, error;
};

/* What the expected bitrates and errors of an encoder lack, by encodes at four sizes and CRFs of 18
 * to 48 (tests/bench/firstpass/README.md). o: octaves by which the area is smaller than the
 * input's; h: how far the CRF is above this one, or 0. */
#define GPUME_LADDER_CRF_LOW 28
struct gpume_ladder_model {
    /* Bitrates are 2^(rate_own h - (rate + rate_rise h) o) times as high. */
    double rate, rate_rise, rate_own;
    /* Errors of coding are error + error_smaller o + error_rise h^2 (1 - error_level o) dB higher;
     */
    double error, error_smaller, error_rise, error_level;
    /* and after scaling up, which loses some, but adds to them, by this part for each o. */
    double carried;
};

#define GPUME_LADDER_ENCODES_MAX 40u /* of either kind */

struct gpume_ladder_facts {
    const struct gpume_ladder_model *model; /* NULL: nothing is lacking */
    double octaves; /* of the area, by which this size is smaller than the input's; 0: the same */
    double scaling; /* error of scaling down and up alone */
    const struct gpume_ladder_encode *expected; /* of rising CRF, at least one */
    size_t expected_count;
    const struct gpume_ladder_encode *encodes; /* that were made, of rising CRF */
    size_t encode_count;
};

/* The curve of a size, of at most expected_count points; fewer where bitrates would not rise.
 * Expected bitrates and errors of coding are multiplied by what encodes say they are off by;
 * between encodes, the logarithms of that are linear in the CRF. */
size_t gpume_ladder_fill(const struct gpume_ladder_facts *facts, struct gpume_ladder_point *points);

/* What to expect at a bitrate. False: the curve does not go there. */
bool gpume_ladder_at(
    const struct gpume_ladder_curve *curve, double bitrate, struct gpume_ladder_point *point);

/* The bitrate at a CRF, or at the end of the curve that is nearest. The curve has a point. */
double gpume_ladder_bitrate_at(const struct gpume_ladder_curve *curve, double crf);

enum gpume_ladder_meeting {
    GPUME_LADDER_CROSS,
    GPUME_LADDER_LARGER,  /* the first one is better wherever both have points */
    GPUME_LADDER_SMALLER, /* the second one is */
    GPUME_LADDER_APART,   /* there is no such place */
};

/* *bitrate: the highest one below which the second size is better, and above which the first one
 * is; or the end of what both have that is nearest to it. */
enum gpume_ladder_meeting gpume_ladder_meet(const struct gpume_ladder_curve *larger,
    const struct gpume_ladder_curve *smaller, double *bitrate);

/* The curve with the best quality at a bitrate; of equal ones the first. `count`: none goes there,
 * or one that ends at a lower bitrate is better. */
size_t gpume_ladder_best(const struct gpume_ladder_curve *curves, size_t count, double bitrate);

/* Bitrates from one to another at which a curve is the best. */
struct gpume_ladder_stretch {
    size_t curve;
    double from, to;
};

/* All of them, by rising bitrate. Returns how many there are; at most `most` are stored. */
size_t gpume_ladder_stretches(const struct gpume_ladder_curve *curves, size_t count,
    struct gpume_ladder_stretch *stretches, size_t most);

#endif
