/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenes of a video: frames go in, facts about each frame and all changes of scene come out.
 * One thread.
 *
 * Cuts (changes.h). A cut is a change of most of the picture that motion cannot explain. Two views
 * of the frames must agree:
 *   - what it costs to predict their blocks from each other, relative to what it costs to code them
 *     without any prediction (the inter and intra cost of lookahead.h);
 *   - how thumbnails of them differ after motion compensation. Coding noise, which key frames of
 *     the input change, and grain do not show there.
 * Of all pairs of frames shortly before and after the boundary that contain one of the two at it,
 * the least difference counts, so that neither a flash nor an object that passes the camera makes a
 * cut; but even frames, such as black ones, are alike whatever is between them. Light that is on
 * for longer leaves outlines where they are. A frame that is half of two scenes counts as none.
 * What is usual between consecutive frames around tells cuts from violent motion and noise: a
 * moving threshold as in Yusoff, Christmas and Kittler 2000, "Video shot cut detection using
 * adaptive thresholding". A dissolve, fade or wipe (gradual.h) hides the cuts in it.
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
 * dissolve or wipe the frame after it. UINT64_MAX: none begins, it is a fade-out. */
uint64_t gpume_change_scene(const struct gpume_change *change);

#endif
