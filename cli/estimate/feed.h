/* SPDX-License-Identifier: BSD-2-Clause */
/* The source thread: reads frames from the input and sends them to the context. */
#ifndef GPUME_CLI_ESTIMATE_FEED_H
#define GPUME_CLI_ESTIMATE_FEED_H

#include "gpume/gpume.h"
#include "media/source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gpume_feed {
    struct gpume_source *source;
    gpume *ctx;
    uint64_t skip;  /* frames to read and drop first */
    uint64_t count; /* frames to send then; 0: to the end */
    uint64_t known; /* frames that the input must have, since an earlier run read them */

    pthread_t thread;
    atomic_uint_fast64_t sent; /* frames, with those that were skipped */

    /* Results, to be read after gpume_feed_join. */
    int status;         /* GPUME_OK: all frames were sent */
    bool source_failed; /* reading the input failed */
    bool is_short;      /* the input had `read` frames, fewer than `known`; not yet reported */
    uint64_t read;
    uint64_t decode_ns; /* time spent reading */
};

/* *feed must live until joined. On failure one line has been logged. */
int gpume_feed_start(struct gpume_feed *feed);

/* Waits for the thread to end. */
void gpume_feed_join(struct gpume_feed *feed);

#endif
