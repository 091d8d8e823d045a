/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of blocks of a frame, shared out to threads. Any threads use it. */
#ifndef GPUME_ENCODE_SPLIT_H
#define GPUME_ENCODE_SPLIT_H

#include "base/log.h"
#include "base/workers.h"

/* What is done to rows. */
enum gpume_split_kind {
    GPUME_SPLIT_READ,
    GPUME_SPLIT_INTRA,
    GPUME_SPLIT_MATCH,
    GPUME_SPLIT_MEAN,
    GPUME_SPLIT_WEIGH,
    GPUME_SPLIT_COMPARE,
    GPUME_SPLIT_KINDS
};

struct gpume_split {
    struct gpume_workers *workers;
    struct gpume_pace paces[GPUME_SPLIT_KINDS]; /* of a row */
    uint32_t rows;
};

/* threads: at least 1. GPUME_NOMEM is logged. */
int gpume_split_init(
    struct gpume_split *split, uint32_t rows, uint32_t threads, const struct gpume_log *log);
void gpume_split_finish(struct gpume_split *split);

/* A step that calls fn(opaque, row) for each row. */
static inline struct gpume_step gpume_split_step(
    struct gpume_split *split, enum gpume_split_kind kind, gpume_work_fn fn, void *opaque)
{
    return (struct gpume_step){
        .fn = fn, .opaque = opaque, .count = split->rows, .pace = &split->paces[kind]};
}

/* Does such a step. */
static inline void gpume_split_run(
    struct gpume_split *split, enum gpume_split_kind kind, gpume_work_fn fn, void *opaque)
{
    struct gpume_step step = gpume_split_step(split, kind, fn, opaque);
    gpume_workers_do(split->workers, &step);
}

#endif
