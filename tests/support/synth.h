/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames made to order for tests. */
#ifndef GPUME_TESTS_SYNTH_H
#define GPUME_TESTS_SYNTH_H

#include "gpume/gpume.h"

enum synth_content {
    SYNTH_NOISE,    /* every sample random: nothing to skip */
    SYNTH_TIES,     /* two values: equal costs everywhere */
    SYNTH_FLAT,     /* one value a frame */
    SYNTH_EXTREME,  /* 0 or the peak: the largest costs and sums */
    SYNTH_PAN,      /* a texture that moves 3 pixels right and 2 up a frame */
    SYNTH_GRAIN,    /* the same, its lowest two bits random: the best cost is low, not 0 */
    SYNTH_OVERFULL, /* random in all of the sample's memory, beyond 2^bits - 1 */
    SYNTH_OPPOSITE, /* all 0, then all peak: no cost can be larger */
    SYNTH_SLOPE,    /* grows to the right, below and from frame to frame: sums tell almost all */
    SYNTH_SPECKS,   /* flat but for a few samples one less: sums differ where least they can */
    SYNTH_CHECKERS, /* 0 and the peak by turns, sample by sample: as large at every other vector */
};

#define SYNTH_PAN_X 3
#define SYNTH_PAN_Y (-2)

/* A plane with memory of its own; stride a little more than the width. NULL data: out of memory. */
struct gpume_plane synth_plane(uint32_t width, uint32_t height, uint32_t bits);

/* Fills frame number index of a sequence. */
void synth_fill(
    struct gpume_plane *plane, enum synth_content content, uint32_t index, uint64_t seed);

uint32_t synth_sample(const struct gpume_plane *plane, int64_t x, int64_t y);
void synth_put(struct gpume_plane *plane, uint32_t x, uint32_t y, uint32_t value);

#endif
