/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work on the blocks of half planes, in jobs: intra costs of frames, matches from coarse vectors,
 * costs of their means and of weighted references; and the searches for coarse vectors. Jobs are
 * queued, and done by the threads of a split, or by a GPU: a thread gives the device (device.h)
 * what is queued, while the device works on what it got before; should the device fail, the thread
 * does the work itself. Results are the same. Frames have numbers that count from 0. Any thread
 * calls.
 */
#ifndef GPUME_ENCODE_BLOCKS_H
#define GPUME_ENCODE_BLOCKS_H

#include "encode/decision.h"
#include "encode/half.h"
#include "encode/split.h"

#include <stdbool.h>

struct gpume_blocks;

struct gpume_blocks_params {
    struct gpume_split *split; /* of the half planes' rows; filled in before the first job */
    uint32_t blocks_x, blocks_y;
    uint32_t frames; /* that are kept: the last ones that were added */
    enum gpume_backend backend;
    const char *device;
    uint32_t threads; /* of searches */
    const char *cache_dir;
    gpume_log_fn log;
    void *log_opaque;
};

/* The first member of everything that is queued. The memory is the caller's, who neither changes
 * nor moves it until it is ready. */
struct gpume_block_job {
    struct gpume_block_job *next;
    struct gpume_step step; /* of the processor */
    bool begun;             /* that is queued, or complete */
    bool ready;             /* of a GPU */
};

/* The blocks of a frame without others. */
struct gpume_intra {
    struct gpume_block_job job;
    const struct gpume_half *half;
    uint64_t frame;
    uint16_t *costs; /* filled in */
};

/* The blocks of a frame in another one. */
struct gpume_match {
    struct gpume_block_job job;
    const struct gpume_half *target, *reference;
    uint64_t target_frame, reference_frame;
    struct gpume_vector *coarse;  /* found by a search: gpume_coarse_count of them */
    struct gpume_vector *vectors; /* filled in: in quarter pixels */
    uint16_t *costs;              /* filled in: SATD and the penalties of costs.h */
    bool received;                /* the coarse vectors */
};

/* The blocks of a frame, predicted by the mean of two matches, and by the mean of both references
 * at the blocks' own places. */
struct gpume_mean {
    struct gpume_block_job job;
    const struct gpume_match *past, *future;
    uint32_t past_share;    /* of GPUME_SHARES */
    uint16_t *both, *still; /* filled in: SATD and the penalties of costs.h */
};

/* The blocks of a frame, predicted from a weighted reference, at the vectors of the plain match and
 * without motion. */
struct gpume_weighing {
    struct gpume_block_job job;
    const struct gpume_match *plain;
    struct gpume_weight weight;
    struct gpume_half weighted; /* the processor's: filled in */
    struct gpume_step apply;    /* the same: fills it in */
    bool found;                 /* not if the device failed */
    uint16_t *moved, *still;    /* then filled in: SATD and the penalties of costs.h */
};

/* on_gpu: use one, by the choice of `backend` and `device`, if it can be opened and its limits
 * suffice. */
int gpume_blocks_open(
    struct gpume_blocks **blocks, const struct gpume_blocks_params *params, bool on_gpu);

/* Where the planes of a frame lie, until params.frames more have been added: any thread. */
struct gpume_half gpume_blocks_half(const struct gpume_blocks *blocks, uint64_t frame);

/* Adds a frame, whose planes are filled and whose intra costs are wanted. */
void gpume_blocks_add(struct gpume_blocks *blocks, struct gpume_intra *intra);

/* Refines the match of two frames, which have been added before and are kept until it is ready. */
void gpume_blocks_refine(struct gpume_blocks *blocks, struct gpume_match *match);

/* Whether they are a GPU's. */
bool gpume_blocks_on_gpu(const struct gpume_blocks *blocks);

/* After the matches have been requested: finds the costs when they are ready. Frames must be kept
 * until then. */
void gpume_blocks_mean(struct gpume_blocks *blocks, struct gpume_mean *mean);
void gpume_blocks_weigh(struct gpume_blocks *blocks, struct gpume_weighing *weighing);

/* Returns when it is ready. The matches of a mean or a weighing are, or will be without the
 * caller. */
void gpume_blocks_wait(struct gpume_blocks *blocks, const struct gpume_block_job *job);

/* Completes what is queued on a GPU; without one, the split's workers have been destroyed. NULL is
 * fine. */
void gpume_blocks_close(struct gpume_blocks **blocks);

/* --- searches */

/*
 * Searches between frames by libgpume, on quarter planes: each block of 8x8 of a target finds the
 * best whole pixel in a reference by SAD. From these coarse vectors gpume_blocks_refine makes
 * those of the blocks of the half plane. Requests are queued, so that many pairs are searched at
 * once; a thread takes what has been found. Any thread calls, but one at a time sends.
 */
struct gpume_searches;

int gpume_searches_open(struct gpume_searches **searches, const struct gpume_blocks_params *params);

/* "NVIDIA H200", "2 threads". */
const char *gpume_searches_engine(const struct gpume_searches *searches);

/* Whether it runs on a GPU. */
bool gpume_searches_on_gpu(const struct gpume_searches *searches);

/* What refines its matches: on a GPU, if it runs there. Frames must be added to it before they are
 * sent. */
struct gpume_blocks *gpume_searches_blocks(const struct gpume_searches *searches);

/* Sends the next frame; the first one is number 0. */
int gpume_searches_send(struct gpume_searches *searches, const struct gpume_half *half);

/* Requests the search of a pair of frames, which the match has by number and by half plane. It must
 * stay where it is until it is ready. */
int gpume_searches_request(struct gpume_searches *searches, struct gpume_match *match);

/* Hands matches on to be refined until at most `pending` requests are not complete. */
int gpume_searches_drain(struct gpume_searches *searches, uint64_t pending);

/* Returns when the requested match is ready. */
int gpume_searches_wait(struct gpume_searches *searches, const struct gpume_match *match);

/* Drops requests that are not complete. Nobody waits any more, and matches change no more, but for
 * those that are being refined. */
void gpume_searches_end(struct gpume_searches *searches);

/* Ends it first. NULL is fine. */
void gpume_searches_close(struct gpume_searches **searches);

#endif
