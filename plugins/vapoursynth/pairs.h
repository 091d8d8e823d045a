/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motion fields of any two frames of a clip, in any order. A context of libgpume searches pairs of
 * the frames that it was sent last; this sends what a pair needs and the context no longer has. A
 * clip that is read in order is sent once.
 *
 * One thread at a time.
 */
#ifndef GPUME_PLUGINS_VAPOURSYNTH_PAIRS_H
#define GPUME_PLUGINS_VAPOURSYNTH_PAIRS_H

#include <gpume/gpume.h>

#define GPUME_PAIRS_HELD_MAX 64 /* frames */

struct gpume_pairs {
    gpume *ctx;
    uint32_t held; /* the context keeps this many frames, the last ones */
    uint64_t sent; /* frames so far; their indices in the context count from 0 */
    uint64_t names[GPUME_PAIRS_HELD_MAX]; /* of frame i at i % held */
};

/* A frame as the context gets it. The plane lies `left` pixels from the left and `top` from the
 * top; around it lie its edge samples. Equal names are equal frames. */
struct gpume_pairs_frame {
    uint64_t name;
    struct gpume_plane plane;
    uint32_t left, top;
};

/* Opens a context that keeps `held` frames, from 2 to GPUME_PAIRS_HELD_MAX. params gives all that
 * does not depend on it. Returns the status of gpume_open. */
int gpume_pairs_open(struct gpume_pairs *pairs, const struct gpume_params *params, uint32_t held);

/* Closes it. Zeros and what could not be opened are fine. */
void gpume_pairs_close(struct gpume_pairs *pairs);

/* Searches the target in the reference and waits for the result, which the caller releases before
 * the next call. */
int gpume_pairs_search(struct gpume_pairs *pairs, const struct gpume_pairs_frame *target,
    const struct gpume_pairs_frame *reference, const struct gpume_field **field);

#endif
