/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readback: reads results, writes the host's copy of them, as far as there are tasks; predicted
 * frames only if they are wanted.
 */
#include "gpu/stages/stage.h"

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    bool by_pair = gpume_plan_searches_fast(plan);
    VkDeviceSize counted = by_pair ? gpume_work_pairs(plan, plan->batch) : plan->batch;
    needs->arrays[GPUME_ARRAY_COUNTS][0] = counted * GPUME_COUNT_BYTES;
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    (void)stage;
    const struct gpume_buffer *to = &work->memory->parts[GPUME_MEMORY_READBACK][work->slot_index];
    for (uint32_t array = 0; array < GPUME_ARRAY_RESULTS; array++) {
        struct gpume_view view = gpume_work_array(work, array, 0);
        bool wanted = array != GPUME_ARRAY_PREDICTED || work->plan->params.want_predicted;
        if (wanted && view.bytes > 0) {
            gpume_slot_copy(
                work->slot, gpume_work_buffer(work, array), to, view.offset, view.bytes);
        }
    }
    gpume_barrier_copy_to_host(work->slot);
}

const struct gpume_stage_ops gpume_stage_readback = {
    .name = "readback",
    .row = GPUME_ROW_READBACK,
    .needs = needs,
    .before = gpume_barrier_kernel_to_copy,
    .record = record,
};
