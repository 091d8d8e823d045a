/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The public functions: check arguments, choose the engine, call the pipeline.
 */
#include "base/args.h"
#include "base/locked_log.h"
#include "base/reserved.h"
#include "base/status.h"
#include "model/plan.h"
#include "run/pipeline.h"
#include "version.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEARCHES_MAX (2 * GPUME_ENGINE_SEARCHES_MAX)

struct gpume {
    struct gpume_locked_log locked;
    const struct gpume_log *log;
    struct gpume_pipeline *pipeline;
    struct gpume_plane plane; /* size and depth of every frame */
};

const char *gpume_status_text(int status)
{
    static const char *const texts[] = {
        [-GPUME_OK] = "ok",
        [-GPUME_AGAIN] = "try again",
        [-GPUME_EOF] = "end of data",
        [-GPUME_INVALID] = "invalid argument",
        [-GPUME_NOMEM] = "out of memory",
        [-GPUME_IO] = "input or output failed",
        [-GPUME_FORMAT] = "unusable input",
        [-GPUME_UNSUPPORTED] = "not supported",
        [-GPUME_DEVICE] = "no usable device",
        [-GPUME_DEVICE_LOST] = "device lost",
        [-GPUME_CANCELLED] = "cancelled",
    };
    size_t index = status > 0 ? SIZE_MAX : (size_t) - (int64_t)status;
    return index < sizeof(texts) / sizeof(*texts) ? texts[index] : "unknown status";
}

uint32_t gpume_api_version(void)
{
    return GPUME_API_VERSION;
}

const char *gpume_version(void)
{
    return GPUME_VERSION;
}

void gpume_params_default(struct gpume_params *params)
{
    if (!params) {
        return;
    }
    *params = (struct gpume_params){
        .bits = 8, .block = 8, .window_x = 7, .window_y = 7, .ref_distance = 1};
}

static int open_engine(
    struct gpume *ctx, const struct gpume_params *params, const struct gpume_engine_ops *ops)
{
    void *engine = NULL;
    struct gpume_plan plan;
    int status = ops->open(&engine, params, ctx->log, &plan);
    if (status == GPUME_AGAIN) {
        struct gpume_params smaller = *params;
        smaller.no_elimination = true;
        status = ops->open(&engine, &smaller, ctx->log, &plan);
    }
    return status == GPUME_OK ? gpume_pipeline_open(&ctx->pipeline, ops, engine, &plan, ctx->log)
                              : status;
}

int gpume_list_searches(
    const char *device, struct gpume_search_info *out, uint32_t capacity, uint32_t *count)
{
    if (!count || (capacity > 0 && !out)) {
        return GPUME_INVALID;
    }
    struct gpume_search_info all[SEARCHES_MAX];
    uint32_t of_cpu, of_gpu;
    int status;
    GPUME_TRY(gpume_engine_cpu.list_searches(NULL, all, &of_cpu));
    GPUME_TRY(gpume_engine_gpu.list_searches(device, all + of_cpu, &of_gpu));
    *count = of_cpu + of_gpu;
    for (uint32_t i = 0; i < *count && i < capacity; i++) {
        out[i] = all[i];
    }
fail:
    return status;
}

int gpume_measure_ceiling(
    const char *device, const char *search, uint32_t threads, double *differences_per_second)
{
    static const struct gpume_engine_ops *const engines[] = {&gpume_engine_cpu, &gpume_engine_gpu};
    if (!search || !differences_per_second) {
        return GPUME_INVALID;
    }
    for (size_t engine = 0; engine < 2; engine++) {
        struct gpume_search_info searches[GPUME_ENGINE_SEARCHES_MAX];
        uint32_t count;
        int status = engines[engine]->list_searches(engine ? device : NULL, searches, &count);
        for (uint32_t i = 0; status == GPUME_OK && i < count; i++) {
            if (strcmp(searches[i].name, search) == 0) {
                return engines[engine]->measure_ceiling
                           ? engines[engine]->measure_ceiling(
                                 device, search, threads, differences_per_second)
                           : GPUME_UNSUPPORTED;
            }
        }
    }
    return GPUME_INVALID;
}

