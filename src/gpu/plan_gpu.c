/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/plan_gpu.h"

#include "base/base.h"
#include "gpu/stages/prune.h"
#include "gpu/stages/stage.h"

/* Bound larger, the same buffer was read five times slower on an NVIDIA H200 (driver 580). */
#define WINDOW_BYTES (128ull << 20)

#define WORK_DISCRETE (1ull << 38)   /* 15 milliseconds of a large GPU */
#define WORK_INTEGRATED (1ull << 36) /* a tenth of a second of a small one */
#define WORK_SOFTWARE (1ull << 32)   /* half a second of two processors */

const struct gpume_stage_ops *const gpume_stages[] = {
    &gpume_stage_upload,
    &gpume_stage_prefilter,
    &gpume_stage_fractions,
    &gpume_stage_boxes,
    &gpume_stage_block_sums,
    &gpume_stage_prune_wide,
    &gpume_stage_prune_small,
    &gpume_stage_match,
    &gpume_stage_fallback,
    &gpume_stage_pairs,
    &gpume_stage_general_search,
    &gpume_stage_choose,
    &gpume_stage_means,
    &gpume_stage_texture,
    &gpume_stage_partition,
    &gpume_stage_measure,
    &gpume_stage_predict,
    &gpume_stage_reduce,
    &gpume_stage_rank,
    &gpume_stage_readback,
    NULL,
};
_Static_assert(sizeof(gpume_stages) / sizeof(*gpume_stages) == GPUME_STAGES_COUNT + 1, "counted");

/* Pixel differences of one submission: a run can be ended between submissions only. */
static uint64_t most_work(VkPhysicalDeviceType type)
{
    return type == VK_PHYSICAL_DEVICE_TYPE_CPU            ? WORK_SOFTWARE
           : type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ? WORK_DISCRETE
                                                          : WORK_INTEGRATED;
}

static uint64_t range_of(const struct gpume_gpu *gpu)
{
    return gpu->properties.limits.maxStorageBufferRange;
}

/* Fast windows if they are enough, else as large as the device allows. batch_max: fields in a
 * submission. */
static int plan_for_device(const struct gpume_gpu *gpu, const struct gpume_params *params,
    const struct gpume_engine_gpu_rules *rules, uint32_t batch_max, struct gpume_plan *plan)
{
    uint64_t window_bytes = rules->window_bytes;
    static const struct gpume_log silent;
    uint64_t range = range_of(gpu);
    struct gpume_caps caps = {
        .window_bytes = gpume_min_u64(window_bytes ? window_bytes : WINDOW_BYTES, range),
        .align_bytes = 256,
        .batch_max = batch_max,
        .batch_work = most_work(gpu->properties.deviceType),
        .fast_references = true,
    };
    *plan = (struct gpume_plan){0}; /* as it stays if the next call fails */
    const int fits = gpume_plan_make(params, &caps, &silent, plan);
    if (caps.window_bytes < range && fits == GPUME_OK && !plan->general) {
        return GPUME_OK;
    }
    /* The general search binds uploads alone; its sums and ranges take up to three times what its
     * surfaces take. */
    caps.window_bytes = plan->general ? gpume_min_u64(range, gpu->allocation_max / 3) : range;
    if (plan->fast_pixels) { /* it binds plane 0 of the ring */
        caps.window_bytes = gpume_min_u64(caps.window_bytes, WINDOW_BYTES * plan->planes);
    }
    int status = gpume_plan_make(params, &caps, gpu->log, plan);
    if (status == GPUME_OK && plan->fast_pixels && plan->references > 1 && !plan->one_window) {
        caps.fast_references = false; /* bands are of one reference */
        caps.window_bytes = gpume_min_u64(range, gpu->allocation_max / 3);
        status = gpume_plan_make(params, &caps, gpu->log, plan);
    }
    return status;
}

static void declare_needs(struct gpume_gpu *gpu, struct gpume_plan_gpu *planned)
{
    struct gpume_stage_setup setup = {
        .gpu = gpu, .plan = &planned->plan, .layout = &planned->layout};
    for (uint32_t i = 0; i < GPUME_STAGES_COUNT; i++) {
        const struct gpume_stage_ops *stage = gpume_stages[i];
        uint32_t layers = stage->of_layers ? planned->plan.layer_count : 1;
        for (setup.layer = 0; setup.layer < layers; setup.layer++) {
            if (!stage->wanted || stage->wanted(&setup)) {
                planned->needs.binds += stage->binds;
                if (stage->needs) {
                    stage->needs(&setup, &planned->needs);
                }
            }
        }
    }
}

static VkDeviceSize place_arrays(const struct gpume_memory_needs *needs,
    enum gpume_work_array first, enum gpume_work_array end, struct gpume_array_places *places)
{
    VkDeviceSize bytes = 0;
    for (uint32_t array = first; array < end; array++) {
        for (uint32_t layer = 0; layer < GPUME_LAYERS_MAX; layer++) {
            places->offsets[array][layer] = bytes;
            places->bytes[array][layer] = needs->arrays[array][layer];
            bytes = gpume_round_up(bytes + needs->arrays[array][layer], GPUME_PART_ALIGN);
        }
    }
    return bytes;
}

