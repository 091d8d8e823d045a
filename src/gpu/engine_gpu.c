/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Vulkan engine: owns the device, the buffers and the slots, and strings the kernels together,
 * in order and only here. One command buffer, one submission and one timeline value a batch; frames
 * are uploaded once and read twice, as target and as reference. Called from the pipeline's thread
 * only.
 */
#include "gpu/engine_gpu.h"

#include "base/clock.h"
#include "base/status.h"
#include "frame/stats.h"
#include "gpu/planning.h"
#include "gpu/stages/prefiltering.h"
#include "gpu/stages/stages.h"
#include "gpu/tune/choice.h"
#include "gpu/tune/sieving.h"
#include "gpu/vk/pipeline_cache.h"

#include <stdlib.h>

struct engine {
    struct gpume_gpu gpu;
    struct gpume_planning planned;
    struct gpume_choice choice;
    struct gpume_tile left_tile; /* of the search for the few blocks that the sieve leaves */
    struct gpume_kernels kernels;
    struct gpume_timeline timeline;
    struct gpume_slot slots[GPUME_SLOTS_MAX];
    struct gpume_memory memory;
    struct gpume_prefiltering prefiltering;
    struct gpume_sieving sieving;
    uint64_t stage_ns[GPUME_STAGE_COUNT];
    struct gpume_stats counts; /* fields and how far their candidates came */
};

static int engine_close(void **opaque);

static int create_kernels(struct engine *engine)
{
    struct gpume_gpu *gpu = &engine->gpu;
    struct gpume_kernels *k = &engine->kernels;
    int status;
    GPUME_TRY(gpume_k_upload_create(gpu, &engine->planned.plan, &k->upload));
    GPUME_TRY(gpume_k_prefilter_create(gpu, &engine->planned.plan, &k->prefilter));
    GPUME_TRY(gpume_k_match_create(gpu, &engine->planned.plan, engine->choice.variant,
        &engine->choice.tile, false, &k->match));
    if (engine->planned.layout.boxes_bytes > 0) {
        GPUME_TRY(gpume_k_boxes_create(gpu, &engine->planned.plan, &k->boxes));
        GPUME_TRY(gpume_k_sieve_create(gpu, &engine->planned.plan, &k->sieve));
        GPUME_TRY(gpume_k_match_create(gpu, &engine->planned.plan, engine->choice.variant,
            &engine->left_tile, true, &k->left));
    }
    GPUME_TRY(gpume_k_predict_create(gpu, &engine->planned.plan, &k->predict));
    GPUME_TRY(gpume_k_reduce_create(gpu, &k->reduce));
    GPUME_TRY(gpume_k_rank_create(gpu, &engine->planned.plan, &k->rank));
fail:
    return status;
}

#define KERNELS 10u

/* All but those of ranking, one after the other. */
static struct gpume_kernel *kernel_at(struct engine *engine, size_t index)
{
    struct gpume_kernels *k = &engine->kernels;
    struct gpume_kernel *const all[KERNELS] = {&k->upload, &k->prefilter, &k->boxes, &k->sieve,
        &k->left.tiles, &k->left.quads, &k->match.tiles, &k->match.quads, &k->predict, &k->reduce};
    return all[index];
}

static int wait_for_kernels(struct engine *engine)
{
    int status = GPUME_OK;
    for (size_t i = 0; status == GPUME_OK && i < KERNELS; i++) {
        status = gpume_kernel_wait(&engine->gpu, kernel_at(engine, i));
    }
    return status == GPUME_OK ? gpume_k_sort_wait(&engine->kernels.rank) : status;
}

static int create_memory(struct engine *engine)
{
    const struct gpume_planning *planned = &engine->planned;
    bool sieve = planned->layout.boxes_bytes > 0;
    int status;
    GPUME_TRY(gpume_sieving_create(&engine->gpu, &planned->plan, sieve, &engine->sieving));
    GPUME_TRY(gpume_memory_create(&engine->gpu, &planned->needs, &engine->memory));
    gpume_prefiltering_init(&planned->plan, &engine->memory, &engine->prefiltering);
fail:
    return status;
}

