/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The surfaces of the last frames: a ring for each surface that the plan has. A frame has the same
 * place in all of them.
 */
#ifndef GPUME_CPU_RINGS_H
#define GPUME_CPU_RINGS_H

#include "base/workers.h"
#include "model/plan.h"

struct gpume_rings {
    uint32_t frames;                    /* in each ring */
    void **planes[GPUME_SURFACE_COUNT]; /* NULL: not in the plan */
    const struct gpume_step **readers;  /* by place: the last step that reads there; or NULL */
};

/* GPUME_NOMEM: call finish then too. *bytes grows by what is allocated. */
int gpume_rings_init(struct gpume_rings *rings, const struct gpume_plan *plan, uint64_t *bytes);

void gpume_rings_finish(struct gpume_rings *rings);

/* The plane of a frame, by sequence number. */
static inline void *gpume_rings_at(
    const struct gpume_rings *rings, enum gpume_surface surface, uint64_t sequence)
{
    return rings->planes[surface][sequence % rings->frames];
}

static inline const struct gpume_step **gpume_rings_reader(
    const struct gpume_rings *rings, uint64_t sequence)
{
    return &rings->readers[sequence % rings->frames];
}

#endif