/* Gives arrays their places, and adds the buffers that hold them, for that many slots. */
static struct gpume_array_places place_memory(struct gpume_memory_needs *needs, uint32_t slots)
{
    struct gpume_array_places places;
    VkDeviceSize results = place_arrays(needs, GPUME_ARRAY_SUMS, GPUME_ARRAY_RESULTS, &places);
    VkDeviceSize scratch = place_arrays(needs, GPUME_ARRAY_PARTIALS, GPUME_ARRAY_COUNT, &places);
    gpume_need_buffers(needs, GPUME_MEMORY_RESULTS, GPUME_BUFFER_DEVICE, results, slots);
    gpume_need_buffers(needs, GPUME_MEMORY_READBACK, GPUME_BUFFER_READBACK, results, slots);
    gpume_need_buffers(needs, GPUME_MEMORY_SCRATCH, GPUME_BUFFER_DEVICE, scratch, slots);
    return places;
}

static struct gpume_memory_bytes bytes_of(const struct gpume_memory_needs *needs)
{
    struct gpume_memory_bytes bytes = {0};
    for (uint32_t i = 0; i < GPUME_MEMORY_PARTS; i++) {
        const struct gpume_memory_need *need = &needs->parts[i];
        bool device = need->kind == GPUME_BUFFER_DEVICE;
        *(device ? &bytes.device : &bytes.host) += need->bytes * need->count;
    }
    return bytes;
}

void gpume_plan_gpu_needs(struct gpume_gpu *gpu, const struct gpume_engine_gpu_rules *rules,
    uint32_t slots, struct gpume_plan_gpu *planned)
{
    planned->layout = (struct gpume_layout){0};
    planned->needs = (struct gpume_memory_needs){0};
    if (rules) {
        gpume_prune_plan(gpu, rules->force_pruning, WINDOW_BYTES, &planned->plan, &planned->layout);
    }
    declare_needs(gpu, planned);
    planned->layout.arrays = place_memory(&planned->needs, slots);
    planned->bytes = bytes_of(&planned->needs);
}

/* A quarter of the device's memory stays with others. */
static bool fits_memory(const struct gpume_gpu *gpu, const struct gpume_plan_gpu *planned)
{
    const struct gpume_memory_bytes *bytes = &planned->bytes;
    uint64_t allowed = planned->plan.params.memory_max;
    return bytes->device <= gpu->heap_bytes / 4 * 3 &&
           (allowed == 0 || bytes->host + bytes->device + planned->plan.run_bytes <= allowed);
}

/* Bytes of the largest array that kernels bind whole: costs, except in the general search, or
 * predicted frames, except in bands. */
static uint64_t bound_bytes(const struct gpume_plan *plan)
{
    uint64_t costs =
        gpume_plan_searches_fast(plan) ? gpume_work_pairs(plan, plan->blocks) * 4ull : 0;
    bool predicts = plan->params.want_predicted && plan->layers[0].band_count == 1;
    return plan->batch * gpume_max_u64(costs, predicts ? plan->plane_bytes : 0);
}

static int check_ranges(const struct gpume_gpu *gpu, const struct gpume_plan *plan)
{
    uint64_t bytes = bound_bytes(plan), range = range_of(gpu);
    if (bytes <= range) {
        return GPUME_OK;
    }
    return gpume_log_fail(gpu->log, GPUME_UNSUPPORTED,
        "a field of %u blocks has results of %llu bytes, %s binds at most %llu; use larger blocks "
        "or "
        "the CPU engine",
        plan->blocks, (unsigned long long)bytes, gpu->properties.deviceName,
        (unsigned long long)range);
}

int gpume_plan_gpu_make(struct gpume_gpu *gpu, const struct gpume_params *params,
    const struct gpume_engine_gpu_rules *rules, struct gpume_plan_gpu *planned)
{
    struct gpume_plan *plan = &planned->plan;
    uint32_t batch_max = GPUME_BATCH_MAX;
    bool enough = false;
    int status;
    while (!enough) {
        GPUME_TRY(plan_for_device(gpu, params, rules, batch_max, plan));
        gpume_plan_gpu_needs(gpu, rules, plan->slots, planned);
        enough =
            plan->batch == 1 || (fits_memory(gpu, planned) && bound_bytes(plan) <= range_of(gpu));
        batch_max = plan->batch - 1;
    }
    GPUME_TRY(gpume_plan_check_memory(plan, planned->bytes.host + planned->bytes.device,
        gpume_plan_gpu_prunes(planned), gpu->log));
    GPUME_TRY(check_ranges(gpu, plan));
fail:
    return status;
}
