/* SPDX-License-Identifier: BSD-2-Clause */
#include "frame/field.h"

#include <stdlib.h>

int gpume_field_box_init(struct gpume_field_box *box, const struct gpume_plan *plan)
{
    const uint32_t count = plan->layer_count;
    box->layers = calloc(count, sizeof(*box->layers));
    box->layer_list = calloc(count, sizeof(*box->layer_list));
    if (!box->layers || !box->layer_list) {
        return GPUME_NOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct gpume_shape *shape = &plan->layers[i];
        box->layers[i] = (struct gpume_layer){.block_w = shape->block_w,
            .block_h = shape->block_h,
            .blocks_x = shape->blocks_x,
            .blocks_y = shape->blocks_y};
        box->layer_list[i] = &box->layers[i];
    }
    box->field.blocks_x = plan->layers[0].blocks_x;
    box->field.blocks_y = plan->layers[0].blocks_y;
    box->field.vector_units = 1;
    box->field.layer_count = count;
    box->field.layers = box->layer_list;
    return GPUME_OK;
}

void gpume_field_box_finish(struct gpume_field_box *box)
{
    free(box->layers);
    free((void *)box->layer_list);
}

void gpume_field_box_complete(struct gpume_field_box *box, const struct gpume_plan *plan)
{
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        const uint32_t first = plan->layers[i].first;
        box->layers[i].vectors = box->field.vectors + first;
        box->layers[i].costs = box->field.costs + first;
        box->layers[i].ranks = box->field.ranks + first;
    }
}
