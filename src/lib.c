/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The public functions: check arguments, choose the engine, call the pipeline.
 */
#include "base/base.h"
#include "base/params.h"
#include "base/workers.h"
#include "model/plan.h"
#include "run/pipeline.h"
#include "run/queue.h"
#include "version.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COPY_THREADS_MAX 8u
#define SEARCHES_MAX (2 * GPUME_ENGINE_SEARCHES_MAX)

struct gpume {
    struct gpume_locked_log locked;
    const struct gpume_log *log;
    struct gpume_pipeline *pipeline;
    struct gpume_params params;
    struct gpume_prefilter prefilter; /* what params.prefilter points to, if anything */
    struct gpume_schedule schedule;   /* the sender's, like the number of frames sent */
    uint64_t sent_count;
    struct gpume_bands copying; /* the sender's too */
    uint64_t searchable;        /* how many of the newest frames gpume_search takes */
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

int gpume_params_fill(struct gpume_params *params)
{
    static const struct gpume_params defaults = {.bits = 8,
        .block = 8,
        .window_x = 7,
        .window_y = 7,
        .ref_distance = 1,
        .subpel = 1,
        .passes = 2,
        .candidates = 1};
    return params ? gpume_sized_write(params, &defaults, sizeof(defaults)) : GPUME_INVALID;
}

int gpume_params_check(const struct gpume_params *params)
{
    if (!params) {
        return GPUME_INVALID;
    }
    const struct gpume_log log = GPUME_SIZED_LOG(params);
    struct gpume_params whole;
    int status = gpume_sized_read(&whole, sizeof(whole), params, "gpume_params", &log);
    if (status == GPUME_OK) {
        gpume_options_complete(&whole);
        status = gpume_options_check(&whole, &log);
    }
    return status;
}

const struct gpume_param *gpume_param_at(uint32_t index)
{
    return index < gpume_params_count ? &gpume_params_table[index] : NULL;
}

const struct gpume_message *gpume_log_message(void)
{
    return gpume_log_current();
}

int gpume_searches_fill(const char *device, struct gpume_search_info *out, size_t stride,
    uint32_t capacity, uint32_t *count)
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
        memcpy((char *)out + i * stride, &all[i], stride < sizeof(*all) ? stride : sizeof(*all));
    }
fail:
    return status;
}

