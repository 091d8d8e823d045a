/* SPDX-License-Identifier: BSD-2-Clause */
#include "motion/ceiling.h"

#include "base/clock.h"
#include "base/workers.h"
#include "motion/search.h"

#define LONG_NS 20000000u /* starting threads takes less than a hundredth of it */
#define ATTEMPTS 3        /* the best counts: what disturbs only slows down */

struct loop {
    const struct gpume_search *search;
    uint64_t rounds;
};

static void loop_item(void *opaque, uint32_t item)
{
    (void)item;
    const struct loop *loop = opaque;
    (void)loop->search->ceiling(loop->rounds);
}

static uint64_t run(struct gpume_workers *workers, struct loop *loop)
{
    uint64_t start = gpume_clock_ns();
    gpume_workers_run(workers, loop_item, loop, gpume_workers_count(workers));
    return gpume_clock_ns() - start;
}

int gpume_ceiling_measure(
    const char *device, const char *search, uint32_t threads, double *differences_per_second)
{
    (void)device;
    struct loop loop = {.search = gpume_search_select(search), .rounds = 1};
    if (!loop.search || !loop.search->ceiling) {
        return GPUME_UNSUPPORTED;
    }
    struct gpume_workers *workers = NULL;
    int status = gpume_workers_create(&workers, threads);
    if (status != GPUME_OK) {
        return status;
    }
    uint64_t best = run(workers, &loop);
    while (best < LONG_NS) {
        loop.rounds *= 2;
        best = run(workers, &loop);
    }
    for (int i = 1; i < ATTEMPTS; i++) {
        uint64_t time = run(workers, &loop);
        best = time < best ? time : best;
    }
    uint64_t each = loop.search->ceiling(loop.rounds);
    *differences_per_second = (double)each * gpume_workers_count(workers) * 1e9 / (double)best;
    gpume_workers_destroy(&workers);
    return GPUME_OK;
}
