/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The surfaces of the last frames: a ring for each surface that the plan has. A frame has the same
 * place in all of them.
 */
#ifndef GPUME_CPU_RINGS_H
#define GPUME_CPU_RINGS_H

#include "base/workers.h"
#include "model/plan.h"

#define GPUME_RING_BOXES 2u

struct gpume_rings {
    uint32_t frames;                    /* in each ring */
    void **planes[GPUME_SURFACE_COUNT]; /* NULL: not in the plan */
    /* Of the general search: by box (4x4, 8x8) and place, sums of the searched surface for every
     * plane (general/bounds.h); NULL: not needed. */
    void **sums[GPUME_RING_BOXES];
    const struct gpume_step **readers; /* by place: the last step that reads there; or NULL */
};

/* GPUME_NOMEM: call finish then too. *bytes grows by what is allocated. */
int gpume_rings_init(struct gpume_rings *rings, const struct gpume_plan *plan, uint64_t *bytes);

void gpume_rings_finish(struct gpume_rings *rings);

/* The index of the boxes that bound the blocks of a layer. */
static inline uint32_t gpume_rings_box(const struct gpume_shape *layer)
{
    return layer->block_w % 8 == 0 && layer->block_h % 8 == 0;
}

/* The plane of a frame, by sequence number. */
static inline void *gpume_rings_at(
    const struct gpume_rings *rings, enum gpume_surface surface, uint64_t sequence)
{
    return rings->planes[surface][sequence % rings->frames];
}

/* The sums of a frame over boxes of 4 << index; NULL: there are none. */
static inline void *gpume_rings_sums(
    const struct gpume_rings *rings, uint32_t index, uint64_t sequence)
{
    return rings->sums[index] ? rings->sums[index][sequence % rings->frames] : NULL;
}

static inline const struct gpume_step **gpume_rings_reader(
    const struct gpume_rings *rings, uint64_t sequence)
{
    return &rings->readers[sequence % rings->frames];
}

#endif
