/* SPDX-License-Identifier: BSD-2-Clause */
/* What a lookahead consists of: for the files lookahead*.c alone. */
#ifndef GPUME_ENCODE_LOOKAHEAD_STATE_H
#define GPUME_ENCODE_LOOKAHEAD_STATE_H

#include "base/log.h"
#include "encode/blocks.h"
#include "encode/habits.h"
#include "encode/half.h"
#include "encode/lookahead.h"
#include "encode/pool.h"
#include "encode/searches.h"
#include "encode/split.h"
#include "encode/weights.h"

#include <pthread.h>
#include <stdatomic.h>

/* The match of a frame in one reference. */
struct gpume_kept_pair {
    struct gpume_link link;
    struct gpume_match match;
};

struct gpume_kept_mean {
    struct gpume_link link;
    struct gpume_mean mean;
};

struct gpume_kept_weighing {
    struct gpume_link link;
    struct gpume_weighing weighing;
    struct gpume_link *planes; /* the processor's, for the weighted samples; NULL: given back */
};

struct gpume_kept_result {
    struct gpume_link link;
    struct gpume_frame_cost cost;
};

struct gpume_kept_frame {
    struct gpume_half half;
    struct gpume_intra intra;
    uint32_t *energies;
    struct gpume_luma_stats luma;
    struct gpume_link *pairs;           /* by reference, and 0; with a weighted one never found */
    struct gpume_link *weighings;       /* by past reference, and 0 */
    struct gpume_link *means, *results; /* by past and future reference */
};

/* A frame that is being read. */
struct gpume_reading {
    struct gpume_step step;
    const struct gpume_lookahead *lookahead;
    struct gpume_kept_frame *frame;
    struct gpume_plane luma;
    uint8_t *bands;               /* one for each row of blocks */
    struct gpume_luma_sums *sums; /* the same */
};

struct gpume_lookahead {
    struct gpume_lookahead_params params;
    struct gpume_log log;
    uint32_t blocks_x, blocks_y, blocks;
    atomic_uint_fast64_t first, end; /* positions of the frames that are kept */
    uint64_t begun, read;            /* the same: the ends of those that are, or have been, read */
    struct gpume_kept_frame *frames; /* position % params.frames_max */
    uint16_t *all_intra_costs;
    uint32_t *all_energies;
    bool ahead; /* it works before it is asked */
    struct gpume_split split;
    struct gpume_reading readings[GPUME_READINGS_MAX]; /* position % count */
    uint32_t reading_count;
    uint16_t *weighted_costs; /* of two frames */
    pthread_mutex_t requests; /* one thread at a time makes them */
    pthread_mutex_t weighing; /* for all weighted* */
    pthread_mutex_t mutex;    /* for lists, pools and habits */
    struct gpume_habits habits;
    struct gpume_searches *searches;
    struct gpume_blocks *work; /* of the searches */
    /* Searches in a weighted reference: frame 2n is the reference, 2n + 1 the target. */
    struct gpume_half weighted;
    struct gpume_searches *weighted_searches;
    uint64_t weighted_count;
    struct gpume_pool pairs, means, weighings, results;
    struct gpume_pool planes; /* of weighted references that are compared with plain ones ahead */
    uint32_t plane_count;     /* those in use */
};

/* lookahead_read.c: after the split has been opened; false: out of memory. Close when no thread
 * reads any more. */
bool gpume_readings_open(struct gpume_lookahead *lookahead);
void gpume_readings_close(struct gpume_lookahead *lookahead);

/* When its job is complete. Needs the mutex. */
void gpume_kept_give_planes(
    struct gpume_lookahead *lookahead, struct gpume_kept_weighing *weighing);

/* Forgets what is known of the frame beside others. */
void gpume_kept_forget(struct gpume_lookahead *lookahead, struct gpume_kept_frame *frame);

#endif
