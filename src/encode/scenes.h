/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenes of a video: frames go in, facts about each frame and all changes of scene come out.
 * One thread.
 *
 * Cuts. The facts are those by which an encoder decides: what it costs to predict a frame from
 * another, relative to what it costs to code it without any (the inter and intra cost of
 * lookahead.h). Between two frames p < q of one scene this ratio is low, across a cut it is near 1.
 * A boundary is a cut if
 *   - no frame shortly after it can be predicted from the frame before it, and no frame shortly
 *     before it predicts the frame after it: the lowest ratio of all these pairs counts, so that
 *     neither a flash nor an object that passes the camera makes a cut;
 *   - that ratio stands out from those of consecutive frames around: in violent motion or noise
 *     nothing can be predicted well, cut or not. A median of the neighbours is subtracted, a moving
 *     threshold as in Yusoff, Christmas and Kittler 2000, "Video shot cut detection using adaptive
 *     thresholding";
 *   - no dissolve or fade (gradual.h) covers it.
 * The confidence of a cut is the part of the range from the neighbours' median to 1 that its ratio
 * reaches, or the part of its ratio that exceeds the median, whichever is larger; both are reduced
 * if the difference is small.
 */
#ifndef GPUME_ENCODE_SCENES_H
#define GPUME_ENCODE_SCENES_H

#include "encode/changes.h"
#include "encode/lookahead.h"
#include "encode/spectrum.h"

struct gpume_scenes;

/* Facts about one frame. Costs are sums over `blocks` squares of 8x8 samples at half resolution,
 * with the penalties of costs.h. */
struct gpume_scene_frame {
    uint64_t frame; /* from 0 */
    uint32_t blocks, intra_blocks;
    uint64_t intra_cost;
    uint64_t inter_cost; /* predicted from the frame before; of frame 0 the intra cost */
    struct gpume_spectrum intra, inter; /* the same two ways */
    double luma;                        /* mean, of 8-bit samples */
    /* Means over squares of 16x16 pixels of the standard deviation in a square, of 8-bit samples,
     * and of its change since the frame before. */
    double spatial, temporal;
};

struct gpume_scenes_params {
    /* Size, engine, log and `lent`; gpume_scenes_open sets the rest. */
    struct gpume_lookahead_params lookahead;
    /* Called for each frame, in order. A negative gpume_status ends gpume_scenes_put with that
     * status. NULL: facts are not wanted. */
    int (*take)(void *opaque, const struct gpume_scene_frame *frame);
    void *opaque;
};

/* Here and below, failures are a negative gpume_status after one line; then only closing is
 * allowed. */
int gpume_scenes_open(struct gpume_scenes **scenes, const struct gpume_scenes_params *params);

/* What the engine is, for messages. Valid until the scenes are closed. */
const char *gpume_scenes_engine(const struct gpume_scenes *scenes);

/* The next frame. */
int gpume_scenes_put(struct gpume_scenes *scenes, const struct gpume_plane *luma);

/* No more frames. *changes is valid until the scenes are closed. */
int gpume_scenes_finish(struct gpume_scenes *scenes, const struct gpume_changes **changes);

void gpume_scenes_close(struct gpume_scenes **scenes);

/* The first frame of the scene that begins with a change: of a cut or fade-in its first frame, of a
 * dissolve the frame after it. UINT64_MAX: none begins, it is a fade-out. */
uint64_t gpume_change_scene(const struct gpume_change *change);

#endif
