/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Vulkan engine, with the CPU engine standing by: when the first fails in mid-run, the second
 * searches again whatever has not been collected, and all that comes after. Both give the same
 * bits, so nobody downstream can tell, but by one warning and gpume_get_info.
 *
 * Frames are kept, by reference, as long as a field that has not been collected may look at them;
 * plan.pool counts them in. Their samples outlive the device: they lie in the first engine's upload
 * memory, which the host alone writes to and which stays mapped until the engine is closed, at the
 * very end. Results of its submissions may be in the receiver's hands, so its memory stays for them
 * too; new ones get memory of their own, since a device that is only half gone may still write.
 *
 * While all is well this costs those frames of the pool. The second engine is opened when needed.
 */
#include "base/grid.h"
#include "base/status.h"
#include "frame/engine.h"
#include "frame/stats.h"
#include "run/parts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_BYTES 512u

struct standby {
    void *first;
    struct gpume_params params; /* for the second: nothing in it is the caller's */
    struct gpume_prefilter prefilter;
    double *weights;
    struct gpume_plan plan;        /* the first's */
    const struct gpume_log *log;   /* the caller's */
    struct gpume_log log_of_first; /* see keep_error */
    bool opened, failed;
    char reason[REASON_BYTES]; /* why opening failed, then why the last submission did */

    uint32_t keep; /* frames in front of the oldest submission that later fields may look at */
    uint32_t ring; /* places: those and all under way */
    struct gpume_frame **frames; /* referenced, by sequence number modulo ring; or NULL */
    uint64_t kept, end;          /* the oldest that is kept; the one that comes next */
    uint64_t collected;          /* frames of submissions that have been collected */

    void *second; /* NULL while all is well */
    struct gpume_plan second_plan;
    void *results[GPUME_SLOTS_MAX]; /* the second's, by slot; made when first needed */
    uint64_t first_frame;           /* target of its first field */
    struct gpume_stats stats_before;

    pthread_mutex_t mutex; /* of what other threads ask for: second, first_frame and: */
    bool cancelled;
};

/* --- opening */

/* The log of the first engine: its errors are not the run's, because the CPU takes over. Only where
 * opening it fails for a reason that holds for the CPU too, standby_open logs the error as one. */
static void keep_error(void *opaque, enum gpume_log_level level, const char *line)
{
    struct standby *standby = opaque;
    if (level == GPUME_LOG_ERROR) {
        level = GPUME_LOG_INFO;
        if (standby->opened || !standby->reason[0]) {
            snprintf(standby->reason, sizeof(standby->reason), "%s", line);
        }
    }
    gpume_log_write(standby->log, level, "%s", line);
}

static int copy_params(struct standby *standby, const struct gpume_params *params)
{
    standby->params = *params;
    standby->params.backend = GPUME_BACKEND_CPU;
    standby->params.cache_dir = NULL;
    standby->params.memory_max = 0; /* it comes beside what was allowed for the first */
    if (!params->prefilter) {
        return GPUME_OK;
    }
    standby->prefilter = *params->prefilter;
    standby->params.prefilter = &standby->prefilter;
    if (params->prefilter->kind == GPUME_PREFILTER_KERNEL) {
        /* The first engine is open: both sides are at most GPUME_PREFILTER_SIDE_MAX. */
        size_t bytes =
            (size_t)params->prefilter->width * params->prefilter->height * sizeof(double);
        standby->weights = malloc(bytes);
        if (!standby->weights) {
            return GPUME_NOMEM;
        }
        memcpy(standby->weights, params->prefilter->weights, bytes);
        standby->prefilter.weights = standby->weights;
    }
    return GPUME_OK;
}

static void drop_frames(struct standby *standby, uint64_t before)
{
    for (; standby->kept < before && standby->kept < standby->end; standby->kept++) {
        gpume_frame_unref(&standby->frames[standby->kept % standby->ring]);
    }
}

/* Frames have gone with their pool: no references are dropped. */
static int standby_close(void **engine)
{
    struct standby *standby = *engine;
    if (!standby) {
        return GPUME_OK;
    }
    *engine = NULL;
    gpume_engine_cpu.close(&standby->second);
    int status = gpume_engine_gpu.close(&standby->first);
    for (uint32_t i = 0; i < GPUME_SLOTS_MAX; i++) {
        free(standby->results[i]);
    }
    pthread_mutex_destroy(&standby->mutex);
    free(standby->frames);
    free(standby->weights);
    free(standby);
    return status;
}

