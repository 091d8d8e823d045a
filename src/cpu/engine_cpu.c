/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU engine: an exact search (search/search.h) on a thread pool. cpu_submit queues the steps
 * of a submission (steps.h). cpu_collect takes part in them until the submission's field is
 * complete, while the other threads go on with later submissions. All calls come from the
 * pipeline's thread. The same engine with the plain search is what --check compares with.
 */
#include "cpu/engine_cpu.h"

#include "arrays/host_sort.h"
#include "base/grid.h"
#include "base/status.h"
#include "cpu/cpu.h"
#include "cpu/memory.h"
#include "frame/stats.h"

#include <stdio.h>
#include <stdlib.h>

#define WIDE 1024u /* candidates per block from which elimination nearly always wins */

/* --- memory */

static int allocate_boxes(struct gpume_cpu *cpu, struct gpume_boxes *boxes)
{
    if (cpu->shared.search->box_row && !cpu->shared.plan.params.no_elimination &&
        gpume_plan_searches_fast(&cpu->shared.plan)) {
        *boxes = gpume_boxes_plan(&cpu->shared.plan);
    }
    for (uint32_t i = 0; i < boxes->levels; i++) {
        boxes->sums[i] = gpume_allocate(&cpu->bytes, gpume_boxes_entries(boxes), sizeof(uint16_t));
        if (!boxes->sums[i]) {
            return GPUME_NOMEM;
        }
    }
    return GPUME_OK;
}

static uint32_t largest_layer(const struct gpume_plan *plan)
{
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        blocks = gpume_max_u64(blocks, plan->layers[i].blocks);
    }
    return (uint32_t)blocks;
}

static int allocate_scratch(struct gpume_cpu *cpu)
{
    const uint32_t blocks = largest_layer(&cpu->shared.plan);
    int status = GPUME_OK;
    for (uint32_t i = 0; i < cpu->scratch_count; i++) {
        struct gpume_scratch *scratch = &cpu->scratches[i];
        GPUME_TRY(allocate_boxes(cpu, &scratch->boxes));
        scratch->ranking =
            gpume_allocate(&cpu->bytes, blocks, GPUME_HOST_RANK_WORDS * sizeof(*scratch->ranking));
        GPUME_TRY(scratch->ranking ? GPUME_OK : GPUME_NOMEM);
    }
fail:
    return status;
}

/* The number of workers decides how the layers are divided. */
static int allocate_all(struct gpume_cpu *cpu)
{
    const struct gpume_plan *plan = &cpu->shared.plan;
    int status;
    gpume_shared_divide(&cpu->shared, gpume_workers_count(cpu->workers));
    GPUME_TRY(gpume_rings_init(&cpu->rings, plan, &cpu->bytes));
    GPUME_TRY(allocate_scratch(cpu));
    cpu->frames = gpume_allocate(&cpu->bytes, plan->pool, sizeof(*cpu->frames));
    cpu->slots = gpume_allocate(&cpu->bytes, plan->slots, sizeof(*cpu->slots));
    if (!cpu->frames || !cpu->slots) {
        return GPUME_NOMEM;
    }
    for (uint32_t i = 0; i < plan->slots; i++) {
        GPUME_TRY(gpume_steps_init(
            &cpu->slots[i], &cpu->shared, &cpu->scratches[i % cpu->scratch_count], &cpu->bytes));
    }
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        gpume_policy_init(&cpu->policies[i], cpu->scratches[0].boxes.levels > 0,
            plan->candidates >= WIDE, cpu->shared.divisions[i].items);
    }
fail:
    return status;
}

static int cpu_close(void **engine)
{
    struct gpume_cpu *cpu = *engine;
    if (!cpu) {
        return GPUME_OK;
    }
    *engine = NULL;
    gpume_workers_destroy(&cpu->workers);
    for (uint32_t i = 0; cpu->frames && i < cpu->shared.plan.pool; i++) {
        free(cpu->frames[i]);
    }
    gpume_rings_finish(&cpu->rings);
    for (uint32_t i = 0; cpu->slots && i < cpu->shared.plan.slots; i++) {
        gpume_steps_finish(&cpu->slots[i]);
    }
    for (uint32_t i = 0; i < cpu->scratch_count; i++) {
        struct gpume_scratch *scratch = &cpu->scratches[i];
        for (uint32_t j = 0; j < scratch->boxes.levels; j++) {
            free(scratch->boxes.sums[j]);
        }
        free(scratch->ranking);
    }
    free(cpu->frames);
    free(cpu->slots);
    free(cpu);
    return GPUME_OK;
}

