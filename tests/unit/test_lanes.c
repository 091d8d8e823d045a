/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes at moments that a run may never meet by chance: their engines search nothing, and wait in
 * the middle of a call until something has happened elsewhere. If it does not happen, the wait
 * fails after a minute, and so does the run.
 */
#include "base/os.h"
#include "harness.h"
#include "plans.h"
#include "run/pipeline.h"
#include "run/queue.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FRAMES 12u
#define BLOCKS 16u
#define ENGINES 3u
#define PATIENCE_NS 60000000000u

/* --- engines */

static struct fake {
    struct gpume_plan plan;
    uint8_t *memory;
    uint32_t zeros[BLOCKS]; /* every result */
    struct gpume_stats stats;
    atomic_uint submitted, collected; /* tasks */
    atomic_uint opened;               /* how often */
} fakes[ENGINES];

/* What the case has an engine do before it collects tasks, and when it is cancelled. */
static int (*before_collect)(const struct fake *fake);
static void (*on_cancel)(void);

static const struct fake *lacks_memory; /* for its frames */

static void *frame_memory(void *engine, uint32_t index)
{
    const struct fake *fake = engine;
    return fake == lacks_memory ? NULL : fake->memory + index * fake->plan.plane_bytes;
}

static atomic_uint warnings, errors, gave_up;

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
    atomic_fetch_add_explicit(&errors, level == GPUME_LOG_ERROR, memory_order_relaxed);
}

static int submit(void *engine, uint32_t slot, const struct gpume_submission *batch)
{
    struct fake *fake = engine;
    (void)slot;
    atomic_fetch_add_explicit(&fake->submitted, batch->field_count, memory_order_relaxed);
    return GPUME_OK;
}

static int collect(void *engine, uint32_t slot, const struct gpume_submission *batch)
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
    bool stands_by;
};

static struct gpume_params params_of(void)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = params.height = 32;
    params.threads = 1;
    return params;
}

static const struct gpume_log run_log = {.fn = on_log};

/* What opening a spare engine gives, and what the case does meanwhile. */
static int (*before_open)(uint32_t index);

static int open_spare(
    void *opaque, uint32_t index, struct gpume_pipeline_engine *engine, struct gpume_plan *plan)
{
    struct fake *fake = &fakes[1 + index];
    (void)opaque;
    const int status = before_open ? before_open(index) : GPUME_OK;
    if (status != GPUME_OK) {
        return status;
    }
    atomic_fetch_add_explicit(&fake->opened, 1, memory_order_relaxed);
    struct gpume_reason *reason = calloc(1, sizeof(*reason));
    if (!reason) {
        return GPUME_NOMEM;
    }
    gpume_reason_init(reason, &run_log);
    *plan = fake->plan;
    *engine =
        (struct gpume_pipeline_engine){.ops = &ops, .opaque = fake, .plan = plan, .reason = reason};
    return GPUME_OK;
}

/* Of engines that take one task at a time, of which `first` are open; where there is one in all, it
 * has a standby. */
static void open_run_with(struct run *run, uint32_t count, uint32_t first)
{
    static const struct gpume_caps caps = {
        .window_bytes = UINT64_MAX, .align_bytes = 64, .batch_max = 1, .batch_work = UINT64_MAX};
    struct gpume_pipeline_parts parts = {.engine_count = first,
        .spares = {.count = count - first, .open = open_spare},
        .source = {gpume_schedule_next, &run->schedule},
        .log = &run_log};
    run->params.devices = count > 1 ? "several" : NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct fake *fake = &fakes[i];
        *fake = (struct fake){0};
        REQUIRE_EQUAL(gpume_plan_make(&run->params, &caps, &run_log, &fake->plan), GPUME_OK);
        REQUIRE_EQUAL(fake->plan.blocks, BLOCKS);
        fake->memory = calloc(fake->plan.pool, fake->plan.plane_bytes);
        parts.engines[i] =
            (struct gpume_pipeline_engine){.ops = &ops, .opaque = fake, .plan = &fake->plan};
    }
    if (count == 1 || run->stands_by) {
        REQUIRE_EQUAL(gpume_standby_create(&parts.standby, &run->params, &run_log), GPUME_OK);
    }
    run->schedule = gpume_schedule_make(&fakes[0].plan);
    REQUIRE_EQUAL(gpume_pipeline_open(&run->pipeline, &parts), GPUME_OK);
}

