/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of a candidate, by the metric SAD: the sum of absolute differences between the samples c
 * of a block and the samples r of its match. And a lower bound of it that needs sums of samples
 * only, for pruning.
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
#ifndef GPUME_MODEL_COST_H
#define GPUME_MODEL_COST_H

#include <stdint.h>

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
