/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pipeline around engines that search nothing: their vectors follow from frame numbers. With
 * submissions of several tasks, every direction, lists of distances, joined references, returns,
 * and frames in fields, whatever the order in which one thread sends, receives and releases: an
 * engine gets each frame before the tasks that need it and never looks for one whose place another
 * has taken, no frame is overwritten while it is in use, and a receiver that keeps one field is
 * never stuck. The same with several engines that are not alike, some of which fail. Some runs are
 * closed early.
 */
#include "harness.h"
#include "plans.h"
#include "run/pipeline.h"
#include "run/queue.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 60u
#define WIDTH 40u
#define HEIGHT 20u
#define ACROSS 5u
#define BLOCKS 15u
#define ENGINES 3u
#define NEVER UINT32_MAX

/* --- what the engine answers */

static struct gpume_vector vector_of(uint64_t target, uint64_t reference, uint32_t block)
{
    uint64_t seed = (target * FRAMES + reference) * BLOCKS + block + 1;
    const int16_t dx = (int16_t)(harness_random(&seed) % 25) - 12;
    return (struct gpume_vector){dx, (int16_t)((int16_t)(harness_random(&seed) % 17) - 8)};
}

static uint32_t choice_of(uint64_t target, uint32_t block, uint32_t count)
{
    uint64_t seed = target * BLOCKS + block + 1;
    return harness_random(&seed) % count;
}

static uint64_t reference_of(const struct gpume_task *task, uint32_t index)
{
    return index == 0 ? task->reference : task->more[index - 1];
}

/* --- the engine */

struct answer {
    struct gpume_vector vectors[BLOCKS];
    uint32_t refs[BLOCKS], zeros[BLOCKS];
};

static struct fake {
    struct gpume_plan plan;
    uint8_t *memory;
    uint64_t held[2 * FRAMES]; /* by place: sequence number + 1 */
    struct answer answers[GPUME_SLOTS_MAX][GPUME_BATCH_MAX];
    uint64_t frames;     /* that have come */
    uint32_t full;       /* submissions of as many tasks as possible */
    uint32_t tasks;      /* that have come */
    uint32_t calls_left; /* of submit and collect, before one fails */
    uint64_t seed;       /* of pauses */
    uint32_t faults;     /* counted by the lane's thread, which REQUIRE must not */
} fakes[ENGINES];

static void expect(struct fake *fake, bool condition)
{
    fake->faults += !condition;
}

static bool fails(struct fake *fake)
{
    for (uint32_t i = harness_random(&fake->seed) % 4; i > 0; i--) {
        sched_yield();
    }
    if (fake->calls_left == 0) {
        return true;
    }
    fake->calls_left -= fake->calls_left != NEVER;
    return false;
}

static void *frame_memory(void *engine, uint32_t index)
{
    const struct fake *fake = engine;
    return fake->memory + index * fake->plan.plane_bytes;
}

static uint64_t *place_of(struct fake *fake, uint64_t sequence)
{
    return &fake->held[sequence % fake->plan.ring];
}

static void take_frames(struct fake *fake, const struct gpume_submission *batch)
{
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        const uint64_t sequence = batch->frames[i]->sequence;
        expect(fake, i == 0 || sequence > batch->frames[i - 1]->sequence);
        expect(fake, fake->plan.params.devices || sequence == fake->frames);
        *place_of(fake, sequence) = sequence + 1;
        fake->frames++;
    }
}

static int submit(void *engine, uint32_t slot, const struct gpume_submission *batch)
{
    struct fake *fake = engine;
    (void)slot;
    if (fails(fake)) {
        return GPUME_DEVICE_LOST;
    }
    expect(fake, batch->frame_count <= fake->plan.batch && batch->field_count <= fake->plan.batch);
    expect(fake, batch->frame_count + batch->field_count > 0);
    take_frames(fake, batch);
    for (uint32_t i = 0; i < batch->field_count; i++) {
        const struct gpume_task *task = &batch->fields[i]->task;
        expect(fake, *place_of(fake, task->target) == task->target + 1);
        for (uint32_t j = 0; j <= task->more_count; j++) {
            const uint64_t reference = reference_of(task, j);
            expect(fake, *place_of(fake, reference) == reference + 1);
        }
    }
    fake->full += fake->plan.batch > 1 && batch->field_count == fake->plan.batch;
    fake->tasks += batch->field_count;
    return GPUME_OK;
}

/* Its frame: the first sample tells it. */
static bool is_frame(const struct gpume_plane *plane, uint64_t index)
{
    return *(const uint8_t *)plane->data == index;
}