static int create_slots(struct engine *engine)
{
    const struct gpume_plan *plan = &engine->planned.plan;
    uint32_t binds = plan->batch * gpume_k_upload_binds(plan) + 2 + /* boxes, sieve */
                     plan->batch * gpume_k_prefilter_binds(plan) +
                     plan->band_count * GPUME_K_BAND_BINDS + GPUME_K_REDUCE_BINDS;
    int status = gpume_timeline_create(&engine->gpu, &engine->timeline);
    for (uint32_t i = 0; status == GPUME_OK && i < plan->slots; i++) {
        status = gpume_slot_create(
            &engine->gpu, binds, sizeof(struct gpume_task_table), &engine->slots[i]);
    }
    return status;
}

/* Blocks left over are few and far between: a tile each, if such tiles suit. */
static void choose_left_tile(struct engine *engine)
{
    struct gpume_tile tiles[GPUME_VARIANT_TILES_MAX];
    uint32_t count = gpume_match_variant_tiles(
        engine->choice.variant, &engine->gpu, &engine->planned.plan, 1, tiles);
    engine->left_tile = count > 0 ? tiles[0] : engine->choice.tile;
}

/* times: before opening, with the device there, with the memory there. */
static void tell_times(const struct engine *engine, const uint64_t times[3], const char *how)
{
    const struct gpume_gpu *gpu = &engine->gpu;
    uint64_t now = gpume_clock_ns(), device_ns = times[1] - times[0] - gpu->instance_ns;
    gpume_log_write(gpu->log, GPUME_LOG_DEBUG,
        "started in %.1f ms: instance %.1f, device %.1f, pipelines %.1f (%s), memory meanwhile "
        "%.1f",
        (double)(now - times[0]) / 1e6, (double)gpu->instance_ns / 1e6, (double)device_ns / 1e6,
        (double)(now - times[1]) / 1e6, how, (double)(times[2] - times[1]) / 1e6);
}

/* Everything that lives on the device. Memory is allocated while pipelines are compiled. */
static int open_parts(
    struct engine *engine, const struct gpume_engine_gpu_rules *rules, uint64_t times[3])
{
    const struct gpume_cache cache = {engine->planned.plan.params.cache_dir, engine->gpu.log};
    gpume_pipeline_cache_open(&engine->gpu, &cache);
    int status;
    GPUME_TRY(gpume_choice_make(
        &engine->gpu, &engine->planned.plan, &cache, &rules->tile, &engine->choice));
    if (engine->planned.layout.boxes_bytes > 0) {
        choose_left_tile(engine);
    }
    engine->sieving.forced = rules->force_sieve;
    GPUME_TRY(create_kernels(engine));
    GPUME_TRY(create_memory(engine));
    GPUME_TRY(create_slots(engine));
    times[2] = gpume_clock_ns();
    GPUME_TRY(wait_for_kernels(engine));
    tell_times(engine, times, gpume_pipeline_cache_save(&engine->gpu, &cache));
fail:
    return status;
}

int gpume_engine_gpu_open_with(void **out, const struct gpume_params *params,
    const struct gpume_log *log, const struct gpume_engine_gpu_rules *rules,
    struct gpume_plan *plan)
{
    void *opaque = calloc(1, sizeof(struct engine));
    struct engine *engine = opaque;
    if (!engine) {
        return gpume_log_nomem(log, "the Vulkan engine");
    }
    /* Who wants validation wants Vulkan, whatever there is of it. */
    bool software = params->backend == GPUME_BACKEND_VULKAN || params->validate;
    uint64_t times[3] = {gpume_clock_ns()};
    int status;
    GPUME_TRY(gpume_gpu_open(&engine->gpu, log, params->device, software, params->validate));
    if (rules->as_hardware) {
        engine->gpu.properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_OTHER;
    }
    times[1] = gpume_clock_ns();
    GPUME_TRY(gpume_planning_make(&engine->gpu, params, rules, &engine->planned));
    GPUME_TRY(open_parts(engine, rules, times));
    *plan = engine->planned.plan;
    *out = engine;
    return GPUME_OK;
fail:
    engine_close(&opaque);
    return status;
}

static int engine_open(void **engine, const struct gpume_params *params,
    const struct gpume_log *log, struct gpume_plan *plan)
{
    static const struct gpume_engine_gpu_rules usual;
    return gpume_engine_gpu_open_with(engine, params, log, &usual, plan);
}

