/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texture: reads the measured surface, writes TEXTURE of a layer; a workgroup for each block.
 */
#include "gpu/general/general.h"

#include "texture16.inc"
#include "texture8.inc"

static bool wanted(const struct gpume_stage_setup *setup)
{
    return setup->plan->params.confidence;
}

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    needs->arrays[GPUME_ARRAY_TEXTURE][0] =
        (VkDeviceSize)setup->plan->batch * setup->plan->blocks * 4;
}

static int create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code code =
        GPUME_FRAME_CODE(texture, 0, struct gpume_general_push);
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(&stage->setup, constants);
    return gpume_stage_kernel(&stage->setup, &code, constants, &stage->kernels[0]);
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_shape *layer = gpume_stage_layer(&stage->setup);
    struct gpume_general_push push = gpume_general_push_make(work, layer);
    gpume_slot_bind(work->slot, &stage->kernels[0], NULL);
    gpume_slot_dispatch_many(
        work->slot, &stage->kernels[0], &push, layer->blocks, work->task_count);
}

const struct gpume_stage_ops gpume_stage_texture = {
    .name = "texture",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = wanted,
    .needs = needs,
    .create = create,
    .record = record,
};
