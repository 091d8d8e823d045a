/* SPDX-License-Identifier: BSD-2-Clause */
/* The stages that make the surfaces of frames. */
#include "base/base.h"
#include "gpu/stages/stage.h"

#include "fractions16.inc"
#include "fractions8.inc"
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
#include "upload16.inc"
#include "upload8.inc"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Padded frames of a surface. */
static void need_surface(
    struct gpume_memory_needs *needs, const struct gpume_plan *plan, enum gpume_surface surface)
{
    uint32_t together = plan->one_window ? plan->ring : 1;
    gpume_need_buffers(needs, GPUME_MEMORY_SURFACES + surface, GPUME_BUFFER_DEVICE,
        plan->surface_bytes * together, plan->ring / together);
}

/* --- padding
 *
 * Copies a plane of the picture's size into a padded frame of a surface and repeats its
 * edge samples outwards (upload.comp). What stages that make a surface share.
 */

/* Large frames go in parts that keep both windows within the device's buffer range and the grid
 * within 65,535 rows. */
#define ROWS_MAX 32768u /* of one dispatch */

_Static_assert(sizeof(struct gpume_upload_push) == 10 * 4, "words without gaps, as GLSL lays them");

static const struct gpume_kernel_code pad_code =
    GPUME_FRAME_CODE(upload, 2, struct gpume_upload_push);

/* Padded rows whose bytes, and those of the plane's rows they come from, fit a window. */
static uint32_t pad_part_rows(const struct gpume_plan *plan)
{
    const struct gpume_shape *layer = &plan->layers[0];
    uint64_t rows =
        layer->band_count == 1 ? plan->padded_rows : (uint64_t)layer->band_rows * layer->block_h;
    return (uint32_t)gpume_min_u64(rows, ROWS_MAX);
}

/* Calls of gpume_slot_bind per frame. */
static uint32_t pad_binds(const struct gpume_plan *plan)
{
    return (uint32_t)gpume_div_up(plan->padded_rows, pad_part_rows(plan));
}

/* The plane row that padded row `row` repeats or copies. */
static uint64_t plane_row(const struct gpume_plan *plan, uint64_t row)
{
    uint64_t below = row < plan->pad_y ? 0 : row - plan->pad_y;
    return gpume_min_u64(below, plan->params.height - 1);
}

static void record_pad_part(const struct gpume_work *work, const struct gpume_kernel *kernel,
    const struct gpume_buffer *plane, enum gpume_surface surface, uint64_t sequence, uint32_t row)
{
    const struct gpume_plan *plan = work->plan;
    uint64_t end = gpume_min_u64((uint64_t)row + pad_part_rows(plan), plan->padded_rows);
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

static void pad_record(const struct gpume_work *work, const struct gpume_kernel *kernel,
    const struct gpume_buffer *plane, enum gpume_surface surface, uint64_t sequence)
{
    for (uint32_t row = 0; row < work->plan->padded_rows; row += pad_part_rows(work->plan)) {
        record_pad_part(work, kernel, plane, surface, sequence, row);
    }
}

/* --- upload
 *
 * Reads upload memory, writes surface SOURCE; once per frame, so that a frame's samples
 * cross the bus once.
 */

static void upload_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    gpume_need_buffers(needs, GPUME_MEMORY_UPLOADS, GPUME_BUFFER_UPLOAD, plan->plane_bytes,
        plan->pool + gpume_work_copies(plan));
    need_surface(needs, plan, GPUME_SURFACE_SOURCE);
    needs->binds += plan->batch * pad_binds(plan);
}

static void upload_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    for (uint32_t i = 0; i < work->frame_count; i++) {
        pad_record(work, &stage->kernels[0],
            &work->memory->parts[GPUME_MEMORY_UPLOADS][work->uploads[i]], GPUME_SURFACE_SOURCE,
            work->frames[i]->sequence);
    }
}

const struct gpume_stage_ops gpume_stage_upload = {
    .name = "upload",
    .row = GPUME_ROW_UPLOAD,
    .of_frames = true,
    .needs = upload_needs,
    .code = &pad_code,
    .record = upload_record,
};