static void *engine_frame_memory(void *opaque, uint32_t index)
{
    struct engine *engine = opaque;
    return engine->memory.parts[GPUME_MEMORY_UPLOADS][index].mapped;
}

/* Every stage after the frames have arrived. searched: work on what the search sees. */
static void record_fields(struct engine *engine, const struct gpume_work *work,
    const struct gpume_work *searched, uint32_t index)
{
    const struct gpume_kernels *k = &engine->kernels;
    struct gpume_slot *slot = work->slot;
    gpume_sieving_record(&engine->sieving, k, searched, index);
    gpume_slot_stage_done(slot, GPUME_STAGE_MATCH);
    gpume_barrier_kernel_to_kernel(slot);
    gpume_k_predict_record(work, &k->predict);
    gpume_barrier_kernel_to_kernel(slot);
    gpume_k_reduce_record(work, &k->reduce);
    gpume_slot_stage_done(slot, GPUME_STAGE_REDUCE);
    gpume_k_rank_record(work, &k->rank);
    gpume_slot_stage_done(slot, GPUME_STAGE_RANK);
    gpume_barrier_kernel_to_copy(slot);
    gpume_k_readback_record(work);
    gpume_barrier_copy_to_host(slot);
    gpume_slot_stage_done(slot, GPUME_STAGE_READBACK);
}

static int engine_submit(void *opaque, uint32_t index, const struct gpume_batch *batch)
{
    struct engine *engine = opaque;
    struct gpume_slot *slot = &engine->slots[index];
    struct gpume_task tasks[GPUME_BATCH_MAX];
    for (uint32_t i = 0; i < batch->field_count; i++) {
        tasks[i] = batch->fields[i]->task;
    }
    struct gpume_work work = {
        .gpu = &engine->gpu,
        .plan = &engine->planned.plan,
        .layout = &engine->planned.layout,
        .slot = slot,
        .uploads = engine->memory.parts[GPUME_MEMORY_UPLOADS],
        .ring = engine->memory.parts[GPUME_MEMORY_RING],
        .results = &engine->memory.parts[GPUME_MEMORY_RESULTS][index],
        .readback = &engine->memory.parts[GPUME_MEMORY_READBACK][index],
        .scratch = &engine->memory.parts[GPUME_MEMORY_SCRATCH][index],
        .boxes = engine->memory.parts[GPUME_MEMORY_BOXES],
        .tasks = tasks,
        .task_count = batch->field_count,
    };
    gpume_slot_begin(slot);
    gpume_work_write_tasks(&work);
    gpume_barrier_from_earlier_slots(slot);
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        const struct gpume_frame *frame = batch->frames[i];
        gpume_k_upload_record(&work, &engine->kernels.upload, frame->pool_index, frame->sequence);
    }
    struct gpume_work searched = gpume_prefiltering_record(
        &engine->prefiltering, &engine->kernels, &work, batch->frames, batch->frame_count);
    gpume_slot_stage_done(slot, GPUME_STAGE_UPLOAD);
    if (batch->field_count > 0) {
        gpume_barrier_kernel_to_kernel(slot);
        record_fields(engine, &work, &searched, index);
    }
    return gpume_slot_submit(slot, &engine->timeline);
}

static const void *result_at(
    const struct engine *engine, uint32_t slot, VkDeviceSize part, VkDeviceSize offset)
{
    return (const uint8_t *)engine->memory.parts[GPUME_MEMORY_READBACK][slot].mapped + part +
           offset;
}

static void fill_field(
    const struct engine *engine, uint32_t slot, uint32_t index, struct gpume_field *field)
{
    const struct gpume_layout *layout = &engine->planned.layout;
    const struct gpume_plan *plan = &engine->planned.plan;
    VkDeviceSize words = (VkDeviceSize)index * plan->blocks * 4;
    const uint32_t *sums =
        result_at(engine, slot, layout->sums, (VkDeviceSize)index * GPUME_SUM_WORDS * 4);
    uint64_t totals[GPUME_SUMS];
    for (uint32_t i = 0; i < GPUME_SUMS; i++) {
        totals[i] = sums[2 * i] | (uint64_t)sums[2 * i + 1] << 32;
    }
    field->sums = (struct gpume_sums){totals[0], totals[1], totals[2], totals[3], totals[4]};
    field->vectors = result_at(engine, slot, layout->vectors, words);
    field->costs = result_at(engine, slot, layout->costs, words);
    field->ranks = result_at(engine, slot, layout->ranks, words);
    field->predicted = (struct gpume_plane){.stride = plan->plane_stride,
        .width = plan->params.width,
        .height = plan->params.height,
        .bits = plan->params.bits};
    if (plan->params.want_predicted) {
        /* The mapping is the host's to write, but nobody does. */
        field->predicted.data = (void *)(uintptr_t)result_at(
            engine, slot, layout->predicted, index * plan->plane_bytes);
    }
}

