/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What it costs to predict the 8x8 blocks of a half plane: SATD and penalties, which stand for the
 * bits of saying how a block is predicted. Costs fit 16 bits (kernels/satd.h). Any thread.
 */
#ifndef GPUME_ENCODE_COSTS_H
#define GPUME_ENCODE_COSTS_H

#include "base/base.h"
#include "encode/half.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define GPUME_PENALTY_ANY 4u /* on every cost */
#define GPUME_PENALTY_INTRA 5u
#define GPUME_PENALTY_VECTOR 5u   /* of a vector other than (0,0) */
#define GPUME_PENALTY_BOTH 5u     /* of two vectors other than (0,0), or one */
#define GPUME_COST_OF_NOTHING 12u /* at most: penalties, and differences of 1/8 per sample */

/* What it takes to code a block: nothing of one that costs at most GPUME_COST_OF_NOTHING, and of
 * another what it costs beyond that. */
static inline uint32_t gpume_coded_cost(uint16_t cost)
{
    return cost > GPUME_COST_OF_NOTHING ? cost - GPUME_COST_OF_NOTHING : 0;
}

/* log2(value) in 1/1024, linear between whole powers of two. value: 1 to 2^21, which a float holds
 * exactly: its exponent, 127 more than the power of two, is in front of the fraction, of 23 bits.
 * So loops need no count of leading zeros, which few instruction sets have for several values. */
static inline uint32_t gpume_rough_log2(uint32_t value)
{
    const float exact = (float)(int32_t)value;
    uint32_t bits;
    memcpy(&bits, &exact, sizeof(bits));
    return (bits >> 13) - (127u << 10);
}

/* What coding a block takes, by its cost: log2(1 + cost / GPUME_COST_OF_BIT) in 1/1024; below 2^14.
 * Beyond what the quantizer drops, a residual of twice the size takes a bit more for each
 * coefficient, not twice the bits. By sums of costs, a few blocks that nothing predicts, and that
 * cost the same in any frame, outweigh all others. */
#define GPUME_COST_OF_BIT 32u
static inline uint32_t gpume_bits_of_cost(uint16_t cost)
{
    return gpume_rough_log2(cost + GPUME_COST_OF_BIT) - gpume_rough_log2(GPUME_COST_OF_BIT);
}

/* What blocks count beside that when patterns of frames are chosen. */
struct gpume_pattern_costs {
    /* A bit of a vector, in 1/64 of what a block takes more if its residual has twice the size:
     * below 64. Without it, patterns have too many B frames where few objects move over flat
     * ground, and where the vectors that we find by trying all are not those to which neighbours
     * lead the encoder's search. */
    uint32_t vector_part;
    /* Also cost / 1024. In a frame that hardly anything predicts, such as one of a flash or of
     * quick effects, blocks have many coefficients beyond what the quantizer drops, and by the
     * logarithm alone a P frame four frames after its reference looks nearly as cheap as one right
     * after it. */
    bool counts_cost;
    /* A B frame that costs more than twice as much as by intra prediction alone may use that, too:
     * a flash, which is seen in one frame alone, should be a B frame, and not a reference. */
    bool has_intra_b;
};

/* The vector that encoders expect of a block: the median of its neighbours to the left, above, and
 * above to the right or left, as in H.264 8.4.1.3; in the first row that to the left. vectors: of
 * all blocks. */
struct gpume_vector gpume_expected_vector(
    const struct gpume_vector *vectors, uint32_t blocks_x, uint32_t x, uint32_t y);

/* The bits of a block's vector: log2(1 + 2 |d|) for both components of its difference d from the
 * expected one, in 1/1024; below 2^16, since |d| is. */
uint32_t gpume_bits_of_vector(
    const struct gpume_vector *vectors, uint32_t blocks_x, uint32_t x, uint32_t y);

/* Of a row of blocks: the cheapest prediction from the samples around each block, by the mean of
 * the row above and the column to the left, each of them alone, the planar mode of ITU-T
 * H.265 8.4.4.2.4, or along the angles -32, -13, 13 and 32 from vertical and -13 and 13 from
 * horizontal (8.4.4.2.6). The neighbouring samples are the frame's own; the margin of the plane
 * stands for those outside. */
void gpume_intra_costs(const struct gpume_half *half, uint32_t block_y, uint16_t *costs);

/* The cost of a prediction from samples around the block. */
static inline uint16_t gpume_intra_cost(uint32_t satd)
{
    return (uint16_t)(satd + GPUME_PENALTY_ANY + GPUME_PENALTY_INTRA);
}

/* The cost of a match. */
static inline uint16_t gpume_match_cost(uint32_t satd, struct gpume_vector vector)
{
    return (uint16_t)(satd + GPUME_PENALTY_ANY +
                      ((vector.dx | vector.dy) != 0 ? GPUME_PENALTY_VECTOR : 0));
}

/* The cost of the mean of two matches. moves: a vector is not (0,0). */
static inline uint16_t gpume_mean_cost(uint32_t satd, bool moves)
{
    return (uint16_t)(satd + GPUME_PENALTY_ANY + (moves ? GPUME_PENALTY_BOTH : 0));
}

/* A reference and where the blocks of one row have their matches in it, in quarter pixels. */
struct gpume_matches {
    const struct gpume_half *reference;
    const struct gpume_vector *vectors; /* NULL: (0,0) everywhere */
};

/* Of a row of blocks that are predicted by their matches. On half samples those lie in one of the
 * planes of half.h; elsewhere they are the mean (a + b + 1) >> 1 of the nearest samples to the left
 * or above, and to the right or below: with both components odd, of these two in the diagonal.
 * Vectors are at most GPUME_HALF_WINDOW pixels. */
void gpume_match_costs(const struct gpume_half *half, uint32_t block_y,
    const struct gpume_matches *matches, uint16_t *costs);

/* The same for the mean of two matches, of which the past one counts past_share of GPUME_SHARES. */
void gpume_mean_costs(const struct gpume_half *half, uint32_t block_y,
    const struct gpume_matches *past, const struct gpume_matches *future, uint32_t past_share,
    uint16_t *costs);

/* The costs of both means that a block may be predicted by: that of the two matches, and that of
 * the references at the block's own place. */
void gpume_both_mean_costs(const struct gpume_half *half, uint32_t block_y,
    const struct gpume_matches *past, const struct gpume_matches *future, uint32_t past_share,
    uint16_t *both, uint16_t *still);

/* Quarter-pixel vectors of a row of blocks from coarse ones. A block begins with (0,0), the vectors
 * of the four coarse blocks nearest to it, and the eight neighbours of each of these five a pixel
 * away, and takes the best by SAD. Then it takes the best by SATD of that and its eight neighbours
 * half a pixel away, and of that and its four neighbours beside, above and below a quarter away.
 * Vectors beyond GPUME_HALF_WINDOW are left out. Among equal ones (0,0) is best, then the upper,
 * then the left one. coarse: of the whole frame, in whole pixels of the quarter plane. vectors:
 * filled in. costs: filled in, by gpume_match_cost. */
void gpume_refine(const struct gpume_half *target, const struct gpume_half *reference,
    uint32_t block_y, const struct gpume_vector *coarse, struct gpume_vector *vectors,
    uint16_t *costs);

#endif
