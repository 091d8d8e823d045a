/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/ceiling.h"

#include "base/clock.h"
#include "base/workers.h"
#include "cpu/search/search.h"

#include <stdlib.h>

#define LONG_NS 20000000u /* starting a loop takes less than a hundredth of this */
#define ATTEMPTS 5        /* the best counts, as disturbances only slow a loop down */

struct loop {
    const struct gpume_search *search;
    uint64_t rounds;
    uint64_t *ns; /* processor time of each thread, since other programs may run */
};

static void loop_item(void *opaque, uint32_t item)
{
    const struct loop *loop = opaque;
    uint64_t start = gpume_clock_thread_ns();
    (void)loop->search->ceiling(loop->rounds);
    loop->ns[item] = gpume_clock_thread_ns() - start + 1; /* never 0 */
}

/* Loops per second of all threads together. */
static double run(struct gpume_workers *workers, struct loop *loop)
{
    uint32_t count = gpume_workers_count(workers);
    gpume_workers_run(workers, loop_item, loop, count);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += 1e9 / (double)loop->ns[i];
    }
    return sum;
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
        return GPUME_NOMEM;
    }
    loop.ns = calloc(gpume_workers_count(workers), sizeof(*loop.ns));
    if (!loop.ns) {
        gpume_workers_destroy(&workers);
        return GPUME_NOMEM;
    }
    double best = 0;
    for (int attempt = 0; attempt < ATTEMPTS;) {
        double rate = run(workers, &loop);
        if (loop.ns[0] < LONG_NS) {
            loop.rounds *= 2;
        } else {
            best = rate > best ? rate : best;
            attempt++;
        }
    }
    *differences_per_second = best * (double)loop.search->ceiling(loop.rounds);
    free(loop.ns);
    gpume_workers_destroy(&workers);
    return GPUME_OK;
}
