/* SPDX-License-Identifier: BSD-2-Clause */
/* The filters of gpume_params.prefilter; included by gpume.h. */
#ifndef GPUME_PREFILTER_H
#define GPUME_PREFILTER_H

#include <stddef.h>
#include <stdint.h>

/*
 * A filter that every frame passes before it is searched: vectors, costs, ranks and params.check
 * are those of the filtered frames. Predicted frames and sums are made of the frames as they were
 * sent, by these vectors, so that sums.sad_after is no longer the sum of the costs.
 *
 * Let v(x,y) be the frame's sample, 2^bits - 1 where memory holds more; outside the picture its
 * nearest edge sample, whatever params.edge is. The filtered frame is f(x,y), from 0 to 2^bits - 1,
 * for i from -width/2 to width/2 and j from -height/2 to height/2 (whole parts). Outside the
 * picture it is as params.edge says of any reference. round() takes halves away from 0; all else is
 * in whole numbers, and / leaves out the rest, so that engines cannot differ.
 *
 * GAUSS   sigma s: g(i) = exp(-i^2 / 2s^2) for |i| <= r = ceil(3s), G their sum, w(i) =
 *         round(2^16 g(i) / G), but w(0) is 2^16 less all others. Columns first, to 16 bits:
 *         c(x,y) = (sum of w(j) v(x,y+j) + 2^(bits-1)) / 2^bits, then rows:
 *         f(x,y) = (sum of w(i) c(x+i,y) + 2^(31-bits)) / 2^(32-bits).
 * BOX     f = (sum of v(x+i,y+j) + n/2) / n, n = width height.
 * MEDIAN  f is the middle one of the v(x+i,y+j).
 * BILATERAL  sigma s, |i| and |j| <= ceil(3s): g(i,j) = exp(-(i^2+j^2) / 2s^2), G their sum, w(i,j)
 *         = the whole part of 2^16 g(i,j) / G. Likeness: for d = |v(x+i,y+j) - v(x,y)| in steps of
 *         8 bits (above 10 bits in whole quarters of one, the rest left out), l = round(2^15
 *         exp(-d^2 / 2 range^2)). With a = w l / 2^8 and A their sum, f = (sum of a v(x+i,y+j) +
 *         A/2) / A.
 * KERNEL  weights W in rows from the upper left one, that of v(x-width/2,y-height/2), as they stand
 *         (not turned over). k is the largest whole number (below 0 too) with sum of |W| 2^k <
 *         2^(31-bits) and sum of |w| < 2^(31-bits), w = round(2^k W). They are divided by their
 *         sum, so that even areas stay as they are: with S = sum of w, f = (sum of w v(x+i,y+j) +
 *         |S|/2) / |S|, all w with the other sign if the sum of W is below 0, and f is cut to 0 ..
 *         2^bits - 1. A sum counts as 0 where |sum of W| < sum of |W| / 1000, or S has not its
 *         sign; then k is at most 31 - bits, and 2^k stands for |S|. GPUME_INVALID if k is below 0
 *         there.
 */
enum gpume_prefilter_kind {
    GPUME_PREFILTER_GAUSS,
    GPUME_PREFILTER_BOX,
    GPUME_PREFILTER_MEDIAN,
    GPUME_PREFILTER_BILATERAL,
    GPUME_PREFILTER_KERNEL,
};

#define GPUME_PREFILTER_SIDE_MAX 31 /* pixels, of a box or a kernel */

/* Members that do not belong to the kind are ignored. */
struct gpume_prefilter {
    size_t size; /* sizeof(struct gpume_prefilter) */
    enum gpume_prefilter_kind kind;
    /* Pixels. BOX: 3 to 31, odd, width = height. MEDIAN: 3 or 5, width = height. KERNEL: 1 to 31,
     * odd. */
    uint32_t width, height;
    double sigma; /* pixels. GAUSS: 0.3 to 16. BILATERAL: 0.3 to 5 */
    double range; /* BILATERAL: in steps of 8 bits, whatever params.bits is; 0.1 to 1000 */
    /* KERNEL: width * height, each 0 or of a magnitude from 1e-9 to 1e9, not all 0. */
    const double *weights;
};

#endif
