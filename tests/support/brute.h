/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The brute-force answer, written from gpume.h alone: plain, slow pixel loops with clamped
 * coordinates that share no code with the engines under test.
 */
#ifndef GPUME_TESTS_BRUTE_H
#define GPUME_TESTS_BRUTE_H

#include "gpume/gpume.h"

struct brute {
    uint32_t blocks;
    int32_t *dx, *dy;
    uint64_t *costs;
    uint32_t *ranks;
    uint64_t candidates; /* candidates compared, over all blocks */
    uint64_t zero, sad_before, sad_after, sse_before, sse_after;
};

struct brute brute_field(const struct gpume_params *params, const struct gpume_plane *target,
    const struct gpume_plane *reference);

/* The same for a block size other than params->block. */
struct brute brute_layer(const struct gpume_params *params, uint32_t block_w, uint32_t block_h,
    const struct gpume_plane *target, const struct gpume_plane *reference);

void brute_free(struct brute *brute);

#endif
