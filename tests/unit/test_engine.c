/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU engine: its policy's decisions for invented times; the same fields with and without
 * elimination on any number of threads; and tasks with any frames that it holds, in layers of any
 * shape, compared with the plain oracle.
 */
#include "brute.h"
#include "cpu/cpu.h"
#include "cpu/search/search.h"
#include "frame/frame.h"
#include "gpume/gpume.h"
#include "harness.h"
#include "model/cost.h"
#include "synth.h"

#include <stdlib.h>
#include <string.h>

#define ITEMS 100u

/* The time of a field whose items take so long without and with elimination. */
static struct gpume_probe probe_of(const struct gpume_policy_choice *choice, uint64_t full_ns,
    uint64_t eliminating_ns, uint64_t box_ns)
{
    struct gpume_probe probe = {.box_ns = box_ns};
    for (uint32_t item = 0; item < ITEMS; item++) {
        bool way = gpume_policy_eliminates(choice, item);
        probe.items[way]++;
        probe.ns[way] += way ? eliminating_ns : full_ns;
    }
    return probe;
}

/* Simulates the fields up to and including the next probe. Returns how many used elimination. */
static uint32_t run_fields(struct gpume_policy *policy, uint32_t count, uint64_t full_ns,
    uint64_t eliminating_ns, uint64_t box_ns)
{
    uint32_t eliminating = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct gpume_policy_choice choice = gpume_policy_next(policy);
        REQUIRE_EQUAL(gpume_policy_needs_boxes(&choice), choice.eliminating || i == 0);
        REQUIRE_EQUAL(choice.probing, i == 0);
        eliminating += choice.eliminating;
        if (choice.probing) {
            struct gpume_probe probe = probe_of(&choice, full_ns, eliminating_ns, box_ns);
            REQUIRE(probe.items[0] > 0 && probe.items[1] > 0);
            REQUIRE(
                probe.items[!choice.eliminating] <= ITEMS / 10); /* the alternative costs little */
            gpume_policy_learn(policy, &probe);
        }
    }
    return eliminating;
}

static void test_policy(void)
{
    struct gpume_policy policy;
    gpume_policy_init(&policy, true, false, ITEMS);
    REQUIRE_EQUAL(
        run_fields(&policy, 32, 1000, 100, 0), 31); /* film: most candidates are dropped */
    REQUIRE_EQUAL(run_fields(&policy, 32, 1000, 3000, 0), 1); /* noise: none are */
    REQUIRE_EQUAL(run_fields(&policy, 32, 1000, 3000, 0), 0);
    REQUIRE_EQUAL(run_fields(&policy, 32, 1000, 900, 0), 31);
    REQUIRE_EQUAL(run_fields(&policy, 32, 1000, 900, 200 * ITEMS), 1); /* sums take time, too */
    gpume_policy_init(&policy, true, true, ITEMS);
    REQUIRE_EQUAL(run_fields(&policy, 32, 1000, 100, 0), 32); /* a wide window: the first guess */
    gpume_policy_init(&policy, false, true, ITEMS);
    for (uint32_t i = 0; i < 100; i++) {
        struct gpume_policy_choice choice = gpume_policy_next(&policy);
        REQUIRE(!gpume_policy_needs_boxes(&choice));
        REQUIRE(!gpume_policy_eliminates(&choice, i));
    }
}

/* A field of one item probes with that item: there is nothing to compare, and the first guess
 * stays. */
static void test_single_item(void)
{
    struct gpume_policy policy;
    gpume_policy_init(&policy, true, false, 1);
    for (uint32_t i = 0; i < 70; i++) {
        struct gpume_policy_choice choice = gpume_policy_next(&policy);
        bool way = gpume_policy_eliminates(&choice, 0);
        REQUIRE_EQUAL(way, choice.eliminating != choice.probing);
        if (choice.probing) {
            struct gpume_probe probe = {.box_ns = 1};
            probe.items[way] = 1;
            probe.ns[way] = way ? 10 : 1000;
            gpume_policy_learn(&policy, &probe);
        }
    }
    REQUIRE(!policy.eliminating); /* the alternative has never been timed */
}

static uint32_t sum_of(const uint8_t *samples, uint32_t x, uint32_t y, uint32_t size)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < size * size; i++) {
        sum += samples[(y + i / size) * 16 + x + i % size];
    }
    return sum;
}

/* The bound of a 16x16 block from sums of its sub-blocks of one size. */
static uint32_t bound_of(const uint8_t *a, const uint8_t *b, uint32_t size)
{
    uint32_t bound = 0;
    for (uint32_t y = 0; y < 16; y += size) {
        for (uint32_t x = 0; x < 16; x += size) {
            bound += gpume_cost_bound(sum_of(a, x, y, size), sum_of(b, x, y, size));
        }
    }
    return bound;
}

