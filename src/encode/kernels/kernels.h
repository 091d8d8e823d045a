/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What half planes are made with and costs of blocks are computed with, SATD of a row of blocks,
 * once for each instruction set. All give the same numbers. The files include the same headers and
 * differ in the number of blocks that they handle side by side (rows.h).
 */
#ifndef GPUME_ENCODE_KERNELS_KERNELS_H
#define GPUME_ENCODE_KERNELS_KERNELS_H

#include "encode/costs.h"
#include "encode/decision.h"

struct gpume_encode_kernels {
    bool (*available)(void); /* on this processor */
    /* Means of 2x2 samples of two rows: `count` of them. */
    void (*halve)(uint8_t *to, const uint8_t *upper, const uint8_t *lower, uint32_t count);
    /* The variance of each 16x16 square of a band (half.h) times its 256 samples, rounded up: how
     * much detail a picture has, which adaptive quantization goes by. */
    void (*energies)(const struct gpume_band *band, uint32_t count, uint32_t *energies);
    /* Weighted samples of a row of a half plane. Up to 24 samples beyond `count`, which is a
     * multiple of 8, are read and overwritten, too: they are the margin's. */
    void (*weigh)(
        uint8_t *to, const uint8_t *from, uint32_t count, const struct gpume_weight *weight);
    /* The functions of costs.h, without penalties. satds: of each block of the row; 16 bits hold
     * them. */
    void (*intra)(const struct gpume_half *half, uint32_t block_y, uint16_t *satds);
    void (*match)(const struct gpume_half *half, uint32_t block_y,
        const struct gpume_matches *matches, uint16_t *satds);
    void (*mean)(const struct gpume_half *half, uint32_t block_y, const struct gpume_matches *past,
        const struct gpume_matches *future, uint32_t past_share, uint16_t *satds);
    void (*refine)(const struct gpume_half *half, const struct gpume_half *reference,
        uint32_t block_y, const struct gpume_vector *coarse, struct gpume_vector *vectors,
        uint16_t *satds);
};

/* From the plain ones to the fastest; NULL past the last. Some may be unavailable. */
const struct gpume_encode_kernels *gpume_encode_kernels_at(uint32_t index);

/* The fastest that are available. */
const struct gpume_encode_kernels *gpume_encode_kernels(void);

/* The table of the kernels that a file compiles, which has included band.h, intra.h and refine.h.
 */
#define GPUME_ENCODE_KERNELS(is_available)                                                         \
    {                                                                                              \
        .available = is_available, .halve = halve, .energies = energies, .weigh = weigh_row,       \
        .intra = intra_satds, .match = match_satds, .mean = mean_satds, .refine = refine           \
    }

extern const struct gpume_encode_kernels gpume_encode_kernels_avx2;   /* x86-64 only */
extern const struct gpume_encode_kernels gpume_encode_kernels_avx512; /* x86-64 only */

#endif
