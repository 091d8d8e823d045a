/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fractions: reads plane 0 of the surfaces, writes their other planes; once per frame.
 */
#include "gpu/general/general.h"

#include "base/grid.h"

#include "fractions16.inc"
#include "fractions8.inc"

#define GROUPS_MAX 32768u /* of one dispatch, one below the other */

_Static_assert(sizeof(struct gpume_fractions_push) == 6 * 4, "words without gaps");

static bool wanted(const struct gpume_stage_setup *setup)
{
    return setup->plan->units > 1;
}

static int create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code code = {
        GPUME_KERNEL_CODE(fractions, 0, struct gpume_fractions_push)};
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(&stage->setup, constants);
    return gpume_stage_kernel(&stage->setup, &code, constants, &stage->kernels[0]);
}

static void record_frame(
    const struct gpume_gpu_stage *stage, const struct gpume_work *work, VkDeviceAddress frame)
{
    const struct gpume_plan *plan = work->plan;
    struct gpume_fractions_push push = {
        .frame = frame,
        .stride = plan->padded_stride / 4,
        .plane_quads = (uint32_t)(gpume_work_plane_bytes(plan) / gpume_quad_bytes(plan)),
        .rows = plan->padded_rows,
    };
    uint32_t groups = (uint32_t)gpume_div_up(push.stride, GPUME_GENERAL_LOCAL);
    uint32_t each =
        plan->params.interpolation == GPUME_INTERPOLATION_HEVC ? GPUME_FRACTION_ROWS : 1;
    for (; push.row < push.rows; push.row += GROUPS_MAX * each) {
        uint64_t below = gpume_div_up(push.rows - push.row, each);
        gpume_slot_dispatch(work->slot, &stage->kernels[0], &push, groups,
            (uint32_t)gpume_min_u64(below, GROUPS_MAX), 1);
    }
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    gpume_slot_bind(work->slot, &stage->kernels[0], NULL);
    for (uint32_t i = 0; i < work->frame_count; i++) {
        for (enum gpume_surface s = 0; s < GPUME_SURFACE_COUNT; s++) {
            if (work->plan->has_surface[s]) {
                record_frame(
                    stage, work, gpume_work_frame_address(work, s, work->frames[i]->sequence));
            }
        }
    }
}

const struct gpume_stage_ops gpume_stage_fractions = {
    .name = "fractions",
    .row = GPUME_ROW_MATCH,
    .of_frames = true,
    .wanted = wanted,
    .create = create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};
