/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/prefiltering.h"

#include "base/status.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Weights and likeness, one behind the other. */
#define TABLES_START offsetof(struct gpume_prefilter_tables, weights)
#define TABLES_BYTES (sizeof(struct gpume_prefilter_tables) - TABLES_START)

static int create_device(struct gpume_gpu *gpu, struct gpume_prefiltering *filtering,
    VkDeviceSize bytes, struct gpume_buffer *buffer)
{
    filtering->device_bytes += bytes;
    return gpume_buffer_create(gpu, GPUME_BUFFER_DEVICE, bytes, buffer);
}

int gpume_prefiltering_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_prefiltering *filtering)
{
    if (!gpume_plan_filters(plan)) {
        return GPUME_OK;
    }
    VkDeviceSize ring_bytes = plan->padded_bytes * (plan->one_window ? plan->ring : 1);
    filtering->plane_count = plan->batch;
    filtering->ring_count = plan->one_window ? 1 : plan->ring;
    filtering->planes = calloc(filtering->plane_count, sizeof(*filtering->planes));
    filtering->ring = calloc(filtering->ring_count, sizeof(*filtering->ring));
    if (!filtering->planes || !filtering->ring) {
        return gpume_log_nomem(gpu->log, "the filtered frames' buffers");
    }
    int status;
    GPUME_TRY(gpume_buffer_create(gpu, GPUME_BUFFER_UPLOAD, TABLES_BYTES, &filtering->staging));
    filtering->host_bytes = TABLES_BYTES;
    memcpy(
        filtering->staging.mapped, (const uint8_t *)&plan->prefilter + TABLES_START, TABLES_BYTES);
    GPUME_TRY(create_device(gpu, filtering, TABLES_BYTES, &filtering->tables));
    for (uint32_t i = 0; i < filtering->plane_count; i++) {
        GPUME_TRY(create_device(gpu, filtering, plan->plane_bytes, &filtering->planes[i]));
    }
    for (uint32_t i = 0; i < filtering->ring_count; i++) {
        GPUME_TRY(create_device(gpu, filtering, ring_bytes, &filtering->ring[i]));
    }
fail:
    return status;
}

void gpume_prefiltering_destroy(struct gpume_gpu *gpu, struct gpume_prefiltering *filtering)
{
    for (uint32_t i = 0; filtering->planes && i < filtering->plane_count; i++) {
        gpume_buffer_destroy(gpu, &filtering->planes[i]);
    }
    for (uint32_t i = 0; filtering->ring && i < filtering->ring_count; i++) {
        gpume_buffer_destroy(gpu, &filtering->ring[i]);
    }
    gpume_buffer_destroy(gpu, &filtering->staging);
    gpume_buffer_destroy(gpu, &filtering->tables);
    free(filtering->planes);
    free(filtering->ring);
    *filtering = (struct gpume_prefiltering){0};
}

struct gpume_work gpume_prefiltering_record(struct gpume_prefiltering *filtering,
    const struct gpume_kernels *kernels, const struct gpume_work *work,
    struct gpume_frame *const *frames, uint32_t count)
{
    struct gpume_work searched = *work;
    if (!gpume_plan_filters(work->plan)) {
        return searched;
    }
    searched.ring = filtering->ring;
    searched.uploads = filtering->planes;
    if (!filtering->tables_sent) {
        filtering->tables_sent = true;
        gpume_slot_copy(work->slot, &filtering->staging, &filtering->tables, 0, TABLES_BYTES);
        gpume_barrier_clear_to_kernel(work->slot);
    }
    gpume_barrier_kernel_to_kernel(work->slot);
    for (uint32_t i = 0; i < count; i++) {
        gpume_k_prefilter_record(work, &kernels->prefilter, &filtering->tables, frames[i]->sequence,
            &filtering->planes[i]);
    }
    gpume_barrier_kernel_to_kernel(work->slot);
    for (uint32_t i = 0; i < count; i++) {
        gpume_k_upload_record(&searched, &kernels->upload, i, frames[i]->sequence);
    }
    return searched;
}
