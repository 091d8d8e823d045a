/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/parts.h"

#include "base/grid.h"

bool gpume_parts_next(struct gpume_parts *parts, struct gpume_batch *part)
{
    const struct gpume_batch *batch = parts->batch;
    bool field_left = parts->field < batch->field_count;
    bool frame_left = parts->frame < batch->frame_count;
    if (field_left && frame_left) {
        const struct gpume_task *pair = &batch->fields[parts->field]->task;
        uint64_t newest = gpume_max_u64(pair->target, pair->reference);
        frame_left = batch->frames[parts->frame]->sequence <= newest;
    }
    *part = (struct gpume_batch){0};
    if (frame_left) {
        part->frames[part->frame_count++] = batch->frames[parts->frame++];
    } else if (field_left) {
        part->fields[part->field_count++] = batch->fields[parts->field++];
    }
    return frame_left || field_left;
}
