/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Vulkan engine: owns the device, the buffers and the slots, and records the stages of one
 * table (engine_stages) in order. One command buffer, one submission and one timeline value per
 * batch; frames are uploaded once and read as target and as reference of any task. Called from the
 * pipeline's thread only.
 */
#include "gpu/engine_gpu.h"

#include "base/base.h"
#include "base/os.h"
#include "base/workers.h"
#include "frame/frame.h"
#include "gpu/stages/stage.h"
#include "gpu/tune/choice.h"
#include "gpu/vk/gpu.h"

#include <stdlib.h>
#include <string.h>

/* --- the plan for a device */

/* Bound larger, the same buffer was read five times slower on an NVIDIA H200 (driver 580). */
#define WINDOW_BYTES (128ull << 20)

#define WORK_DISCRETE (1ull << 38)   /* 15 milliseconds of a large GPU */
#define WORK_INTEGRATED (1ull << 36) /* a tenth of a second of a small one */
#define WORK_SOFTWARE (1ull << 32)   /* half a second of two processors */

/* In the order in which a submission takes them. */
static const struct gpume_stage_ops *const engine_stages[] = {
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
        "a field of %u blocks has results of %llu bytes, %s binds at most %llu; use larger "
        "blocks or the CPU engine",
        plan->blocks, (unsigned long long)bytes, gpu->properties.deviceName,
        (unsigned long long)range);
}

/* Whether the plan has sums that bound candidates. */
static bool plan_prunes(const struct gpume_plan_gpu *planned)
{
    const struct gpume_memory_need *parts = planned->needs.parts;
    return parts[GPUME_MEMORY_BLOCK_SUMS].count > 0 || parts[GPUME_MEMORY_BOXES].count > 0;
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
        planned->layout = (struct gpume_layout){0};
        gpume_prune_plan(gpu, rules->force_pruning, WINDOW_BYTES, plan, &planned->layout);
        gpume_stages_plan(gpu, engine_stages, plan->slots, planned);
        enough =
            plan->batch == 1 || (fits_memory(gpu, planned) && bound_bytes(plan) <= range_of(gpu));
        batch_max = plan->batch - 1;
    }
    GPUME_TRY(gpume_plan_check_memory(
        plan, planned->bytes.host + planned->bytes.device, plan_prunes(planned), gpu->log));
    GPUME_TRY(check_ranges(gpu, plan));
fail:
    return status;
}

/* --- the engine */

#define COPY_THREADS_MAX 4u

struct engine {
    struct gpume_gpu gpu;
    struct gpume_cache cache;
    struct gpume_bands copying; /* of frames from other engines' memory */
    struct gpume_plan_gpu planned;
    struct gpume_match_choice choices[GPUME_LAYERS_MAX];
    struct gpume_gpu_stage *stages; /* those of the table that the plan wants, layer by layer */
    uint32_t stage_count;
    struct gpume_timeline timeline;
    struct gpume_slot slots[GPUME_SLOTS_MAX];
    struct gpume_memory memory;
    struct gpume_pruning pruning;
    uint64_t row_ns[GPUME_ROW_COUNT];
    struct gpume_stats counts; /* fields and how far their candidates came */
};

static int engine_close(void **opaque);

/* Every layer's stage of one kind, as far as it is wanted. */
static int create_stages_of(struct engine *engine, const struct gpume_stage_ops *ops)
{
    struct gpume_stage_setup setup = {
        .gpu = &engine->gpu,
        .plan = &engine->planned.plan,
        .layout = &engine->planned.layout,
        .cache = &engine->cache,
    };
    uint32_t layers = ops->of_layers ? setup.plan->layer_count : 1;
    int status = GPUME_OK;
    for (; status == GPUME_OK && setup.layer < layers; setup.layer++) {
        setup.choice = &engine->choices[setup.layer];
        if (!ops->wanted || ops->wanted(&setup)) {
            status = gpume_stage_create(ops, &setup, &engine->stages[engine->stage_count++]);
        }
    }
    return status;
}

