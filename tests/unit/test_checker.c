/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * params.check compares everything that a search finds: results of the CPU engine match, with the
 * predictors that the field has; any entry of any array that differs makes its block differ.
 */
#include "harness.h"
#include "run/lane.h"
#include "synth.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 3u
#define ARRAYS (sizeof(arrays) / sizeof(*arrays))
#define ARRAY(member) offsetof(struct gpume_results, member)
#define NOWHERE SIZE_MAX

struct session {
    struct gpume_plan plan;
    void *engine;
    struct gpume_checker *checker;
    struct gpume_frame frames[FRAMES];
    struct gpume_field_box box;
    struct gpume_submission batch; /* the task alone */
};

static const struct gpume_log silent;

/* Both the engine and the checker get the frames. */
static void send_frame(struct session *session, uint32_t index)
{
    const struct gpume_params *p = &session->plan.params;
    struct gpume_frame *frame = &session->frames[index];
    const struct gpume_submission batch = {.frames = {frame}, .frame_count = 1};
    frame->sequence = index;
    frame->plane =
        (struct gpume_plane){.data = gpume_engine_cpu.frame_memory(session->engine, index),
            .stride = session->plan.plane_stride,
            .width = p->width,
            .height = p->height,
            .bits = p->bits};
    REQUIRE(frame->plane.data);
    synth_fill(&frame->plane, SYNTH_GRAIN, index, 5);
    REQUIRE_EQUAL(gpume_engine_cpu.submit(session->engine, 0, &batch), GPUME_OK);
    REQUIRE_EQUAL(gpume_engine_cpu.collect(session->engine, 0, &batch), GPUME_OK);
    REQUIRE_EQUAL(gpume_checker_batch(session->checker, &batch), GPUME_OK);
}

static int predict(void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors)
{
    (void)opaque, (void)frame, (void)ref, (void)vectors;
    return GPUME_OK;
}

static void open_session(struct session *session, const struct gpume_params *params)
{
    struct gpume_field_box *box = &session->box;
    REQUIRE_EQUAL(
        gpume_engine_cpu.open(&session->engine, params, &silent, &session->plan), GPUME_OK);
    REQUIRE_EQUAL(gpume_checker_open(&session->checker, params, &silent), GPUME_OK);
    REQUIRE(session->plan.pool >= FRAMES);
    for (uint32_t i = 0; i < FRAMES; i++) {
        send_frame(session, i);
    }
    REQUIRE_EQUAL(gpume_field_box_init(box, &session->plan), GPUME_OK);
    box->task = (struct gpume_task){.target = 1, .reference = 0, .more = {2}};
    box->task.more_count = params->best_reference || params->bidirectional;
    for (uint32_t i = 0; box->predictors && i < 2 * session->plan.blocks; i++) {
        box->predictors[i] = (struct gpume_vector){(int16_t)(i % 7), (int16_t)(i % 5)};
    }
    session->batch = (struct gpume_submission){.fields = {box}, .field_count = 1};
    REQUIRE_EQUAL(gpume_engine_cpu.submit(session->engine, 0, &session->batch), GPUME_OK);
    REQUIRE_EQUAL(gpume_engine_cpu.collect(session->engine, 0, &session->batch), GPUME_OK);
}

static void close_session(struct session *session)
{
    gpume_field_box_finish(&session->box);
    gpume_checker_close(&session->checker);
    REQUIRE_EQUAL(gpume_engine_cpu.close(&session->engine), GPUME_OK);
}

/* The blocks that do not match. */
static uint64_t count_differences(struct session *session)
{
    REQUIRE_EQUAL(gpume_checker_batch(session->checker, &session->batch), GPUME_OK);
    REQUIRE_EQUAL(session->box.field.checked, session->plan.blocks);
    return session->box.field.checked - session->box.field.matched;
}

/* An entry of the array in which a block has a value, from the last one down. */
static size_t last_value(const struct session *session, const uint32_t *where, size_t entries)
{
    size_t at = entries - 1;
    while (at > 0 && where && where[at] == GPUME_NONE) {
        at--;
    }
    REQUIRE(!where || where[at] != GPUME_NONE);
    REQUIRE(at < (size_t)session->plan.kept * session->plan.blocks);
    return at;
}

