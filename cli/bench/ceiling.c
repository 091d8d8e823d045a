/* SPDX-License-Identifier: BSD-2-Clause */
/* The ceilings of the searches on the CPU. Only those for x86-64 have a loop. */
#include "bench/ceiling.h"

#include "base/clock.h"
#include "base/status.h"
#include "base/workers.h"

#include <stdlib.h>
#include <string.h>

#define LONG_NS 20000000u /* starting a loop takes less than a hundredth of this */
#define ATTEMPTS 5        /* the fastest one counts: disturbances only slow a loop down */

typedef uint64_t (*loop_fn)(uint64_t rounds);

struct ceiling_run {
    loop_fn loop;
    uint64_t rounds;
    uint64_t *ns; /* processor time per thread: other programs may be using the machine */
};

#if defined(__x86_64__)
#include <immintrin.h>

#define SUMS 8 /* independent chains: more than the latencies of the instructions in cycles */

/* places: the register with the candidates' samples, of which the compiler must assume in every
 * step that they changed. differences: of one step. */
#define LOOP(isa, name, vector, prefix, zero, sad, differences)                                    \
    __attribute__((target(isa))) uint64_t gpume_bench_loop_##name(uint64_t rounds)                 \
    {                                                                                              \
        vector sums[SUMS], target = prefix##_set1_epi8(3), places = prefix##_set1_epi8(5);         \
        for (int i = 0; i < SUMS; i++) {                                                           \
            sums[i] = zero;                                                                        \
        }                                                                                          \
        for (uint64_t round = 0; round < rounds; round++) {                                        \
            for (int i = 0; i < SUMS; i++) {                                                       \
                __asm__ volatile("" : "+v"(places));                                               \
                sums[i] = prefix##_add_epi16(sums[i], sad);                                        \
            }                                                                                      \
        }                                                                                          \
        for (int i = 0; i < SUMS; i++) {                                                           \
            __asm__ volatile("" : : "v"(sums[i])); /* keeps the sums alive */                      \
        }                                                                                          \
        return rounds * SUMS * (differences);                                                      \
    }

/* Two lanes of eight places, or 32 places, with four samples each. */
LOOP("avx2", avx2, __m256i, _mm256, _mm256_setzero_si256(), _mm256_mpsadbw_epu8(places, target, 0),
    2 * 8 * 4)
LOOP("avx512bw", avx512, __m512i, _mm512, _mm512_setzero_si512(),
    _mm512_dbsad_epu8(target, places, 0x94), 32 * 4)

static loop_fn loop_of(const char *search)
{
    if (strcmp(search, "avx2") == 0 && __builtin_cpu_supports("avx2")) {
        return gpume_bench_loop_avx2;
    }
    return strcmp(search, "avx512") == 0 && __builtin_cpu_supports("avx512bw")
               ? gpume_bench_loop_avx512
               : NULL;
}
#else
static loop_fn loop_of(const char *search)
{
    (void)search;
    return NULL;
}
#endif

static void run_loop(void *opaque, uint32_t item)
{
    const struct ceiling_run *run = opaque;
    const uint64_t start = gpume_clock_thread_ns();
    (void)run->loop(run->rounds);
    run->ns[item] = gpume_clock_thread_ns() - start + 1; /* never 0 */
}

static double loops_per_second(struct gpume_workers *workers, struct ceiling_run *run)
{
    const uint32_t count = gpume_workers_count(workers);
    gpume_workers_run(workers, run_loop, run, count);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += 1e9 / (double)run->ns[i];
    }
    return sum;
}

/* Of all threads together. */
static double measure(loop_fn loop, uint32_t threads)
{
    struct gpume_workers *workers = NULL;
    if (!loop || gpume_workers_create(&workers, threads) != GPUME_OK) {
        return 0;
    }
    struct ceiling_run run = {loop, 1, calloc(gpume_workers_count(workers), sizeof(*run.ns))};
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

double gpume_bench_ceiling(
    const struct gpume_search_info *search, const char *device, uint32_t threads)
{
    if (!search->available) {
        return 0;
    }
    return search->backend == GPUME_BACKEND_CPU ? measure(loop_of(search->name), threads)
                                                : gpume_bench_ceiling_gpu(search->name, device);
}