/* Says what is wrong with the name and which ones would do. */
static int refuse_search(const struct gpume *ctx, const char *name, const char *why,
    const struct gpume_search_info *searches, uint32_t count, int status)
{
    char names[SEARCHES_MAX * (sizeof(searches->name) + 12)] = "";
    for (uint32_t i = 0; i < count; i++) {
        size_t used = strlen(names);
        if (searches[i].available) {
            snprintf(names + used, sizeof(names) - used, "%s%s (%s)", used ? ", " : "",
                searches[i].name, searches[i].backend == GPUME_BACKEND_CPU ? "cpu" : "vulkan");
        }
    }
    gpume_log_write(ctx->log, GPUME_LOG_ERROR, "--search %s: %s; there are %s", name, why, names);
    return status;
}

/* A name means one engine: auto becomes that one. */
static int resolve_search(const struct gpume *ctx, struct gpume_params *params)
{
    struct gpume_search_info searches[SEARCHES_MAX];
    uint32_t count, i = 0;
    int listed = gpume_list_searches(params->device, searches, SEARCHES_MAX, &count);
    if (listed != GPUME_OK) {
        return GPUME_OK; /* no such device: opening it says so */
    }
    while (i < count && strcmp(searches[i].name, params->search) != 0) {
        i++;
    }
    if (i == count) {
        return refuse_search(ctx, params->search, "no such search", searches, count, GPUME_INVALID);
    }
    if (params->backend == GPUME_BACKEND_AUTO) {
        params->backend = searches[i].backend;
    }
    if (params->backend != searches[i].backend) {
        return refuse_search(
            ctx, params->search, "of another backend", searches, count, GPUME_INVALID);
    }
    if (!searches[i].available) {
        return refuse_search(
            ctx, params->search, "not available here", searches, count, GPUME_UNSUPPORTED);
    }
    return GPUME_OK;
}

/* auto: a GPU that is not there, cannot hold the job or fails is no reason to fail. */
static int choose_engine(struct gpume *ctx, const struct gpume_params *params)
{
    if (params->backend == GPUME_BACKEND_CPU) {
        const int checked = gpume_args_check_cpu(params->device, params->validate, ctx->log);
        return checked ? checked : open_engine(ctx, params, &gpume_engine_cpu);
    }
    if (!gpume_plan_stands_by(params)) {
        return open_engine(ctx, params, &gpume_engine_gpu);
    }
    int status = open_engine(ctx, params, &gpume_engine_standby);
    if (gpume_status_is_of_gpu(status)) {
        struct gpume_params on_cpu = *params;
        on_cpu.backend = GPUME_BACKEND_CPU;
        return open_engine(ctx, &on_cpu, &gpume_engine_cpu);
    }
    return status;
}

int gpume_open(gpume **out, const struct gpume_params *params)
{
    if (!out || !params) {
        return GPUME_INVALID;
    }
    const struct gpume_log log = {params->log, params->log_opaque};
    int status =
        gpume_args_check("gpume_params", params->backend, GPUME_RESERVED_IS_ZERO(params), &log);
    if (status != GPUME_OK) {
        return status;
    }
    struct gpume *ctx = calloc(1, sizeof(*ctx));
    if (!ctx) {
        return gpume_log_nomem(&log, "a context");
    }
    gpume_locked_log_init(&ctx->locked, params->log, params->log_opaque);
    ctx->log = &ctx->locked.log;
    ctx->plane = (struct gpume_plane){
        .width = params->width, .height = params->height, .bits = params->bits};
    struct gpume_params resolved = *params;
    status = params->search ? resolve_search(ctx, &resolved) : GPUME_OK;
    if (status == GPUME_OK) {
        status = choose_engine(ctx, &resolved);
    }
    if (status != GPUME_OK) {
        gpume_close(&ctx);
        return status;
    }
    *out = ctx;
    return GPUME_OK;
}

int gpume_close(gpume **out)
{
    if (!out || !*out) {
        return GPUME_OK;
    }
    struct gpume *ctx = *out;
    *out = NULL;
    int status = gpume_pipeline_close(&ctx->pipeline);
    gpume_locked_log_finish(&ctx->locked);
    free(ctx);
    return status;
}

