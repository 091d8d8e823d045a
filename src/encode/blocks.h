/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work on the blocks of half planes: intra costs of frames, the refinement of matches, and, on a
 * GPU, costs of their means. Without a GPU it is done at once, by the threads of a split. With one,
 * a thread takes what is queued and gives it to the device (device.h), as much as there is at a
 * time; should the device fail, the thread does the work itself. Results are the same. Frames have
 * numbers that count from 0. One thread calls.
 */
#ifndef GPUME_ENCODE_BLOCKS_H
#define GPUME_ENCODE_BLOCKS_H

#include "encode/half.h"
#include "encode/split.h"

#include <stdbool.h>

struct gpume_blocks;

struct gpume_blocks_params {
    const struct gpume_split *split;
    uint32_t blocks_x, blocks_y;
    uint32_t frames; /* that are kept: the last ones that were added */
    bool gpu;        /* use one, by the choice of `backend` and `device` */
    enum gpume_backend backend;
    const char *device;
    const char *cache_dir;
    gpume_log_fn log;
    void *log_opaque;
};

/* The blocks of a frame without others, in memory of the caller's. */
struct gpume_intra {
    const struct gpume_half *half; /* must not change until it is ready */
    uint64_t frame;
    uint16_t *costs; /* filled in */
    uint64_t cost;   /* their sum */
    bool ready;
    struct gpume_intra *next; /* in the queue */
};

/* The blocks of a frame in another one, in memory of the caller's. */
struct gpume_match {
    const struct gpume_half *target, *reference;
    uint64_t target_frame, reference_frame;
    struct gpume_vector *vectors; /* in whole pixels, become quarter pixels */
    uint16_t *costs;              /* filled in: SATD and the penalties of costs.h */
    bool requested, received;     /* searches.h */
    bool ready;
    struct gpume_match *next; /* in the queue */
};

/* The blocks of a frame that are predicted by the mean of two matches, and of the blocks at the
 * same place in both references, in memory of the caller's. */
struct gpume_mean {
    const struct gpume_match *past, *future;
    uint32_t past_share;    /* of GPUME_SHARES */
    uint16_t *both, *still; /* filled in: SATD and the penalties of costs.h */
    bool ready;
    struct gpume_mean *next; /* in the queue */
};

int gpume_blocks_open(struct gpume_blocks **blocks, const struct gpume_blocks_params *params);

/* Adds a frame, whose intra costs are wanted. `intra` must stay where it is until it is ready. */
void gpume_blocks_add(struct gpume_blocks *blocks, struct gpume_intra *intra);

/* Refines the match of two frames, which have been added if the blocks are a GPU's. `match` must
 * stay where it is, and frames must be kept, until it is ready. */
void gpume_blocks_refine(struct gpume_blocks *blocks, struct gpume_match *match);

/* Whether they are a GPU's. */
bool gpume_blocks_on_gpu(const struct gpume_blocks *blocks);

/* Only on a GPU, after both matches have been requested: finds the costs of their mean when they
 * are ready. `mean` must stay where it is, and frames must be kept, until it is ready. */
void gpume_blocks_mean(struct gpume_blocks *blocks, struct gpume_mean *mean);

/* Returns when what was added, refined or averaged is ready. */
void gpume_blocks_wait(struct gpume_blocks *blocks, const bool *ready);

/* Completes what is queued. NULL is fine. */
void gpume_blocks_close(struct gpume_blocks **blocks);

#endif
