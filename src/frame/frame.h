/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One luma frame of the pool, shared by reference count: the lane holds it while the engine reads
 * it, a field while its receiver may read it. With the last reference it goes back to the pool.
 */
#ifndef GPUME_FRAME_FRAME_H
#define GPUME_FRAME_FRAME_H

#include "gpume/gpume.h"

#include <stdatomic.h>

struct gpume_frame {
    struct gpume_plane plane; /* memory provided by the engine */
    uint64_t sequence;        /* 0 for the first frame sent */
    int64_t time_us;
    const void *home;    /* that engine */
    uint32_t home_index; /* the engine's number in the pipeline */
    uint32_t pool_index; /* the memory's number there */
    atomic_uint refs;
    void (*recycle)(void *owner, struct gpume_frame *frame);
    void *owner;
};

void gpume_frame_ref(struct gpume_frame *frame);

/* Drops a reference and sets *frame to NULL; NULL is fine. */
void gpume_frame_unref(struct gpume_frame **frame);

#endif
