/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is left of a frame after prediction, for the bits model (bits.h): how many coefficients of
 * its residual have which size, and the bits of its vectors. Sums of differences cannot tell noise,
 * which a coarse quantizer removes, from edges, which it keeps; counts by size can.
 *
 * Coefficients are those of Hadamard transforms of 4x4 samples at half resolution, divided by 4,
 * which keeps the energy. QP offsets are taken into account: an offset of -6 doubles the
 * coefficients of a block, since it halves the quantizer's step. Any thread.
 */
#ifndef GPUME_ENCODE_SPECTRUM_H
#define GPUME_ENCODE_SPECTRUM_H

#include "encode/costs.h"
#include "encode/decision.h"

/* Bin k counts sizes of about 2^(k / 2 - 3 + 1/4): half an octave each. Smaller and larger sizes
 * are in the first and the last bin. */
#define GPUME_SPECTRUM_BINS 24u
#define GPUME_SPECTRUM_FIRST (-3) /* octave of bin 0 */
#define GPUME_SPECTRUM_FIRST_SAVED (-5)

/* Blocks that are looked at, at most: of larger frames a part, another one in each frame. Counts
 * thus fit 16 bits: each block has 64 coefficients. */
#define GPUME_SPECTRUM_BLOCKS 1000u
/* Vectors take longer, so those of about this many are looked at: each stands for several. */
#define GPUME_SPECTRUM_VECTORS 250u

struct gpume_spectrum {
    uint32_t blocks, sampled; /* of the frame; that were looked at */
    uint32_t differing;       /* those of them that differ from what predicts them */
    /* Of the sampled blocks of which something is coded: */
    uint16_t means[GPUME_SPECTRUM_BINS];   /* the first coefficient of each 4x4 samples */
    uint16_t details[GPUME_SPECTRUM_BINS]; /* the other fifteen */
    /* Bits of vectors: log2(1 + 2 |d|) for both components of the difference d of a vector from the
     * median of its neighbours, in quarter pixels at half resolution. At most 4 log2(1 + 4 * 64) in
     * a block. Bin k counts those of blocks in which a bit saves about 2^(k / 2 - 5 + 1/4) of SATD,
     * from what the block costs where that median, or no motion, predicts it. */
    uint16_t vectors[GPUME_SPECTRUM_BINS];
};

/* How the blocks of a frame are predicted. */
struct gpume_predicted {
    uint64_t frame; /* its position: chooses the blocks that are looked at */
    const struct gpume_half *target;
    struct gpume_matches past, future; /* of all blocks; only those that `kinds` says are read */
    uint32_t past_share;               /* of GPUME_SHARES, in means of both */
    struct gpume_weight weight;        /* of the past reference */
    uint64_t distance;                 /* to it */
    const uint8_t *kinds;              /* enum gpume_source_kind */
    const uint16_t *costs;
    const int16_t *offsets; /* NULL: 0 everywhere */
};

/* The blocks that are looked at: every step-th along both axes, from these on. Another part in each
 * frame. */
struct gpume_sampling {
    uint32_t step, x, y;
};

struct gpume_sampling gpume_sampling_of(uint32_t blocks_x, uint32_t blocks_y, uint64_t frame);

void gpume_spectrum_measure(
    struct gpume_spectrum *spectrum, const struct gpume_predicted *predicted);

#endif
