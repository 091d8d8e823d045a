/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Successive elimination: sums of quarter and sixteenth blocks at every position, and patches, of
 * the frames that a submission needs and that have none yet, then the sieve, which leaves some
 * blocks to the full search. Results are the same with it and without.
 */
#include "gpu/stages/sieve.h"

#include "base/grid.h"
#include "base/status.h"
#include "gpu/tune/sieve_shape.h"

_Static_assert(sizeof(struct gpume_box_push) == 7 * 4, "words without gaps, as GLSL lays them");
_Static_assert(sizeof(struct gpume_sieve_push) == 13 * 4, "words without gaps, as GLSL lays them");

static const uint32_t boxes8[] =
#include "boxes8.inc"
    ;
static const uint32_t boxes16[] =
#include "boxes16.inc"
    ;
static const uint32_t sieve8[] =
#include "sieve8.inc"
    ;
static const uint32_t sieve16[] =
#include "sieve16.inc"
    ;
static const uint32_t sieve_half8[] =
#include "sieve_half8.inc"
    ;
static const uint32_t sieve_half16[] =
#include "sieve_half16.inc"
    ;

/* Looking at a candidate twice costs about as much as 64 pixel differences. */
uint32_t gpume_k_sieve_blocks(const struct gpume_plan *plan)
{
    return gpume_k_blocks_per_dispatch(plan, plan->candidates * 64);
}

static uint32_t rows_per_dispatch(const struct gpume_plan *plan)
{
    uint32_t rows = gpume_k_sieve_blocks(plan) / plan->layers[0].blocks_x;
    return rows > 0 ? rows : 1; /* blocks_y is at most GPUME_SIEVE_BLOCKS_MAX */
}

static struct gpume_view counts_of(const struct gpume_work *work)
{
    return gpume_view_part(
        work->results, work->layout->counts, (VkDeviceSize)work->task_count * GPUME_COUNT_BYTES);
}

void gpume_k_sieve_results(
    const struct gpume_work *work, struct gpume_view views[GPUME_K_SIEVE_RESULTS])
{
    VkDeviceSize words = (VkDeviceSize)work->task_count * work->plan->blocks * 4;
    views[0] = gpume_view_part(work->results, work->layout->vectors, words);
    views[1] = gpume_view_part(work->results, work->layout->costs, words);
    views[2] = gpume_work_todo(work);
    views[3] = counts_of(work);
}

void gpume_k_sieve_constants(const struct gpume_plan *plan, uint32_t *constants)
{
    struct gpume_sieve_shape shape = gpume_sieve_shape_make(plan);
    gpume_k_constants(plan, constants);
    constants[GPUME_SPEC_LOCAL] = shape.local;
    constants[GPUME_SPEC_QUARTER_SHIFT] = shape.quarter_shift;
    constants[GPUME_SPEC_SIXTEENTH_SHIFT] = shape.sixteenth_shift;
    constants[GPUME_SPEC_PART] = shape.part;
    constants[GPUME_SPEC_LIST] = shape.list;
    constants[GPUME_SPEC_GIVE_UP] = shape.give_up;
    constants[GPUME_SPEC_ROWS] = shape.sifts;
}

/* Processors that take the part of a GPU are slow at half floats. */
bool gpume_k_sieve_half(const struct gpume_gpu *gpu)
{
    return gpu->half && gpu->properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
}

int gpume_k_boxes_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_kernel *kernel)
{
    static const struct gpume_k_code code = GPUME_K_TASK_CODE(boxes, 5, struct gpume_box_push);
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_k_sieve_constants(plan, constants);
    return gpume_k_create(gpu, plan, &code, constants, kernel);
}

/* Quads of a frame of sums. */
static uint32_t sum_quads(const struct gpume_plan *plan)
{
    return gpume_work_sum_rows(plan) * (gpume_work_sum_stride(plan) / 4);
}

enum part { QUARTERS, SIXTEENTHS, PATCHES, GROUPS, PARTS };