static int collect(void *engine, uint32_t slot, const struct gpume_submission *batch)
{
    struct fake *fake = engine;
    if (fails(fake)) {
        return GPUME_DEVICE_LOST;
    }
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        expect(fake, is_frame(&batch->frames[i]->plane, batch->frames[i]->sequence));
    }
    for (uint32_t i = 0; i < batch->field_count; i++) {
        const struct gpume_task *task = &batch->fields[i]->task;
        struct answer *answer = &fake->answers[slot][i];
        for (uint32_t block = 0; block < BLOCKS; block++) {
            const uint32_t choice = choice_of(task->target, block, 1 + task->more_count);
            answer->refs[block] = choice;
            answer->vectors[block] = vector_of(task->target, reference_of(task, choice), block);
        }
        batch->fields[i]->results = (struct gpume_results){
            .vectors = answer->vectors,
            .costs = answer->zeros,
            .ranks = answer->zeros,
            .refs = fake->plan.params.best_reference ? answer->refs : NULL,
        };
    }
    return GPUME_OK;
}

static void get_stats(void *engine, struct gpume_stats *stats)
{
    (void)engine, (void)stats;
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
    .get_stats = get_stats,
    .get_info = get_info,
    .close = close_fake};

/* --- what must arrive */

static uint32_t clamp(int value, uint32_t size)
{
    return value < 0 ? 0 : (uint32_t)value < size ? (uint32_t)value : size - 1;
}

/* Blocks of 8x8, those of the last row visible as 8x4; vectors of whole pixels. */
static uint32_t return_of(uint64_t target, uint64_t reference, uint32_t block)
{
    const struct gpume_vector forward = vector_of(target, reference, block);
    const int height = block < 10 ? 8 : 4;
    const uint32_t x = clamp((int)(block % ACROSS) * 8 + 4 + forward.dx, WIDTH);
    const uint32_t y = clamp((int)(block / ACROSS) * 8 + height / 2 + forward.dy, HEIGHT);
    const struct gpume_vector back = vector_of(reference, target, y / 8 * ACROSS + x / 8);
    const int x_away = abs(forward.dx + back.dx), y_away = abs(forward.dy + back.dy);
    return (uint32_t)(x_away > y_away ? x_away : y_away);
}

static void check_field(const struct gpume_field *field, const struct gpume_task *task)
{
    const struct gpume_layer *layer = field->layers[0];
    REQUIRE_EQUAL(field->frame, task->target);
    REQUIRE_EQUAL(field->ref, task->reference);
    REQUIRE_EQUAL(field->ref_count, 1 + task->more_count);
    REQUIRE_EQUAL(field->time_us, (int64_t)task->target * 1000);
    REQUIRE(!field->target.data == !fakes[0].plan.params.want_frames);
    REQUIRE(!field->target.data ||
            (is_frame(&field->target, field->frame) && is_frame(&field->reference, field->ref)));
    REQUIRE(!layer->returns == !fakes[0].plan.returns);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const uint64_t reference = field->refs[layer->refs ? layer->refs[i] : 0];
        const struct gpume_vector expected = vector_of(task->target, reference, i);
        REQUIRE(layer->vectors[i].dx == expected.dx && layer->vectors[i].dy == expected.dy);
        if (layer->returns) {
            REQUIRE_EQUAL(layer->returns[i], return_of(task->target, reference, i));
        }
    }
}

/* The next task that is not hidden; unit-schedule checks the tasks. */
static bool next_task(struct gpume_schedule *schedule, struct gpume_task *task)
{
    struct gpume_request request = {0};
    bool found;
    do {
        found = gpume_schedule_next(schedule, FRAMES, true, &request);
    } while (found && request.hidden);
    *task = request.task;
    return found;
}

/* --- one thread in any order */

/* When the engines after the first one are opened. */
enum opening { AT_ONCE, WHEN_NEEDED, WHEN_NEEDED_BUT_ONE, WHEN_ASKED, OPENINGS };

struct run {
    struct gpume_schedule schedule, expected;
    struct gpume_pipeline *pipeline;
    const struct gpume_field
        *held[2]; /* the second one is kept for a while, the first one longer */
    uint64_t seed;
    uint32_t sent, received;
    int status;
    enum opening opening;
};

/* In all runs: engines that were opened late, full submissions, and tasks of each engine. */
static uint32_t opened_late, full, shared[ENGINES];

static bool send(struct run *run)
{
    struct gpume_frame *frame = NULL;
    if (run->sent == FRAMES || gpume_pipeline_acquire(run->pipeline, &frame, 0) != GPUME_OK) {
        return false;
    }
    *(uint8_t *)frame->plane.data = (uint8_t)run->sent;
    REQUIRE_EQUAL(gpume_pipeline_send(run->pipeline, &frame, run->sent * 1000), GPUME_OK);
    if (++run->sent == FRAMES) {
        REQUIRE_EQUAL(gpume_pipeline_finish(run->pipeline), GPUME_OK);
    }
    return true;
}