static int validation_verdict(struct gpume_gpu *gpu)
{
    return atomic_load(&gpu->validation_errors) > 0 ? GPUME_DEVICE : GPUME_OK;
}

static int engine_collect(void *opaque, uint32_t index, const struct gpume_batch *batch)
{
    struct engine *engine = opaque;
    int status;
    uint64_t match_ns = engine->stage_ns[GPUME_STAGE_MATCH];
    GPUME_TRY(gpume_slot_wait(&engine->slots[index], &engine->timeline, engine->stage_ns));
    GPUME_TRY(validation_verdict(&engine->gpu));
    for (uint32_t i = 0; i < batch->field_count; i++) {
        fill_field(engine, index, i, &batch->fields[i]->field);
        gpume_sieving_count(&engine->sieving, index,
            result_at(engine, index, engine->planned.layout.counts, i * GPUME_COUNT_BYTES),
            engine->planned.plan.field_candidates, &engine->counts);
    }
    gpume_sieving_measured(&engine->sieving, index, engine->stage_ns[GPUME_STAGE_MATCH] - match_ns,
        batch->field_count);
fail:
    return status;
}

static void engine_get_stats(void *opaque, struct gpume_stats *stats)
{
    const struct engine *engine = opaque;
    *stats = engine->counts;
    static const char *const names[GPUME_STAGE_COUNT] = {
        "upload", "match", "reduce", "rank", "readback"};
    for (uint32_t i = 0; i < GPUME_STAGE_COUNT; i++) {
        gpume_stats_add_ns(stats, names[i], engine->stage_ns[i]);
    }
}

static void engine_get_info(void *opaque, struct gpume_info *info)
{
    const struct engine *engine = opaque;
    info->backend = "vulkan";
    info->device = engine->gpu.properties.deviceName;
    info->driver = engine->gpu.driver;
    info->search = engine->choice.variant->name;
    info->eliminates = engine->planned.layout.boxes_bytes > 0;
    info->host_bytes = engine->planned.needs.host_bytes;
    info->device_bytes = engine->planned.needs.device_bytes;
}

static void destroy_kernels(struct engine *engine)
{
    for (size_t i = 0; i < KERNELS; i++) {
        gpume_kernel_destroy(&engine->gpu, kernel_at(engine, i));
    }
    gpume_k_sort_destroy(&engine->kernels.rank);
}

static void destroy_all(struct engine *engine)
{
    struct gpume_gpu *gpu = &engine->gpu;
    vkDeviceWaitIdle(gpu->device);
    for (uint32_t i = 0; i < GPUME_SLOTS_MAX; i++) {
        gpume_slot_destroy(&engine->slots[i]);
    }
    gpume_memory_destroy(gpu, &engine->planned.needs, &engine->memory);
    gpume_timeline_destroy(gpu, &engine->timeline);
    destroy_kernels(engine);
}

static int engine_close(void **opaque)
{
    struct engine *engine = *opaque;
    if (!engine) {
        return GPUME_OK;
    }
    *opaque = NULL;
    if (engine->gpu.device) {
        destroy_all(engine);
    }
    gpume_gpu_close(&engine->gpu);
    int status = validation_verdict(&engine->gpu);
    gpume_sieving_destroy(&engine->sieving);
    free(engine);
    return status;
}

const struct gpume_engine_ops gpume_engine_gpu = {
    .list_searches = gpume_match_variant_list,
    .open = engine_open,
    .frame_memory = engine_frame_memory,
    .submit = engine_submit,
    .collect = engine_collect,
    .get_stats = engine_get_stats,
    .get_info = engine_get_info,
    .close = engine_close,
};
