/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several engines share the work, and others take over at any call of an engine that fails, the
 * standby engine after the last one, whatever the plan wants: every field equals that of a run of
 * one engine without failure. All engines are the CPU's, behind functions that fail as a GPU does.
 * Usage: test_takeover [STRIDE]: only every STRIDE-th call fails (1).
 */
#include "harness.h"
#include "run/pipeline.h"
#include "run/queue.h"
#include "synth.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES 8u
#define FIELDS_MAX (FRAMES * 6u)
#define NEVER UINT32_MAX

#define ENGINES 3u

static struct {
    void *opaque;
    uint32_t calls_left; /* of submit and collect, before one fails */
} engines[ENGINES];

static bool fails(const void *opaque)
{
    uint32_t i = 0;
    while (engines[i].opaque != opaque) {
        i++;
    }
    return engines[i].calls_left != NEVER && engines[i].calls_left-- == 0;
}

static int submit(void *engine, uint32_t slot, const struct gpume_submission *batch)
{
    return fails(engine) ? GPUME_DEVICE_LOST : gpume_engine_cpu.submit(engine, slot, batch);
}

static int collect(void *engine, uint32_t slot, const struct gpume_submission *batch)
{
    return fails(engine) ? GPUME_DEVICE_LOST : gpume_engine_cpu.collect(engine, slot, batch);
}

/* The same predictors whenever they are asked for. */
static int predict(void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors)
{
    const uint32_t *blocks = opaque;
    uint64_t seed = frame * 64 + ref + 1;
    for (uint32_t i = 0; i < *blocks; i++) {
        vectors[i].dx = (int16_t)(harness_random(&seed) % 9) - 4;
        vectors[i].dy = (int16_t)(harness_random(&seed) % 9) - 4;
    }
    return GPUME_OK;
}

struct digest {
    uint64_t frame, ref, hash;
    int64_t time_us;
};

struct outcome {
    struct digest fields[FIELDS_MAX];
    uint32_t count;
    int status;
    uint32_t failed; /* engines */
    bool stood_by;
};

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    for (size_t i = 0; at && i < bytes; i++) {
        hash = (hash ^ at[i]) * 0x100000001B3ull; /* FNV-1a */
    }
    return hash;
}

static uint64_t hash_plane(uint64_t hash, const struct gpume_plane *plane)
{
    for (uint32_t y = 0; plane->data && y < plane->height; y++) {
        hash = hash_bytes(
            hash, (const uint8_t *)plane->data + (ptrdiff_t)y * plane->stride, plane->width);
    }
    return hash;
}

static uint64_t hash_layer(uint64_t hash, const struct gpume_layer *layer)
{
    const size_t blocks = (size_t)layer->blocks_x * layer->blocks_y;
    const void *arrays[] = {layer->vectors, layer->costs, layer->ranks, layer->bits, layer->refs,
        layer->refs2, layer->vectors2, layer->second, layer->ties, layer->texture, layer->returns};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
        hash = hash_bytes(hash, arrays[i], blocks * 4);
    }
    return hash;
}

static struct digest digest_of(const struct gpume_field *field)
{
    uint64_t hash = hash_bytes(0xCBF29CE484222325ull, &field->sums, sizeof(field->sums));
    for (uint32_t i = 0; i < field->layer_count; i++) {
        hash = hash_layer(hash, field->layers[i]);
    }
    hash = hash_bytes(hash, field->parts, field->part_count * sizeof(*field->parts));
    hash = hash_bytes(hash, &field->checked, sizeof(field->checked));
    hash = hash_bytes(hash, &field->matched, sizeof(field->matched));
    hash = hash_bytes(hash, field->refs, field->ref_count * sizeof(*field->refs));
    hash = hash_plane(hash, &field->predicted);
    hash = hash_plane(hash, &field->target);
    hash = hash_plane(hash, &field->reference);
    return (struct digest){field->frame, field->ref, hash, field->time_us};
}

struct run {
    struct gpume_params params;
    struct gpume_schedule schedule;
    struct gpume_pipeline *pipeline;
    uint32_t blocks; /* of all layers */
};

static void open_run(struct run *run, uint32_t count)
{
    static const struct gpume_log silent;
    static struct gpume_engine_ops ops;
    struct gpume_plan plans[ENGINES];
    struct gpume_pipeline_parts parts = {
        .engine_count = count, .source = {gpume_schedule_next, &run->schedule}, .log = &silent};
    ops = gpume_engine_cpu;
    ops.submit = submit;
    ops.collect = collect;
    run->params.predict_opaque = &run->blocks;
    run->params.devices = count > 1 ? "several" : NULL;
    REQUIRE_EQUAL(gpume_standby_create(&parts.standby, &run->params, &silent), GPUME_OK);
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE_EQUAL(
            gpume_engine_cpu.open(&engines[i].opaque, &run->params, &silent, &plans[i]), GPUME_OK);
        parts.engines[i] = (struct gpume_pipeline_engine){
            .ops = &ops, .opaque = engines[i].opaque, .plan = &plans[i]};
    }
    run->blocks = plans[0].blocks;
    run->schedule = gpume_schedule_make(&plans[0]);
    REQUIRE_EQUAL(gpume_pipeline_open(&run->pipeline, &parts), GPUME_OK);
}