/* --- prefilter
 *
 * Reads surface SOURCE and the filter's tables, writes surface FILTERED; per frame from
 * a padded frame to a plane of the picture's size, which is then padded. Planes are made in parts
 * that keep what is read within a window, the grid within every device's limits and a dispatch
 * short.
 */

#define DISPATCH_WORK (1ull << 34) /* samples looked at: some milliseconds of a large device */
#define MEDIAN_WORK 6u             /* of one sample, in sorting */

_Static_assert(sizeof(struct gpume_filter_push) == 9 * 4, "words without gaps, as GLSL lays them");
_Static_assert(GPUME_FILTER_WEIGHTS == GPUME_PREFILTER_WEIGHTS &&
                   GPUME_FILTER_PRODUCT_SHIFT == GPUME_PREFILTER_PRODUCT_SHIFT &&
                   offsetof(struct gpume_prefilter_tables, likeness) -
                           offsetof(struct gpume_prefilter_tables, weights) ==
                       GPUME_FILTER_WEIGHTS * 4,
    "the tables as GLSL sees them");

/* Weights and likeness, one behind the other. */
#define TABLES_START offsetof(struct gpume_prefilter_tables, weights)
#define TABLES_BYTES (sizeof(struct gpume_prefilter_tables) - TABLES_START)

#define FILTER_CODE(name) GPUME_FRAME_CODE(prefilter_##name, 3, struct gpume_filter_push)
static const struct gpume_kernel_code of_lines = FILTER_CODE(lines),
                                      of_kernel = FILTER_CODE(kernel),
                                      of_bilateral = FILTER_CODE(bilateral),
                                      of_median[] = {FILTER_CODE(median3_), FILTER_CODE(median5_)};

static const struct gpume_kernel_code *filter_code(const struct gpume_prefilter_tables *tables)
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

static uint32_t filter_part_rows(const struct gpume_plan *plan)
{
    const struct gpume_prefilter_tables *t = &plan->prefilter;
    uint64_t columns = 2ull * t->radius_x + 1, rows = 2ull * t->radius_y + 1;
    bool lines = t->kind == GPUME_PREFILTER_GAUSS || t->kind == GPUME_PREFILTER_BOX;
    uint64_t work = lines ? columns + rows : columns * rows;
    work *= t->kind == GPUME_PREFILTER_MEDIAN ? MEDIAN_WORK : 1;
    uint64_t part = gpume_min_u64(plan->filter_rows, DISPATCH_WORK / (work * plan->params.width));
    return (uint32_t)gpume_max_u64(gpume_min_u64(part, ROWS_MAX), 1);
}

static bool prefilter_wanted(const struct gpume_stage_setup *setup)
{
    return gpume_plan_filters(setup->plan);
}

static void prefilter_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    uint32_t parts = (uint32_t)gpume_div_up(plan->params.height, filter_part_rows(plan));
    gpume_need_buffers(needs, GPUME_MEMORY_FILTER_STAGING, GPUME_BUFFER_UPLOAD, TABLES_BYTES, 1);
    gpume_need_buffers(needs, GPUME_MEMORY_FILTER_TABLES, GPUME_BUFFER_DEVICE, TABLES_BYTES, 1);
    gpume_need_buffers(
        needs, GPUME_MEMORY_FILTER_PLANES, GPUME_BUFFER_DEVICE, plan->plane_bytes, plan->batch);
    need_surface(needs, plan, GPUME_SURFACE_FILTERED);
    needs->binds += plan->batch * (parts + pad_binds(plan));
}

enum { FILTER_KERNEL, PAD_KERNEL };

struct prefilter {
    bool tables_sent;
};

static int prefilter_create(struct gpume_gpu_stage *stage)
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
    GPUME_TRY(gpume_stage_kernel(
        &stage->setup, filter_code(tables), constants, &stage->kernels[FILTER_KERNEL]));
    GPUME_TRY(gpume_stage_kernel(&stage->setup, &pad_code, NULL, &stage->kernels[PAD_KERNEL]));
