/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays/context.h"

#include <stdlib.h>
#include <string.h>

struct gpume_batch {
    struct gpume_compute *compute;
    void *state;
    bool busy; /* submitted and not waited for */
    uint32_t count, count_max;
    struct gpume_batch_step steps[];
};

int gpume_batch_create(gpume_compute *compute, gpume_batch **out, uint32_t steps_max)
{
    if (!compute || !out || steps_max == 0 || steps_max > GPUME_BATCH_STEPS_MAX) {
        return GPUME_INVALID;
    }
    struct gpume_batch *batch = malloc(sizeof(*batch) + steps_max * sizeof(batch->steps[0]));
    if (!batch) {
        return gpume_log_nomem(compute->log, "a batch");
    }
    *batch = (struct gpume_batch){.compute = compute, .count_max = steps_max};
    const int status = compute->ops->batch_create(compute->state, steps_max, &batch->state);
    if (status != GPUME_OK) {
        free(batch);
        return status;
    }
    *out = batch;
    return GPUME_OK;
}

void gpume_batch_destroy(gpume_batch **batch)
{
    if (batch && *batch) {
        (void)gpume_batch_wait(*batch);
        (*batch)->compute->ops->batch_destroy((*batch)->compute->state, (*batch)->state);
        free(*batch);
        *batch = NULL;
    }
}

static bool can_add(const struct gpume_batch *batch)
{
    return batch && !batch->busy && batch->count < batch->count_max;
}

int gpume_batch_copy(gpume_batch *batch, gpume_array *to, uint64_t to_offset,
    const gpume_array *from, uint64_t from_offset, uint64_t bytes)
{
    if (!can_add(batch) || !gpume_array_can_copy(to, to_offset, from, from_offset, bytes) ||
        to->compute != batch->compute) {
        return GPUME_INVALID;
    }
    if (bytes > 0) {
        batch->steps[batch->count++] = (struct gpume_batch_step){.to = to->memory,
            .to_offset = to_offset,
            .from = from->memory,
            .from_offset = from_offset,
            .bytes = bytes};
    }
    return GPUME_OK;
}

int gpume_batch_run(gpume_batch *batch, gpume_program *program, gpume_array *const *arrays,
    const void *push, const uint32_t groups[3])
{
    void *memories[GPUME_PROGRAM_ARRAYS_MAX] = {NULL};
    if (!can_add(batch) || !gpume_program_can_run(program, arrays, push, groups, memories) ||
        program->compute != batch->compute) {
        return GPUME_INVALID;
    }
    if (groups[0] > 0 && groups[1] > 0 && groups[2] > 0) {
        struct gpume_batch_step *step = &batch->steps[batch->count++];
        *step = (struct gpume_batch_step){.program = program->state};
        memcpy(step->memories, memories, sizeof(memories));
        memcpy(step->groups, groups, sizeof(step->groups));
        if (program->push_bytes > 0) {
            memcpy(step->push, push, program->push_bytes);
        }
    }
    return GPUME_OK;
}

int gpume_batch_submit(gpume_batch *batch)
{
    if (!batch || batch->busy) {
        return GPUME_INVALID;
    }
    const struct gpume_compute *compute = batch->compute;
    const uint32_t count = batch->count;
    batch->count = 0;
    const int status =
        compute->ops->batch_submit(compute->state, batch->state, batch->steps, count);
    batch->busy = status == GPUME_OK;
    return status;
}

int gpume_batch_wait(gpume_batch *batch)
{
    if (!batch) {
        return GPUME_INVALID;
    }
    struct gpume_compute *compute = batch->compute;
    compute->times = (struct gpume_compute_times){0};
    if (!batch->busy) {
        return GPUME_OK;
    }
    batch->busy = false;
    return compute->ops->batch_wait(compute->state, batch->state, &compute->times.run_ns);
}
