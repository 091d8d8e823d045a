/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fixed set of threads that runs one parallel loop at a time. The calling thread takes part, so
 * one worker means no extra thread. One caller at a time.
 */
#ifndef GPUME_BASE_WORKERS_H
#define GPUME_BASE_WORKERS_H

#include <stdint.h>

struct gpume_workers;

typedef void (*gpume_work_fn)(void *opaque, uint32_t item);

/* threads 0 = one a processor. GPUME_NOMEM if memory or threads run out. */
int gpume_workers_create(struct gpume_workers **workers, uint32_t threads);

uint32_t gpume_workers_count(const struct gpume_workers *workers);

/* Calls fn(opaque, i) once for every i < count, in no order, and returns when all are done. */
void gpume_workers_run(
    struct gpume_workers *workers, gpume_work_fn fn, void *opaque, uint32_t count);

/* NULL is fine. Sets *workers to NULL. */
void gpume_workers_destroy(struct gpume_workers **workers);

#endif
