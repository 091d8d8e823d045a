/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The macroblock tree: how much the blocks of later frames owe to each block of this one, and the
 * QP offsets that follow. Garrett-Glaser, "A novel macroblock-tree algorithm for high-performance
 * optimization of dependent video coding in H.264/AVC" (2009).
 *
 * A block's information is its intra cost, scaled by adaptive quantization, plus what blocks that
 * refer to it have passed on. It passes on (information) * (1 - inter cost / intra cost) to the
 * four blocks that its match overlaps, in proportion to the areas; with two references, to each
 * side by its nearness in time with weightb, otherwise half to each. The offset is
 * -5 (1 - qcomp) log2(information / intra cost), on top of adaptive quantization. The encoders also
 * scale by the duration of frames, which matters with variable frame rates only, and is left out
 * here.
 *
 * Unlike the encoders, we smooth both parts of that ratio over neighbouring blocks, since vectors
 * err, and offsets that differ from block to block cost bits themselves; quality.c adapts the
 * strength to each encoder, and counts the B frames before a P frame for x264. What this gains is
 * in tests/bench/firstpass/FINDINGS.md.
 */
#ifndef GPUME_ENCODE_TREE_H
#define GPUME_ENCODE_TREE_H

#include "encode/decision.h"

struct gpume_tree_size {
    uint32_t blocks_x, blocks_y; /* 8x8 at half resolution */
};

/* The information that blocks have of their own, in sixteenths of a cost; it stops at UINT32_MAX.
 * aq_offsets: 1/256. */
void gpume_tree_information(
    uint32_t count, const uint16_t *intra_costs, const int16_t *aq_offsets, uint32_t *information);

/* A frame of which information flows to its references. All arrays have one entry per block. */
struct gpume_tree_step {
    const uint16_t *intra_costs, *costs;
    const uint8_t *kinds;                     /* enum gpume_source_kind */
    const struct gpume_vector *past, *future; /* quarter pixels; NULL where no block needs them */
    const uint32_t *information;              /* of their own */
    uint32_t past_share;                      /* of two references, of GPUME_SHARES */
    uint32_t intra_eighths;                   /* of intra_costs: what the encoder itself finds */
    const uint32_t *received;                 /* from later frames; NULL: none refers to it */
};

/* Adds what the frame passes on to past_sums and future_sums, which have one entry per block. */
void gpume_tree_propagate(const struct gpume_tree_size *size, const struct gpume_tree_step *step,
    uint32_t *past_sums, uint32_t *future_sums);

/* Offsets of one frame in 1/256, those of adaptive quantization included. strength: the
 * factor of the logarithm, in 1/65536. */
void gpume_tree_offsets(const struct gpume_tree_size *size, const uint32_t *information,
    const int16_t *aq_offsets, const uint32_t *received, int64_t strength, int16_t *offsets);

#endif
