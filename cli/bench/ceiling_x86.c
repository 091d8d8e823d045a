/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/ceiling_x86.h"

#include "base/clock.h"
#include "base/status.h"
#include "base/workers.h"

#include <stdlib.h>

#define LONG_NS 20000000u /* starting a loop takes less than a hundredth of this */
#define ATTEMPTS 5        /* the fastest one counts: disturbances only slow a loop down */

typedef uint64_t (*loop_fn)(uint64_t rounds);

struct run {
    loop_fn loop;
    uint64_t rounds;
    uint64_t *ns; /* processor time per thread: other programs may be using the machine */
};

static void run_loop(void *opaque, uint32_t item)
{
    const struct run *run = opaque;
    const uint64_t start = gpume_clock_thread_ns();
    (void)run->loop(run->rounds);
    run->ns[item] = gpume_clock_thread_ns() - start + 1; /* never 0 */
}

static double loops_per_second(struct gpume_workers *workers, struct run *run)
{
    const uint32_t count = gpume_workers_count(workers);
    gpume_workers_run(workers, run_loop, run, count);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += 1e9 / (double)run->ns[i];
    }
    return sum;
}

static double measure(loop_fn loop, uint32_t threads)
{
    struct gpume_workers *workers = NULL;
    if (gpume_workers_create(&workers, threads) != GPUME_OK) {
        return 0;
    }
    struct run run = {loop, 1, calloc(gpume_workers_count(workers), sizeof(*run.ns))};
    double best = 0;
    for (int attempt = 0; run.ns && attempt < ATTEMPTS;) {
        const double rate = loops_per_second(workers, &run);
        if (run.ns[0] < LONG_NS) {
            run.rounds *= 2;
        } else {
            best = rate > best ? rate : best;
            attempt++;
        }
    }
    free(run.ns);
    gpume_workers_destroy(&workers);
    return best * (double)run.rounds * (double)loop(1);
}

double gpume_bench_ceiling_avx2(const char *device, uint32_t threads)
{
    (void)device;
    return __builtin_cpu_supports("avx2") ? measure(gpume_bench_loop_avx2, threads) : 0;
}

double gpume_bench_ceiling_avx512(const char *device, uint32_t threads)
{
    (void)device;
    return __builtin_cpu_supports("avx512bw") ? measure(gpume_bench_loop_avx512, threads) : 0;
}
