/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/stages/stage.h"

#include "base/grid.h"

#include <stdlib.h>
#include <string.h>

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
