/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/stages/stage.h"

#include "base/base.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- memory */

static int create_buffers(
    struct gpume_gpu *gpu, const struct gpume_memory_need *need, struct gpume_buffer **buffers)
{
    if (need->count == 0) {
        return GPUME_OK;
    }
    *buffers = calloc(need->count, sizeof(**buffers));
    return *buffers ? gpume_buffers_create(gpu, need->kind, need->bytes, need->count, *buffers)
                    : gpume_log_nomem(gpu->log, "the engine's buffers");
}

int gpume_memory_create(
    struct gpume_gpu *gpu, const struct gpume_memory_needs *needs, struct gpume_memory *memory)
{
    int status = GPUME_OK;
    for (uint32_t i = 0; status == GPUME_OK && i < GPUME_MEMORY_PARTS; i++) {
        status = create_buffers(gpu, &needs->parts[i], &memory->parts[i]);
    }
    return status;
}

void gpume_memory_destroy(
    struct gpume_gpu *gpu, const struct gpume_memory_needs *needs, struct gpume_memory *memory)
{
    for (uint32_t i = 0; i < GPUME_MEMORY_PARTS; i++) {
        if (memory->parts[i]) {
            gpume_buffers_destroy(gpu, needs->parts[i].count, memory->parts[i]);
        }
        free(memory->parts[i]);
        memory->parts[i] = NULL;
    }
}

/* --- a submission */

_Static_assert(GPUME_TASKS_MAX == GPUME_BATCH_MAX, "a row for every pair that the fast search has");

void gpume_work_write_tasks(const struct gpume_work *work)
{
    struct gpume_task_table *table = work->slot->uniforms.mapped;
    uint32_t pairs =
        gpume_plan_searches_fast(work->plan) ? gpume_work_pairs(work->plan, work->task_count) : 0;
    for (uint32_t i = 0; i < pairs; i++) {
        const struct gpume_task *task = &work->tasks[i / work->plan->references];
        uint64_t reference = gpume_work_reference(task, i % work->plan->references);
        table->rows[i] = (struct gpume_task_row){
            .target = gpume_work_place(work->plan, task->target),
            .reference = gpume_work_place(work->plan, reference),
        };
    }
}

enum gpume_work_array gpume_work_found(const struct gpume_plan *plan, enum gpume_work_array array)
{
    return plan->references == 1          ? array
           : array == GPUME_ARRAY_VECTORS ? GPUME_ARRAY_PAIR_VECTORS
                                          : GPUME_ARRAY_PAIR_COSTS;
}

struct gpume_view gpume_view_part(
    const struct gpume_buffer *buffer, VkDeviceSize offset, VkDeviceSize bytes)
{
    return (struct gpume_view){.buffer = buffer->buffer, .offset = offset, .bytes = bytes};
}

const struct gpume_buffer *gpume_work_buffer(
    const struct gpume_work *work, enum gpume_work_array array)
{
    bool result = array < GPUME_ARRAY_RESULTS;
    return &work->memory
                ->parts[result ? GPUME_MEMORY_RESULTS : GPUME_MEMORY_SCRATCH][work->slot_index];
}

struct gpume_view gpume_work_array(
    const struct gpume_work *work, enum gpume_work_array array, uint32_t layer)
{
    const struct gpume_array_places *places = &work->layout->arrays;
    VkDeviceSize bytes = places->bytes[array][layer];
    return gpume_view_part(gpume_work_buffer(work, array), places->offsets[array][layer],
        array < GPUME_ARRAY_RESULTS ? bytes / work->plan->batch * work->task_count : bytes);
}

static const struct gpume_buffer *ring_of(const struct gpume_work *work, enum gpume_surface surface)
{
    return work->memory->parts[GPUME_MEMORY_SURFACES + surface];
}

VkDeviceAddress gpume_work_frame_address(
    const struct gpume_work *work, enum gpume_surface surface, uint64_t sequence)
{
    const struct gpume_plan *plan = work->plan;
    const struct gpume_buffer *ring = ring_of(work, surface);
    uint32_t place = gpume_work_place(plan, sequence);
    return plan->one_window ? ring[0].address + place * plan->padded_bytes : ring[place].address;
}

