/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What costs of blocks are computed with: SATD of a row of blocks, once for each instruction set.
 * All give the same numbers. The files include the same headers and differ in the number of blocks
 * that they handle side by side (rows.h).
 */
#ifndef GPUME_ENCODE_KERNELS_KERNELS_H
#define GPUME_ENCODE_KERNELS_KERNELS_H

#include "encode/costs.h"

/* satds: of each block of the row. They fit 16 bits. */
struct gpume_satd_kernels {
    const char *name;
    bool (*available)(void); /* on this processor */
    /* The functions of costs.h, without penalties. */
    void (*intra)(const struct gpume_half *half, uint32_t block_y, uint16_t *satds);
    void (*match)(const struct gpume_half *half, uint32_t block_y,
        const struct gpume_matches *matches, uint16_t *satds);
    void (*mean)(const struct gpume_half *half, uint32_t block_y, const struct gpume_matches *past,
        const struct gpume_matches *future, uint32_t past_share, uint16_t *satds);
    void (*refine)(const struct gpume_half *half, const struct gpume_half *reference,
        uint32_t block_y, struct gpume_vector *vectors, uint16_t *satds);
};

/* From the plain ones to the fastest; NULL past the last. Some may be unavailable. */
const struct gpume_satd_kernels *gpume_satd_kernels_at(uint32_t index);

/* The fastest that are available. */
const struct gpume_satd_kernels *gpume_satd_kernels(void);

extern const struct gpume_satd_kernels gpume_satd_kernels_plain;
extern const struct gpume_satd_kernels gpume_satd_kernels_avx2;   /* x86-64 only */
extern const struct gpume_satd_kernels gpume_satd_kernels_avx512; /* x86-64 only */

#endif
