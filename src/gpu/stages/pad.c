/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Large frames go in parts that keep both windows within the device's buffer range and the grid
 * within 65,535 rows.
 */
#include "gpu/stages/pad.h"

#include "base/grid.h"

#define ROWS_MAX 32768u /* of one dispatch */

_Static_assert(sizeof(struct gpume_upload_push) == 10 * 4, "words without gaps, as GLSL lays them");

#include "upload16.inc"
#include "upload8.inc"

/* Padded rows whose bytes, and those of the plane's rows they come from, fit a window. */
static uint32_t part_rows(const struct gpume_plan *plan)
{
    const struct gpume_shape *layer = &plan->layers[0];
    uint64_t rows =
        layer->band_count == 1 ? plan->padded_rows : (uint64_t)layer->band_rows * layer->block_h;
    return (uint32_t)gpume_min_u64(rows, ROWS_MAX);
}

uint32_t gpume_pad_binds(const struct gpume_plan *plan)
{
    return (uint32_t)gpume_div_up(plan->padded_rows, part_rows(plan));
}

int gpume_pad_create(const struct gpume_stage_setup *setup, struct gpume_kernel *kernel)
{
    static const struct gpume_kernel_code code =
        GPUME_FRAME_CODE(upload, 2, struct gpume_upload_push);
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(setup, constants);
    return gpume_stage_kernel(setup, &code, constants, kernel);
}

/* The plane row that padded row `row` repeats or copies. */
static uint64_t plane_row(const struct gpume_plan *plan, uint64_t row)
{
    uint64_t below = row < plan->pad_y ? 0 : row - plan->pad_y;
    return gpume_min_u64(below, plan->params.height - 1);
}

static void record_part(const struct gpume_work *work, const struct gpume_kernel *kernel,
    const struct gpume_buffer *plane, enum gpume_surface surface, uint64_t sequence, uint32_t row)
{
    const struct gpume_plan *plan = work->plan;
    uint64_t end = gpume_min_u64((uint64_t)row + part_rows(plan), plan->padded_rows);
    uint64_t start_bytes =
        plane_row(plan, row) * plan->plane_stride / GPUME_PART_ALIGN * GPUME_PART_ALIGN;
    uint64_t end_bytes = (plane_row(plan, end - 1) + 1) * plan->plane_stride;
    struct gpume_upload_push push = {
        .width = plan->params.width,
        .height = plan->params.height,
        .pad_x = plan->pad_x,
        .pad_y = plan->pad_y,
        .plane_stride = plan->plane_stride / 4,
        .plane_base = 0u - (uint32_t)(start_bytes / 4),
        .padded_stride = plan->padded_stride / 4,
        .row = row,
        .rows = (uint32_t)(end - row),
    };
    struct gpume_view views[] = {
        gpume_view_part(plane, start_bytes, end_bytes - start_bytes),
        gpume_work_rows(work, surface, sequence, row, end, &push.padded_base),
    };
    gpume_slot_bind(work->slot, kernel, views);
    uint32_t groups = (uint32_t)gpume_div_up(push.padded_stride, GPUME_UPLOAD_LOCAL);
    gpume_slot_dispatch(work->slot, kernel, &push, groups, push.rows, 1);
}

void gpume_pad_record(const struct gpume_work *work, const struct gpume_kernel *kernel,
    const struct gpume_buffer *plane, enum gpume_surface surface, uint64_t sequence)
{
    for (uint32_t row = 0; row < work->plan->padded_rows; row += part_rows(work->plan)) {
        record_part(work, kernel, plane, surface, sequence, row);
    }
}
