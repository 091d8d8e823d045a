/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/reorder.h"

#include <assert.h>
#include <stdlib.h>

int gpume_reorder_init(struct gpume_reorder *reorder, uint32_t capacity)
{
    reorder->boxes = calloc(capacity, sizeof(struct gpume_field_box *));
    reorder->capacity = capacity;
    return reorder->boxes ? GPUME_OK : GPUME_NOMEM;
}

void gpume_reorder_finish(struct gpume_reorder *reorder)
{
    free((void *)reorder->boxes);
    *reorder = (struct gpume_reorder){0};
}

void gpume_reorder_put(struct gpume_reorder *reorder, struct gpume_field_box *box)
{
    assert(box->number - reorder->next < reorder->capacity);
    reorder->boxes[box->number % reorder->capacity] = box;
}

struct gpume_field_box *gpume_reorder_take(struct gpume_reorder *reorder)
{
    struct gpume_field_box **place = &reorder->boxes[reorder->next % reorder->capacity];
    struct gpume_field_box *box = *place;
    if (box) {
        *place = NULL;
        reorder->next++;
    }
    return box;
}