struct gpume_view gpume_work_rows(const struct gpume_work *work, enum gpume_surface surface,
    uint64_t sequence, uint64_t row, uint64_t row_end, uint32_t *base)
{
    const struct gpume_plan *plan = work->plan;
    const struct gpume_buffer *ring = ring_of(work, surface);
    uint64_t row_bytes = (uint64_t)plan->padded_stride * plan->sample_bytes;
    uint64_t start = row * row_bytes / GPUME_PART_ALIGN * GPUME_PART_ALIGN;
    uint64_t end = gpume_min_u64(row_end, plan->padded_rows) * row_bytes;
    uint64_t place = gpume_work_place(plan, sequence);
    *base = 0u - (uint32_t)(start / gpume_quad_bytes(plan));
    if (plan->one_window) {
        return gpume_view_part(&ring[0], place * plan->padded_bytes + start, end - start);
    }
    return gpume_view_part(&ring[place], start, end - start);
}

void gpume_work_frames(const struct gpume_work *work, enum gpume_surface surface,
    const struct gpume_shape *layer, uint32_t band, struct gpume_view *target,
    struct gpume_view *reference, struct gpume_frames_push *push)
{
    const struct gpume_plan *plan = work->plan;
    *push = (struct gpume_frames_push){.stride = plan->padded_stride / 4};
    if (plan->one_window) {
        *target = *reference =
            gpume_view_part(&ring_of(work, surface)[0], 0, gpume_work_plane_bytes(plan));
        push->frame_quads = (uint32_t)(plan->padded_bytes / gpume_quad_bytes(plan));
        return;
    }
    assert(work->task_count == 1);
    const struct gpume_task *task = &work->tasks[0];
    uint64_t rows = (uint64_t)layer->band_rows * layer->block_h, row = band * rows;
    uint64_t row_end = row + rows + 2ull * plan->pad_y;
    *target = gpume_work_rows(work, surface, task->target, row, row_end, &push->target_base);
    *reference =
        gpume_work_rows(work, surface, task->reference, row, row_end, &push->reference_base);
}

struct gpume_layer_push gpume_work_layer(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    return (struct gpume_layer_push){
        .width = plan->params.width,
        .height = plan->params.height,
        .blocks_x = layer->blocks_x,
        .blocks = layer->blocks,
        .first = layer->first,
        .field_blocks = plan->blocks,
    };
}

/* --- stages */

/* Pixel differences in one dispatch: some milliseconds on a large GPU, and on the slowest still far
 * from the seconds after which desktops give up on a device. */
#define DISPATCH_WORK (1ull << 36)

_Static_assert((int)GPUME_METRIC_SAD == GPUME_SPEC_METRIC_SAD &&
                   (int)GPUME_METRIC_SATD == GPUME_SPEC_METRIC_SATD &&
                   (int)GPUME_METRIC_SSD == GPUME_SPEC_METRIC_SSD &&
                   (int)GPUME_INTERPOLATION_H264 == GPUME_SPEC_INTERPOLATION_H264 &&
                   (int)GPUME_INTERPOLATION_HEVC == GPUME_SPEC_INTERPOLATION_HEVC &&
                   (int)GPUME_INTERPOLATION_BILINEAR == GPUME_SPEC_INTERPOLATION_BILINEAR,
    "as GLSL knows them");
_Static_assert(GPUME_TASKS_BINDING == GPUME_KERNEL_UNIFORM_BINDING, "where task.glsl binds it");

/* Processors that take the part of a GPU are slow at half floats. */
bool gpume_stage_half(const struct gpume_gpu *gpu)
{
    return gpu->half && gpu->properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
}

int gpume_stage_create(const struct gpume_stage_ops *ops, const struct gpume_stage_setup *setup,
    struct gpume_gpu_stage *stage)
{
    *stage = (struct gpume_gpu_stage){.ops = ops, .setup = *setup};
    return ops->code     ? gpume_stage_kernel(setup, ops->code, NULL, &stage->kernels[0])
           : ops->create ? ops->create(stage)
                         : GPUME_OK;
}

int gpume_stage_wait(struct gpume_gpu_stage *stage)
{
    int status = stage->ops && stage->ops->wait ? stage->ops->wait(stage) : GPUME_OK;
    for (uint32_t i = 0; status == GPUME_OK && i < GPUME_STAGE_KERNELS_MAX; i++) {
        status = gpume_kernel_wait(stage->setup.gpu, &stage->kernels[i]);
    }
    return status;
}