static struct gpume_view part_of(const struct gpume_work *work, enum part part)
{
    const struct gpume_layout *layout = work->layout;
    VkDeviceSize patches = 2 * layout->box_bytes, groups = patches + layout->patch_bytes;
    if (gpume_sieve_sifts(work->plan)) { /* these alone are used */
        part = QUARTERS;
    }
    const VkDeviceSize offsets[PARTS + 1] = {
        0, layout->box_bytes, patches, groups, layout->boxes_bytes};
    return gpume_view_part(work->boxes, offsets[part], offsets[part + 1] - offsets[part]);
}

int gpume_k_sieve_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_kernel *kernel)
{
    static const struct gpume_k_code codes[] = {
        GPUME_K_TASK_CODE(sieve, 8, struct gpume_sieve_push),
        GPUME_K_TASK_CODE(sieve_half, 8, struct gpume_sieve_push),
    };
    if (gpume_sieve_sifts(plan)) {
        return gpume_k_sift_create(gpu, plan, kernel);
    }
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_k_sieve_constants(plan, constants);
    return gpume_k_create(gpu, plan, &codes[gpume_k_sieve_half(gpu)], constants, kernel);
}

void gpume_k_boxes_record(
    const struct gpume_work *work, const struct gpume_kernel *kernel, uint32_t count)
{
    const struct gpume_plan *plan = work->plan;
    struct gpume_box_push push = {
        .frame_quads = (uint32_t)(plan->padded_bytes / gpume_quad_bytes(plan)),
        .stride = plan->padded_stride / 4,
        .rows = plan->padded_rows,
        .sum_stride = gpume_work_sum_stride(plan) / 4,
        .sum_quads = sum_quads(plan),
        .patch_stride = gpume_work_patch_stride(plan),
        .patches = gpume_work_patches(plan),
    };
    struct gpume_view views[] = {gpume_buffer_view(&work->ring[0]), part_of(work, QUARTERS),
        part_of(work, SIXTEENTHS), part_of(work, GROUPS), part_of(work, PATCHES)};
    gpume_slot_bind(work->slot, kernel, views);
    gpume_slot_dispatch(work->slot, kernel, &push,
        (uint32_t)gpume_div_up(push.sum_stride, GPUME_BOX_LOCAL),
        (uint32_t)gpume_div_up(push.rows, GPUME_BOX_ROWS), count);
}

void gpume_k_sieve_clear(const struct gpume_work *work)
{
    struct gpume_view counts = counts_of(work), todo = gpume_work_todo(work);
    gpume_slot_clear(work->slot, &counts);
    todo.offset += (VkDeviceSize)gpume_work_left_list(work->plan) * 4;
    todo.bytes = 4;
    gpume_slot_clear(work->slot, &todo);
}

void gpume_k_sieve_record(const struct gpume_work *work, const struct gpume_kernel *kernel)
{
    const struct gpume_plan *plan = work->plan;
    if (gpume_sieve_sifts(plan)) {
        gpume_k_sift_record(work, kernel);
        return;
    }
    struct gpume_frames_push frames;
    struct gpume_view views[4 + GPUME_K_SIEVE_RESULTS];
    gpume_work_frames(work, 0, &views[0], &views[1], &frames);
    struct gpume_sieve_push push = {
        .frames = frames,
        .width = plan->params.width,
        .height = plan->params.height,
        .blocks_x = plan->layers[0].blocks_x,
        .blocks = plan->blocks,
        .left_list = gpume_work_left_list(plan),
        .sum_quads = sum_quads(plan),
        .patch_stride = gpume_work_patch_stride(plan),
        .patches = gpume_work_patches(plan),
    };
    views[0] = part_of(work, PATCHES);
    views[1] = part_of(work, QUARTERS);
    views[2] = part_of(work, SIXTEENTHS);
    views[3] = part_of(work, GROUPS);
    gpume_k_sieve_results(work, &views[4]);
    gpume_slot_bind(work->slot, kernel, views);
    uint32_t step = rows_per_dispatch(plan);
    for (; push.row_first < plan->layers[0].blocks_y; push.row_first += step) {
        uint64_t rows = gpume_min_u64(step, plan->layers[0].blocks_y - push.row_first);
        gpume_slot_dispatch(
            work->slot, kernel, &push, plan->layers[0].blocks_x, (uint32_t)rows, work->task_count);
    }
}
