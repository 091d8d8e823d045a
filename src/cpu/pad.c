/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/pad.h"

#include "base/grid.h"

#include <string.h>

static void repeat(uint8_t *to, const uint8_t *sample, uint32_t count, uint32_t sample_bytes)
{
    if (sample_bytes == 1) {
        memset(to, *sample, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to + 2 * (size_t)i, sample, 2);
    }
}

void gpume_extend_row(const struct gpume_plan *plan, void *row)
{
    uint32_t bytes = plan->sample_bytes, right = plan->pad_x + plan->params.width;
    uint8_t *to = row;
    repeat(to, to + (size_t)plan->pad_x * bytes, plan->pad_x, bytes);
    repeat(to + (size_t)right * bytes, to + (size_t)(right - 1) * bytes,
        plan->padded_stride - right, bytes);
}

void gpume_pad_row(
    const struct gpume_plan *plan, const struct gpume_plane *plane, void *padded, uint32_t row)
{
    uint32_t bytes = plan->sample_bytes;
    uint32_t below = row < plan->pad_y ? 0 : row - plan->pad_y;
    uint32_t y = gpume_min_u32(below, plane->height - 1);
    const uint8_t *from = (const uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
    uint8_t *to = (uint8_t *)padded + (size_t)row * plan->padded_stride * bytes;
    memcpy(to + (size_t)plan->pad_x * bytes, from, (size_t)plane->width * bytes);
    gpume_extend_row(plan, to);
}