static int standby_open(void **engine, const struct gpume_params *params,
    const struct gpume_log *log, struct gpume_plan *plan)
{
    void *opaque = calloc(1, sizeof(struct standby));
    struct standby *standby = opaque;
    if (!standby) {
        return gpume_log_nomem(log, "an engine");
    }
    pthread_mutex_init(&standby->mutex, NULL);
    standby->log = log;
    standby->log_of_first = (struct gpume_log){keep_error, standby};
    int status;
    GPUME_TRY(
        gpume_engine_gpu.open(&standby->first, params, &standby->log_of_first, &standby->plan));
    const struct gpume_plan *made = &standby->plan;
    standby->keep = made->reach + (params->direction == GPUME_DIRECTION_BOTH);
    standby->ring = standby->keep + made->slots * made->batch;
    standby->frames = calloc(standby->ring, sizeof(*standby->frames));
    if (!standby->frames || copy_params(standby, params) != GPUME_OK) {
        status = gpume_log_nomem(&standby->log_of_first, "an engine");
        goto fail;
    }
    standby->opened = true;
    standby->reason[0] = '\0';
    *plan = *made;
    *engine = standby;
    return GPUME_OK;
fail:
    if (!gpume_status_is_of_gpu(status) && standby->reason[0]) {
        gpume_log_write(log, GPUME_LOG_ERROR, "%s", standby->reason);
    }
    standby_close(&opaque);
    return status;
}

static void *standby_frame_memory(void *engine, uint32_t index)
{
    struct standby *standby = engine;
    return gpume_engine_gpu.frame_memory(standby->first, index);
}

/* --- changing over */

/* Gives the second engine the frames in front of the oldest submission under way. */
static int bring_frames(struct standby *standby, void *second)
{
    int status = GPUME_OK;
    for (uint64_t i = standby->kept; status == GPUME_OK && i < standby->collected; i++) {
        struct gpume_batch batch = {
            .frames = {standby->frames[i % standby->ring]}, .frame_count = 1};
        GPUME_TRY(gpume_engine_cpu.submit(second, 0, &batch));
        GPUME_TRY(gpume_engine_cpu.collect(second, 0, &batch));
    }
fail:
    return status;
}

static int change_over(struct standby *standby, const struct gpume_batch *oldest)
{
    void *second = NULL;
    int status =
        gpume_engine_cpu.open(&second, &standby->params, standby->log, &standby->second_plan);
    if (status == GPUME_OK) {
        status = bring_frames(standby, second);
    }
    if (status != GPUME_OK) {
        gpume_engine_cpu.close(&second);
        return status;
    }
    uint64_t frame = oldest->field_count > 0 ? oldest->fields[0]->field.frame
                     : oldest->frame_count > 0
                         ? standby->plan.params.first_frame + oldest->frames[0]->sequence
                         : 0;
    gpume_engine_gpu.get_stats(standby->first, &standby->stats_before);
    pthread_mutex_lock(&standby->mutex);
    standby->second = second;
    standby->first_frame = frame;
    if (standby->cancelled) {
        gpume_engine_cpu.cancel(second);
    }
    pthread_mutex_unlock(&standby->mutex);
    const char *reason = standby->reason[0] ? standby->reason : "the GPU has failed";
    gpume_log_write(standby->log, GPUME_LOG_WARNING,
        "%.*s; going on with the CPU engine from frame %llu", (int)strcspn(reason, ";"), reason,
        (unsigned long long)frame);
    return GPUME_OK;
}

/* --- the second engine's results */

/* A field's part of its slot's results. */
struct room {
    struct gpume_vector *vectors;
    uint32_t *costs, *ranks;
    uint8_t *predicted;
};

static uint64_t room_bytes(const struct gpume_plan *plan)
{
    uint64_t arrays = (uint64_t)plan->blocks *
                      (sizeof(struct gpume_vector) + sizeof(uint32_t) + sizeof(uint32_t));
    return gpume_round_up(arrays, 64) + (plan->params.want_predicted ? plan->plane_bytes : 0);
}

static struct room room_at(const struct standby *standby, uint32_t slot, uint32_t field)
{
    const struct gpume_plan *plan = &standby->plan;
    uint8_t *at = (uint8_t *)standby->results[slot] + field * (size_t)room_bytes(plan);
    struct room room = {.vectors = (struct gpume_vector *)(void *)at};
    room.costs = (uint32_t *)(void *)(room.vectors + plan->blocks);
    room.ranks = room.costs + plan->blocks;
    room.predicted = at + room_bytes(plan) - plan->plane_bytes;
    return room;
}

static int make_room(struct standby *standby, uint32_t slot)
{
    uint64_t bytes = standby->plan.batch * room_bytes(&standby->plan);
    if (!standby->results[slot]) {
        standby->results[slot] = bytes <= SIZE_MAX ? malloc((size_t)bytes) : NULL;
        if (!standby->results[slot]) {
            return gpume_log_nomem(standby->log, "results of the CPU engine");
        }
    }
    return GPUME_OK;
}

