/* SPDX-License-Identifier: BSD-2-Clause */
/* Synthetic frames for tests. */
#ifndef GPUME_TESTS_SYNTH_H
#define GPUME_TESTS_SYNTH_H

#include "gpume/gpume.h"

enum synth_content {
    SYNTH_NOISE,    /* every sample random: nothing can be pruned */
    SYNTH_TIES,     /* two values: equal costs everywhere */
    SYNTH_FLAT,     /* one value per frame */
    SYNTH_EXTREME,  /* 0 or the peak: the largest costs and sums */
    SYNTH_PAN,      /* a texture that moves 3 pixels right and 2 up per frame */
    SYNTH_GRAIN,    /* the same with random low two bits: the best cost is low but not 0 */
    SYNTH_OVERFULL, /* random in all bits of the sample's memory, so some exceed 2^bits - 1 */
    SYNTH_OPPOSITE, /* all 0, then all peak: no cost can be larger */
    SYNTH_SLOPE,    /* rises to the right, downwards and from frame to frame: sums prune almost
                       everything */
    SYNTH_SPECKS,   /* flat except for a few samples that are one less: sums differ as little as
                       possible */
    SYNTH_CHECKERS, /* 0 and the peak in turn, sample by sample: the largest cost at every other
                       vector */
};

#define SYNTH_PAN_X 3
#define SYNTH_PAN_Y (-2)

/* Allocates a plane whose stride is a little larger than its width. NULL data: out of memory. */
struct gpume_plane synth_plane(uint32_t width, uint32_t height, uint32_t bits);

/* Fills the plane with frame `index` of a sequence. */
void synth_fill(
    struct gpume_plane *plane, enum synth_content content, uint32_t index, uint64_t seed);

uint32_t synth_sample(const struct gpume_plane *plane, int64_t x, int64_t y);
void synth_put(struct gpume_plane *plane, uint32_t x, uint32_t y, uint32_t value);

#endif
