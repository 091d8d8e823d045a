/* SPDX-License-Identifier: BSD-2-Clause */
/* The filters of gpume_params.prefilter; included by gpume.h. */
#ifndef GPUME_PREFILTER_H
#define GPUME_PREFILTER_H

#include <stddef.h>
#include <stdint.h>

/*
 * A filter that is applied to every frame before the search: vectors, costs, ranks and params.check
 * refer to the filtered frames. Predicted frames and sums are computed from the original frames
 * with these vectors, so that sums.sad_after is not the sum of the costs.
 *
 * Let v(x,y) be the frame's sample, but 2^bits - 1 where the stored sample is larger; outside the
 * picture, v is the nearest edge sample, whatever params.edge is. The filtered frame is f(x,y),
 * from 0 to 2^bits - 1. i runs from -width/2 to width/2 and j from -height/2 to height/2. Outside
 * the picture, params.edge applies to f as to any reference. round() rounds halves away from 0.
 * All other arithmetic is on integers, and / discards the remainder, so that every engine computes
 * the same.
 *
 * GAUSS   sigma s: g(i) = exp(-i^2 / 2s^2) for |i| <= r = ceil(3s), G the sum of all g(i), w(i) =
 *         round(2^16 g(i) / G), except that w(0) is 2^16 minus all others. First the columns, to
 *         16 bits: c(x,y) = (sum of w(j) v(x,y+j) + 2^(bits-1)) / 2^bits; then the rows:
 *         f(x,y) = (sum of w(i) c(x+i,y) + 2^(31-bits)) / 2^(32-bits).
 * BOX     f = (sum of v(x+i,y+j) + n/2) / n, n = width * height.
 * MEDIAN  f is the median of the v(x+i,y+j).
 * BILATERAL  sigma s, |i| and |j| <= ceil(3s): g(i,j) = exp(-(i^2+j^2) / 2s^2), G the sum of all
 *         g(i,j), w(i,j) = floor(2^16 g(i,j) / G). The range weight of the difference
 *         d = |v(x+i,y+j) - v(x,y)|, in steps of 8-bit samples (above 10 bits, rounded down to
 *         quarters of a step), is l = round(2^15 exp(-d^2 / 2 range^2)). With a = w l / 2^8 and A
 *         the sum of all a, f = (sum of a v(x+i,y+j) + A/2) / A.
 * KERNEL  weights W row by row from the upper left one, which multiplies v(x-width/2,y-height/2):
 *         a correlation, the kernel is not flipped. k is the largest integer, possibly negative,
 *         with sum of |W| 2^k < 2^(31-bits) and sum of |w| < 2^(31-bits), where w = round(2^k W).
 *         The weights are divided by their sum, so that uniform areas do not change: with S = sum
 *         of w, f = (sum of w v(x+i,y+j) + |S|/2) / |S|, with all w negated if the sum of W is
 *         negative, and f is clamped to 0 .. 2^bits - 1. The sum is taken as 0 if |sum of W| < sum
 *         of |W| / 1000 or if S does not have its sign; then k is at most 31 - bits, and 2^k
 *         replaces |S|. In that case a negative k gives GPUME_INVALID.
 */
enum gpume_prefilter_kind {
    GPUME_PREFILTER_GAUSS,
    GPUME_PREFILTER_BOX,
    GPUME_PREFILTER_MEDIAN,
    GPUME_PREFILTER_BILATERAL,
    GPUME_PREFILTER_KERNEL,
};

#define GPUME_PREFILTER_SIDE_MAX 31 /* pixels; of a box or a kernel */

/* Members that do not belong to the kind are ignored. */
struct gpume_prefilter {
    size_t size; /* sizeof(struct gpume_prefilter) */
    enum gpume_prefilter_kind kind;
    /* Pixels. BOX: 3 to 31, odd, width = height. MEDIAN: 3 or 5, width = height. KERNEL: 1 to 31,
     * odd. */
    uint32_t width, height;
    double sigma; /* pixels. GAUSS: 0.3 to 16. BILATERAL: 0.3 to 5 */
    double range; /* BILATERAL: in steps of 8-bit samples, at any params.bits; 0.1 to 1000 */
    /* KERNEL: width * height of them, each 0 or of a magnitude from 1e-9 to 1e9; not all are 0. */
    const double *weights;
};

#endif