fail:
    return status;
}

static void record_filter_part(const struct gpume_work *work, const struct gpume_kernel *kernel,
    uint64_t sequence, const struct gpume_buffer *plane, uint32_t row)
{
    const struct gpume_plan *plan = work->plan;
    const struct gpume_prefilter_tables *t = &plan->prefilter;
    uint32_t quad_bytes = gpume_quad_bytes(plan);
    uint64_t end = gpume_min_u64((uint64_t)row + filter_part_rows(plan), plan->params.height);
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

static void prefilter_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_buffer *planes = work->memory->parts[GPUME_MEMORY_FILTER_PLANES];
    const struct gpume_plan *plan = work->plan;
    send_tables(work, stage->own);
    for (uint32_t i = 0; i < work->frame_count; i++) {
        for (uint32_t row = 0; row < plan->params.height; row += filter_part_rows(plan)) {
            record_filter_part(
                work, &stage->kernels[FILTER_KERNEL], work->frames[i]->sequence, &planes[i], row);
        }
    }
    gpume_barrier_kernel_to_kernel(work->slot);
    for (uint32_t i = 0; i < work->frame_count; i++) {
        pad_record(work, &stage->kernels[PAD_KERNEL], &planes[i], GPUME_SURFACE_FILTERED,
            work->frames[i]->sequence);
    }
}

const struct gpume_stage_ops gpume_stage_prefilter = {
    .name = "prefilter",
    .row = GPUME_ROW_UPLOAD,
    .of_frames = true,
    .wanted = prefilter_wanted,
    .needs = prefilter_needs,
    .create = prefilter_create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = prefilter_record,
};

/* --- fractions
 *
 * Reads plane 0 of the surfaces, writes their other planes; once per frame.
 */

_Static_assert(sizeof(struct gpume_fractions_push) == 6 * 4, "words without gaps");

static const struct gpume_kernel_code fractions_code =
    GPUME_FRAME_CODE(fractions, 0, struct gpume_fractions_push);

static bool fractions_wanted(const struct gpume_stage_setup *setup)
{
    return setup->plan->units > 1;
}

static void record_frame_fractions(
    const struct gpume_gpu_stage *stage, const struct gpume_work *work, VkDeviceAddress frame)
{
    const struct gpume_plan *plan = work->plan;
    struct gpume_fractions_push push = {
        .frame = frame,
        .stride = plan->padded_stride / 4,
        .plane_quads = (uint32_t)(gpume_work_plane_bytes(plan) / gpume_quad_bytes(plan)),
        .rows = plan->padded_rows,
    };
    uint32_t groups = (uint32_t)gpume_div_up(push.stride, GPUME_GENERAL_LOCAL);
    uint32_t each =
        plan->params.interpolation == GPUME_INTERPOLATION_HEVC ? GPUME_FRACTION_ROWS : 1;
    for (; push.row < push.rows; push.row += ROWS_MAX * each) {
        uint64_t below = gpume_div_up(push.rows - push.row, each);
        gpume_slot_dispatch(work->slot, &stage->kernels[0], &push, groups,
            (uint32_t)gpume_min_u64(below, ROWS_MAX), 1);
    }
}

static void fractions_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    gpume_slot_bind(work->slot, &stage->kernels[0], NULL);
    for (uint32_t i = 0; i < work->frame_count; i++) {
        for (enum gpume_surface s = 0; s < GPUME_SURFACE_COUNT; s++) {
            if (work->plan->has_surface[s]) {
                record_frame_fractions(
                    stage, work, gpume_work_frame_address(work, s, work->frames[i]->sequence));
            }
        }
    }
}

const struct gpume_stage_ops gpume_stage_fractions = {
    .name = "fractions",
    .row = GPUME_ROW_MATCH,
    .of_frames = true,
    .wanted = fractions_wanted,
    .code = &fractions_code,
    .before = gpume_barrier_kernel_to_kernel,
    .record = fractions_record,
};
