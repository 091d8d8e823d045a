/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pipeline around an engine that searches nothing: its vectors follow from frame numbers. With
 * submissions of several tasks, every direction, lists of distances, joined references, returns,
 * and frames in fields, whatever the order in which one thread sends, receives and releases: the
 * engine gets each frame before the tasks that need it and never looks back further than its ring,
 * no frame is overwritten while it is in use, and a receiver that keeps one field is never stuck.
 * Some runs are closed early.
 */
#include "harness.h"
#include "plans.h"
#include "run/pipeline.h"
#include "run/schedule.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES 60u
#define WIDTH 40u
#define HEIGHT 20u
#define ACROSS 5u
#define BLOCKS 15u

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
    struct answer answers[GPUME_SLOTS_MAX][GPUME_BATCH_MAX];
    uint64_t frames; /* that have come */
    uint32_t full;   /* submissions of as many tasks as possible */
    uint32_t faults; /* counted by the lane's thread, which REQUIRE must not */
} fake;

static void expect(bool condition)
{
    fake.faults += !condition;
}

static void *frame_memory(void *engine, uint32_t index)
{
    (void)engine;
    return fake.memory + index * fake.plan.plane_bytes;
}

static int submit(void *engine, uint32_t slot, const struct gpume_batch *batch)
{
    (void)engine, (void)slot;
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        expect(batch->frames[i]->sequence == fake.frames++);
    }
    expect(batch->frame_count <= fake.plan.batch && batch->field_count <= fake.plan.batch);
    for (uint32_t i = 0; i < batch->field_count; i++) {
        const struct gpume_task *task = &batch->fields[i]->task;
        expect(task->target < fake.frames && task->target + fake.plan.ring >= fake.frames);
        for (uint32_t j = 0; j <= task->more_count; j++) {
            const uint64_t reference = reference_of(task, j);
            expect(reference < fake.frames && reference + fake.plan.ring >= fake.frames);
        }
    }
    fake.full += fake.plan.batch > 1 && batch->field_count == fake.plan.batch;
    return GPUME_OK;
}

/* Its frame: the first sample tells it. */
static bool is_frame(const struct gpume_plane *plane, uint64_t index)
{
    return *(const uint8_t *)plane->data == index;
}

static int collect(void *engine, uint32_t slot, const struct gpume_batch *batch)
{
    (void)engine;
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        expect(is_frame(&batch->frames[i]->plane, batch->frames[i]->sequence));
    }
    for (uint32_t i = 0; i < batch->field_count; i++) {
        const struct gpume_task *task = &batch->fields[i]->task;
        struct answer *answer = &fake.answers[slot][i];
        for (uint32_t block = 0; block < BLOCKS; block++) {
            const uint32_t choice = choice_of(task->target, block, 1 + task->more_count);
            answer->refs[block] = choice;
            answer->vectors[block] = vector_of(task->target, reference_of(task, choice), block);
        }
        batch->fields[i]->results = (struct gpume_results){
            .vectors = answer->vectors,
            .costs = answer->zeros,
            .ranks = answer->zeros,
            .refs = fake.plan.params.best_reference ? answer->refs : NULL,
        };
    }
    return GPUME_OK;
}

static void get_stats(void *engine, struct gpume_stats *stats)
{
    (void)engine, (void)stats;
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
    REQUIRE(!field->target.data == !fake.plan.params.want_frames);
    REQUIRE(!field->target.data ||
            (is_frame(&field->target, field->frame) && is_frame(&field->reference, field->ref)));
    REQUIRE(!layer->returns == !fake.plan.returns);
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

struct run {
    struct gpume_schedule schedule, expected;
    struct gpume_pipeline *pipeline;
    const struct gpume_field
        *held[2]; /* the second one is kept for a while, the first one longer */
    uint64_t seed;
    uint32_t sent, received;
    int status;
};

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

static void run_plan(const struct gpume_plan *plan, uint64_t seed)
{
    static int engine;
    static const struct gpume_log silent;
    struct run run = {
        .schedule = gpume_schedule_make(plan), .expected = gpume_schedule_make(plan), .seed = seed};
    const struct gpume_pipeline_parts parts = {.ops = &ops,
        .engine = &engine,
        .source = {gpume_schedule_next, &run.schedule},
        .plan = plan,
        .log = &silent};
    struct gpume_task task;
    fake.plan = *plan;
    fake.memory = calloc(plan->pool, plan->plane_bytes);
    fake.frames = fake.faults = 0;
    REQUIRE(fake.memory);
    REQUIRE_EQUAL(gpume_pipeline_open(&run.pipeline, &parts), GPUME_OK);
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
    }
    gpume_field_release(&run.held[0]);
    gpume_field_release(&run.held[1]);
    REQUIRE(run.status != GPUME_EOF || !next_task(&run.expected, &task));
    REQUIRE_EQUAL(gpume_pipeline_close(&run.pipeline), GPUME_OK);
    REQUIRE_EQUAL(fake.faults, 0);
    free(fake.memory);
}

int main(void)
{
    static const uint32_t lists[][4] = {{1}, {1, 2}, {5, 1, 3}, {9}};
    for (uint32_t i = 0; i < 4 * 3 * 2 * 2 * 2 * 3; i++) {
        const struct gpume_log silent = {0};
        const struct gpume_caps caps = {.window_bytes = UINT64_MAX,
            .align_bytes = 64,
            .batch_max = (const uint32_t[]){1, 4, GPUME_BATCH_MAX}[i / 96],
            .batch_work = UINT64_MAX};
        struct gpume_plan plan;
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
        params.first_target = i % 5 == 1 ? 20 : 0;
        params.target_count = i % 5 == 2 ? 30 : 0;
        REQUIRE_EQUAL(gpume_plan_make(&params, &caps, &silent, &plan), GPUME_OK);
        run_plan(&plan, i + 1);
    }
    REQUIRE(fake.full > 0);
    return harness_verdict();
}