int gpume_engine_cpu_open(void **engine, const struct gpume_params *params,
    const struct gpume_log *log, struct gpume_plan *plan, const struct gpume_search *search)
{
    const uint32_t threads = params->threads ? params->threads : gpume_workers_processors();
    const struct gpume_caps caps = {.window_bytes = UINT64_MAX,
        .align_bytes = 64,
        .batch_max = 1,
        .batch_work = 1ull << 32,
        .threads = threads};
    void *opened = calloc(1, sizeof(struct gpume_cpu));
    struct gpume_cpu *cpu = opened;
    if (!cpu) {
        return gpume_log_nomem(log, "the CPU engine");
    }
    cpu->shared.search = search;
    int status;
    GPUME_TRY(gpume_plan_make(params, &caps, log, &cpu->shared.plan));
    if (!search->box_row) { /* the general search has elimination, this one does not */
        cpu->shared.plan.fast_pixels = false;
    }
    cpu->scratch_count = cpu->shared.plan.overlap > 1 ? cpu->shared.plan.slots : 1;
    status = gpume_workers_create(&cpu->workers, params->threads);
    if (status == GPUME_AGAIN) {
        status = gpume_log_no_thread(log);
        goto fail;
    }
    if (status == GPUME_OK) {
        status = allocate_all(cpu);
    }
    if (status != GPUME_OK) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "out of memory: the CPU engine needs %llu MiB for %ux%u; use fewer threads",
            (unsigned long long)(cpu->bytes >> 20) + 1, params->width, params->height);
        goto fail;
    }
    snprintf(cpu->device, sizeof(cpu->device), "%u thread%s", gpume_workers_count(cpu->workers),
        gpume_workers_count(cpu->workers) == 1 ? "" : "s");
    *plan = cpu->shared.plan;
    *engine = cpu;
    return GPUME_OK;
fail:
    cpu_close(&opened);
    return status;
}

static bool eliminates(const struct gpume_cpu *cpu)
{
    return cpu->scratches[0].boxes.levels > 0 || cpu->rings.sums[0] || cpu->rings.sums[1];
}

static int cpu_open(void **engine, const struct gpume_params *params, const struct gpume_log *log,
    struct gpume_plan *plan)
{
    const struct gpume_search *search = gpume_search_select(params->search);
    if (!search) {
        return GPUME_UNSUPPORTED; /* lib.c has logged why */
    }
    int status = gpume_engine_cpu_open(engine, params, log, plan, search);
    if (status == GPUME_OK) {
        const struct gpume_cpu *cpu = *engine;
        status = gpume_plan_check_memory(
            plan, cpu->bytes + plan->pool * plan->plane_bytes, eliminates(cpu), log);
    }
    if (status != GPUME_OK) {
        cpu_close(engine);
    }
    return status;
}

static int cpu_list_searches(
    const char *device, struct gpume_search_info *searches, uint32_t *count)
{
    (void)device;
    const struct gpume_search *search;
    for (*count = 0; (search = gpume_search_at(*count)); (*count)++) {
        searches[*count] = (struct gpume_search_info){.backend = GPUME_BACKEND_CPU,
            .available = search->available(),
            .automatic = search == gpume_search_select(NULL)};
        snprintf(searches[*count].name, sizeof(searches->name), "%s", search->name);
        snprintf(searches[*count].summary, sizeof(searches->summary), "%s", search->summary);
    }
    return GPUME_OK;
}

static void *cpu_frame_memory(void *engine, uint32_t index)
{
    struct gpume_cpu *cpu = engine;
    if (!cpu->frames[index]) { /* not in cpu_open: the engine of --check never asks for any */
        cpu->frames[index] = gpume_allocate(&cpu->bytes, cpu->shared.plan.plane_bytes, 1);
    }
    return cpu->frames[index];
}

static void cpu_cancel(void *engine)
{
    struct gpume_cpu *cpu = engine;
    atomic_store(&cpu->shared.cancelled, true);
}

static void cpu_get_stats(void *engine, struct gpume_stats *stats)
{
    const struct gpume_cpu *cpu = engine;
    uint32_t threads = gpume_workers_count(cpu->workers);
    *stats = cpu->stats;
    for (uint32_t i = 0; i < stats->stage_count; i++) {
        stats->stages[i].ns /= threads;
    }
}

static void cpu_get_info(void *engine, struct gpume_info *info)
{
    const struct gpume_cpu *cpu = engine;
    info->backend = "cpu";
    info->device = cpu->device;
    info->driver = "";
    info->search = cpu->shared.search->name;
    info->eliminates = eliminates(cpu);
    info->host_bytes = cpu->bytes;
}

const struct gpume_engine_ops gpume_engine_cpu = {
    .list_searches = cpu_list_searches,
    .open = cpu_open,
    .frame_memory = cpu_frame_memory,
    .submit = gpume_cpu_submit,
    .collect = gpume_cpu_collect,
    .cancel = cpu_cancel,
    .get_stats = cpu_get_stats,
    .get_info = cpu_get_info,
    .close = cpu_close,
};
