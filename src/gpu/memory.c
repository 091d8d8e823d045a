/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/memory.h"

#include "base/grid.h"
#include "base/status.h"

#include <stdlib.h>

void gpume_need_surface(
    struct gpume_memory_needs *needs, const struct gpume_plan *plan, enum gpume_surface surface)
{
    uint32_t together = plan->one_window ? plan->ring : 1;
    gpume_need_buffers(needs, GPUME_MEMORY_SURFACES + surface, GPUME_BUFFER_DEVICE,
        plan->surface_bytes * together, plan->ring / together);
}

static VkDeviceSize place_arrays(const struct gpume_memory_needs *needs,
    enum gpume_work_array first, enum gpume_work_array end, struct gpume_array_places *places)
{
    VkDeviceSize bytes = 0;
    for (uint32_t array = first; array < end; array++) {
        for (uint32_t layer = 0; layer < GPUME_LAYERS_MAX; layer++) {
            places->offsets[array][layer] = bytes;
            places->bytes[array][layer] = needs->arrays[array][layer];
            bytes = gpume_round_up(bytes + needs->arrays[array][layer], GPUME_PART_ALIGN);
        }
    }
    return bytes;
}

struct gpume_array_places gpume_memory_place(struct gpume_memory_needs *needs, uint32_t slots)
{
    struct gpume_array_places places;
    VkDeviceSize results = place_arrays(needs, GPUME_ARRAY_SUMS, GPUME_ARRAY_RESULTS, &places);
    VkDeviceSize scratch = place_arrays(needs, GPUME_ARRAY_PARTIALS, GPUME_ARRAY_COUNT, &places);
    gpume_need_buffers(needs, GPUME_MEMORY_RESULTS, GPUME_BUFFER_DEVICE, results, slots);
    gpume_need_buffers(needs, GPUME_MEMORY_READBACK, GPUME_BUFFER_READBACK, results, slots);
    gpume_need_buffers(needs, GPUME_MEMORY_SCRATCH, GPUME_BUFFER_DEVICE, scratch, slots);
    return places;
}

struct gpume_memory_bytes gpume_memory_bytes(const struct gpume_memory_needs *needs)
{
    struct gpume_memory_bytes bytes = {0};
    for (uint32_t i = 0; i < GPUME_MEMORY_PARTS; i++) {
        const struct gpume_memory_need *need = &needs->parts[i];
        bool device = need->kind == GPUME_BUFFER_DEVICE;
        *(device ? &bytes.device : &bytes.host) += need->bytes * need->count;
    }
    return bytes;
}

static int create_part(
    struct gpume_gpu *gpu, const struct gpume_memory_need *need, struct gpume_buffer **buffers)
{
    if (need->count == 0) {
        return GPUME_OK;
    }
    *buffers = calloc(need->count, sizeof(**buffers));
    return *buffers ? gpume_buffers_create(gpu, need->kind, need->bytes, need->count, *buffers)
                    : gpume_log_nomem(gpu->log, "the engine's buffers");
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
        if (memory->parts[i]) {
            gpume_buffers_destroy(gpu, needs->parts[i].count, memory->parts[i]);
        }
        free(memory->parts[i]);
        memory->parts[i] = NULL;
    }
}