int gpume_frame_acquire(gpume *ctx, gpume_frame **frame, struct gpume_plane *plane, uint32_t flags)
{
    if (!ctx || !frame || !plane) {
        return GPUME_INVALID;
    }
    int status = gpume_pipeline_acquire(ctx->pipeline, frame, flags);
    if (status == GPUME_OK) {
        *plane = (*frame)->plane;
    }
    return status;
}

void gpume_frame_release(gpume_frame **frame)
{
    if (frame) {
        gpume_frame_unref(frame);
    }
}

int gpume_send(gpume *ctx, gpume_frame **frame, int64_t time_us)
{
    if (!ctx || !frame || !*frame || (*frame)->owner != ctx->pipeline) {
        return GPUME_INVALID;
    }
    return gpume_pipeline_send(ctx->pipeline, frame, time_us);
}

static bool same_shape(const struct gpume_plane *plane, const struct gpume_plane *wanted)
{
    size_t row_bytes = (size_t)wanted->width * (wanted->bits > 8 ? 2 : 1);
    size_t stride = plane->stride < 0 ? 0 - (size_t)plane->stride : (size_t)plane->stride;
    return plane->data && plane->width == wanted->width && plane->height == wanted->height &&
           plane->bits == wanted->bits && (stride >= row_bytes || plane->height == 1);
}

int gpume_send_plane(gpume *ctx, const struct gpume_plane *plane, int64_t time_us)
{
    if (!ctx || !plane) {
        return GPUME_INVALID;
    }
    if (!same_shape(plane, &ctx->plane)) {
        gpume_log_write(ctx->log, GPUME_LOG_ERROR,
            "a plane of %ux%u, %u bits, stride %td%s was sent to a context of %ux%u, %u bits",
            plane->width, plane->height, plane->bits, plane->stride,
            plane->data ? "" : ", without data", ctx->plane.width, ctx->plane.height,
            ctx->plane.bits);
        return GPUME_INVALID;
    }
    gpume_frame *frame = NULL;
    int status = gpume_pipeline_acquire(ctx->pipeline, &frame, 0);
    if (status != GPUME_OK) {
        return status;
    }
    size_t row_bytes = (size_t)plane->width * (plane->bits > 8 ? 2 : 1);
    for (uint32_t y = 0; y < plane->height; y++) {
        memcpy((uint8_t *)frame->plane.data + (ptrdiff_t)y * frame->plane.stride,
            (const uint8_t *)plane->data + (ptrdiff_t)y * plane->stride, row_bytes);
    }
    return gpume_pipeline_send(ctx->pipeline, &frame, time_us);
}

int gpume_finish(gpume *ctx)
{
    return ctx ? gpume_pipeline_finish(ctx->pipeline) : GPUME_INVALID;
}

int gpume_receive(gpume *ctx, const struct gpume_field **field, uint32_t flags)
{
    if (!ctx || !field) {
        return GPUME_INVALID;
    }
    return gpume_pipeline_receive(ctx->pipeline, field, flags);
}

void gpume_field_release(const struct gpume_field **field)
{
    if (!field || !*field) {
        return;
    }
    /* The library made it inside a box that it may write to. */
    struct gpume_field_box *box = (struct gpume_field_box *)(uintptr_t)*field;
    *field = NULL;
    box->recycle(box->owner, box);
}

void gpume_cancel(gpume *ctx)
{
    if (ctx) {
        gpume_pipeline_cancel(ctx->pipeline);
    }
}

double gpume_psnr(uint32_t bits, uint64_t pixels, uint64_t sse)
{
    double peak = (double)((1ull << (bits & 31)) - 1);
    return sse == 0 ? INFINITY : 10.0 * log10(peak * peak * (double)pixels / (double)sse);
}

uint64_t gpume_stats_ns(const struct gpume_stats *stats, const char *stage)
{
    for (uint32_t i = 0; stats && stage && i < stats->stage_count; i++) {
        if (strcmp(stats->stages[i].name, stage) == 0) {
            return stats->stages[i].ns;
        }
    }
    return 0;
}

void gpume_get_info(const gpume *ctx, struct gpume_info *info)
{
    if (ctx && info) {
        gpume_pipeline_get_info(ctx->pipeline, info);
    }
}

void gpume_get_stats(gpume *ctx, struct gpume_stats *stats)
{
    if (ctx && stats) {
        gpume_pipeline_get_stats(ctx->pipeline, stats);
    }
}
