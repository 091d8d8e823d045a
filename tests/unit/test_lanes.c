/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes at moments that a run may never meet by chance: their engines search nothing, and wait in
 * the middle of a call until something has happened elsewhere. If it does not happen, the wait
 * fails after a minute, and so does the run.
 */
#include "base/clock.h"
#include "harness.h"
#include "plans.h"
#include "run/pipeline_state.h"
#include "run/schedule.h"
#include "run/standby.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 12u
#define BLOCKS 16u
#define ENGINES 2u
#define PATIENCE_NS 60000000000u

/* --- engines */

static struct fake {
    struct gpume_plan plan;
    uint8_t *memory;
    uint32_t zeros[BLOCKS]; /* every result */
    struct gpume_stats stats;
    atomic_uint submitted, collected; /* tasks */
} fakes[ENGINES];

/* What the case has an engine do before it collects tasks, and when it is cancelled. */
static int (*before_collect)(const struct fake *fake);
static void (*on_cancel)(void);

static void *frame_memory(void *engine, uint32_t index)
{
    const struct fake *fake = engine;
    return fake->memory + index * fake->plan.plane_bytes;
}

static atomic_uint warnings, gave_up;

/* Orders nothing, so that ThreadSanitizer sees what the lanes themselves order. */
static bool await(const atomic_uint *count, uint32_t least)
{
    const uint64_t end = gpume_clock_ns() + PATIENCE_NS;
    while (atomic_load_explicit(count, memory_order_relaxed) < least) {
        if (gpume_clock_ns() > end) {
            atomic_fetch_add_explicit(&gave_up, 1, memory_order_relaxed);
            return false;
        }
        sched_yield();
    }
    return true;
}

static void on_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque, (void)line;
    atomic_fetch_add_explicit(&warnings, level == GPUME_LOG_WARNING, memory_order_relaxed);
}

static int submit(void *engine, uint32_t slot, const struct gpume_batch *batch)
{
    struct fake *fake = engine;
    (void)slot;
    atomic_fetch_add_explicit(&fake->submitted, batch->field_count, memory_order_relaxed);
    return GPUME_OK;
}

static int collect(void *engine, uint32_t slot, const struct gpume_batch *batch)
{
    static const struct gpume_vector vectors[BLOCKS];
    struct fake *fake = engine;
    (void)slot;
    const int status = batch->field_count > 0 ? before_collect(fake) : GPUME_OK;
    for (uint32_t i = 0; status == GPUME_OK && i < batch->field_count; i++) {
        batch->fields[i]->results =
            (struct gpume_results){.vectors = vectors, .costs = fake->zeros, .ranks = fake->zeros};
        fake->stats.fields++;
        fake->stats.candidates += 100;
        fake->stats.past_blocks += 10;
        fake->stats.past_parts += 1;
        atomic_fetch_add_explicit(&fake->collected, 1, memory_order_relaxed);
    }
    return status;
}

static void cancel(void *engine)
{
    (void)engine;
    if (on_cancel) {
        on_cancel();
    }
}

static void get_stats(void *engine, struct gpume_stats *stats)
{
    *stats = ((const struct fake *)engine)->stats;
}

static void get_info(void *engine, struct gpume_info *info)
{
    (void)engine;
    info->device = "fake";
}

static int close_fake(void **engine)
{
    *engine = NULL;
    return GPUME_OK;
}

static const struct gpume_engine_ops ops = {.frame_memory = frame_memory,
    .submit = submit,
    .collect = collect,
    .cancel = cancel,
    .get_stats = get_stats,
    .get_info = get_info,
    .close = close_fake};

/* --- runs */

struct run {
    struct gpume_params params;
    struct gpume_schedule schedule;
    struct gpume_pipeline *pipeline;
    uint32_t sent, received;
};

static struct gpume_params params_of(void)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = params.height = 32;
    params.threads = 1;
    return params;
}