static int create_stages(struct engine *engine)
{
    const size_t most =
        sizeof(engine_stages) / sizeof(*engine_stages) * engine->planned.plan.layer_count;
    engine->stages = calloc(most, sizeof(*engine->stages));
    int status = engine->stages ? GPUME_OK : gpume_log_nomem(engine->gpu.log, "stages");
    for (uint32_t i = 0; status == GPUME_OK && engine_stages[i]; i++) {
        status = create_stages_of(engine, engine_stages[i]);
    }
    return status;
}

static int wait_for_stages(struct engine *engine)
{
    int status = GPUME_OK;
    for (uint32_t i = 0; status == GPUME_OK && i < engine->stage_count; i++) {
        const struct gpume_gpu_stage *stage = &engine->stages[i];
        gpume_log_write(engine->gpu.log, GPUME_LOG_DEBUG, "stage %s, layer %u", stage->ops->name,
            stage->setup.layer);
        status = gpume_stage_wait(&engine->stages[i]);
    }
    return status;
}

static int create_slots(struct engine *engine)
{
    const struct gpume_plan_gpu *planned = &engine->planned;
    int status = gpume_timeline_create(&engine->gpu, &engine->timeline);
    for (uint32_t i = 0; status == GPUME_OK && i < planned->plan.slots; i++) {
        status = gpume_slot_create(
            &engine->gpu, planned->needs.binds, sizeof(struct gpume_task_table), &engine->slots[i]);
    }
    return status;
}

static int choose_searches(struct engine *engine, const struct gpume_engine_gpu_rules *rules)
{
    const struct gpume_plan *plan = &engine->planned.plan;
    int status = GPUME_OK;
    for (uint32_t i = 0;
         status == GPUME_OK && gpume_plan_searches_fast(plan) && i < plan->layer_count; i++) {
        status = gpume_choice_make(&engine->gpu, plan, &plan->layers[i], &engine->cache,
            &rules->tile, &engine->choices[i]);
    }
    return status;
}

/* times: before opening, with the device there, with the memory there. */
static void log_times(const struct engine *engine, const uint64_t times[3], const char *how)
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
    engine->cache = (struct gpume_cache){engine->planned.plan.params.cache_dir, engine->gpu.log};
    gpume_device_cache_open(&engine->gpu, &engine->cache);
    engine->pruning.possible = plan_prunes(&engine->planned);
    engine->pruning.forced = rules->force_pruning;
    int status;
    GPUME_TRY(choose_searches(engine, rules));
    GPUME_TRY(create_stages(engine));
    GPUME_TRY(gpume_memory_create(&engine->gpu, &engine->planned.needs, &engine->memory));
    GPUME_TRY(create_slots(engine));
    times[2] = gpume_clock_ns();
    GPUME_TRY(wait_for_stages(engine));
    log_times(engine, times, gpume_device_cache_save(&engine->gpu, &engine->cache));
    GPUME_TRY(gpume_gpu_verdict(&engine->gpu));
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
    /* A caller that wants validation wants Vulkan, even from a software driver. */
    bool software = params->backend == GPUME_BACKEND_VULKAN || params->validate;
    uint64_t times[3] = {gpume_clock_ns()};
    int status;
    GPUME_TRY(gpume_gpu_open(&engine->gpu, log, params->device, software, params->validate));
    if (rules->as_hardware) {
        engine->gpu.properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_OTHER;
    }
    times[1] = gpume_clock_ns();
    GPUME_TRY(gpume_plan_gpu_make(&engine->gpu, params, rules, &engine->planned));
    GPUME_TRY(open_parts(engine, rules, times));
    const uint32_t threads = params->threads ? params->threads : gpume_workers_processors() / 2;
    engine->copying.threads = (uint32_t)gpume_min_u64(threads, COPY_THREADS_MAX);
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

/* Every stage that the submission uses, with one barrier before all layers of it. */
static void record_stages(const struct engine *engine, const struct gpume_work *work)
{
    const struct gpume_stage_ops *last = NULL;
    uint32_t row = 0;
    for (uint32_t i = 0; i < engine->stage_count; i++) {
        const struct gpume_gpu_stage *stage = &engine->stages[i];
        const uint32_t count = stage->ops->of_frames ? work->frame_count : work->task_count;
        if (count == 0 || (stage->ops->used && !stage->ops->used(stage, work))) {
            continue;
        }
        for (; row < stage->ops->row; row++) {
            gpume_slot_row_done(work->slot, row);
        }
        if (stage->ops != last && stage->ops->before) {
            stage->ops->before(work->slot);
        }
        stage->ops->record(stage, work);
        last = stage->ops;
    }
    gpume_slot_row_done(work->slot, row);
}

