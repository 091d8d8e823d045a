/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/rings.h"

#include "base/grid.h"
#include "base/status.h"
#include "cpu/memory.h"
#include "cpu/search/search.h"

/* Frames beyond those that a task may name, so that a task may begin before the one before it is
 * complete, and no more, so that they stay in the cache: one less than there are slots. */
static uint32_t frames_ahead(const struct gpume_plan *plan)
{
    return gpume_max_u32(plan->slots - 1, 2);
}

static int init_ring(
    const struct gpume_rings *rings, uint64_t frame_bytes, void ***ring, uint64_t *bytes)
{
    *ring = gpume_allocate(bytes, rings->frames, sizeof(**ring));
    for (uint32_t i = 0; *ring && i < rings->frames; i++) {
        (*ring)[i] = gpume_allocate(bytes, frame_bytes + GPUME_SEARCH_SLACK_BYTES, 1);
        if (!(*ring)[i]) {
            return GPUME_NOMEM;
        }
    }
    return *ring ? GPUME_OK : GPUME_NOMEM;
}

/* Is there a layer that boxes of this size suit best? */
static bool has_box(const struct gpume_plan *plan, uint32_t index)
{
    bool found = false;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        found |= gpume_rings_box(&plan->layers[i]) == index;
    }
    return found;
}

int gpume_rings_init(struct gpume_rings *rings, const struct gpume_plan *plan, uint64_t *bytes)
{
    const uint64_t sum_bytes = 2 * plan->padded_bytes * gpume_plan_search_planes(plan);
    int status;
    rings->frames = plan->reach + frames_ahead(plan);
    rings->readers = gpume_allocate(bytes, rings->frames, sizeof(*rings->readers));
    for (uint32_t i = 0; i < GPUME_SURFACE_COUNT; i++) {
        if (plan->has_surface[i]) {
            GPUME_TRY(init_ring(rings, plan->surface_bytes, &rings->planes[i], bytes));
        }
    }
    bool summed = !gpume_plan_searches_fast(plan) && !plan->params.no_elimination;
    for (uint32_t i = 0; summed && i < GPUME_RING_BOXES; i++) {
        if (has_box(plan, i)) { /* a sum has twice the bytes of a sample */
            GPUME_TRY(init_ring(rings, sum_bytes, &rings->sums[i], bytes));
        }
    }
    status = rings->readers ? GPUME_OK : GPUME_NOMEM;
fail:
    return status;
}

static void finish_ring(const struct gpume_rings *rings, void **ring)
{
    for (uint32_t i = 0; ring && i < rings->frames; i++) {
        free(ring[i]);
    }
    free(ring);
}

void gpume_rings_finish(struct gpume_rings *rings)
{
    for (uint32_t i = 0; i < GPUME_SURFACE_COUNT; i++) {
        finish_ring(rings, rings->planes[i]);
    }
    for (uint32_t i = 0; i < GPUME_RING_BOXES; i++) {
        finish_ring(rings, rings->sums[i]);
    }
    free(rings->readers);
}