static void open_run(struct run *run, uint32_t count)
{
    open_run_with(run, count, count);
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

/* --- devices are opened when they are needed */

static struct gpume_lane_info info_of(struct run *run, uint32_t index)
{
    struct gpume_lane_info info;
    gpume_pipeline_get_lane(run->pipeline, index, &info);
    return info;
}

static int succeed(const struct fake *fake)
{
    (void)fake;
    return GPUME_OK;
}

/* Two frames never fill the pool: the other devices stay closed, and say so. */
static void test_unneeded(void)
{
    struct run run = {.params = params_of()};
    const struct gpume_field *field = NULL;
    before_collect = succeed;
    open_run_with(&run, 3, 1);
    send(&run, 2);
    REQUIRE_EQUAL(gpume_pipeline_finish(run.pipeline), GPUME_OK);
    REQUIRE_EQUAL(gpume_pipeline_receive(run.pipeline, &field, GPUME_WAIT), GPUME_OK);
    gpume_field_release(&field);
    REQUIRE_EQUAL(gpume_pipeline_receive(run.pipeline, &field, GPUME_WAIT), GPUME_EOF);
    REQUIRE_EQUAL(gpume_pipeline_lane_count(run.pipeline), 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct gpume_lane_info info = info_of(&run, i);
        REQUIRE_EQUAL(info.unopened, i > 0);
        REQUIRE(!info.failed);
        REQUIRE_EQUAL(info.fields, i == 0);
        REQUIRE_EQUAL(fakes[i].opened, 0);
    }
    close_run(&run, 3, GPUME_OK);
}

/* The pool is full while the engine is at work, sooner or later for most of its time: the others
 * are opened, and take a part. */
static int take_a_while(const struct fake *fake)
{
    const struct timespec while_of_others = {.tv_nsec = 1000000};
    return fake == &fakes[0] ? nanosleep(&while_of_others, NULL) : GPUME_OK;
}

static void test_needed(void)
{
    struct run run = {.params = params_of()};
    const struct gpume_field *field = NULL;
    const uint64_t end = gpume_clock_ns() + PATIENCE_NS;
    before_collect = take_a_while;
    open_run_with(&run, 3, 1);
    while (gpume_clock_ns() < end && (fakes[1].submitted == 0 || fakes[2].submitted == 0)) {
        send(&run, UINT32_MAX);
        const int status = gpume_pipeline_receive(run.pipeline, &field, 0);
        REQUIRE(status == GPUME_OK || status == GPUME_AGAIN);
        gpume_field_release(&field);
    }
    for (uint32_t i = 0; i < 3; i++) {
        REQUIRE_EQUAL(fakes[i].opened, i > 0);
        REQUIRE(fakes[i].submitted > 0 && !info_of(&run, i).unopened);
    }
    close_run(&run, 3, GPUME_OK);
}

/* All are opened because the caller asks for it; one of them cannot be, with a warning. */
static int fail_first(uint32_t index)
{
    return index == 0 ? GPUME_DEVICE : GPUME_OK;
}

static void test_asked(void)
{
    struct run run = {.params = params_of()};
    before_collect = succeed;
    before_open = fail_first;
    warnings = 0;
    open_run_with(&run, 3, 1);
    REQUIRE_EQUAL(gpume_pipeline_open_devices(run.pipeline), GPUME_OK);
    REQUIRE_EQUAL(gpume_pipeline_open_devices(run.pipeline), GPUME_OK);
    REQUIRE_EQUAL(warnings, 1);
    REQUIRE(info_of(&run, 1).failed && info_of(&run, 1).unopened);
    REQUIRE(!info_of(&run, 2).failed && !info_of(&run, 2).unopened);
    REQUIRE_EQUAL(fakes[2].opened, 1);
    complete(&run);
    close_run(&run, 3, GPUME_OK);
    before_open = NULL;
}

/* One is open, but has no memory for frames: that is a warning, too, and no error. */
static void test_no_memory(void)
{
    struct run run = {.params = params_of()};
    before_collect = succeed;
    lacks_memory = &fakes[1];
    warnings = errors = 0;
    open_run_with(&run, 3, 1);
    REQUIRE_EQUAL(gpume_pipeline_open_devices(run.pipeline), GPUME_OK);
    REQUIRE_EQUAL(warnings, 1);
    REQUIRE_EQUAL(errors, 0);
    REQUIRE(info_of(&run, 1).failed && !info_of(&run, 2).failed);
    complete(&run);
    close_run(&run, 3, GPUME_OK);
    lacks_memory = NULL;
}

/* A failure that is not the GPU's ends the run. */
static int refuse(uint32_t index)
{
    (void)index;
    return GPUME_INVALID;
}

static void test_refused(void)
{
    struct run run = {.params = params_of()};
    struct gpume_frame *frame = NULL;
    before_collect = succeed;
    before_open = refuse;
    open_run_with(&run, 2, 1);
    REQUIRE_EQUAL(gpume_pipeline_open_devices(run.pipeline), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_pipeline_acquire(run.pipeline, &frame, GPUME_WAIT), GPUME_INVALID);
    close_run(&run, 2, GPUME_INVALID);
    before_open = NULL;
}

/* The only open device fails: the next one goes on, and after the last one the standby engine, or
 * the run fails. `spare`: what opening each of the others gives. */
static int lose_first(const struct fake *fake)
{
    return fake == &fakes[0] ? GPUME_DEVICE_LOST : GPUME_OK;
}

static int fail_all(uint32_t index)
{
    (void)index;
    return GPUME_DEVICE;
}

static void test_next(int (*spare)(uint32_t index), bool stands_by, uint32_t goes_on)
{
    struct run run = {.params = params_of(), .stands_by = stands_by};
    struct gpume_info info = {0};
    before_collect = lose_first;
    before_open = spare;
    open_run_with(&run, 3, 1);
    complete(&run);
    uint64_t fields = 0;
    for (uint32_t i = 0; i < 3; i++) {
        REQUIRE_EQUAL(info_of(&run, i).failed, i < goes_on);
        fields += info_of(&run, i).fields;
    }
    REQUIRE_EQUAL(fields, goes_on < 3 ? FRAMES - 1 : 0);
    gpume_pipeline_get_info(run.pipeline, &info);
    REQUIRE_EQUAL(info.standby != NULL, goes_on == 3);
    close_run(&run, 3, GPUME_OK);
    before_open = NULL;
}

/* The next one fails too, as soon as it is there. */
static int lose_two(const struct fake *fake)
{
    return fake == &fakes[2] ? GPUME_OK : GPUME_DEVICE_LOST;
}

static void test_two_lost(void)
{
    for (uint32_t i = 0; i < 200; i++) {
        struct run run = {.params = params_of()};
        before_collect = lose_two;
        open_run_with(&run, 3, 1);
        complete(&run);
        REQUIRE_EQUAL(info_of(&run, 2).fields, FRAMES - 1);
        close_run(&run, 3, GPUME_OK);
    }
}

static void test_none_left(void)
{
    struct run run = {.params = params_of()};
    const struct gpume_field *field = NULL;
    before_collect = lose_first;
    before_open = fail_all;
    open_run_with(&run, 3, 1);
    send(&run, 2);
    REQUIRE_EQUAL(gpume_pipeline_receive(run.pipeline, &field, GPUME_WAIT), GPUME_DEVICE_LOST);
    close_run(&run, 3, GPUME_DEVICE_LOST);
    before_open = NULL;
}

/* The run is closed while a device is being opened, in a lane of which nobody knows yet. */
static atomic_uint opening, closing;

static int wait_for_closing(uint32_t index)
{
    (void)index;
    atomic_fetch_add_explicit(&opening, 1, memory_order_relaxed);
    return await(&closing, 1) ? GPUME_OK : GPUME_INVALID;
}

static void tell_closing(void)
{
    atomic_store_explicit(&closing, 1, memory_order_relaxed);
}

static void test_close_meanwhile(void)
{
    struct run run = {.params = params_of()};
    before_collect = lose_first;
    before_open = wait_for_closing;
    on_cancel = tell_closing;
    open_run_with(&run, 2, 1);
    send(&run, 2);
    REQUIRE(await(&opening, 1));
    REQUIRE(info_of(&run, 1).unopened);
    close_run(&run, 2, GPUME_OK);
    before_open = NULL;
    on_cancel = NULL;
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
    test_unneeded();
    test_needed();
    test_asked();
    test_no_memory();
    test_refused();
    test_next(NULL, false, 1);
    test_next(fail_first, true, 2);
    test_next(fail_all, true, 3);
    test_two_lost();
    test_none_left();
    test_close_meanwhile();
    test_predict(1, GPUME_INVALID);
    test_predict(1, GPUME_NOMEM);
    test_predict(1, GPUME_CANCELLED);
    test_predict(2, GPUME_INVALID);
    test_predict(2, GPUME_DEVICE_LOST);
    return harness_verdict();
}
