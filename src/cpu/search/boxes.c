/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/search/boxes.h"

/* Below this many candidates a block, sums cost more than they save. */
#define CANDIDATES_MIN 64u

struct gpume_boxes gpume_boxes_plan(const struct gpume_plan *plan)
{
    uint32_t block = plan->params.block;
    struct gpume_boxes boxes = {.stride = plan->padded_stride, .rows = plan->padded_rows};
    if (plan->sample_bytes != 1 || plan->candidates < CANDIDATES_MIN) {
        return boxes;
    }
    boxes.sizes[boxes.levels++] = 4;
    if (block == 12) {
        boxes.sizes[boxes.levels++] = 12;
    }
    if (block >= 16) { /* at 8, four sums at once are cheaper than one and then four */
        boxes.sizes[boxes.levels++] = 8;
        boxes.sizes[boxes.levels++] = 16;
    }
    return boxes;
}

uint64_t gpume_boxes_entries(const struct gpume_boxes *boxes)
{
    return (uint64_t)boxes->stride * boxes->rows + GPUME_BOX_SLACK;
}