/* Of engines that take one task at a time; a single one has a standby. */
static void open_run(struct run *run, uint32_t count)
{
    static const struct gpume_log log = {.fn = on_log};
    static const struct gpume_caps caps = {
        .window_bytes = UINT64_MAX, .align_bytes = 64, .batch_max = 1, .batch_work = UINT64_MAX};
    struct gpume_pipeline_parts parts = {
        .engine_count = count, .source = {gpume_schedule_next, &run->schedule}, .log = &log};
    run->params.devices = count > 1 ? "several" : NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct fake *fake = &fakes[i];
        *fake = (struct fake){0};
        REQUIRE_EQUAL(gpume_plan_make(&run->params, &caps, &log, &fake->plan), GPUME_OK);
        REQUIRE_EQUAL(fake->plan.blocks, BLOCKS);
        fake->memory = calloc(fake->plan.pool, fake->plan.plane_bytes);
        parts.engines[i] =
            (struct gpume_pipeline_engine){.ops = &ops, .opaque = fake, .plan = &fake->plan};
    }
    if (count == 1) {
        REQUIRE_EQUAL(gpume_standby_create(&parts.standby, &run->params, &log), GPUME_OK);
    }
    run->schedule = gpume_schedule_make(&fakes[0].plan);
    REQUIRE_EQUAL(gpume_pipeline_open(&run->pipeline, &parts), GPUME_OK);
}

static void close_run(struct run *run, uint32_t count, int status)
{
    REQUIRE_EQUAL(gpume_pipeline_close(&run->pipeline), status);
    for (uint32_t i = 0; i < count; i++) {
        free(fakes[i].memory);
    }
}

/* Sends `count` frames, or fewer if there is no space for more. */
static void send(struct run *run, uint32_t count)
{
    struct gpume_frame *frame = NULL;
    while (count-- > 0 && gpume_pipeline_acquire(run->pipeline, &frame, 0) == GPUME_OK) {
        memset(frame->plane.data, 0, fakes[0].plan.plane_bytes);
        REQUIRE_EQUAL(gpume_pipeline_send(run->pipeline, &frame, 0), GPUME_OK);
        run->sent++;
    }
}

static bool lane_has_failed(struct run *run, uint32_t index)
{
    struct gpume_lane_info info;
    gpume_pipeline_get_lane(run->pipeline, index, &info);
    return info.failed;
}

/* Sends the other frames and receives all fields. */
static void complete(struct run *run)
{
    const struct gpume_field *field = NULL;
    int status = GPUME_OK;
    while (status == GPUME_OK || status == GPUME_AGAIN) {
        send(run, FRAMES - run->sent);
        if (run->sent == FRAMES) {
            REQUIRE_EQUAL(gpume_pipeline_finish(run->pipeline), GPUME_OK);
        }
        status = gpume_pipeline_receive(run->pipeline, &field, 0);
        if (status == GPUME_OK) {
            REQUIRE_EQUAL(field->frame, ++run->received);
            gpume_field_release(&field);
        }
    }
    REQUIRE_EQUAL(status, GPUME_EOF);
    REQUIRE_EQUAL(run->received, FRAMES - 1);
}

/* --- a run is closed while the standby engine gets its lane: for ThreadSanitizer */

static int lose(const struct fake *fake)
{
    (void)fake;
    return GPUME_DEVICE_LOST;
}

/* Closing has begun, and now there is one lane more. */
static void wait_for_standby(void)
{
    (void)await(&warnings, 1);
}

static void test_close(void)
{
    struct run run = {.params = params_of()};
    before_collect = lose;
    on_cancel = wait_for_standby;
    open_run(&run, 1);
    send(&run, 2);
    while (!lane_has_failed(&run, 0)) {
        sched_yield();
    }
    close_run(&run, 1, GPUME_OK);
    REQUIRE_EQUAL(warnings, 1);
    on_cancel = NULL;
}

/* --- an engine fails when the other one's slots are full of later fields: one is searched again */

static int fail_late(const struct fake *fake)
{
    if (fake == &fakes[0]) {
        return await(&fakes[1].collected, fake->plan.slots) ? GPUME_DEVICE_LOST : GPUME_INVALID;
    }
    return GPUME_OK;
}

static void test_counts(void)
{
    struct run run = {.params = params_of()};
    struct gpume_stats stats = {0};
    before_collect = fail_late;
    open_run(&run, 2);
    send(&run, FRAMES);
    while (!lane_has_failed(&run, 0)) {
        sched_yield();
    }
    complete(&run);
    REQUIRE_EQUAL(fakes[1].collected, FRAMES); /* one of them twice */
    gpume_pipeline_get_stats(run.pipeline, &stats);
    REQUIRE_EQUAL(stats.fields, FRAMES - 1);
    REQUIRE_EQUAL(stats.candidates, 100 * (FRAMES - 1));
    REQUIRE_EQUAL(stats.past_blocks, 10 * (FRAMES - 1));
    REQUIRE_EQUAL(stats.past_parts, FRAMES - 1);
    struct gpume_lane_info info;
    gpume_pipeline_get_lane(run.pipeline, 1, &info);
    REQUIRE_EQUAL(info.fields, FRAMES - 1);
    close_run(&run, 2, GPUME_OK);
}

