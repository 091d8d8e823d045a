/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/ceiling_gpu.h"

#include "base/clock.h"
#include "base/grid.h"
#include "base/status.h"
#include "common/shared.h"
#include "gpu/tune/variant.h"
#include "gpu/vk/slot.h"

#define ITERATIONS 256u /* beside them what begins and ends an invocation is nothing */
#define ATTEMPTS                                                                                   \
    4u /* the best counts: clocks rise on the way, what disturbs only slows down; fewer            \
          where one takes longer than it has to */

/* Of a run. A GPU takes workgroups by the thousand at a time: the last of them, which leave a part
 * of it idle, should be few among all. */
#define LONG_NS 20000000u
#define LONG_SOFTWARE_NS 4000000u

#define GROUPS_FIRST 2u
#define GROUPS_MAX (1u << 24) /* should a device tell no time at all */
#define FASTER 8u             /* times the workgroups, where time is far from enough */

_Static_assert(sizeof(struct gpume_ceiling_push) == 3 * 4, "words without gaps, as GLSL lays them");
_Static_assert(ITERATIONS <= 256, "see ceiling.comp");
_Static_assert(ITERATIONS <= GPUME_ITERATIONS_MAX, "drivers end longer loops");

static const uint32_t of_half[] =
#include "ceiling_half.inc"
    ;
static const uint32_t of_float[] =
#include "ceiling_float.inc"
    ;
static const uint32_t of_int[] =
#include "ceiling_int.inc"
    ;

#define CODE(name)                                                                                 \
    {                                                                                              \
        .words = (name), .bytes = sizeof(name), .buffer_count = 1,                                 \
        .push_bytes = sizeof(struct gpume_ceiling_push)                                            \
    }

struct loop {
    struct gpume_gpu gpu;
    struct gpume_kernel kernel;
    struct gpume_timeline timeline;
    struct gpume_slot slot;
    struct gpume_buffer results; /* never written */
    uint32_t groups;
};

static int create(struct loop *loop, enum gpume_tile_words words)
{
    static const struct gpume_kernel_info codes[] = {
        [GPUME_TILE_HALF] = CODE(of_half),
        [GPUME_TILE_FLOAT] = CODE(of_float),
        [GPUME_TILE_INT] = CODE(of_int),
    };
    struct gpume_gpu *gpu = &loop->gpu;
    int status;
    GPUME_TRY(gpume_kernel_create(gpu, &codes[words], &loop->kernel));
    GPUME_TRY(gpume_buffer_create(
        gpu, GPUME_BUFFER_DEVICE, GPUME_CEILING_LOCAL * sizeof(uint32_t), &loop->results));
    GPUME_TRY(gpume_timeline_create(gpu, &loop->timeline));
    GPUME_TRY(gpume_slot_create(gpu, 1, 0, &loop->slot));
    GPUME_TRY(gpume_kernel_wait(gpu, &loop->kernel));
fail:
    return status;
}

static void destroy(struct loop *loop)
{
    struct gpume_gpu *gpu = &loop->gpu;
    if (gpu->device) {
        gpume_slot_destroy(&loop->slot);
        gpume_timeline_destroy(gpu, &loop->timeline);
        gpume_buffer_destroy(gpu, &loop->results);
        gpume_kernel_destroy(gpu, &loop->kernel);
    }
    gpume_gpu_close(gpu);
}

/* The device's own time where it tells one. */
static int run(struct loop *loop, uint64_t *ns)
{
    struct gpume_ceiling_push push = {.iterations = ITERATIONS, .seed = loop->groups};
    struct gpume_view view = gpume_buffer_view(&loop->results);
    uint64_t stage_ns[GPUME_STAGE_COUNT] = {0}, start = gpume_clock_ns();
    int status;
    gpume_slot_begin(&loop->slot);
    gpume_slot_bind(&loop->slot, &loop->kernel, &view);
    gpume_slot_stage_done(&loop->slot, GPUME_STAGE_UPLOAD);
    gpume_slot_dispatch_many(&loop->slot, &loop->kernel, &push, loop->groups, 1);
    gpume_slot_stage_done(&loop->slot, GPUME_STAGE_MATCH);
    GPUME_TRY(gpume_slot_submit(&loop->slot, &loop->timeline));
    GPUME_TRY(gpume_slot_wait(&loop->slot, &loop->timeline, stage_ns));
    *ns = stage_ns[GPUME_STAGE_MATCH];
    *ns = *ns > 0 ? *ns : gpume_clock_ns() - start + 1; /* never 0 */
fail:
    return status;
}

/* Of the best run among those that are long enough to tell. */
static int measure(struct loop *loop, uint64_t *best_ns)
{
    bool software = loop->gpu.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    uint64_t ns, long_ns = software ? LONG_SOFTWARE_NS : LONG_NS, best = UINT64_MAX, spent = 0;
    int status;
    loop->groups = GROUPS_FIRST;
    GPUME_TRY(run(loop, &ns)); /* the first one pays for more than it does */
    while (spent < ATTEMPTS * long_ns) {
        GPUME_TRY(run(loop, &ns));
        if (best == UINT64_MAX && ns < long_ns && loop->groups < GROUPS_MAX) {
            loop->groups *= ns < long_ns / FASTER ? FASTER : 2;
        } else {
            best = gpume_min_u64(best, ns);
            spent += gpume_max_u64(ns, long_ns / ATTEMPTS); /* GROUPS_MAX may take no time */
        }
    }
    *best_ns = best;
fail:
    return status;
}

/* GPUME_UNSUPPORTED: no device, or not by that one. */
static int open_device(struct loop *loop, const char *device, const char *search,
    const struct gpume_match_variant **variant)
{
    static const struct gpume_log silent;
    int status = gpume_gpu_open(&loop->gpu, &silent, device, true, false);
    if (status != GPUME_OK) {
        return status == GPUME_DEVICE && !loop->gpu.physical ? GPUME_UNSUPPORTED : status;
    }
    *variant = gpume_match_variant_select(&loop->gpu, search);
    return *variant ? GPUME_OK : GPUME_UNSUPPORTED;
}

int gpume_ceiling_gpu_measure(
    const char *device, const char *search, uint32_t threads, double *differences_per_second)
{
    (void)threads; /* the device has its own */
    struct loop loop = {0};
    const struct gpume_match_variant *variant = NULL;
    uint64_t ns = 0;
    int status;
    GPUME_TRY(open_device(&loop, device, search, &variant));
    GPUME_TRY(create(&loop, variant->words));
    GPUME_TRY(measure(&loop, &ns));
    double word_samples = variant->words == GPUME_TILE_HALF ? 2 : 1;
    double differences = word_samples * loop.groups * GPUME_CEILING_LOCAL * ITERATIONS *
                         GPUME_CEILING_FIXED * GPUME_CEILING_MOVING;
    *differences_per_second = differences * 1e9 / (double)ns;
fail:
    destroy(&loop);
    return status;
}
