/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ceilings of the searches on the CPU, of which those for x86-64 have a loop, and on a Vulkan
 * device, by ceiling.comp for each type that holds samples.
 */
#include "bench/ceiling.h"

#include "base/base.h"
#include "base/os.h"
#include "base/workers.h"
#include "bench/ceiling_shape.h"
#include "gpume/compute.h"

#include <stdlib.h>
#include <string.h>

#define LONG_NS 20000000u /* starting a loop takes less than a hundredth of this */
#define CPU_ATTEMPTS 5    /* the fastest one counts: disturbances only slow a loop down */

#define ITERATIONS 256u /* enough to hide the start and the end of an invocation */

/* A run lasts LONG_NS, too. A GPU executes thousands of workgroups at a time: the last ones, which
 * leave part of it idle, must be few among all. */
#define GPU_ATTEMPTS                                                                               \
    4u /* the fastest one counts: clocks rise, disturbances only slow a run down                   \
        */

#define GROUPS_FIRST 2u       /* the number of workgroups is a power of 2 */
#define GROUPS_MAX (1u << 24) /* ends the search where a device's clock stands still */
#define GROUPS_X 32768u       /* every driver allows 65,535 per dimension */
#define GROWTH 8u             /* of the workgroups while a run is far too short */

_Static_assert(ITERATIONS <= 256, "see ceiling.comp");

/* --- the CPU */

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
static double measure_cpu(loop_fn loop, uint32_t threads)
{
    struct gpume_workers *workers = NULL;
    if (!loop || gpume_workers_create(&workers, threads) != GPUME_OK) {
        return 0;
    }
    struct ceiling_run run = {loop, 1, calloc(gpume_workers_count(workers), sizeof(*run.ns))};
    double best = 0;
    for (int attempt = 0; run.ns && attempt < CPU_ATTEMPTS;) {
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

/* --- a device */

#include "ceiling_float.inc"
#include "ceiling_half.inc"
#include "ceiling_int.inc"

static const struct ceiling_kind {
    const char *search;
    const uint32_t *spirv;
    size_t spirv_bytes;
    uint32_t word_samples;
} kinds[] = {
    {"quads", ceiling_int, sizeof(ceiling_int), 1},
    {"int", ceiling_int, sizeof(ceiling_int), 1},
    {"float", ceiling_float, sizeof(ceiling_float), 1},
    {"half", ceiling_half, sizeof(ceiling_half), 2},
};

/* The push constants of ceiling.comp. */
struct ceiling_push {
    uint32_t iterations, seed, impossible;
};

struct gpu_loop {
    gpume_compute *compute;
    gpume_array *results; /* never written */
    gpume_program *program;
    uint32_t groups;
};

static int open_loop(struct gpu_loop *loop, const char *device, const struct ceiling_kind *kind)
{
    const struct gpume_program_params program = {.size = sizeof(program),
        .spirv = kind->spirv,
        .spirv_bytes = kind->spirv_bytes,
        .array_count = 1,
        .push_bytes = sizeof(struct ceiling_push)};
    struct gpume_compute_params params;
    gpume_compute_params_default(&params);
    params.backend = GPUME_BACKEND_VULKAN;
    params.device = device;
    GPUME_CHECK(gpume_compute_open(&loop->compute, &params));
    GPUME_CHECK(
        gpume_array_create(loop->compute, &loop->results, GPUME_CEILING_LOCAL * sizeof(uint32_t)));
    return gpume_program_create(loop->compute, &loop->program, &program);
}

static int run_gpu(struct gpu_loop *loop, uint64_t *ns)
{
    const struct ceiling_push push = {.iterations = ITERATIONS, .seed = loop->groups};
    const uint32_t groups_x = loop->groups < GROUPS_X ? loop->groups : GROUPS_X;
    const uint32_t groups[3] = {groups_x, loop->groups / groups_x, 1};
    struct gpume_compute_times times;
    const int status = gpume_program_run(loop->program, &loop->results, &push, groups);
    gpume_compute_get_times(loop->compute, &times);
    *ns = times.run_ns + 1; /* never 0 */
    return status;
}

/* The fastest of the runs that are long enough, in nanoseconds. */
static int measure_runs(struct gpu_loop *loop, uint64_t *best_ns)
{
    uint64_t ns, best = UINT64_MAX, spent = 0;
    loop->groups = GROUPS_FIRST;
    GPUME_CHECK(run_gpu(loop, &ns)); /* drivers defer work to the first run_gpu */
    while (spent < GPU_ATTEMPTS * LONG_NS) {
        GPUME_CHECK(run_gpu(loop, &ns));
        if (best == UINT64_MAX && ns < LONG_NS && loop->groups < GROUPS_MAX) {
            loop->groups *= ns < LONG_NS / GROWTH ? GROWTH : 2;
        } else {
            best = ns < best ? ns : best;
            spent += ns > LONG_NS / GPU_ATTEMPTS ? ns : LONG_NS / GPU_ATTEMPTS;
        }
    }
    *best_ns = best;
    return GPUME_OK;
}

static double measure_kind(const char *device, const struct ceiling_kind *kind)
{
    struct gpu_loop loop = {0};
    uint64_t ns = 0;
    double per_second = 0;
    int status;
    GPUME_TRY(open_loop(&loop, device, kind));
    GPUME_TRY(measure_runs(&loop, &ns));
    per_second = (double)kind->word_samples * loop.groups * GPUME_CEILING_LOCAL * ITERATIONS *
                 GPUME_CEILING_FIXED * GPUME_CEILING_MOVING * 1e9 / (double)ns;
fail:
    gpume_program_destroy(&loop.program);
    gpume_array_destroy(&loop.results);
    (void)gpume_compute_close(&loop.compute);
    return per_second;
}

static double measure_device(const char *search, const char *device)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(kinds[i].search, search) == 0) {
            return measure_kind(device, &kinds[i]);
        }
    }
    return 0;
}

double gpume_bench_ceiling(
    const struct gpume_search_info *search, const char *device, uint32_t threads)
{
    if (!search->available) {
        return 0;
    }
    return search->backend == GPUME_BACKEND_CPU ? measure_cpu(loop_of(search->name), threads)
                                                : measure_device(search->name, device);
}
