/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which candidate wins: its cost, the price of its vector, and the tie rule. C and GLSL both read
 * this file, and define price and ties here once.
 */
#ifndef GPUME_MODEL_COST_H
#define GPUME_MODEL_COST_H

#ifdef GL_core_profile
#define GPUME_COST_FUNCTION uint
#define GPUME_COST_TYPE uint
#define GPUME_COST_LOG2(value) uint(findMSB(value))
#define GPUME_COST_NUMBER(value) uint(value)
#else
#include <stdbool.h>
#include <stdint.h>
#define GPUME_COST_FUNCTION static inline uint32_t
#define GPUME_COST_TYPE uint32_t
#define GPUME_COST_LOG2(value) (31u - (uint32_t)__builtin_clz(value))
#define GPUME_COST_NUMBER(value) ((uint32_t)(value))
#endif

/* --- The tie rule. Among candidates of equal cost (0,0) wins, then the smallest dy, then the
 * smallest dx. */

/* The place of a vector in that order, among those of a window: at most 4097^2 for the
 * largest, in quarter pixels. */
GPUME_COST_FUNCTION gpume_order(int dx, int dy, int window_x, int window_y)
{
    int index = (dy + window_y) * (2 * window_x + 1) + dx + window_x;
    return dx == 0 && dy == 0 ? 0u : 1u + GPUME_COST_NUMBER(index);
}

#ifndef GL_core_profile
struct gpume_candidate {
    uint32_t cost;
    int32_t dx, dy;
};

#define GPUME_ORDER_WINDOW                                                                         \
    2048 /* the largest, in quarter pixels: vectors have the same order in every window */

/* Whether a wins over b. */
static inline bool gpume_candidate_wins(struct gpume_candidate a, struct gpume_candidate b)
{
    return a.cost != b.cost ? a.cost < b.cost
                            : gpume_order(a.dx, a.dy, GPUME_ORDER_WINDOW, GPUME_ORDER_WINDOW) <
                                  gpume_order(b.dx, b.dy, GPUME_ORDER_WINDOW, GPUME_ORDER_WINDOW);
}
#endif

/*
 * --- The price of a vector: the signed Exp-Golomb code of H.264 (9.1) and HEVC (9.2), of the
 * difference between a vector and its predictor, and Lagrange's multiplier lambda in 1/256.
 */

/* Bits of one component: at most 37, since differences of 16-bit components are below 2^17. */
GPUME_COST_FUNCTION gpume_rate_component(int value)
{
    GPUME_COST_TYPE code =
        value > 0 ? GPUME_COST_NUMBER(2 * value - 1) : GPUME_COST_NUMBER(-2 * value);
    return 2u * GPUME_COST_LOG2(code + 1u) + 1u;
}

/* Bits of the vector (dx,dy) with the predictor (px,py). */
GPUME_COST_FUNCTION gpume_rate_bits(int dx, int dy, int px, int py)
{
    return gpume_rate_component(dx - px) + gpume_rate_component(dy - py);
}

/* What that many bits add to a cost. lambda: at most GPUME_LAMBDA_MAX < 2^18, and bits at most 148,
 * of two vectors: the product is below 2^26. */
GPUME_COST_FUNCTION gpume_rate_cost(GPUME_COST_TYPE lambda, GPUME_COST_TYPE bits)
{
    return (lambda * bits + 128u) >> 8;
}

#ifndef GL_core_profile
/*
 * --- The cost of a candidate, by the metric SAD: the sum of absolute differences between the
 * samples c of a block and the samples r of its match. And a lower bound of it that needs sums of
 * samples only, for pruning.
 *
 * For any set of samples, |sum c - sum r| = |sum (c - r)| <= sum |c - r|, the triangle inequality.
 * Take disjoint sub-blocks of a block, with the sums C_i and R_i. Adding that up over them gives
 *
 *      sum |C_i - R_i|  <=  sum of |c - r| over all sub-blocks  <=  cost
 *
 * whether or not they cover the block. Dividing a sub-block further never lowers the bound, by the
 * same inequality. So a candidate whose bound is not below the best cost so far cannot have a
 * smaller cost, and need not be compared.
 *
 * W. Li, E. Salari, "Successive elimination algorithm for motion estimation", IEEE Trans. Image
 * Processing 4 (1995): one sum per block. X. Q. Gao, C. J. Duanmu, C. R. Zou, "A multilevel
 * successive elimination algorithm for block matching motion estimation", ibid. 9 (2000): sums of
 * sub-blocks.
 *
 * The general search has more metrics, see cpu/general/plain.h, with their own bounds.
 */

/* What one sample adds to the cost. */
static inline uint32_t gpume_cost_of_sample(uint32_t target, uint32_t reference)
{
    return target > reference ? target - reference : reference - target;
}

/* What one sub-block adds to the lower bound, from its sums of samples. */
static inline uint32_t gpume_cost_bound(uint32_t target_sum, uint32_t reference_sum)
{
    return target_sum > reference_sum ? target_sum - reference_sum : reference_sum - target_sum;
}

/* The largest cost of a block: 128 * 128 * 65535 < 2^30 at most. */
static inline uint32_t gpume_cost_max(uint32_t block_w, uint32_t block_h, uint32_t sample_max)
{
    return block_w * block_h * sample_max;
}
#endif

#endif
