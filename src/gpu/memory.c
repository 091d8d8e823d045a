/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/memory.h"

#include "base/status.h"
#include "gpu/stages/prefiltering.h"

#include <stdlib.h>

static void need(struct gpume_memory_needs *needs, enum gpume_memory_part part,
    enum gpume_buffer_kind kind, VkDeviceSize bytes, uint32_t count)
{
    needs->parts[part] = (struct gpume_memory_need){kind, bytes, count};
    *(kind == GPUME_BUFFER_DEVICE ? &needs->device_bytes : &needs->host_bytes) += bytes * count;
}

struct gpume_memory_needs gpume_memory_needs(
    const struct gpume_plan *plan, const struct gpume_layout *layout)
{
    struct gpume_memory_needs needs = {0};
    const enum gpume_buffer_kind device = GPUME_BUFFER_DEVICE;
    uint32_t rings = plan->one_window ? 1 : plan->ring;
    VkDeviceSize ring_bytes = plan->padded_bytes * (plan->one_window ? plan->ring : 1);
    need(&needs, GPUME_MEMORY_UPLOADS, GPUME_BUFFER_UPLOAD, plan->plane_bytes, plan->pool);
    need(&needs, GPUME_MEMORY_RING, device, ring_bytes, rings);
    need(&needs, GPUME_MEMORY_BOXES, device, layout->boxes_bytes, layout->boxes_bytes > 0);
    need(&needs, GPUME_MEMORY_RESULTS, device, layout->results_bytes, plan->slots);
    need(&needs, GPUME_MEMORY_READBACK, GPUME_BUFFER_READBACK, layout->results_bytes, plan->slots);
    need(&needs, GPUME_MEMORY_SCRATCH, device, layout->scratch_bytes, plan->slots);
    if (gpume_plan_filters(plan)) {
        VkDeviceSize tables = GPUME_PREFILTERING_TABLES_BYTES;
        need(&needs, GPUME_MEMORY_FILTER_STAGING, GPUME_BUFFER_UPLOAD, tables, 1);
        need(&needs, GPUME_MEMORY_FILTER_TABLES, device, tables, 1);
        need(&needs, GPUME_MEMORY_FILTER_PLANES, device, plan->plane_bytes, plan->batch);
        need(&needs, GPUME_MEMORY_FILTER_RING, device, ring_bytes, rings);
    }
    return needs;
}

static int create_part(
    struct gpume_gpu *gpu, const struct gpume_memory_need *need, struct gpume_buffer **buffers)
{
    int status = GPUME_OK;
    *buffers = need->count > 0 ? calloc(need->count, sizeof(**buffers)) : NULL;
    if (need->count > 0 && !*buffers) {
        return gpume_log_nomem(gpu->log, "the engine's buffers");
    }
    for (uint32_t i = 0; status == GPUME_OK && i < need->count; i++) {
        status = gpume_buffer_create(gpu, need->kind, need->bytes, &(*buffers)[i]);
    }
    return status;
}

int gpume_memory_create(
    struct gpume_gpu *gpu, const struct gpume_memory_needs *needs, struct gpume_memory *memory)
{
    int status = GPUME_OK;
    for (uint32_t i = 0; status == GPUME_OK && i < GPUME_MEMORY_PARTS; i++) {
        status = create_part(gpu, &needs->parts[i], &memory->parts[i]);
    }
    return status;
}

void gpume_memory_destroy(
    struct gpume_gpu *gpu, const struct gpume_memory_needs *needs, struct gpume_memory *memory)
{
    for (uint32_t i = 0; i < GPUME_MEMORY_PARTS; i++) {
        for (uint32_t j = 0; memory->parts[i] && j < needs->parts[i].count; j++) {
            gpume_buffer_destroy(gpu, &memory->parts[i][j]);
        }
        free(memory->parts[i]);
        memory->parts[i] = NULL;
    }
}