/* Arrays of struct gpume_results, with that which holds GPUME_NONE where they have no value. */
static const struct {
    size_t array, where;
    bool by_candidate;
} arrays[] = {
    {ARRAY(vectors), ARRAY(costs), true},
    {ARRAY(costs), ARRAY(costs), true},
    {ARRAY(bits), ARRAY(costs), true},
    {ARRAY(refs), NOWHERE, false},
    {ARRAY(refs2), ARRAY(refs2), false},
    {ARRAY(vectors2), ARRAY(refs2), false},
    {ARRAY(ties), NOWHERE, false},
    {ARRAY(texture), NOWHERE, false},
    {ARRAY(chosen), NOWHERE, false},
};

static const uint32_t *get_array(const struct session *session, size_t array)
{
    const uint32_t *entries = NULL;
    if (array != NOWHERE) {
        memcpy(&entries, (const char *)&session->box.results + array, sizeof(entries));
    }
    return entries;
}

static void set_array(struct session *session, size_t array, const uint32_t *entries)
{
    memcpy((char *)&session->box.results + array, &entries, sizeof(entries));
}

/* Changes one entry of an array. False: the plan does not want it. */
static bool check_array(struct session *session, uint32_t index)
{
    const uint32_t *found = get_array(session, arrays[index].array);
    const uint32_t candidates = arrays[index].by_candidate ? session->plan.kept : 1;
    const size_t entries = (size_t)candidates * session->plan.blocks;
    uint32_t *changed = malloc(entries * sizeof(*changed));
    REQUIRE(changed);
    if (found) {
        memcpy(changed, found, entries * sizeof(*changed));
        changed[last_value(session, get_array(session, arrays[index].where), entries)] ^= 1;
        set_array(session, arrays[index].array, changed);
        REQUIRE_EQUAL(count_differences(session), 1);
        set_array(session, arrays[index].array, found);
    }
    free(changed);
    return found;
}

/* Returns how many arrays there are. */
static uint32_t check(const struct gpume_params *params)
{
    static struct session session;
    uint32_t count = 0;
    session = (struct session){0};
    open_session(&session, params);
    REQUIRE_EQUAL(count_differences(&session), 0);
    for (uint32_t i = 0; i < ARRAYS; i++) {
        count += check_array(&session, i);
    }
    session.box.hidden = true; /* such fields are not checked */
    session.box.field.matched = 12345;
    REQUIRE_EQUAL(gpume_checker_batch(session.checker, &session.batch), GPUME_OK);
    REQUIRE_EQUAL(session.box.field.matched, 12345);
    close_session(&session);
    return count;
}

int main(void)
{
    static const struct gpume_block_size shapes[] = {{16, 16}, {8, 8}};
    struct gpume_params params;
    gpume_params_default(&params);
    params.threads = 1;
    params.width = 44;
    params.height = 28;
    params.window_x = params.window_y = 3;
    params.direction = GPUME_DIRECTION_BOTH;
    params.best_reference = params.partition = params.rate = true;
    params.lambda = 100;
    params.predictor = GPUME_PREDICTOR_GIVEN;
    params.predict = predict;
    params.subpel = 2;
    params.shape_count = 2;
    memcpy(params.shapes, shapes, sizeof(shapes));
    params.candidates = 3;
    params.confidence = true;
    REQUIRE_EQUAL(check(&params), ARRAYS - 2);
    params.candidates = 1;
    params.confidence = false;
    params.bidirectional = true;
    REQUIRE_EQUAL(check(&params), ARRAYS - 2);
    params = (struct gpume_params){.size = sizeof(params)};
    gpume_params_default(&params);
    params.width = params.height = 30;
    params.ref_distance = 2;
    params.direction = GPUME_DIRECTION_MANUAL;
    REQUIRE_EQUAL(check(&params), 2);
    return harness_verdict();
}