struct frame_copy {
    uint8_t *to;
    const uint8_t *from;
    size_t row_bytes;
};

static void copy_rows(void *opaque, uint32_t begin, uint32_t end)
{
    const struct frame_copy *copy = opaque;
    memcpy(copy->to + begin * copy->row_bytes, copy->from + begin * copy->row_bytes,
        (end - begin) * copy->row_bytes);
}

/* Finds the upload buffers of the submission's frames. What lies in other engines' memory is copied
 * into this one's: frames of the plan have the same layout in every engine's memory. */
static void find_uploads(struct engine *engine, uint32_t slot, const struct gpume_submission *batch,
    uint32_t uploads[GPUME_BATCH_MAX])
{
    const struct gpume_plan *plan = &engine->planned.plan;
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        const struct gpume_frame *frame = batch->frames[i];
        uploads[i] = frame->pool_index;
        if (frame->home != engine) {
            uploads[i] = plan->pool + slot * plan->batch + i;
            struct frame_copy copy = {engine->memory.parts[GPUME_MEMORY_UPLOADS][uploads[i]].mapped,
                frame->plane.data, (size_t)frame->plane.stride};
            gpume_bands_run(
                &engine->copying, frame->plane.height, copy.row_bytes, copy_rows, &copy);
        }
    }
}

static int engine_submit(void *opaque, uint32_t index, const struct gpume_submission *batch)
{
    struct engine *engine = opaque;
    struct gpume_slot *slot = &engine->slots[index];
    struct gpume_task tasks[GPUME_BATCH_MAX];
    struct gpume_vector *predictors[GPUME_BATCH_MAX];
    uint32_t uploads[GPUME_BATCH_MAX];
    find_uploads(engine, index, batch, uploads);
    for (uint32_t i = 0; i < batch->field_count; i++) {
        tasks[i] = batch->fields[i]->task;
        predictors[i] = batch->fields[i]->predictors;
    }
    const struct gpume_work work = {
        .plan = &engine->planned.plan,
        .layout = &engine->planned.layout,
        .memory = &engine->memory,
        .slot = slot,
        .slot_index = index,
        .frames = batch->frames,
        .uploads = uploads,
        .frame_count = batch->frame_count,
        .tasks = tasks,
        .predictors = predictors,
        .task_count = batch->field_count,
        .pruned = gpume_pruning_next(&engine->pruning, index, batch->field_count),
    };
    gpume_slot_begin(slot);
    gpume_work_write_tasks(&work);
    /* Slots share the ring of padded frames: this one reads what earlier ones wrote and overwrites
     * what they read. */
    gpume_barrier_kernel_to_kernel(slot);
    record_stages(engine, &work);
    return gpume_slot_submit(slot, &engine->timeline);
}

/* Where the results of task `index` begin, of all that are alike for every task; NULL: there are
 * none. */
static const void *result_at(
    const struct engine *engine, uint32_t slot, enum gpume_work_array array, uint32_t index)
{
    const struct gpume_array_places *places = &engine->planned.layout.arrays;
    VkDeviceSize share = places->bytes[array][0] / engine->planned.plan.batch;
    return share == 0 ? NULL
                      : (const uint8_t *)engine->memory.parts[GPUME_MEMORY_READBACK][slot].mapped +
                            places->offsets[array][0] + index * share;
}

