/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Boxes: reads the searched surface, writes BOXES: the sum of the box at every place of every
 * plane that is searched, then the ranges of these sums; once per frame.
 */
#include "gpu/general/boxes.h"

#include "base/grid.h"
#include "base/status.h"

#include "boxes16.inc"
#include "boxes8.inc"
#include "ranges16.inc"
#include "ranges8.inc"

enum { SUMS, RANGES };

#define GROUPS_MAX 32768u /* of one dispatch, one below the other */

_Static_assert(sizeof(struct gpume_boxes_push) == 8 * 4, "words without gaps");
_Static_assert(sizeof(struct gpume_ranges_push) == 10 * 4, "words without gaps");

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

static VkDeviceSize sum_bytes(const struct gpume_plan *plan)
{
    return (VkDeviceSize)gpume_plan_search_planes(plan) * gpume_boxes_plane_words(plan) * 4;
}

/* Rows of ranges, see ranges.comp; of whole pixels the first row of a window lies up to three rows
 * before the padded frame. */
static uint32_t range_rows(const struct gpume_plan *plan)
{
    return gpume_plan_searches_fractions(plan) ? plan->padded_rows
                                               : plan->padded_rows / GPUME_GROUP_SIDE + 2;
}

static VkDeviceSize range_bytes(const struct gpume_plan *plan)
{
    uint32_t columns = plan->padded_stride;
    columns /= gpume_plan_searches_fractions(plan) ? 1 : GPUME_GROUP_SIDE;
    return (VkDeviceSize)range_rows(plan) * columns * 4 * plan->sample_bytes;
}

static VkDeviceSize frame_bytes(const struct gpume_plan *plan)
{
    return gpume_round_up(sum_bytes(plan) + range_bytes(plan), GPUME_PART_ALIGN);
}

VkDeviceAddress gpume_boxes_frame(const struct gpume_work *work, uint64_t sequence)
{
    const struct gpume_buffer *ring = work->memory->parts[GPUME_MEMORY_BOXES];
    uint32_t place = gpume_work_place(work->plan, sequence);
    if (!ring) {
        return 0;
    }
    return work->plan->one_window ? ring[0].address + place * frame_bytes(work->plan)
                                  : ring[place].address;
}

VkDeviceAddress gpume_boxes_ranges(const struct gpume_work *work, uint64_t sequence)
{
    VkDeviceAddress frame = gpume_boxes_frame(work, sequence);
    return frame ? frame + sum_bytes(work->plan) : 0;
}

static bool wanted(const struct gpume_stage_setup *setup)
{
    const struct gpume_params *p = &setup->plan->params;
    bool searches = !gpume_plan_searches_fast(setup->plan) || p->bidirectional;
    return searches && !p->no_elimination;
}

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    uint32_t together = plan->one_window ? plan->ring : 1;
    gpume_need_buffers(needs, GPUME_MEMORY_BOXES, GPUME_BUFFER_DEVICE, frame_bytes(plan) * together,
        plan->ring / together);
}

static int create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code of_sums = {GPUME_KERNEL_CODE(
                                              boxes, 0, struct gpume_boxes_push)},
                                          of_ranges = {GPUME_KERNEL_CODE(
                                              ranges, 0, struct gpume_ranges_push)};
    uint32_t constants[GPUME_SPEC_COUNT];
    int status;
    gpume_stage_constants(&stage->setup, constants);
    constants[GPUME_SPEC_BOX] = gpume_boxes_side(stage->setup.plan);
    GPUME_TRY(gpume_stage_kernel(&stage->setup, &of_sums, constants, &stage->kernels[SUMS]));
    GPUME_TRY(gpume_stage_kernel(&stage->setup, &of_ranges, constants, &stage->kernels[RANGES]));
fail:
    return status;
}

static uint32_t groups_across(const struct gpume_plan *plan)
{
    return (uint32_t)gpume_div_up(plan->padded_stride / 4, GPUME_GENERAL_LOCAL);
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
    for (; push.row < push.rows; push.row += GROUPS_MAX * GPUME_BOXES_ROWS) {
        uint64_t below = gpume_div_up(push.rows - push.row, GPUME_BOXES_ROWS);
        gpume_slot_dispatch(work->slot, &stage->kernels[SUMS], &push, groups_across(work->plan),
            (uint32_t)gpume_min_u64(below, GROUPS_MAX), 1);
    }
}

static void record_sums(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_plan *plan = work->plan;
    gpume_slot_bind(work->slot, &stage->kernels[SUMS], NULL);
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

static void record_ranges(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_plan *plan = work->plan;
    gpume_slot_bind(work->slot, &stage->kernels[RANGES], NULL);
    for (uint32_t i = 0; i < work->frame_count; i++) {
        uint64_t sequence = work->frames[i]->sequence;
        struct gpume_ranges_push push = {
            .sums = gpume_boxes_frame(work, sequence),
            .ranges = gpume_boxes_ranges(work, sequence),
            .stride = plan->padded_stride / 4,
            .sum_rows = plan->padded_rows,
            .plane_words = gpume_boxes_plane_words(plan),
            .rows = range_rows(plan),
        };
        for (; push.row < push.rows; push.row += GROUPS_MAX) {
            uint64_t below = gpume_min_u64(push.rows - push.row, GROUPS_MAX);
            gpume_slot_dispatch(work->slot, &stage->kernels[RANGES], &push, groups_across(plan),
                (uint32_t)below, 1);
        }
    }
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    record_sums(stage, work);
    gpume_barrier_kernel_to_kernel(work->slot);
    record_ranges(stage, work);
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