/* Bounds rise as sub-blocks become smaller, and reach the cost at single samples. */
static void test_bounds(void)
{
    uint64_t random = 3;
    uint8_t samples[2][256];
    for (uint32_t run = 0; run < 1000; run++) {
        uint32_t cost = 0, last = 0, range = 1 + run % 255;
        for (uint32_t i = 0; i < 256; i++) {
            samples[0][i] = (uint8_t)(harness_random(&random) % range);
            samples[1][i] = (uint8_t)(255 - harness_random(&random) % (256 - run % 200));
            cost += (uint32_t)abs(samples[0][i] - samples[1][i]);
        }
        for (uint32_t size = 16; size > 0; size /= 2) {
            uint32_t bound = bound_of(samples[0], samples[1], size);
            REQUIRE(bound >= last);
            last = bound;
        }
        REQUIRE_EQUAL(last, cost);
        REQUIRE(cost <= gpume_cost_max(16, 16, 255));
    }
}

#define FIELDS 70u /* more than two probes apart */

/* Vectors, costs and ranks of all fields of a sequence, one after the other. */
static void run_engine(const struct gpume_params *params, enum synth_content content,
    struct gpume_vector *vectors, uint32_t *costs, uint32_t *ranks, uint32_t blocks)
{
    gpume *ctx = NULL;
    struct gpume_plane plane = synth_plane(params->width, params->height, params->bits);
    const struct gpume_field *field = NULL;
    uint32_t sent = 0, received = 0;
    REQUIRE_EQUAL(gpume_open(&ctx, params), GPUME_OK);
    while (received < FIELDS) {
        synth_fill(&plane, content, sent, 9);
        while (sent <= FIELDS && gpume_send_plane(ctx, &plane, 0) == GPUME_OK) {
            synth_fill(&plane, content, ++sent, 9);
        }
        int status = gpume_receive(ctx, &field, 0);
        REQUIRE_EQUAL(status, GPUME_OK);
        if (status != GPUME_OK) {
            break;
        }
        size_t first = (size_t)received++ * blocks;
        memcpy(vectors + first, field->vectors, blocks * sizeof(*vectors));
        memcpy(costs + first, field->costs, blocks * sizeof(*costs));
        memcpy(ranks + first, field->ranks, blocks * sizeof(*ranks));
        gpume_field_release(&field);
    }
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    free(plane.data);
}

static void test_same_fields(uint32_t width, uint32_t height, enum synth_content content,
    enum gpume_direction direction, const struct gpume_prefilter *prefilter)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = width;
    params.height = height;
    params.window_x = params.window_y = 5;
    params.backend = GPUME_BACKEND_CPU;
    params.prefilter = prefilter;
    params.direction = direction;
    uint32_t blocks = (width + 7) / 8 * ((height + 7) / 8);
    size_t count = (size_t)blocks * FIELDS;
    struct gpume_vector *vectors = calloc(2 * count, sizeof(*vectors));
    uint32_t *costs = calloc(4 * count, sizeof(*costs)), *ranks = costs + 2 * count;
    params.no_elimination = true;
    params.threads = 1;
    run_engine(&params, content, vectors, costs, ranks, blocks);
    for (uint32_t run = 0; run < 5; run++) {
        params.no_elimination = run == 4;
        params.threads = run == 4 ? 3 : run + 1;
        run_engine(&params, content, vectors + count, costs + count, ranks + count, blocks);
        REQUIRE(memcmp(vectors, vectors + count, count * sizeof(*vectors)) == 0);
        REQUIRE(memcmp(costs, costs + count, count * sizeof(*costs)) == 0);
        REQUIRE(memcmp(ranks, ranks + count, count * sizeof(*ranks)) == 0);
    }
    free(vectors);
    free(costs);
}

#define TASKS 30u

/* Frames and tasks of random pairs among those that the engine holds, submitted by hand. */
struct session {
    void *engine;
    struct gpume_plan plan;
    struct gpume_frame frames[TASKS];
    uint32_t frame_count;
    struct gpume_submission batches[GPUME_SLOTS_MAX];
    struct gpume_field_box boxes[GPUME_SLOTS_MAX];
};

static struct brute expected_layer(const struct session *session, const struct gpume_field_box *box,
    const struct gpume_shape *layer)
{
    return brute_layer(&session->plan.params, layer->block_w, layer->block_h,
        &session->frames[box->task.target].plane, &session->frames[box->task.reference].plane);
}

/* The sums are those of the first layer. */
static void check_field(const struct session *session, const struct gpume_field_box *box)
{
    const struct gpume_field *field = &box->field;
    const struct gpume_results *found = &box->results;
    for (uint32_t i = 0; i < session->plan.layer_count; i++) {
        const struct gpume_shape *layer = &session->plan.layers[i];
        struct brute brute = expected_layer(session, box, layer);
        uint32_t wrong = 0;
        REQUIRE_EQUAL(brute.blocks, layer->blocks);
        for (uint32_t j = 0; j < brute.blocks; j++) {
            uint32_t at = layer->first + j;
            wrong += found->vectors[at].dx != brute.dx[j] || found->vectors[at].dy != brute.dy[j] ||
                     found->costs[at] != brute.costs[j] || found->ranks[at] != brute.ranks[j];
        }
        REQUIRE_EQUAL(wrong, 0);
        if (i == 0) {
            REQUIRE_EQUAL(field->sums.zero, brute.zero);
            REQUIRE_EQUAL(field->sums.sad_before, brute.sad_before);
            REQUIRE_EQUAL(field->sums.sad_after, brute.sad_after);
            REQUIRE_EQUAL(field->sums.sse_before, brute.sse_before);
            REQUIRE_EQUAL(field->sums.sse_after, brute.sse_after);
        }
        brute_free(&brute);
    }
}

