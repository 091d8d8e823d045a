/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source thread: frames from the input into the context, until the last one needed.
 */
#ifndef GPUME_CLI_ESTIMATE_FEED_H
#define GPUME_CLI_ESTIMATE_FEED_H

#include "gpume/gpume.h"
#include "media/source.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct gpume_feed {
    struct gpume_source *source;
    gpume *ctx;
    uint64_t skip;  /* frames dropped first */
    uint64_t count; /* frames sent then; 0: to the end */
    uint64_t known; /* frames that the input must have */

    pthread_t thread;

    /* Results, to be read after gpume_feed_join. */
    int status;         /* GPUME_OK: all was sent */
    bool source_failed; /* status is the input's */
    bool is_short;      /* that is, it had `read` frames, fewer than are known; nothing was said */
    uint64_t read;
    uint64_t decode_ns; /* spent reading */
};

/* GPUME_NOMEM after one line if no thread can be had. *feed must stay until joined. */
int gpume_feed_start(struct gpume_feed *feed);

/* Waits for the thread's end. */
void gpume_feed_join(struct gpume_feed *feed);

#endif