static bool receive(struct run *run)
{
    const struct gpume_field *field = NULL;
    struct gpume_task task;
    run->status = gpume_pipeline_receive(run->pipeline, &field, 0);
    if (run->status != GPUME_OK) {
        return false;
    }
    const bool expected = next_task(&run->expected, &task);
    REQUIRE(expected);
    if (expected) {
        check_field(field, &task);
    }
    run->received++;
    const struct gpume_field **place = &run->held[harness_random(&run->seed) % 8 == 0 ? 0 : 1];
    gpume_field_release(place);
    *place = field;
    return true;
}

/* Opens the engine after that many others. */
static int open_spare(
    void *opaque, uint32_t index, struct gpume_pipeline_engine *engine, struct gpume_plan *plan)
{
    const enum opening *opening = opaque;
    struct fake *fake = &fakes[1 + index];
    if (fails(fake) || (*opening == WHEN_NEEDED_BUT_ONE && index == 0)) {
        return GPUME_DEVICE;
    }
    *plan = fake->plan;
    *engine = (struct gpume_pipeline_engine){.ops = &ops, .opaque = fake, .plan = plan};
    return GPUME_OK;
}

/* calls: of each engine, before it fails. */
static void open_run(struct run *run, const struct gpume_plan *plans, uint32_t count,
    const uint32_t *calls, enum opening *opening)
{
    static const struct gpume_log silent;
    const uint32_t first = *opening == AT_ONCE ? count : 1;
    struct gpume_pipeline_parts parts = {.engine_count = first,
        .spares = {.count = count - first, .open = open_spare, .opaque = opening},
        .source = {gpume_schedule_next, &run->schedule},
        .log = &silent};
    for (uint32_t i = 0; i < count; i++) {
        fakes[i] = (struct fake){.plan = plans[i],
            .memory = calloc(plans[i].pool, plans[i].plane_bytes),
            .calls_left = calls[i],
            .seed = run->seed + i};
        REQUIRE(fakes[i].memory && plans[i].ring <= 2 * FRAMES);
        if (i < first) {
            parts.engines[i] = (struct gpume_pipeline_engine){
                .ops = &ops, .opaque = &fakes[i], .plan = &fakes[i].plan};
        }
    }
    REQUIRE_EQUAL(gpume_pipeline_open(&run->pipeline, &parts), GPUME_OK);
}

static void close_run(struct run *run, uint32_t count)
{
    gpume_field_release(&run->held[0]);
    gpume_field_release(&run->held[1]);
    REQUIRE_EQUAL(gpume_pipeline_close(&run->pipeline), GPUME_OK);
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE_EQUAL(fakes[i].faults, 0);
        full += fakes[i].full;
        shared[i] += fakes[i].tasks;
        free(fakes[i].memory);
    }
}

/* In whatever state they are; while they are closed, if the run ends early, too. */
static void require_lanes(struct run *run, uint32_t count)
{
    REQUIRE_EQUAL(gpume_pipeline_lane_count(run->pipeline), count);
    for (uint32_t i = 0; i < count; i++) {
        struct gpume_lane_info info;
        gpume_pipeline_get_lane(run->pipeline, i, &info);
        REQUIRE(strcmp(info.device, "fake") == 0 || info.unopened);
        opened_late += i > 0 && !info.unopened && run->opening != AT_ONCE;
    }
}

static void run_plans_opened(const struct gpume_plan *plans, uint32_t count, const uint32_t *calls,
    uint64_t seed, enum opening opening)
{
    struct run run = {.schedule = gpume_schedule_make(plans),
        .expected = gpume_schedule_make(plans),
        .seed = seed,
        .opening = opening};
    struct gpume_task task;
    open_run(&run, plans, count, calls, &opening);
    const uint32_t stop = seed % 4 == 0 ? (uint32_t)seed % 31 : UINT32_MAX; /* closed early */
    while (run.status != GPUME_EOF && run.received < stop && harness_failures == 0) {
        bool moved = false;
        for (uint32_t i = harness_random(&run.seed) % 20; i > 0; i--) {
            moved |= send(&run);
        }
        for (uint32_t i = 1 + harness_random(&run.seed) % 20; i > 0; i--) {
            moved |= receive(&run);
        }
        if (!moved && run.status != GPUME_EOF) { /* one of both must help */
            gpume_field_release(&run.held[1]);
            REQUIRE(send(&run) || receive(&run));
        }
        if (opening == WHEN_ASKED && harness_random(&run.seed) % 4 == 0) {
            REQUIRE_EQUAL(gpume_pipeline_open_devices(run.pipeline), GPUME_OK);
        }
    }
    require_lanes(&run, count);
    REQUIRE(run.status != GPUME_EOF || !next_task(&run.expected, &task));
    close_run(&run, count);
}

