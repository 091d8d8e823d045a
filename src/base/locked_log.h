/* SPDX-License-Identifier: BSD-2-Clause */
/* A caller's log callback, wrapped so that it never runs in two threads at once. */
#ifndef GPUME_BASE_LOCKED_LOG_H
#define GPUME_BASE_LOCKED_LOG_H

#include "base/log.h"

#include <pthread.h>

struct gpume_locked_log {
    struct gpume_log log; /* what others write to; points into this */
    gpume_log_fn fn;
    void *opaque;
    pthread_mutex_t mutex;
};

/* It must stay where it is until finish. fn may be NULL. */
void gpume_locked_log_init(struct gpume_locked_log *locked, gpume_log_fn fn, void *opaque);
void gpume_locked_log_finish(struct gpume_locked_log *locked);

#endif