/* Says what is wrong with the name and which ones would do. */
static int refuse_search(const struct gpume *ctx, const char *name, const char *why,
    const struct gpume_search_info *searches, uint32_t count, int status)
{
    char names[SEARCHES_MAX * (sizeof(searches->name) + 12)] = "";
    for (uint32_t i = 0; i < count; i++) {
        if (searches[i].available) {
            gpume_text_join(names, sizeof(names), ", ", "%s (%s)", searches[i].name,
                searches[i].backend == GPUME_BACKEND_CPU ? "cpu" : "vulkan");
        }
    }
    return gpume_log_refuse(
        ctx->log, status, gpume_about(GPUME_PARAM(search), name), "%s; there are %s", why, names);
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

/* Opens the engines and the pipeline. */
static int choose_engines(struct gpume *ctx, const struct gpume_params *params)
{
    struct gpume_engines *engines = calloc(1, sizeof(*engines));
    if (!engines) {
        return gpume_log_nomem(ctx->log, "a context");
    }
    int status = gpume_engines_open(engines, params, ctx->log);
    if (status == GPUME_OK) {
        const struct gpume_plan *plan = &engines->plans[0];
        ctx->schedule = gpume_schedule_make(plan);
        ctx->searchable = plan->distances[plan->distance_count - 1] + 1ull;
        engines->parts.source = (struct gpume_task_source){gpume_schedule_next, &ctx->schedule};
        status = gpume_pipeline_open(&ctx->pipeline, &engines->parts);
    }
    free(engines);
    return status;
}

/* A GPU leaves the processors to the sender. */
static uint32_t copy_threads(const struct gpume *ctx)
{
    struct gpume_info info = {0};
    gpume_pipeline_get_info(ctx->pipeline, &info);
    const uint64_t wanted = ctx->params.threads ? ctx->params.threads : COPY_THREADS_MAX;
    const uint64_t most = gpume_min_u64(gpume_workers_processors(), COPY_THREADS_MAX);
    return strcmp(info.backend, "vulkan") == 0 ? (uint32_t)gpume_min_u64(wanted, most) : 1;
}

int gpume_open(gpume **out, const struct gpume_params *params)
{
    if (!out || !params) {
        return GPUME_INVALID;
    }
    const struct gpume_log log = GPUME_SIZED_LOG(params);
    struct gpume_params resolved;
    int status = gpume_sized_read(&resolved, sizeof(resolved), params, "gpume_params", &log);
    status = status == GPUME_OK
                 ? gpume_args_check_number(GPUME_PARAM(backend), (unsigned)resolved.backend, &log)
                 : status;
    if (status != GPUME_OK) {
        return status;
    }
    struct gpume *ctx = calloc(1, sizeof(*ctx));
    if (!ctx) {
        return gpume_log_nomem(&log, "a context");
    }
    gpume_locked_log_init(&ctx->locked, log.fn, log.opaque);
    ctx->log = &ctx->locked.log;
    if (resolved.prefilter) {
        status = gpume_sized_read(&ctx->prefilter, sizeof(ctx->prefilter), resolved.prefilter,
            "gpume_prefilter", ctx->log);
        resolved.prefilter = &ctx->prefilter;
    }
    status = status == GPUME_OK && resolved.search ? resolve_search(ctx, &resolved) : status;
    gpume_options_complete(&resolved);
    ctx->params = resolved;
    if (status == GPUME_OK) {
        status = choose_engines(ctx, &resolved);
    }
    if (status != GPUME_OK) {
        gpume_close(&ctx);
        return status;
    }
    ctx->copying.threads = copy_threads(ctx);
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
    gpume_bands_finish(&ctx->copying);
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

static int send_frame(struct gpume *ctx, gpume_frame **frame, int64_t time_us)
{
    const int status = gpume_pipeline_send(ctx->pipeline, frame, time_us);
    ctx->sent_count += status == GPUME_OK;
    return status;
}

int gpume_send(gpume *ctx, gpume_frame **frame, int64_t time_us)
{
    if (!ctx || !frame || !*frame || (*frame)->owner != ctx->pipeline) {
        return GPUME_INVALID;
    }
    return send_frame(ctx, frame, time_us);
}

static bool same_shape(const struct gpume_plane *plane, const struct gpume_params *wanted)
{
    size_t row_bytes = (size_t)wanted->width * (wanted->bits > 8 ? 2 : 1);
    size_t stride = plane->stride < 0 ? 0 - (size_t)plane->stride : (size_t)plane->stride;
    return plane->data && plane->width == wanted->width && plane->height == wanted->height &&
           plane->bits == wanted->bits && (stride >= row_bytes || plane->height == 1);
}

struct plane_copy {
    const struct gpume_plane *to, *from;
    size_t row_bytes;
};

static void copy_rows(void *opaque, uint32_t begin, uint32_t end)
{
    const struct plane_copy *copy = opaque;
    for (uint32_t y = begin; y < end; y++) {
        memcpy(gpume_plane_row(copy->to, y), gpume_plane_row(copy->from, y), copy->row_bytes);
    }
}

int gpume_send_plane(gpume *ctx, const struct gpume_plane *plane, int64_t time_us)
{
    if (!ctx || !plane) {
        return GPUME_INVALID;
    }
    if (!same_shape(plane, &ctx->params)) {
        return gpume_log_fail(ctx->log, GPUME_INVALID,
            "a plane of %ux%u, %u bits, stride %td%s was sent to a context of %ux%u, %u bits",
            plane->width, plane->height, plane->bits, plane->stride,
            plane->data ? "" : ", without data", ctx->params.width, ctx->params.height,
            ctx->params.bits);
    }
    gpume_frame *frame = NULL;
    int status = gpume_pipeline_acquire(ctx->pipeline, &frame, 0);
    if (status != GPUME_OK) {
        return status;
    }
    struct plane_copy copy = {&frame->plane, plane, gpume_plane_row_bytes(plane)};
    gpume_bands_run(&ctx->copying, plane->height, copy.row_bytes, copy_rows, &copy);
    return send_frame(ctx, &frame, time_us);
}

/* The frame's sequence number; false: it has not been sent, or too many have been sent since. */
static bool find_frame(const struct gpume *ctx, uint64_t index, uint64_t *sequence)
{
    *sequence = index - ctx->params.first_frame;
    return *sequence < ctx->sent_count && ctx->sent_count - *sequence <= ctx->searchable;
}

/* Turns indices of frames into sequence numbers. */
static bool find_frames(const struct gpume *ctx, struct gpume_task *task)
{
    bool found = find_frame(ctx, task->target, &task->target) &&
                 find_frame(ctx, task->reference, &task->reference) &&
                 task->more_count < GPUME_REFERENCES_MAX;
    for (uint32_t i = 0; found && i < task->more_count; i++) {
        found = find_frame(ctx, task->more[i], &task->more[i]);
    }
    return found;
}

int gpume_search(gpume *ctx, const struct gpume_task *task)
{
    struct gpume_task own;
    if (!ctx || !task) {
        return GPUME_INVALID;
    }
    if (ctx->params.direction != GPUME_DIRECTION_MANUAL) {
        const struct gpume_param *direction = GPUME_PARAM(direction);
        return gpume_log_refuse(ctx->log, GPUME_INVALID,
            gpume_about_two(direction, NULL, direction, "manual"), "gpume_search needs");
    }
    const int status = gpume_sized_read(&own, sizeof(own), task, "gpume_task", ctx->log);
    if (status != GPUME_OK) {
        return status;
    }
    if (own.more_count > 0 && !ctx->params.best_reference) {
        return gpume_log_refuse(ctx->log, GPUME_INVALID,
            gpume_about(GPUME_PARAM(best_reference), NULL),
            "is needed for several references of one gpume_search");
    }
    const uint64_t target = own.target, reference = own.reference;
    if (!find_frames(ctx, &own)) {
        return gpume_log_fail(ctx->log, GPUME_INVALID,
            "gpume_search: target %llu, reference %llu: must be among the newest %llu of the "
            "frames %llu to %lld that have been sent (the largest distance + 1)",
            (unsigned long long)target, (unsigned long long)reference,
            (unsigned long long)ctx->searchable, (unsigned long long)ctx->params.first_frame,
            (long long)(ctx->params.first_frame + ctx->sent_count) - 1);
    }
    const struct gpume_params *p = &ctx->params;
    if (p->best_reference || p->partition || p->confidence || p->check ||
        p->predictor == GPUME_PREDICTOR_MEDIAN) {
        own.wanted = NULL;
    }
    return gpume_pipeline_request(ctx->pipeline, &own);
}

int gpume_expect(gpume *ctx, uint64_t frames)
{
    if (!ctx) {
        return GPUME_INVALID;
    }
    gpume_pipeline_expect(ctx->pipeline, frames);
    return GPUME_OK;
}

int gpume_open_devices(gpume *ctx)
{
    return ctx ? gpume_pipeline_open_devices(ctx->pipeline) : GPUME_INVALID;
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

/* The library made it inside a box that it may write to. */
static struct gpume_field_box *box_of(const struct gpume_field *field)
{
    return (struct gpume_field_box *)(uintptr_t)field;
}

const struct gpume_field *gpume_field_ref(const struct gpume_field *field)
{
    if (field) {
        atomic_fetch_add_explicit(&box_of(field)->refs, 1, memory_order_relaxed);
    }
    return field;
}

void gpume_field_release(const struct gpume_field **field)
{
    if (!field || !*field) {
        return;
    }
    struct gpume_field_box *box = box_of(*field);
    *field = NULL;
    if (atomic_fetch_sub_explicit(&box->refs, 1, memory_order_acq_rel) == 1) {
        box->recycle(box->owner, box);
    }
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

int gpume_info_fill(gpume *ctx, struct gpume_info *info)
{
    if (!ctx || !info) {
        return GPUME_INVALID;
    }
    struct gpume_info own = {0};
    gpume_pipeline_get_info(ctx->pipeline, &own);
    return gpume_sized_write(info, &own, sizeof(own));
}

int gpume_lanes_fill(
    gpume *ctx, struct gpume_lane_info *out, size_t stride, uint32_t capacity, uint32_t *count)
{
    if (!ctx || !count || (capacity > 0 && !out)) {
        return GPUME_INVALID;
    }
    *count = gpume_pipeline_lane_count(ctx->pipeline);
    for (uint32_t i = 0; i < *count && i < capacity; i++) {
        struct gpume_lane_info own;
        gpume_pipeline_get_lane(ctx->pipeline, i, &own);
        memcpy((char *)out + i * stride, &own, stride < sizeof(own) ? stride : sizeof(own));
    }
    return GPUME_OK;
}

int gpume_stats_fill(gpume *ctx, struct gpume_stats *stats)
{
    if (!ctx || !stats) {
        return GPUME_INVALID;
    }
    struct gpume_stats own = {0};
    gpume_pipeline_get_stats(ctx->pipeline, &own);
    return gpume_sized_write(stats, &own, sizeof(own));
}