/* --- tasks come while an engine is at work: the other one takes them */

static int wait_for_other(const struct fake *fake)
{
    return await(&fakes[fake == &fakes[0]].submitted, 1) ? GPUME_OK : GPUME_INVALID;
}

static void test_turn(void)
{
    struct run run = {.params = params_of()};
    before_collect = wait_for_other;
    open_run(&run, 2);
    pthread_mutex_lock(&run.pipeline->monitor.mutex);
    for (uint32_t i = 0; i < 2; i++) {
        run.pipeline->turns.lanes[i].task_ns = 1000000000; /* as measured before */
    }
    pthread_mutex_unlock(&run.pipeline->monitor.mutex);
    send(&run, 2);
    REQUIRE(await(&fakes[0].submitted, 1));
    complete(&run);
    close_run(&run, 2, GPUME_OK);
}

/* --- frames come from the memory of the engine whose turn it is, as long as there are any */

static void test_homes(uint32_t holder)
{
    enum { FRAMES_MAX = 64 };
    struct gpume_frame *frames[FRAMES_MAX];
    struct run run = {.params = params_of()};
    uint32_t count = 0;
    before_collect = NULL;
    open_run(&run, 2);
    const uint32_t pool = fakes[0].plan.pool;
    REQUIRE(2 * pool <= FRAMES_MAX);
    pthread_mutex_lock(&run.pipeline->monitor.mutex);
    run.pipeline->turns.holder = holder;
    pthread_mutex_unlock(&run.pipeline->monitor.mutex);
    while (
        count < FRAMES_MAX && gpume_pipeline_acquire(run.pipeline, &frames[count], 0) == GPUME_OK) {
        REQUIRE((frames[count]->home == &fakes[holder]) == (count < pool));
        count++;
    }
    REQUIRE_EQUAL(count, 2 * pool);
    while (count > 0) {
        gpume_frame_unref(&frames[--count]);
    }
    close_run(&run, 2, GPUME_OK);
}

/* --- the caller cannot give predictors: it is told so at once, and no engine takes over */

struct predictions {
    uint32_t left; /* calls before one fails */
    int status;    /* with this */
};

static atomic_uint sent, told;

static int wait_until_told(const struct fake *fake)
{
    (void)fake;
    return await(&told, 1) ? GPUME_OK : GPUME_INVALID;
}

static int predict(void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors)
{
    struct predictions *predictions = opaque;
    (void)frame, (void)ref;
    (void)await(&sent, 1); /* so that the next pair is there before this one is collected */
    memset(vectors, 0, BLOCKS * sizeof(*vectors));
    return predictions->left-- > 0 ? GPUME_OK : predictions->status;
}

static void test_predict(uint32_t count, int status)
{
    struct predictions predictions = {.left = 1, .status = status};
    struct run run = {.params = params_of()};
    const struct gpume_field *field = NULL;
    struct gpume_frame *frame = NULL;
    run.params.rate = true;
    run.params.predictor = GPUME_PREDICTOR_GIVEN;
    run.params.predict = predict;
    run.params.predict_opaque = &predictions;
    before_collect = wait_until_told;
    sent = told = warnings = 0;
    open_run(&run, count);
    send(&run, 3);
    sent = 1;
    REQUIRE_EQUAL(gpume_pipeline_receive(run.pipeline, &field, GPUME_WAIT), status);
    REQUIRE_EQUAL(gpume_pipeline_acquire(run.pipeline, &frame, GPUME_WAIT), status);
    REQUIRE_EQUAL(gave_up, 0);
    told = 1;
    close_run(&run, count, status);
    REQUIRE_EQUAL(predictions.left, UINT32_MAX); /* asked no more */
    REQUIRE_EQUAL(warnings, 0);
}

int main(void)
{
    test_close();
    test_counts();
    test_turn();
    test_homes(0);
    test_homes(1);
    test_predict(1, GPUME_INVALID);
    test_predict(1, GPUME_NOMEM);
    test_predict(1, GPUME_CANCELLED);
    test_predict(2, GPUME_INVALID);
    test_predict(2, GPUME_DEVICE_LOST);
    return harness_verdict();
}
