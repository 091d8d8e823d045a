/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Searches between half planes by libgpume: each block of 8x8 of a target finds its match in a
 * reference, the best whole pixel by SAD, which refine.h takes to quarter pixels. Requests are
 * queued, so that a GPU searches many pairs at once. One thread.
 */
#ifndef GPUME_ENCODE_SEARCHES_H
#define GPUME_ENCODE_SEARCHES_H

#include "encode/half.h"
#include "encode/split.h"

#include <stdbool.h>

struct gpume_searches;

struct gpume_searches_params {
    uint32_t width, height; /* of the half planes */
    uint32_t frames;        /* that are kept: the last ones that were sent */
    enum gpume_backend backend;
    const char *device;
    uint32_t threads;
    const struct gpume_split *split; /* of the half planes' rows, for refinement */
    const char *cache_dir;
    gpume_log_fn log;
    void *log_opaque;
};

/* A search and its result, in memory of the caller's. */
struct gpume_match {
    const struct gpume_half *target, *reference; /* must not change until the match is ready */
    bool requested, ready;
    struct gpume_vector *vectors; /* of each block, in quarter pixels */
    uint16_t *costs;              /* SATD and the penalties of costs.h */
};

int gpume_searches_open(
    struct gpume_searches **searches, const struct gpume_searches_params *params);

/* "NVIDIA H200", "2 threads". */
const char *gpume_searches_engine(const struct gpume_searches *searches);

/* Whether it runs on a GPU, for which requests should be made early. */
bool gpume_searches_on_gpu(const struct gpume_searches *searches);

/* Sends the next frame; the first one is number 0. */
int gpume_searches_send(struct gpume_searches *searches, const struct gpume_half *half);

/* Requests the search of a pair of frames, which have these numbers. `match` must stay where it is
 * until it is ready. */
int gpume_searches_request(struct gpume_searches *searches, uint64_t target, uint64_t reference,
    struct gpume_match *match);

/* Returns when the requested match is ready. */
int gpume_searches_wait(struct gpume_searches *searches, const struct gpume_match *match);

/* NULL is fine. Requests that are not complete are dropped. */
void gpume_searches_close(struct gpume_searches **searches);

#endif