static void run_plans(
    const struct gpume_plan *plans, uint32_t count, const uint32_t *calls, uint64_t seed)
{
    run_plans_opened(plans, count, calls, seed, AT_ONCE);
    if (count > 1) {
        const enum opening opening = (enum opening)(1 + seed / 7 % (OPENINGS - 1));
        const bool could_fail = opening == WHEN_NEEDED_BUT_ONE && count == 2 && calls[0] != NEVER;
        run_plans_opened(plans, count, calls, seed, could_fail ? WHEN_NEEDED : opening);
    }
}

/* Of the same work for engines that take more or fewer tasks at a time. */
static void make_plan(struct gpume_params params, uint32_t batch, struct gpume_plan *plan)
{
    const struct gpume_log silent = {0};
    const struct gpume_caps caps = {.window_bytes = UINT64_MAX,
        .align_bytes = 64,
        .batch_max = batch,
        .batch_work = batch > 1 ? UINT64_MAX : 1}; /* alone, and in two slots at a time */
    REQUIRE_EQUAL(gpume_plan_make(&params, &caps, &silent, plan), GPUME_OK);
}

/* Alone, then with others, of which one may fail, then another; the last one never does. */
static void run_all(struct gpume_params params, uint64_t seed)
{
    static const uint32_t batches[] = {1, 4, GPUME_BATCH_MAX};
    static const uint32_t never[] = {NEVER, NEVER, NEVER};
    struct gpume_plan plans[ENGINES];
    const uint32_t first = (uint32_t)seed / 96 % 3;
    make_plan(params, batches[first], &plans[0]);
    run_plans(plans, 1, never, seed);
    params.devices = "several";
    for (uint32_t i = 0; i < ENGINES; i++) {
        make_plan(params, batches[(first + i * (seed % 2)) % 3], &plans[i]);
    }
    uint64_t random = seed;
    const uint32_t calls[] = {harness_random(&random) % 30, harness_random(&random) % 60, NEVER};
    run_plans(plans, 2 + seed % 2, never, seed);
    run_plans(plans + ENGINES - 2, 2, calls + ENGINES - 2, seed);
    run_plans(plans, 3, calls, seed);
}

/* --- the history */

/* Where no frames are kept, those of a submission come back to the pool, and may be sent again,
 * before the lane has them forgotten. */
static void test_history(void)
{
    static struct gpume_frame frames[2 * FRAMES];
    struct gpume_params params;
    struct gpume_plan plan;
    struct gpume_history history = {0};
    gpume_params_default(&params);
    params.width = WIDTH;
    params.height = HEIGHT;
    params.backend = GPUME_BACKEND_VULKAN;
    make_plan(params, 4, &plan);
    REQUIRE_EQUAL(gpume_history_reserve(&history, &plan, plan.pool), GPUME_OK);
    const uint32_t taken = plan.slots * plan.batch, end = plan.pool + plan.batch;
    for (uint32_t i = 0; i < end; i++) {
        frames[i].sequence = i;
        gpume_history_add(&history, &frames[i]);
        if (i < taken) {
            REQUIRE(gpume_history_take(&history, i) == &frames[i]);
        }
    }
    REQUIRE(!gpume_history_forget(&history, taken - plan.reach));
    for (uint32_t i = taken; i < end; i++) {
        REQUIRE(gpume_history_take(&history, i) == &frames[i]);
    }
    gpume_history_finish(&history);
}

int main(void)
{
    static const uint32_t lists[][4] = {{1}, {1, 2}, {5, 1, 3}, {9}};
    for (uint32_t i = 0; i < 4 * 3 * 2 * 2 * 2 * 3; i++) {
        struct gpume_params params;
        gpume_params_default(&params);
        params.width = WIDTH;
        params.height = HEIGHT;
        params.direction = (enum gpume_direction)(i % 3);
        memcpy(params.distances, lists[i / 3 % 4], sizeof(*lists));
        for (; params.distances[params.distance_count] > 0; params.distance_count++) {
        }
        params.best_reference = i / 12 % 2;
        params.confidence = i / 24 % 2;
        params.want_frames = i / 48 % 2;
        params.backend = i % 2 ? GPUME_BACKEND_VULKAN : GPUME_BACKEND_AUTO; /* keeps frames */
        params.first_target = i % 5 == 1 ? 20 : 0;
        params.target_count = i % 5 == 2 ? 30 : 0;
        run_all(params, i + 1);
    }
    test_history();
    REQUIRE(opened_late > 0);
    REQUIRE(full > 0 && shared[0] > 0 && shared[1] > 0 && shared[2] > 0);
    return harness_verdict();
}
