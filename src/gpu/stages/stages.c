/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/stages/stages.h"

#include <string.h>

_Static_assert(GPUME_TASKS_BINDING == GPUME_KERNEL_UNIFORM_BINDING, "as tasks.glsl binds it");

void gpume_k_constants(const struct gpume_plan *plan, uint32_t constants[GPUME_SPEC_COUNT])
{
    memset(constants, 0, GPUME_SPEC_COUNT * sizeof(*constants));
    constants[GPUME_SPEC_BLOCK] = plan->params.block;
    constants[GPUME_SPEC_WINDOW_X] = plan->params.window_x;
    constants[GPUME_SPEC_WINDOW_Y] = plan->params.window_y;
    constants[GPUME_SPEC_INSIDE] = plan->params.edge == GPUME_EDGE_INSIDE;
    constants[GPUME_SPEC_PREDICTED] = plan->params.want_predicted;
    constants[GPUME_SPEC_BITS] = plan->params.bits;
}

int gpume_k_create(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_k_code *code, const uint32_t *constants, struct gpume_kernel *kernel)
{
    bool wide = plan->sample_bytes == 2;
    uint32_t of_plan[GPUME_SPEC_COUNT];
    gpume_k_constants(plan, of_plan);
    struct gpume_kernel_info info = {
        .words = wide ? code->words16 : code->words8,
        .bytes = wide ? code->bytes16 : code->bytes8,
        .buffer_count = code->buffer_count,
        .push_bytes = code->push_bytes,
        .uniform = code->tasks,
        .constants = constants ? constants : of_plan,
        .constant_count = GPUME_SPEC_COUNT,
    };
    return gpume_kernel_create(gpu, &info, kernel);
}