/* Out of the engine's memory, which its next field needs. */
static void move_out(const struct standby *standby, struct room room, struct gpume_field *field)
{
    const struct gpume_plan *plan = &standby->plan;
    memcpy(room.vectors, field->vectors, plan->blocks * sizeof(*room.vectors));
    memcpy(room.costs, field->costs, plan->blocks * sizeof(*room.costs));
    memcpy(room.ranks, field->ranks, plan->blocks * sizeof(*room.ranks));
    field->vectors = room.vectors;
    field->costs = room.costs;
    field->ranks = room.ranks;
    if (plan->params.want_predicted) {
        memcpy(room.predicted, field->predicted.data, (size_t)plan->plane_bytes);
        field->predicted.data = room.predicted;
    }
}

/* A submission, part by part; as many parts are under way as the second engine has slots. */
static int search_again(struct standby *standby, uint32_t slot, const struct gpume_batch *batch)
{
    struct gpume_batch under_way[GPUME_SLOTS_MAX];
    struct gpume_parts parts = {.batch = batch};
    uint32_t slots = standby->second_plan.slots, submitted = 0, collected = 0, field = 0;
    bool more = true;
    int status;
    GPUME_TRY(make_room(standby, slot));
    while (more || collected < submitted) {
        struct gpume_batch *part = &under_way[submitted % slots];
        if (more && submitted - collected < slots) {
            more = gpume_parts_next(&parts, part);
            if (more) {
                GPUME_TRY(gpume_engine_cpu.submit(standby->second, submitted++ % slots, part));
            }
            continue;
        }
        part = &under_way[collected % slots];
        GPUME_TRY(gpume_engine_cpu.collect(standby->second, collected++ % slots, part));
        if (part->field_count > 0) {
            move_out(standby, room_at(standby, slot, field++), &part->fields[0]->field);
        }
    }
fail:
    return status;
}

/* --- what the pipeline calls */

static int standby_submit(void *engine, uint32_t slot, const struct gpume_batch *batch)
{
    struct standby *standby = engine;
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        gpume_frame_ref(batch->frames[i]);
        standby->frames[standby->end++ % standby->ring] = batch->frames[i];
    }
    int status = standby->failed ? GPUME_OK : gpume_engine_gpu.submit(standby->first, slot, batch);
    standby->failed = standby->failed || gpume_status_is_of_gpu(status);
    return standby->failed ? GPUME_OK : status; /* collecting it changes over, and does it */
}

static int standby_collect(void *engine, uint32_t slot, const struct gpume_batch *batch)
{
    struct standby *standby = engine;
    int status = GPUME_OK;
    if (!standby->failed) {
        status = gpume_engine_gpu.collect(standby->first, slot, batch);
        standby->failed = gpume_status_is_of_gpu(status);
    }
    if (standby->failed) {
        status = standby->second ? GPUME_OK : change_over(standby, batch);
        status = status == GPUME_OK ? search_again(standby, slot, batch) : status;
    }
    if (status == GPUME_OK) {
        standby->collected += batch->frame_count;
        drop_frames(standby, standby->collected - gpume_min_u64(standby->collected, standby->keep));
    }
    return status;
}

static void standby_cancel(void *engine)
{
    struct standby *standby = engine;
    pthread_mutex_lock(&standby->mutex);
    standby->cancelled = true;
    if (standby->second) {
        gpume_engine_cpu.cancel(standby->second);
    }
    pthread_mutex_unlock(&standby->mutex);
}

static void standby_get_stats(void *engine, struct gpume_stats *stats)
{
    struct standby *standby = engine;
    if (!standby->second) {
        gpume_engine_gpu.get_stats(standby->first, stats);
        return;
    }
    const struct gpume_stats *before = &standby->stats_before;
    gpume_engine_cpu.get_stats(standby->second, stats);
    gpume_stats_add(stats, before);
}

static void standby_get_info(void *engine, struct gpume_info *info)
{
    struct standby *standby = engine;
    gpume_engine_gpu.get_info(standby->first, info);
    pthread_mutex_lock(&standby->mutex);
    if (standby->second) {
        struct gpume_info second = {0};
        gpume_engine_cpu.get_info(standby->second, &second);
        info->standby = second.backend;
        info->standby_device = second.device;
        info->standby_frame = standby->first_frame;
        info->host_bytes += second.host_bytes;
    }
    pthread_mutex_unlock(&standby->mutex);
}

const struct gpume_engine_ops gpume_engine_standby = {
    .open = standby_open,
    .frame_memory = standby_frame_memory,
    .submit = standby_submit,
    .collect = standby_collect,
    .cancel = standby_cancel,
    .get_stats = standby_get_stats,
    .get_info = standby_get_info,
    .close = standby_close,
};
