/* SPDX-License-Identifier: BSD-2-Clause */
/* The ceilings of the searches on a Vulkan device: ceiling.comp for each type that holds samples.
 */
#include "bench/ceiling.h"

#include "base/status.h"
#include "bench/ceiling_shape.h"
#include "gpume/compute.h"

#include <string.h>

#define ITERATIONS 256u /* enough to hide the start and the end of an invocation */

/* The duration of a run. A GPU executes thousands of workgroups at a time: the last ones, which
 * leave part of it idle, must be few among all. */
#define LONG_NS 20000000u
#define ATTEMPTS 4u /* the fastest one counts: clocks rise, disturbances only slow a run down */

#define GROUPS_FIRST 2u       /* the number of workgroups is a power of 2 */
#define GROUPS_MAX (1u << 24) /* ends the search where a device's clock stands still */
#define GROUPS_X 32768u       /* every driver allows 65,535 per dimension */
#define GROWTH 8u             /* of the workgroups while a run is far too short */

_Static_assert(ITERATIONS <= 256, "see ceiling.comp");

#include "ceiling_float.inc"
#include "ceiling_half.inc"
#include "ceiling_int.inc"

static const struct kind {
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
struct push {
    uint32_t iterations, seed, impossible;
};

struct loop {
    gpume_compute *compute;
    gpume_array *results; /* never written */
    gpume_program *program;
    uint32_t groups;
};

static int open_loop(struct loop *loop, const char *device, const struct kind *kind)
{
    const struct gpume_program_params program = {.size = sizeof(program),
        .spirv = kind->spirv,
        .spirv_bytes = kind->spirv_bytes,
        .array_count = 1,
        .push_bytes = sizeof(struct push)};
    struct gpume_compute_params params;
    gpume_compute_params_default(&params);
    params.backend = GPUME_BACKEND_VULKAN;
    params.device = device;
    GPUME_CHECK(gpume_compute_open(&loop->compute, &params));
    GPUME_CHECK(
        gpume_array_create(loop->compute, &loop->results, GPUME_CEILING_LOCAL * sizeof(uint32_t)));
    return gpume_program_create(loop->compute, &loop->program, &program);
}

static void close_loop(struct loop *loop)
{
    gpume_program_destroy(&loop->program);
    gpume_array_destroy(&loop->results);
    (void)gpume_compute_close(&loop->compute);
}

static int run(struct loop *loop, uint64_t *ns)
{
    const struct push push = {.iterations = ITERATIONS, .seed = loop->groups};
    const uint32_t groups_x = loop->groups < GROUPS_X ? loop->groups : GROUPS_X;
    const uint32_t groups[3] = {groups_x, loop->groups / groups_x, 1};
    struct gpume_compute_times times;
    const int status = gpume_program_run(loop->program, &loop->results, &push, groups);
    gpume_compute_get_times(loop->compute, &times);
    *ns = times.run_ns + 1; /* never 0 */
    return status;
}

/* The fastest of the runs that are long enough, in nanoseconds. */
static int measure_runs(struct loop *loop, uint64_t *best_ns)
{
    uint64_t ns, best = UINT64_MAX, spent = 0;
    loop->groups = GROUPS_FIRST;
    GPUME_CHECK(run(loop, &ns)); /* drivers defer work to the first run */
    while (spent < ATTEMPTS * LONG_NS) {
        GPUME_CHECK(run(loop, &ns));
        if (best == UINT64_MAX && ns < LONG_NS && loop->groups < GROUPS_MAX) {
            loop->groups *= ns < LONG_NS / GROWTH ? GROWTH : 2;
        } else {
            best = ns < best ? ns : best;
            spent += ns > LONG_NS / ATTEMPTS ? ns : LONG_NS / ATTEMPTS;
        }
    }
    *best_ns = best;
    return GPUME_OK;
}

static double measure(const char *device, const struct kind *kind)
{
    struct loop loop = {0};
    uint64_t ns = 0;
    double per_second = 0;
    int status;
    GPUME_TRY(open_loop(&loop, device, kind));
    GPUME_TRY(measure_runs(&loop, &ns));
    per_second = (double)kind->word_samples * loop.groups * GPUME_CEILING_LOCAL * ITERATIONS *
                 GPUME_CEILING_FIXED * GPUME_CEILING_MOVING * 1e9 / (double)ns;
fail:
    close_loop(&loop);
    return per_second;
}

double gpume_bench_ceiling_gpu(const char *search, const char *device)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(kinds[i].search, search) == 0) {
            return measure(device, &kinds[i]);
        }
    }
    return 0;
}