/* The public field shows the first layer. */
static void fill_field(
    const struct engine *engine, uint32_t slot, uint32_t index, struct gpume_field_box *box)
{
    struct gpume_field *field = &box->field;
    const uint32_t *sums = result_at(engine, slot, GPUME_ARRAY_SUMS, index);
    uint64_t totals[GPUME_SUMS];
    for (uint32_t i = 0; i < GPUME_SUMS; i++) {
        totals[i] = sums[2 * i] | (uint64_t)sums[2 * i + 1] << 32;
    }
    field->sums = (struct gpume_sums){totals[0], totals[1], totals[2], totals[3], totals[4]};
    box->results = (struct gpume_results){
        .vectors = result_at(engine, slot, GPUME_ARRAY_VECTORS, index),
        .costs = result_at(engine, slot, GPUME_ARRAY_COSTS, index),
        .ranks = result_at(engine, slot, GPUME_ARRAY_RANKS, index),
        .bits = result_at(engine, slot, GPUME_ARRAY_BITS, index),
        .refs = result_at(engine, slot, GPUME_ARRAY_REFS, index),
        .refs2 = result_at(engine, slot, GPUME_ARRAY_REFS2, index),
        .vectors2 = result_at(engine, slot, GPUME_ARRAY_VECTORS2, index),
        .ties = result_at(engine, slot, GPUME_ARRAY_TIES, index),
        .texture = result_at(engine, slot, GPUME_ARRAY_TEXTURE, index),
        .chosen = result_at(engine, slot, GPUME_ARRAY_CHOSEN, index),
    };
    /* The mapping is the host's to write, but is only read. */
    const void *predicted = result_at(engine, slot, GPUME_ARRAY_PREDICTED, index);
    const struct gpume_plan *plan = &engine->planned.plan;
    field->predicted =
        gpume_plan_plane(plan, plan->params.want_predicted ? (void *)(uintptr_t)predicted : NULL);
}

static int engine_collect(void *opaque, uint32_t index, const struct gpume_submission *batch)
{
    struct engine *engine = opaque;
    int status;
    uint64_t match_ns = engine->row_ns[GPUME_ROW_MATCH];
    GPUME_TRY(gpume_slot_wait(&engine->slots[index], &engine->timeline, engine->row_ns));
    GPUME_TRY(gpume_gpu_verdict(&engine->gpu));
    for (uint32_t i = 0; i < batch->field_count; i++) {
        fill_field(engine, index, i, batch->fields[i]);
        for (uint32_t j = 0; j < engine->stage_count; j++) {
            const struct gpume_gpu_stage *stage = &engine->stages[j];
            if (stage->ops->collect) {
                stage->ops->collect(stage, &batch->fields[i]->results);
            }
        }
        if (!batch->fields[i]->hidden) {
            gpume_pruning_count(&engine->pruning, index, &engine->planned.plan,
                &engine->planned.layout, &batch->fields[i]->task,
                result_at(engine, index, GPUME_ARRAY_COUNTS, i), &engine->counts);
        }
    }
    gpume_prune_policy_measured(&engine->pruning.policy, engine->pruning.pruned[index],
        engine->row_ns[GPUME_ROW_MATCH] - match_ns, batch->field_count);
fail:
    return status;
}

static void engine_get_stats(void *opaque, struct gpume_stats *stats)
{
    const struct engine *engine = opaque;
    *stats = engine->counts;
    static const char *const names[GPUME_ROW_COUNT] = {
        "upload", "match", "reduce", "rank", "readback"};
    for (uint32_t i = 0; i < GPUME_ROW_COUNT; i++) {
        gpume_stats_add_ns(stats, names[i], engine->row_ns[i]);
    }
}

static void engine_get_info(void *opaque, struct gpume_info *info)
{
    const struct engine *engine = opaque;
    info->backend = "vulkan";
    info->device = engine->gpu.properties.deviceName;
    info->driver = engine->gpu.driver;
    info->search = gpume_plan_searches_fast(&engine->planned.plan)
                       ? engine->choices[0].variant->name
                       : "general";
    info->eliminates = plan_prunes(&engine->planned);
    info->host_bytes = engine->planned.bytes.host;
    info->device_bytes = engine->planned.bytes.device;
}

static void destroy_all(struct engine *engine)
{
    struct gpume_gpu *gpu = &engine->gpu;
    gpume_timeline_wait(gpu, &engine->timeline);
    for (uint32_t i = 0; i < GPUME_SLOTS_MAX; i++) {
        gpume_slot_destroy(&engine->slots[i]);
    }
    gpume_memory_destroy(gpu, &engine->planned.needs, &engine->memory);
    gpume_timeline_destroy(gpu, &engine->timeline);
    for (uint32_t i = 0; i < engine->stage_count; i++) {
        gpume_stage_destroy(&engine->stages[i]);
    }
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
    gpume_bands_finish(&engine->copying);
    int status = gpume_gpu_verdict(&engine->gpu);
    free(engine->stages);
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
