/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frame types: scene cuts, key frames, and between them patterns of P and B frames.
 *
 * Scene cut: predicting the frame from the one before costs at least (1 - bias) times its intra
 * cost. The bias rises with the distance from the last key frame, since an intra frame is more
 * welcome the longer there was none. A flash is no cut. It lasts at most as many frames as there
 * may be B frames in a row; for x264, unless b-adapt is 2, at most one. Of several changes as close
 * to each other as that, x264 cuts at the last one and x265 at the first one.
 */
#ifndef GPUME_ENCODE_TYPES_H
#define GPUME_ENCODE_TYPES_H

#include "encode/decision.h"
#include "encode/patterns.h"

struct gpume_types {
    struct gpume_encode_options options;
    gpume_cost_fn cost, coding_cost;
    void *opaque;
    uint64_t last_key;   /* display position of the last key frame */
    uint64_t calm_last;  /* no frame up to this one is a cut, as a flash ends there */
    uint64_t change;     /* x265: the last change that was seen; 0: none */
    bool change_follows; /* another one too closely */
};

/* How many frames after the last I or P frame must be known for a decision, except at the end of
 * the video. At most GPUME_PATTERN_MAX. */
uint32_t gpume_types_window(const struct gpume_encode_options *options);

/* Frame 0 is an IDR frame. cost: of predicting a frame, for cuts; coding_cost: of coding it, for
 * patterns. */
void gpume_types_init(struct gpume_types *types, const struct gpume_encode_options *options,
    gpume_cost_fn cost, gpume_cost_fn coding_cost, void *opaque);

/* Decides the types of the `count` frames after `last`, an I or P frame; count > 0. Those up to the
 * first I or P frame, `*decided` in all, are final, and the caller commits them; the others are
 * what would follow if the video ended there. */
int gpume_types_decide(struct gpume_types *types, uint64_t last, uint32_t count,
    enum gpume_frame_type *decisions, uint32_t *decided);

/* The frame has got its final type. */
void gpume_types_commit(struct gpume_types *types, uint64_t frame, enum gpume_frame_type type);

static inline bool gpume_type_is_b(enum gpume_frame_type type)
{
    return type == GPUME_FRAME_B || type == GPUME_FRAME_B_REF;
}

#endif
