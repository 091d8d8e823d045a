/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filter before the search: from a padded frame of the ring to a plane of the picture's size,
 * in parts that keep what is read within a window, the grid within every device's limits and a
 * dispatch short.
 */
#include "base/grid.h"
#include "gpu/stages/stages.h"

#include <stddef.h>

#define ROWS_MAX 32768u            /* of one dispatch */
#define DISPATCH_WORK (1ull << 34) /* samples looked at: some milliseconds of a large device */
#define MEDIAN_WORK 6u             /* of one sample, in sorting */

_Static_assert(sizeof(struct gpume_filter_push) == 9 * 4, "words without gaps, as GLSL lays them");
_Static_assert(GPUME_FILTER_WEIGHTS == GPUME_PREFILTER_WEIGHTS &&
                   GPUME_FILTER_PRODUCT_SHIFT == GPUME_PREFILTER_PRODUCT_SHIFT &&
                   offsetof(struct gpume_prefilter_tables, likeness) -
                           offsetof(struct gpume_prefilter_tables, weights) ==
                       GPUME_FILTER_WEIGHTS * 4,
    "the tables as GLSL sees them");

static const uint32_t lines_8[] =
#include "prefilter_lines8.inc"
    ;
static const uint32_t lines_16[] =
#include "prefilter_lines16.inc"
    ;
static const uint32_t kernel_8[] =
#include "prefilter_kernel8.inc"
    ;
static const uint32_t kernel_16[] =
#include "prefilter_kernel16.inc"
    ;
static const uint32_t median3_8[] =
#include "prefilter_median3_8.inc"
    ;
static const uint32_t median3_16[] =
#include "prefilter_median3_16.inc"
    ;
static const uint32_t median5_8[] =
#include "prefilter_median5_8.inc"
    ;
static const uint32_t median5_16[] =
#include "prefilter_median5_16.inc"
    ;
static const uint32_t bilateral_8[] =
#include "prefilter_bilateral8.inc"
    ;
static const uint32_t bilateral_16[] =
#include "prefilter_bilateral16.inc"
    ;

#define CODE(name) GPUME_K_FRAME_CODE(name##_, 3, struct gpume_filter_push)
static const struct gpume_k_code of_lines = CODE(lines), of_kernel = CODE(kernel),
                                 of_bilateral = CODE(bilateral),
                                 of_median[] = {CODE(median3), CODE(median5)};

static const struct gpume_k_code *code_of(const struct gpume_prefilter_tables *tables)
{
    switch (tables->kind) {
    case GPUME_PREFILTER_MEDIAN:
        return &of_median[tables->radius_x - 1];
    case GPUME_PREFILTER_BILATERAL:
        return &of_bilateral;
    case GPUME_PREFILTER_KERNEL:
        return &of_kernel;
    default:
        return &of_lines;
    }
}

static uint32_t part_rows(const struct gpume_plan *plan)
{
    const struct gpume_prefilter_tables *t = &plan->prefilter;
    uint64_t columns = 2ull * t->radius_x + 1, rows = 2ull * t->radius_y + 1;
    bool lines = t->kind == GPUME_PREFILTER_GAUSS || t->kind == GPUME_PREFILTER_BOX;
    uint64_t work = lines ? columns + rows : columns * rows;
    work *= t->kind == GPUME_PREFILTER_MEDIAN ? MEDIAN_WORK : 1;
    uint64_t part = gpume_min_u64(plan->filter_rows, DISPATCH_WORK / (work * plan->params.width));
    return (uint32_t)gpume_max_u64(gpume_min_u64(part, ROWS_MAX), 1);
}

uint32_t gpume_k_prefilter_binds(const struct gpume_plan *plan)
{
    return gpume_plan_filters(plan) ? (uint32_t)gpume_div_up(plan->params.height, part_rows(plan)) +
                                          gpume_k_upload_binds(plan)
                                    : 0;
}

int gpume_k_prefilter_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_kernel *kernel)
{
    if (!gpume_plan_filters(plan)) {
        return GPUME_OK;
    }
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_k_constants(plan, constants);
    constants[GPUME_SPEC_RADIUS_X] = plan->prefilter.radius_x;
    constants[GPUME_SPEC_RADIUS_Y] = plan->prefilter.radius_y;
    return gpume_k_create(gpu, plan, code_of(&plan->prefilter), constants, kernel);
}

static void record_part(const struct gpume_work *work, const struct gpume_kernel *kernel,
    const struct gpume_buffer *tables, uint64_t sequence, const struct gpume_buffer *plane,
    uint32_t row)
{
    const struct gpume_plan *plan = work->plan;
    const struct gpume_prefilter_tables *t = &plan->prefilter;
    uint32_t quad_bytes = gpume_quad_bytes(plan);
    uint64_t end = gpume_min_u64((uint64_t)row + part_rows(plan), plan->params.height);
    uint64_t above = row < t->radius_y ? 0 : row - t->radius_y;
    uint64_t below = gpume_min_u64(end + t->radius_y, plan->params.height);
    uint64_t start_bytes = (uint64_t)row * plan->plane_stride / 256 * 256;
    struct gpume_filter_push push = {
        .width = plan->params.width,
        .height = plan->params.height,
        .frame_stride = plan->padded_stride / 4,
        .plane_base = 0u - (uint32_t)(start_bytes / quad_bytes),
        .plane_stride = plan->plane_stride / quad_bytes,
        .row = row,
        .shift = t->shift,
        .divisor = t->divisor,
    };
    struct gpume_view views[] = {
        gpume_work_frame(
            work, sequence, plan->pad_y + above, plan->pad_y + below, &push.frame_base),
        gpume_view_part(plane, start_bytes, end * plan->plane_stride - start_bytes),
        gpume_buffer_view(tables),
    };
    push.frame_base += plan->pad_y * push.frame_stride + plan->pad_x / 4;
    gpume_slot_bind(work->slot, kernel, views);
    uint32_t quads = (uint32_t)gpume_div_up(plan->params.width, 4);
    gpume_slot_dispatch(work->slot, kernel, &push,
        (uint32_t)gpume_div_up(quads, GPUME_FILTER_LOCAL), (uint32_t)(end - row), 1);
}

void gpume_k_prefilter_record(const struct gpume_work *work, const struct gpume_kernel *kernel,
    const struct gpume_buffer *tables, uint64_t sequence, const struct gpume_buffer *plane)
{
    for (uint32_t row = 0; row < work->plan->params.height; row += part_rows(work->plan)) {
        record_part(work, kernel, tables, sequence, plane, row);
    }
}
