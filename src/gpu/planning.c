/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/planning.h"

#include "base/grid.h"
#include "base/status.h"
#include "gpu/stages/stages.h"
#include "gpu/tune/sieve_shape.h"

/* Bound larger, the same buffer was read five times slower on an NVIDIA H200 (driver 580). */
#define WINDOW_BYTES (128ull << 20)

/* Fast windows if they do, else as large as the device allows. batch_max: fields of a submission */
static int make_plan(const struct gpume_gpu *gpu, const struct gpume_params *params,
    uint64_t window_bytes, uint32_t batch_max, struct gpume_plan *plan)
{
    static const struct gpume_log silent;
    uint64_t range = gpu->properties.limits.maxStorageBufferRange;
    struct gpume_caps caps = {
        .window_bytes = gpume_min_u64(window_bytes ? window_bytes : WINDOW_BYTES, range),
        .align_bytes = 256,
        .batch_max = batch_max,
        .batch_work = gpume_work_most(gpu->properties.deviceType),
    };
    if (caps.window_bytes < range && gpume_plan_make(params, &caps, &silent, plan) == GPUME_OK) {
        return GPUME_OK;
    }
    caps.window_bytes = range;
    return gpume_plan_make(params, &caps, gpu->log, plan);
}

static struct gpume_sieve_rule sieve_rule(const struct gpume_gpu *gpu,
    const struct gpume_engine_gpu_rules *rules, const struct gpume_plan *plan)
{
    const VkPhysicalDeviceProperties *p = &gpu->properties;
    bool processor = p->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    return (struct gpume_sieve_rule){
        .candidates_min = rules->force_sieve ? 0 : gpume_sieve_candidates_min(plan, processor),
        .bytes_max = gpume_min_u64(WINDOW_BYTES, p->limits.maxStorageBufferRange),
    };
}

/* A quarter of the device's memory stays with others. */
static bool fits(const struct gpume_gpu *gpu, const struct gpume_planning *planning)
{
    const struct gpume_memory_needs *needs = &planning->needs;
    uint64_t allowed = planning->plan.params.memory_max;
    return needs->device_bytes <= gpu->heap_bytes / 4 * 3 &&
           (allowed == 0 || needs->host_bytes + needs->device_bytes <= allowed);
}

/* Arrays of a field are bound whole. */
static int check_ranges(const struct gpume_gpu *gpu, const struct gpume_plan *plan)
{
    uint64_t range = gpu->properties.limits.maxStorageBufferRange;
    uint64_t bytes = (uint64_t)plan->batch * plan->blocks * 4;
    if (bytes <= range) {
        return GPUME_OK;
    }
    gpume_log_write(gpu->log, GPUME_LOG_ERROR,
        "%u blocks a field need %llu bytes for their costs, %s binds %llu at most; use larger "
        "blocks or "
        "--backend cpu",
        plan->blocks, (unsigned long long)bytes, gpu->properties.deviceName,
        (unsigned long long)range);
    return GPUME_UNSUPPORTED;
}

int gpume_planning_make(struct gpume_gpu *gpu, const struct gpume_params *params,
    const struct gpume_engine_gpu_rules *rules, struct gpume_planning *planning)
{
    struct gpume_plan *plan = &planning->plan;
    uint32_t batch_max = GPUME_BATCH_MAX;
    bool enough = false;
    int status;
    while (!enough) {
        GPUME_TRY(make_plan(gpu, params, rules->window_bytes, batch_max, plan));
        struct gpume_sieve_rule rule = sieve_rule(gpu, rules, plan);
        planning->layout = gpume_layout_make(plan, &rule, gpume_k_rank_scratch(gpu, plan));
        planning->needs = gpume_memory_needs(plan, &planning->layout);
        enough = plan->batch == 1 || fits(gpu, planning);
        batch_max = plan->batch - 1;
    }
    GPUME_TRY(
        gpume_plan_check_memory(params, planning->needs.host_bytes + planning->needs.device_bytes,
            planning->layout.boxes_bytes > 0, gpu->log));
    GPUME_TRY(check_ranges(gpu, plan));
fail:
    return status;
}
