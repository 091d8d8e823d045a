/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prefilter: reads surface SOURCE and the filter's tables, writes surface FILTERED; per frame from
 * a padded frame to a plane of the picture's size, which is then padded. Planes are made in parts
 * that keep what is read within a window, the grid within every device's limits and a dispatch
 * short.
 */
#include "base/grid.h"
#include "base/status.h"
#include "gpu/stages/pad.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

#include "prefilter_bilateral16.inc"
#include "prefilter_bilateral8.inc"
#include "prefilter_kernel16.inc"
#include "prefilter_kernel8.inc"
#include "prefilter_lines16.inc"
#include "prefilter_lines8.inc"
#include "prefilter_median3_16.inc"
#include "prefilter_median3_8.inc"
#include "prefilter_median5_16.inc"
#include "prefilter_median5_8.inc"

/* Weights and likeness, one behind the other. */
#define TABLES_START offsetof(struct gpume_prefilter_tables, weights)
#define TABLES_BYTES (sizeof(struct gpume_prefilter_tables) - TABLES_START)

#define CODE(name) GPUME_FRAME_CODE(prefilter_##name, 3, struct gpume_filter_push)
static const struct gpume_kernel_code of_lines = CODE(lines), of_kernel = CODE(kernel),
                                      of_bilateral = CODE(bilateral),
                                      of_median[] = {CODE(median3_), CODE(median5_)};

static const struct gpume_kernel_code *code_of(const struct gpume_prefilter_tables *tables)
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

static bool wanted(const struct gpume_stage_setup *setup)
{
    return gpume_plan_filters(setup->plan);
}

static void needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    uint32_t parts = (uint32_t)gpume_div_up(plan->params.height, part_rows(plan));
    gpume_need_buffers(needs, GPUME_MEMORY_FILTER_STAGING, GPUME_BUFFER_UPLOAD, TABLES_BYTES, 1);
    gpume_need_buffers(needs, GPUME_MEMORY_FILTER_TABLES, GPUME_BUFFER_DEVICE, TABLES_BYTES, 1);
    gpume_need_buffers(
        needs, GPUME_MEMORY_FILTER_PLANES, GPUME_BUFFER_DEVICE, plan->plane_bytes, plan->batch);
    gpume_need_surface(needs, plan, GPUME_SURFACE_FILTERED);
    needs->binds += plan->batch * (parts + gpume_pad_binds(plan));
}

enum { FILTER, PAD };

struct prefilter {
    bool tables_sent;
};

static int create(struct gpume_gpu_stage *stage)
{
    const struct gpume_prefilter_tables *tables = &stage->setup.plan->prefilter;
    uint32_t constants[GPUME_SPEC_COUNT];
    stage->own = calloc(1, sizeof(struct prefilter));
    if (!stage->own) {
        return gpume_log_nomem(stage->setup.gpu->log, "the filter");
    }
    gpume_stage_constants(&stage->setup, constants);
    constants[GPUME_SPEC_RADIUS_X] = tables->radius_x;
    constants[GPUME_SPEC_RADIUS_Y] = tables->radius_y;
    int status;
    GPUME_TRY(
        gpume_stage_kernel(&stage->setup, code_of(tables), constants, &stage->kernels[FILTER]));
    GPUME_TRY(gpume_pad_create(&stage->setup, &stage->kernels[PAD]));
fail:
    return status;
}

static void record_part(const struct gpume_work *work, const struct gpume_kernel *kernel,
    uint64_t sequence, const struct gpume_buffer *plane, uint32_t row)
{
    const struct gpume_plan *plan = work->plan;
    const struct gpume_prefilter_tables *t = &plan->prefilter;
    uint32_t quad_bytes = gpume_quad_bytes(plan);
    uint64_t end = gpume_min_u64((uint64_t)row + part_rows(plan), plan->params.height);
    uint64_t above = row < t->radius_y ? 0 : row - t->radius_y;
    uint64_t below = gpume_min_u64(end + t->radius_y, plan->params.height);
    uint64_t start_bytes = (uint64_t)row * plan->plane_stride / GPUME_PART_ALIGN * GPUME_PART_ALIGN;
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
        gpume_work_rows(work, GPUME_SURFACE_SOURCE, sequence, plan->pad_y + above,
            plan->pad_y + below, &push.frame_base),
        gpume_view_part(plane, start_bytes, end * plan->plane_stride - start_bytes),
        gpume_buffer_view(work->memory->parts[GPUME_MEMORY_FILTER_TABLES]),
    };
    push.frame_base += plan->pad_y * push.frame_stride + plan->pad_x / 4;
    gpume_slot_bind(work->slot, kernel, views);
    uint32_t quads = (uint32_t)gpume_div_up(plan->params.width, 4);
    gpume_slot_dispatch(work->slot, kernel, &push,
        (uint32_t)gpume_div_up(quads, GPUME_FILTER_LOCAL), (uint32_t)(end - row), 1);
}

/* In the first submission. */
static void send_tables(const struct gpume_work *work, struct prefilter *prefilter)
{
    struct gpume_buffer *const *parts = work->memory->parts;
    if (!prefilter->tables_sent) {
        prefilter->tables_sent = true;
        memcpy(parts[GPUME_MEMORY_FILTER_STAGING]->mapped,
            (const uint8_t *)&work->plan->prefilter + TABLES_START, TABLES_BYTES);
        gpume_slot_copy(work->slot, parts[GPUME_MEMORY_FILTER_STAGING],
            parts[GPUME_MEMORY_FILTER_TABLES], 0, TABLES_BYTES);
        gpume_barrier_clear_to_kernel(work->slot);
    }
}

static void record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_buffer *planes = work->memory->parts[GPUME_MEMORY_FILTER_PLANES];
    const struct gpume_plan *plan = work->plan;
    send_tables(work, stage->own);
    for (uint32_t i = 0; i < work->frame_count; i++) {
        for (uint32_t row = 0; row < plan->params.height; row += part_rows(plan)) {
            record_part(work, &stage->kernels[FILTER], work->frames[i]->sequence, &planes[i], row);
        }
    }
    gpume_barrier_kernel_to_kernel(work->slot);
    for (uint32_t i = 0; i < work->frame_count; i++) {
        gpume_pad_record(work, &stage->kernels[PAD], &planes[i], GPUME_SURFACE_FILTERED,
            work->frames[i]->sequence);
    }
}

const struct gpume_stage_ops gpume_stage_prefilter = {
    .name = "prefilter",
    .row = GPUME_ROW_UPLOAD,
    .of_frames = true,
    .wanted = wanted,
    .needs = needs,
    .create = create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = record,
};