void gpume_stage_destroy(struct gpume_gpu_stage *stage)
{
    if (stage->ops) {
        if (stage->ops->destroy) {
            stage->ops->destroy(stage);
        }
        for (uint32_t i = 0; i < GPUME_STAGE_KERNELS_MAX; i++) {
            gpume_kernel_destroy(stage->setup.gpu, &stage->kernels[i]);
        }
        free(stage->own);
    }
    *stage = (struct gpume_gpu_stage){0};
}

static void declare_needs(struct gpume_gpu *gpu, const struct gpume_stage_ops *const *stages,
    struct gpume_plan_gpu *planned)
{
    struct gpume_stage_setup setup = {
        .gpu = gpu, .plan = &planned->plan, .layout = &planned->layout};
    for (; *stages; stages++) {
        const struct gpume_stage_ops *stage = *stages;
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

void gpume_stages_plan(struct gpume_gpu *gpu, const struct gpume_stage_ops *const *stages,
    uint32_t slots, struct gpume_plan_gpu *planned)
{
    planned->needs = (struct gpume_memory_needs){0};
    declare_needs(gpu, stages, planned);
    planned->layout.arrays = place_memory(&planned->needs, slots);
    planned->bytes = bytes_of(&planned->needs);
}

void gpume_stage_constants(
    const struct gpume_stage_setup *setup, uint32_t constants[GPUME_SPEC_COUNT])
{
    const struct gpume_params *p = &setup->plan->params;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    memset(constants, 0, GPUME_SPEC_COUNT * sizeof(*constants));
    constants[GPUME_SPEC_BLOCK_W] = layer->block_w;
    constants[GPUME_SPEC_BLOCK_H] = layer->block_h;
    constants[GPUME_SPEC_WINDOW_X] = p->window_x;
    constants[GPUME_SPEC_WINDOW_Y] = p->window_y;
    constants[GPUME_SPEC_INSIDE] = p->edge == GPUME_EDGE_INSIDE;
    constants[GPUME_SPEC_BITS] = p->bits;
    constants[GPUME_SPEC_UNITS_LOG2] = setup->plan->units / 2; /* of 1, 2 or 4 */
    constants[GPUME_SPEC_INTERPOLATION] = (uint32_t)p->interpolation;
    constants[GPUME_SPEC_FULL] = gpume_plan_searches_fractions(setup->plan);
    constants[GPUME_SPEC_METRIC] = (uint32_t)p->metric;
    constants[GPUME_SPEC_COST_METRIC] = (uint32_t)gpume_cost_metric(p);
    constants[GPUME_SPEC_WHOLE] = setup->plan->fast_pixels;
    constants[GPUME_SPEC_RATE] = p->rate;
    constants[GPUME_SPEC_LAMBDA] = p->lambda;
    constants[GPUME_SPEC_KEPT] = setup->plan->kept;
    constants[GPUME_SPEC_CONFIDENCE] = p->confidence;
    constants[GPUME_SPEC_REFERENCES] = setup->plan->references;
    constants[GPUME_SPEC_STRIDE] = setup->plan->padded_stride / 4;
}

int gpume_stage_kernel(const struct gpume_stage_setup *setup, const struct gpume_kernel_code *code,
    const uint32_t constants[GPUME_SPEC_COUNT], struct gpume_kernel *kernel)
{
    bool wide = setup->plan->sample_bytes == 2;
    uint32_t usual[GPUME_SPEC_COUNT];
    gpume_stage_constants(setup, usual);
    struct gpume_kernel_info info = {
        .words = wide ? code->words16 : code->words8,
        .bytes = wide ? code->bytes16 : code->bytes8,
        .buffer_count = code->buffer_count,
        .push_bytes = code->push_bytes,
        .uniform = code->tasks,
        .constants = constants ? constants : usual,
        .constant_count = GPUME_SPEC_COUNT,
    };
    return gpume_kernel_create(setup->gpu, &info, kernel);
}

uint32_t gpume_stage_blocks_per_dispatch(const struct gpume_stage_setup *setup, uint64_t block_work)
{
    uint64_t blocks = DISPATCH_WORK / (block_work * setup->plan->batch);
    return (uint32_t)gpume_min_u64(gpume_max_u64(blocks, 1), gpume_stage_layer(setup)->blocks);
}
