/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Half-resolution frames of a stretch of a video, and what it costs to predict one of them from
 * others. libgpume finds the vectors (8x8 blocks, whole pixels by SAD, refined to quarter pixels by
 * SATD); intra costs and means of two matches are computed here. Costs are SATD of 8-bit samples,
 * with the penalties of costs.h. They are the same on every engine and with every number of
 * threads. One thread.
 */
#ifndef GPUME_ENCODE_LOOKAHEAD_H
#define GPUME_ENCODE_LOOKAHEAD_H

#include "encode/decision.h"

struct gpume_lookahead;

struct gpume_lookahead_params {
    uint32_t width, height, bits; /* of the frames that are put in */
    uint32_t distance_max;        /* between a frame and a reference: bframes + 1 */
    uint32_t frames_max;          /* kept at once; more than distance_max */
    bool weights;                 /* find weights for past references (fades) */
    double aq_strength;           /* 0: no energies */
    enum gpume_backend backend;
    const char *device;
    uint32_t threads;
    const char *cache_dir;
    gpume_log_fn log;
    void *log_opaque;
};

int gpume_lookahead_open(
    struct gpume_lookahead **lookahead, const struct gpume_lookahead_params *params);

/* What the frames' engine is, for messages: "NVIDIA H200", "cpu". */
const char *gpume_lookahead_engine(const struct gpume_lookahead *lookahead);

uint32_t gpume_lookahead_blocks_x(const struct gpume_lookahead *lookahead);
uint32_t gpume_lookahead_blocks_y(const struct gpume_lookahead *lookahead);

/* Adds the next frame: luma at full resolution. Its position counts from 0. Room must have been
 * made by gpume_lookahead_drop. */
int gpume_lookahead_put(struct gpume_lookahead *lookahead, const struct gpume_plane *luma);

/* Forgets all frames before this position. */
void gpume_lookahead_drop(struct gpume_lookahead *lookahead, uint64_t first);

/* Of one frame, valid until the frame is dropped. */
struct gpume_frame_facts {
    const uint16_t *intra_costs;
    uint64_t intra_cost; /* their sum */
    /* Variance of each 16x16 square of luma at full resolution times its pixels, of 8-bit samples.
     */
    const uint32_t *energies;
    uint64_t luma_sum;    /* at half resolution, of 8-bit samples */
    uint64_t luma_energy; /* sum of squared deviations from the mean */
};
void gpume_lookahead_facts(
    const struct gpume_lookahead *lookahead, uint64_t frame, struct gpume_frame_facts *facts);

/* Of one frame when it is predicted from given others. */
struct gpume_frame_cost {
    uint64_t cost;         /* sum over all blocks of the cheapest prediction */
    uint64_t inner_cost;   /* the same without the blocks at the picture's edge */
    uint32_t intra_blocks; /* that are cheapest from their own frame */
    const uint16_t *costs; /* of each block, the cheapest prediction */
    const uint8_t *kinds;  /* enum gpume_source_kind */
    const struct gpume_vector *past, *future; /* quarter pixels; NULL without such a reference */
    struct gpume_weight weight;               /* of the past reference */
};

/* The cost of `frame` from its references `past` < frame < `future`; past == frame and future ==
 * frame mean that there is none. A frame with a future reference has no intra blocks. Results are
 * kept until the frame is dropped. Negative gpume_status: the engine has failed; logged. */
int gpume_lookahead_cost(struct gpume_lookahead *lookahead, uint64_t frame, uint64_t past,
    uint64_t future, struct gpume_frame_cost *cost);

void gpume_lookahead_close(struct gpume_lookahead **lookahead);

#endif
