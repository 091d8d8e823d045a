/* SPDX-License-Identifier: BSD-2-Clause */
/* A decoder of several: its thread takes segments from the cutter and decodes them. */
#ifndef GPUME_MEDIA_SEGMENTS_WORKER_H
#define GPUME_MEDIA_SEGMENTS_WORKER_H

#include "media/decoding.h"
#include "media/segments/segments.h"

#include <pthread.h>

struct AVFrame;
struct AVPacket;
struct gpume_cutter;

struct gpume_worker {
    struct gpume_cutter *cutter;
    uint32_t index;                       /* 0: goes on with the first decoder */
    struct gpume_decoding own, *decoding; /* own: not of the first; decoding: NULL until open */
    struct AVPacket *packet;
    struct AVFrame *frame, *others[GPUME_SEGMENTS_OVERLAP];
    int64_t time;     /* of its newest frame */
    uint64_t reached; /* number of the first frame of the next segment, by its count */
    pthread_t thread;
};

/* *worker is zeroed. The first has its decoder; others open theirs when there is a segment for
 * them. GPUME_NOMEM; close follows in any case. */
int gpume_worker_open(struct gpume_worker *worker, struct gpume_cutter *cutter, uint32_t index);

/* Starts the thread, which ends when there is nothing left to do, or soon after cutter->stop. */
int gpume_worker_start(struct gpume_worker *worker);

void gpume_worker_close(struct gpume_worker *worker);

#endif
