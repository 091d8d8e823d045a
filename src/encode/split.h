/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of blocks of a frame in parts, one for each thread. Used by one thread at a time. */
#ifndef GPUME_ENCODE_SPLIT_H
#define GPUME_ENCODE_SPLIT_H

#include "base/log.h"
#include "base/workers.h"

struct gpume_split {
    struct gpume_workers *workers;
    uint32_t rows, parts;
};

/* threads 0: one per processor. GPUME_NOMEM is logged. */
int gpume_split_init(
    struct gpume_split *split, uint32_t rows, uint32_t threads, const struct gpume_log *log);
void gpume_split_finish(struct gpume_split *split);

/* Calls fn(opaque, part) for each part < split->parts. */
static inline void gpume_split_run(const struct gpume_split *split, gpume_work_fn fn, void *opaque)
{
    gpume_workers_run(split->workers, fn, opaque, split->parts);
}

/* The first row of a part; that of part + 1 is its end. */
static inline uint32_t gpume_split_row(const struct gpume_split *split, uint32_t part)
{
    return (uint32_t)((uint64_t)split->rows * part / split->parts);
}

#endif
