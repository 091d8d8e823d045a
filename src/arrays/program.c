/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays/context.h"
#include "base/sized.h"

#include <stdlib.h>

static bool is_valid(const struct gpume_program_params *params)
{
    return params->spirv && params->spirv_bytes > 0 && params->spirv_bytes % 4 == 0 &&
           params->array_count <= GPUME_PROGRAM_ARRAYS_MAX &&
           params->push_bytes <= GPUME_PROGRAM_PUSH_MAX && params->push_bytes % 4 == 0 &&
           (params->constant_count == 0 || params->constants);
}

int gpume_program_create(
    gpume_compute *compute, gpume_program **out, const struct gpume_program_params *params)
{
    if (!compute || !out || !params) {
        return GPUME_INVALID;
    }
    struct gpume_program_params own;
    int status = gpume_sized_read(&own, sizeof(own), params, "gpume_program_params", compute->log);
    if (status != GPUME_OK) {
        return status;
    }
    if (!is_valid(&own)) {
        return GPUME_INVALID;
    }
    if (!compute->ops->program_create) {
        return gpume_log_fail(compute->log, GPUME_UNSUPPORTED,
            "programs need a Vulkan device; use params.backend = GPUME_BACKEND_VULKAN");
    }
    struct gpume_program *program = malloc(sizeof(*program));
    if (!program) {
        return gpume_log_nomem(compute->log, "a program");
    }
    *program = (struct gpume_program){
        .compute = compute, .array_count = own.array_count, .push_bytes = own.push_bytes};
    status = compute->ops->program_create(compute->state, &own, &program->state);
    if (status != GPUME_OK) {
        free(program);
        return status;
    }
    *out = program;
    return GPUME_OK;
}

void gpume_program_destroy(gpume_program **program)
{
    if (program && *program) {
        (*program)->compute->ops->program_destroy((*program)->compute->state, (*program)->state);
        free(*program);
        *program = NULL;
    }
}

bool gpume_program_can_run(const struct gpume_program *program, gpume_array *const *arrays,
    const void *push, const uint32_t groups[3], void **memories)
{
    if (!program || (!arrays && program->array_count > 0) || (!push && program->push_bytes > 0) ||
        !groups) {
        return false;
    }
    for (uint32_t i = 0; i < program->array_count; i++) {
        if (!arrays[i] || arrays[i]->compute != program->compute) {
            return false;
        }
        memories[i] = arrays[i]->memory;
    }
    return true;
}

int gpume_program_run(
    gpume_program *program, gpume_array *const *arrays, const void *push, const uint32_t groups[3])
{
    void *memories[GPUME_PROGRAM_ARRAYS_MAX];
    if (!gpume_program_can_run(program, arrays, push, groups, memories)) {
        return GPUME_INVALID;
    }
    struct gpume_compute *compute = program->compute;
    compute->times = (struct gpume_compute_times){0};
    if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) {
        return GPUME_OK;
    }
    return compute->ops->program_run(
        compute->state, program->state, memories, push, groups, &compute->times.run_ns);
}
