/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/search/boxes.h"

/* Below this many candidates per block, sums cost more than they save. */
#define CANDIDATES_MIN 64u

/* Does a layer use boxes of this size? */
static bool uses(const struct gpume_shape *layer, uint32_t size)
{
    uint32_t side = layer->block_w < layer->block_h ? layer->block_w : layer->block_h;
    switch (size) {
    case 4:
        return true;
    case 8: /* for 8x8, comparing four sums at once is cheaper than one and then four */
        return side >= 16 || (side == 8 && layer->block_w != layer->block_h);
    case 12:
        return side == 12;
    default:
        return side >= size;
    }
}

struct gpume_boxes gpume_boxes_plan(const struct gpume_plan *plan)
{
    static const uint32_t sizes[GPUME_BOX_SIZES] = {4, 8, 16, 12};
    struct gpume_boxes boxes = {.stride = plan->padded_stride, .rows = plan->padded_rows};
    if (plan->sample_bytes != 1 || plan->candidates < CANDIDATES_MIN) {
        return boxes;
    }
    for (uint32_t i = 0; i < GPUME_BOX_SIZES; i++) {
        bool used = false;
        for (uint32_t j = 0; j < plan->layer_count; j++) {
            used = used || uses(&plan->layers[j], sizes[i]);
        }
        if (used) {
            boxes.sizes[boxes.levels++] = sizes[i];
        }
    }
    return boxes;
}

struct gpume_layer_boxes gpume_boxes_of_layer(
    const struct gpume_boxes *boxes, const struct gpume_shape *layer)
{
    struct gpume_layer_boxes own = {.stride = boxes->stride};
    for (uint32_t i = 0; i < boxes->levels; i++) {
        uint32_t size = boxes->sizes[i];
        if (uses(layer, size)) {
            own.sizes[own.levels] = size;
            own.tiles[own.levels] =
                (struct gpume_tiles){layer->block_w / size, layer->block_h / size};
            own.sums[own.levels++] = boxes->sums[i];
        }
    }
    return own;
}

uint64_t gpume_boxes_entries(const struct gpume_boxes *boxes)
{
    return (uint64_t)boxes->stride * boxes->rows + GPUME_BOX_SLACK;
}