/* False: there is no space for a frame now. */
static bool send(struct run *run, uint32_t index)
{
    struct gpume_frame *frame = NULL;
    if (gpume_pipeline_acquire(run->pipeline, &frame, 0) != GPUME_OK) {
        return false;
    }
    synth_fill(&frame->plane, index % 3 ? SYNTH_GRAIN : SYNTH_NOISE, index, 5);
    return gpume_pipeline_send(run->pipeline, &frame, index * 40) == GPUME_OK;
}

/* calls: of each engine, before it fails. */
static void search(
    struct gpume_params params, uint32_t count, const uint32_t *calls, struct outcome *outcome)
{
    struct run run = {.params = params};
    struct gpume_info info = {0};
    uint32_t sent = 0;
    for (uint32_t i = 0; i < count; i++) {
        engines[i].calls_left = calls[i];
    }
    *outcome = (struct outcome){0};
    open_run(&run, count);
    while (outcome->status == GPUME_OK || outcome->status == GPUME_AGAIN) {
        const struct gpume_field *field = NULL;
        if (sent < FRAMES && send(&run, sent)) {
            sent++;
            continue;
        }
        if (sent == FRAMES) {
            gpume_pipeline_finish(run.pipeline);
        }
        outcome->status = gpume_pipeline_receive(run.pipeline, &field, 0);
        if (outcome->status == GPUME_OK) {
            outcome->fields[outcome->count++] = digest_of(field);
            gpume_field_release(&field);
        }
    }
    gpume_pipeline_get_info(run.pipeline, &info);
    outcome->stood_by = info.standby != NULL;
    for (uint32_t i = 0; i < gpume_pipeline_lane_count(run.pipeline); i++) {
        struct gpume_lane_info lane;
        gpume_pipeline_get_lane(run.pipeline, i, &lane);
        outcome->failed += lane.failed;
    }
    REQUIRE_EQUAL(gpume_pipeline_close(&run.pipeline), GPUME_OK);
}

static struct gpume_params params_of(uint32_t number)
{
    static const struct gpume_block_size shapes[] = {{16, 16}, {16, 8}, {8, 8}};
    struct gpume_params params;
    gpume_params_default(&params);
    params.threads = 1;
    params.width = 35;
    params.height = 21;
    params.window_x = params.window_y = 2;
    params.distances[0] = 2;
    params.distances[1] = 1;
    params.distance_count = 2;
    params.direction = GPUME_DIRECTION_BOTH;
    params.shape_count = 3;
    memcpy(params.shapes, shapes, sizeof(shapes));
    params.rate = true;
    params.lambda = 300;
    params.want_frames = number % 2;
    params.want_predicted = true;
    switch (number) {
    case 0:
        params.confidence = params.partition = true;
        params.predictor = GPUME_PREDICTOR_GIVEN;
        params.predict = predict;
        break;
    case 1:
        params.confidence = params.best_reference = params.check = true;
        params.subpel = 2;
        break;
    case 2:
        params.bidirectional = params.partition = true;
        params.predictor = GPUME_PREDICTOR_GIVEN;
        params.predict = predict;
        params.check = true;
        break;
    case 3: /* a field waits for the next one, which is its reverse */
        params.confidence = true;
        params.distances[0] = params.distance_count = 1;
        break;
    default:
        params.direction = GPUME_DIRECTION_FUTURE;
        params.rate = false;
        params.lambda = 0;
    }
    return params;
}

/* The run gives every field, whichever engines fail. */
static void require_same(struct gpume_params params, uint32_t count, const uint32_t *calls,
    const struct outcome *wanted, struct outcome *got)
{
    search(params, count, calls, got);
    REQUIRE_EQUAL(got->status, GPUME_EOF);
    REQUIRE_EQUAL(got->count, wanted->count);
    REQUIRE_EQUAL(memcmp(got->fields, wanted->fields, sizeof(got->fields)), 0);
    REQUIRE(!got->stood_by || got->failed == count);
}

static void check(uint32_t number, uint32_t stride)
{
    static const uint32_t never[] = {NEVER, NEVER, NEVER};
    static struct outcome wanted, got;
    const struct gpume_params params = params_of(number);
    search(params, 1, never, &wanted);
    REQUIRE_EQUAL(wanted.status, GPUME_EOF);
    REQUIRE(!wanted.stood_by && wanted.count > 0);
    for (uint32_t calls = number % stride; harness_failures == 0; calls += stride) {
        require_same(params, 1, &calls, &wanted, &got);
        if (!got.stood_by) {
            REQUIRE(calls > 2 * FRAMES); /* no call was left that could fail */
            break;
        }
    }
    require_same(params, 2, never, &wanted, &got);
    require_same(params, 3, never, &wanted, &got);
    REQUIRE_EQUAL(got.failed, 0);
    uint32_t lost = 0, stood_by = 0;
    for (uint32_t calls = number; calls < 30 && harness_failures == 0; calls += 3 + stride) {
        require_same(params, 2, (const uint32_t[]){calls, NEVER}, &wanted, &got);
        lost += got.failed;
        require_same(params, 3, (const uint32_t[]){NEVER, calls, calls / 2}, &wanted, &got);
        require_same(params, 3, (const uint32_t[]){calls, calls / 3, calls / 2}, &wanted, &got);
        stood_by += got.stood_by;
    }
    REQUIRE(lost > 0 && stood_by > 0);
}

int main(int argc, char **argv)
{
    const uint32_t stride = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
    for (uint32_t number = 0; number < 5; number++) {
        check(number, stride);
    }
    return harness_verdict();
}
