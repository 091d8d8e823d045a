/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Upload: reads upload memory, writes surface SOURCE; once per frame, so that a frame's samples
 * cross the bus once.
 */
#include "gpu/stages/pad.h"

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    gpume_need_buffers(needs, GPUME_MEMORY_UPLOADS, GPUME_BUFFER_UPLOAD, plan->plane_bytes,
        plan->pool + gpume_work_copies(plan));
    gpume_need_surface(needs, plan, GPUME_SURFACE_SOURCE);
    needs->binds += plan->batch * gpume_pad_binds(plan);
}

static int create(struct gpume_gpu_stage *stage)
{
    return gpume_pad_create(&stage->setup, &stage->kernels[0]);
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    for (uint32_t i = 0; i < work->frame_count; i++) {
        gpume_pad_record(work, &stage->kernels[0],
            &work->memory->parts[GPUME_MEMORY_UPLOADS][work->uploads[i]], GPUME_SURFACE_SOURCE,
            work->frames[i]->sequence);
    }
}

const struct gpume_stage_ops gpume_stage_upload = {
    .name = "upload",
    .row = GPUME_ROW_UPLOAD,
    .of_frames = true,
    .needs = needs,
    .create = create,
    .record = record,
};
