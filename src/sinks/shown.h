/* SPDX-License-Identifier: BSD-2-Clause */
/* The blocks of a field that statistics and pictures show: the parts of a partition, else the first
 * layer. */
#ifndef GPUME_SINKS_SHOWN_H
#define GPUME_SINKS_SHOWN_H

#include "gpume/gpume.h"

#include <stddef.h>

struct gpume_shown {
    const struct gpume_layer *layer;
    size_t index; /* in the layer */
    uint32_t x, y, rank;
};

static inline uint64_t gpume_shown_count(const struct gpume_field *field)
{
    const struct gpume_layer *first = field->layers[0];
    return field->part_count > 0 ? field->part_count : (uint64_t)first->blocks_x * first->blocks_y;
}

/* The block at this place in the order of the output. */
static inline struct gpume_shown gpume_shown_at(const struct gpume_field *field, uint64_t i)
{
    const struct gpume_part *part = field->part_count > 0 ? &field->parts[i] : NULL;
    struct gpume_shown shown = {
        .layer = field->layers[part ? part->layer : 0], .index = part ? part->block : (size_t)i};
    shown.x = (uint32_t)(shown.index % shown.layer->blocks_x) * shown.layer->block_w;
    shown.y = (uint32_t)(shown.index / shown.layer->blocks_x) * shown.layer->block_h;
    shown.rank = part ? part->rank : shown.layer->ranks[shown.index];
    return shown;
}

/* The block that holds a pixel of the picture. */
static inline struct gpume_shown gpume_shown_holding(
    const struct gpume_field *field, uint32_t x, uint32_t y)
{
    const uint64_t count = gpume_shown_count(field);
    struct gpume_shown shown = gpume_shown_at(field, 0);
    for (uint64_t i = 0; i < count; i++) {
        shown = gpume_shown_at(field, i);
        if (x >= shown.x && y >= shown.y && x - shown.x < shown.layer->block_w &&
            y - shown.y < shown.layer->block_h) {
            break;
        }
    }
    return shown;
}

#endif
