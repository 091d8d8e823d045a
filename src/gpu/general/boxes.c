/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Boxes: reads the searched surface, writes BLOCK_SUMS: the sum of the box at every place of every
 * plane that is searched; once per frame.
 */
#include "gpu/general/boxes.h"

#include "base/grid.h"

#include "boxes16.inc"
#include "boxes8.inc"

#define GROUPS_MAX 32768u /* of one dispatch, one below the other */

_Static_assert(sizeof(struct gpume_boxes_push) == 8 * 4, "words without gaps");

uint32_t gpume_boxes_side(const struct gpume_plan *plan)
{
    bool large = plan->params.metric != GPUME_METRIC_SATD;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        const struct gpume_shape *layer = &plan->layers[i];
        large &= layer->block_w % 16 == 0 && layer->block_h % 16 == 0;
    }
    return large ? 8 : 4;
}

uint32_t gpume_boxes_plane_words(const struct gpume_plan *plan)
{
    return (uint32_t)((uint64_t)plan->padded_rows * plan->padded_stride / 2 * plan->sample_bytes);
}

static VkDeviceSize frame_bytes(const struct gpume_plan *plan)
{
    return gpume_round_up(
        (VkDeviceSize)gpume_plan_search_planes(plan) * gpume_boxes_plane_words(plan) * 4,
        GPUME_PART_ALIGN);
}

VkDeviceAddress gpume_boxes_frame(const struct gpume_work *work, uint64_t sequence)
{
    const struct gpume_buffer *ring = work->memory->parts[GPUME_MEMORY_BLOCK_SUMS];
    uint32_t place = gpume_work_place(work->plan, sequence);
    if (!ring || gpume_plan_searches_fast(work->plan)) {
        return 0;
    }
    return work->plan->one_window ? ring[0].address + place * frame_bytes(work->plan)
                                  : ring[place].address;
}

static bool wanted(const struct gpume_stage_setup *setup)
{
    return !gpume_plan_searches_fast(setup->plan) && !setup->plan->params.no_elimination;
}

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    uint32_t together = plan->one_window ? plan->ring : 1;
    gpume_need_buffers(needs, GPUME_MEMORY_BLOCK_SUMS, GPUME_BUFFER_DEVICE,
        frame_bytes(plan) * together, plan->ring / together);
}

static int create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code code = {
        GPUME_KERNEL_CODE(boxes, 0, struct gpume_boxes_push)};
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(&stage->setup, constants);
    constants[GPUME_SPEC_BOX] = gpume_boxes_side(stage->setup.plan);
    return gpume_stage_kernel(&stage->setup, &code, constants, &stage->kernels[0]);
}

static void record_plane(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    VkDeviceAddress plane, VkDeviceAddress sums)
{
    struct gpume_boxes_push push = {
        .plane = plane,
        .sums = sums,
        .stride = work->plan->padded_stride / 4,
        .rows = work->plan->padded_rows,
    };
    uint32_t groups = (uint32_t)gpume_div_up(push.stride, GPUME_GENERAL_LOCAL);
    for (; push.row < push.rows; push.row += GROUPS_MAX * GPUME_BOXES_ROWS) {
        uint64_t below = gpume_div_up(push.rows - push.row, GPUME_BOXES_ROWS);
        gpume_slot_dispatch(work->slot, &stage->kernels[0], &push, groups,
            (uint32_t)gpume_min_u64(below, GROUPS_MAX), 1);
    }
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_plan *plan = work->plan;
    gpume_slot_bind(work->slot, &stage->kernels[0], NULL);
    for (uint32_t i = 0; i < work->frame_count; i++) {
        uint64_t sequence = work->frames[i]->sequence;
        VkDeviceAddress plane = gpume_work_frame_address(work, plan->searched, sequence);
        VkDeviceAddress sums = gpume_boxes_frame(work, sequence);
        for (uint32_t j = 0; j < gpume_plan_search_planes(plan); j++) {
            record_plane(stage, work, plane, sums);
            plane += gpume_work_plane_bytes(plan);
            sums += (VkDeviceAddress)gpume_boxes_plane_words(plan) * 4;
        }
    }
}

const struct gpume_stage_ops gpume_stage_boxes = {
    .name = "boxes",
    .row = GPUME_ROW_MATCH,
    .of_frames = true,
    .wanted = wanted,
    .needs = needs,
    .create = create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};
