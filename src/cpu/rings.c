/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/rings.h"

#include "base/status.h"
#include "cpu/memory.h"
#include "cpu/search/search.h"

/* Frames beyond those that a task may name, so that a task may begin before the one before it is
 * complete. Few, so that they stay in the cache. */
#define FRAMES_AHEAD 2u

static int init_ring(
    struct gpume_rings *rings, const struct gpume_plan *plan, void ***ring, uint64_t *bytes)
{
    *ring = gpume_allocate(bytes, rings->frames, sizeof(**ring));
    for (uint32_t i = 0; *ring && i < rings->frames; i++) {
        (*ring)[i] = gpume_allocate(bytes, plan->surface_bytes + GPUME_SEARCH_SLACK_BYTES, 1);
        if (!(*ring)[i]) {
            return GPUME_NOMEM;
        }
    }
    return *ring ? GPUME_OK : GPUME_NOMEM;
}

int gpume_rings_init(struct gpume_rings *rings, const struct gpume_plan *plan, uint64_t *bytes)
{
    int status;
    rings->frames = plan->reach + FRAMES_AHEAD;
    rings->readers = gpume_allocate(bytes, rings->frames, sizeof(*rings->readers));
    for (uint32_t i = 0; i < GPUME_SURFACE_COUNT; i++) {
        if (plan->has_surface[i]) {
            GPUME_TRY(init_ring(rings, plan, &rings->planes[i], bytes));
        }
    }
    status = rings->readers ? GPUME_OK : GPUME_NOMEM;
fail:
    return status;
}

void gpume_rings_finish(struct gpume_rings *rings)
{
    for (uint32_t i = 0; i < GPUME_SURFACE_COUNT; i++) {
        for (uint32_t j = 0; rings->planes[i] && j < rings->frames; j++) {
            free(rings->planes[i][j]);
        }
        free(rings->planes[i]);
    }
    free(rings->readers);
}