static void collect(struct session *session, uint32_t slot)
{
    struct gpume_submission *batch = &session->batches[slot];
    REQUIRE_EQUAL(gpume_engine_cpu.collect(session->engine, slot, batch), GPUME_OK);
    if (batch->field_count > 0) {
        check_field(session, batch->fields[0]);
    }
}

/* Often adds a frame, mostly a task: past, future and equal frames, at all distances. */
static void submit(struct session *session, uint32_t slot, uint64_t *random)
{
    struct gpume_submission *batch = &session->batches[slot];
    struct gpume_field_box *box = &session->boxes[slot];
    const struct gpume_plan *plan = &session->plan;
    *batch = (struct gpume_submission){0};
    if (session->frame_count < 2 || harness_random(random) % 3 == 0) {
        struct gpume_frame *frame = &session->frames[session->frame_count];
        frame->plane = synth_plane(plan->params.width, plan->params.height, plan->params.bits);
        frame->sequence = session->frame_count++;
        synth_fill(&frame->plane, SYNTH_PAN, (uint32_t)frame->sequence, 5);
        batch->frames[batch->frame_count++] = frame;
    }
    if (harness_random(random) % 8 > 0) {
        uint32_t count = session->frame_count, held = count < plan->ring ? count : plan->ring;
        box->task.target = count - 1 - harness_random(random) % held;
        box->task.reference = count - 1 - harness_random(random) % held;
        batch->fields[batch->field_count++] = box;
    }
    REQUIRE_EQUAL(gpume_engine_cpu.submit(session->engine, slot, batch), GPUME_OK);
}

struct shapes {
    uint32_t count;
    struct gpume_block_size of[GPUME_SHAPES_MAX];
};

static void test_any_tasks(
    uint32_t threads, const struct gpume_prefilter *prefilter, const struct shapes *shapes)
{
    struct session session = {0};
    struct gpume_params params;
    uint64_t random = 11 + threads;
    gpume_params_default(&params);
    params.width = 70;
    params.height = 40;
    params.window_x = params.window_y = 5;
    params.ref_distance = 4;
    params.threads = threads;
    params.prefilter = prefilter;
    if (shapes) {
        params.shape_count = shapes->count;
        memcpy(params.shapes, shapes->of, sizeof(params.shapes));
    }
    REQUIRE_EQUAL(gpume_engine_cpu_open(
                      &session.engine, &params, NULL, &session.plan, gpume_search_select(NULL)),
        GPUME_OK);
    uint32_t slots = session.plan.slots;
    for (uint32_t i = 0; i < TASKS; i++) {
        if (i >= slots) {
            collect(&session, i % slots);
        }
        submit(&session, i % slots, &random);
    }
    for (uint32_t i = TASKS; i < TASKS + slots; i++) {
        collect(&session, i % slots);
    }
    REQUIRE_EQUAL(gpume_engine_cpu.close(&session.engine), GPUME_OK);
    for (uint32_t i = 0; i < session.frame_count; i++) {
        free(session.frames[i].plane.data);
    }
}

int main(void)
{
    test_policy();
    test_single_item();
    test_bounds();
    static const struct gpume_prefilter gauss = {
        .size = sizeof(struct gpume_prefilter), .kind = GPUME_PREFILTER_GAUSS, .sigma = 1};
    const enum gpume_direction past = GPUME_DIRECTION_PAST, both = GPUME_DIRECTION_BOTH;
    test_same_fields(72, 40, SYNTH_PAN, past, NULL);
    test_same_fields(72, 40, SYNTH_NOISE, past, NULL);
    test_same_fields(72, 40, SYNTH_PAN, past, &gauss);
    test_same_fields(72, 40, SYNTH_PAN, GPUME_DIRECTION_FUTURE, NULL);
    test_same_fields(72, 40, SYNTH_PAN, both, NULL);
    test_same_fields(72, 40, SYNTH_NOISE, both, &gauss);
    test_same_fields(200, 8, SYNTH_TIES, past, NULL); /* one row of blocks, cut into spans */
    static const struct shapes shapes = {.count = 4, .of = {{16, 8}, {12, 12}, {4, 20}, {32, 24}}};
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        test_any_tasks(threads, NULL, NULL);
        test_any_tasks(threads, &gauss, NULL);
        test_any_tasks(threads, NULL, &shapes);
        test_any_tasks(threads, &gauss, &shapes);
    }
    return harness_verdict();
}
