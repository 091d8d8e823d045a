/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/stages/prefiltering.h"

#include <string.h>

void gpume_prefiltering_init(const struct gpume_plan *plan, const struct gpume_memory *memory,
    struct gpume_prefiltering *filtering)
{
    *filtering = (struct gpume_prefiltering){.memory = memory};
    if (gpume_plan_filters(plan)) {
        memcpy(memory->parts[GPUME_MEMORY_FILTER_STAGING]->mapped,
            (const uint8_t *)&plan->prefilter + GPUME_PREFILTERING_TABLES_START,
            GPUME_PREFILTERING_TABLES_BYTES);
    }
}

struct gpume_work gpume_prefiltering_record(struct gpume_prefiltering *filtering,
    const struct gpume_kernels *kernels, const struct gpume_work *work,
    struct gpume_frame *const *frames, uint32_t count)
{
    struct gpume_work searched = *work;
    if (!gpume_plan_filters(work->plan)) {
        return searched;
    }
    struct gpume_buffer *const *parts = filtering->memory->parts;
    const struct gpume_buffer *tables = parts[GPUME_MEMORY_FILTER_TABLES];
    searched.ring = parts[GPUME_MEMORY_FILTER_RING];
    searched.uploads = parts[GPUME_MEMORY_FILTER_PLANES];
    if (!filtering->tables_sent) {
        filtering->tables_sent = true;
        gpume_slot_copy(work->slot, parts[GPUME_MEMORY_FILTER_STAGING], tables, 0,
            GPUME_PREFILTERING_TABLES_BYTES);
        gpume_barrier_clear_to_kernel(work->slot);
    }
    gpume_barrier_kernel_to_kernel(work->slot);
    for (uint32_t i = 0; i < count; i++) {
        gpume_k_prefilter_record(
            work, &kernels->prefilter, tables, frames[i]->sequence, &searched.uploads[i]);
    }
    gpume_barrier_kernel_to_kernel(work->slot);
    for (uint32_t i = 0; i < count; i++) {
        gpume_k_upload_record(&searched, &kernels->upload, i, frames[i]->sequence);
    }
    return searched;
}
