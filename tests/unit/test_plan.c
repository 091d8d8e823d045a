/* SPDX-License-Identifier: BSD-2-Clause */
/* model/plan: sizes at both ends of every range, refusals, and the loop limit of kernels. */
#include "common/shared.h"
#include "harness.h"
#include "logged.h"
#include "model/plan.h"

#include <string.h>

static const struct gpume_caps any = {
    .window_bytes = UINT64_MAX, .align_bytes = 256, .batch_max = GPUME_BATCH_MAX};

static struct gpume_params params_of(uint32_t width, uint32_t height)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = width;
    params.height = height;
    return params;
}

static int make(const struct gpume_params *params, struct gpume_plan *plan)
{
    return gpume_plan_make(params, &any, &counting_log, plan);
}

static void test_refusals(void)
{
    struct gpume_plan plan;
    struct gpume_params good = params_of(64, 48), bad;
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        bad = good;                                                                                \
        change;                                                                                    \
        logged.errors = 0;                                                                         \
        REQUIRE_EQUAL(make(&bad, &plan), GPUME_INVALID);                                           \
        REQUIRE_EQUAL(logged.errors, 1);                                                           \
    } while (0)
    REQUIRE_EQUAL(make(&good, &plan), GPUME_OK);
    REFUSED(bad.width = 0);
    REFUSED(bad.height = 0);
    REFUSED(bad.width = UINT32_MAX);
    REFUSED(bad.width = bad.height = 1u << 20);
    REFUSED(bad.bits = 7);
    REFUSED(bad.bits = 17);
    REFUSED(bad.block = 0);
    REFUSED(bad.block = 7);
    REFUSED(bad.block = 132);
    REFUSED(bad.window_x = 513);
    REFUSED(bad.window_y = UINT32_MAX);
    REFUSED(bad.ref_distance = 0);
    REFUSED(bad.ref_distance = 1025);
    REFUSED(bad.direction = (enum gpume_direction)4);
    REFUSED(bad.edge = (enum gpume_edge)2);
    REFUSED(bad.metric = (enum gpume_metric)3);
    REFUSED(bad.refine_metric = GPUME_REFINE_BY_SATD);
    REFUSED(bad.subpel = 4; bad.refine_metric = (enum gpume_refine_metric)4);
    REFUSED(bad.subpel = 4; bad.subpel_search = GPUME_SUBPEL_FULL;
            bad.refine_metric = GPUME_REFINE_BY_SAD);
    REFUSED(bad.subpel = 4; bad.bits = 16; bad.refine_metric = GPUME_REFINE_BY_SSD);
    /* 2^29 blocks: seven matches of each have 32-bit numbers, eight do not */
    good.width = good.height = 1u << 16;
    good.shapes[0] = (struct gpume_block_size){4, 4};
    good.shapes[1] = (struct gpume_block_size){4, 8};
    good.shapes[2] = (struct gpume_block_size){8, 4};
    good.shape_count = 3;
    good.candidates = 7;
    REQUIRE_EQUAL(make(&good, &plan), GPUME_OK);
    REFUSED(bad.candidates = 8);
#undef REFUSED
}

static void test_fast_pixels(void)
{
    struct gpume_plan plan;
    struct gpume_params good = params_of(64, 48), bad;
    good.subpel = 4;
    good.refine_metric = GPUME_REFINE_BY_SATD;
#define NOT_FAST(change)                                                                           \
    do {                                                                                           \
        bad = good;                                                                                \
        change;                                                                                    \
        REQUIRE_EQUAL(make(&bad, &plan), GPUME_OK);                                                \
        REQUIRE(!plan.fast_pixels);                                                                \
    } while (0)
    REQUIRE_EQUAL(make(&good, &plan), GPUME_OK);
    REQUIRE(plan.general && plan.fast_pixels);
    NOT_FAST(bad.subpel = 1; bad.refine_metric = GPUME_REFINE_BY_METRIC);
    NOT_FAST(bad.metric = GPUME_METRIC_SATD);
    NOT_FAST(bad.rate = true);
    NOT_FAST(bad.candidates = 2);
    NOT_FAST(bad.confidence = true);
    NOT_FAST(bad.best_reference = true);
    NOT_FAST(bad.refine_metric = GPUME_REFINE_BY_METRIC; bad.subpel_search = GPUME_SUBPEL_FULL);
#undef NOT_FAST
}

static void test_sizes(void)
{
    struct gpume_plan plan;
    struct gpume_params params = params_of(1, 1);
    REQUIRE_EQUAL(make(&params, &plan), GPUME_OK);
    REQUIRE_EQUAL(plan.blocks, 1);
    REQUIRE_EQUAL(plan.layers[0].index_bits, 0);
    REQUIRE_EQUAL(plan.candidates, 225);
    REQUIRE_EQUAL(plan.pad_x, 8);
    REQUIRE_EQUAL(plan.dx_quads, 4);

    params = params_of(1920, 1080);
    REQUIRE_EQUAL(make(&params, &plan), GPUME_OK);
    REQUIRE_EQUAL(plan.layers[0].blocks_x, 240);
    REQUIRE_EQUAL(plan.layers[0].blocks_y, 135);
    REQUIRE_EQUAL(plan.layers[0].cost_bits, 14); /* 64 * 255 = 16320 */
    REQUIRE_EQUAL(plan.layers[0].index_bits, 15);
    REQUIRE(plan.one_window);
    REQUIRE_EQUAL(plan.ring, plan.batch + 1);

    params.ref_distance = 5;
    params.direction = GPUME_DIRECTION_FUTURE;
    REQUIRE_EQUAL(make(&params, &plan), GPUME_OK);
    REQUIRE_EQUAL(plan.ring, plan.batch + 5);
    params.direction = GPUME_DIRECTION_BOTH; /* frame 9 brings (4, 9), then (5, 0) */
    REQUIRE_EQUAL(make(&params, &plan), GPUME_OK);
    REQUIRE_EQUAL(plan.ring, plan.batch + 9);

    params = params_of(1921, 1081);
    params.window_x = 0;
    params.window_y = 512;
    params.bits = 10;
    REQUIRE_EQUAL(make(&params, &plan), GPUME_OK);
    REQUIRE_EQUAL(plan.blocks, 241 * 136);
    REQUIRE_EQUAL(plan.pad_x, 0);
    REQUIRE_EQUAL(plan.dx_quads, 1);
    REQUIRE_EQUAL(plan.padded_rows, 1081 + 1024);
    REQUIRE_EQUAL(plan.padded_stride, 241 * 8 + 4);
    REQUIRE_EQUAL(plan.plane_stride % 64, 0);
    REQUIRE(plan.plane_stride >= 1921 * 2);

    params = params_of(16384, 16384);
    params.bits = 16;
    params.block = 128;
    REQUIRE_EQUAL(make(&params, &plan), GPUME_OK);
    REQUIRE_EQUAL(plan.layers[0].cost_bits, 30); /* 128 * 128 * 65535 */
}

/* Layers are stored one after another, and the blocks of each fit into the padded rows. */
static void test_layers(void)
{
    struct gpume_plan plan;
    struct gpume_params params = params_of(70, 50);
    const struct gpume_block_size shapes[] = {{16, 8}, {4, 128}, {24, 24}};
    params.shape_count = 3;
    memcpy(params.shapes, shapes, sizeof(shapes));
    REQUIRE_EQUAL(gpume_plan_make(&params, &any, &counting_log, &plan), GPUME_OK);
    REQUIRE_EQUAL(plan.layer_count, 3);
    REQUIRE_EQUAL(plan.layers[0].blocks_x, 5);
    REQUIRE_EQUAL(plan.layers[0].blocks_y, 7);
    REQUIRE_EQUAL(plan.layers[0].cost_bits, 15); /* 128 * 255 = 32640 */
    REQUIRE_EQUAL(plan.layers[1].first, 35);
    REQUIRE_EQUAL(plan.layers[1].blocks_x, 18);
    REQUIRE_EQUAL(plan.layers[1].blocks_y, 1);
    REQUIRE_EQUAL(plan.layers[2].first, 35 + 18);
    REQUIRE_EQUAL(plan.blocks, 35 + 18 + 9);
    REQUIRE_EQUAL(plan.padded_stride, 80 + 4 * plan.dx_quads); /* five blocks of 16 */
    REQUIRE_EQUAL(plan.field_candidates, plan.blocks * plan.candidates);
    params.shapes[1].height = 132;
    REQUIRE_EQUAL(gpume_plan_make(&params, &any, &counting_log, &plan), GPUME_INVALID);
    params.shapes[1].height = 6;
    REQUIRE_EQUAL(gpume_plan_make(&params, &any, &counting_log, &plan), GPUME_INVALID);
}

/* A submission's frames leave space for their box sums, and fit memory. */
static void test_batch(void)
{
    struct gpume_plan plan;
    const struct gpume_caps caps = {.window_bytes = 128u << 20,
        .align_bytes = 256,
        .batch_max = GPUME_BATCH_MAX,
        .batch_work = UINT64_MAX};
    struct gpume_params params = params_of(1920, 1080);
    REQUIRE_EQUAL(gpume_plan_make(&params, &caps, &counting_log, &plan), GPUME_OK);
    const uint32_t most = plan.batch;
    REQUIRE(most > 8);
    params.ref_distance = 20;
    REQUIRE_EQUAL(gpume_plan_make(&params, &caps, &counting_log, &plan), GPUME_OK);
    REQUIRE(plan.batch > 1 && plan.batch < most);
    REQUIRE(plan.ring * plan.padded_bytes * 2 <= caps.window_bytes);
    const uint32_t distant = plan.batch;
    params.memory_max = (plan.pool - 1) * plan.plane_bytes + 21 * plan.padded_bytes;
    REQUIRE_EQUAL(gpume_plan_make(&params, &caps, &counting_log, &plan), GPUME_OK);
    REQUIRE_EQUAL(plan.batch, distant - 1);
}

static int predict_nothing(void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors)
{
    (void)opaque, (void)frame, (void)ref, (void)vectors;
    return GPUME_OK;
}

/* Of a run that wants nothing but vectors: fields with their layers, and the queue. */
static uint64_t least_run_bytes(const struct gpume_plan *plan)
{
    const uint64_t fields = plan->slots * plan->batch;
    const uint64_t layer = sizeof(struct gpume_layer) + sizeof(void *);
    return fields * (GPUME_FIELD_BYTES + plan->layer_count * layer) +
           (gpume_plan_waiting_max(plan, plan->pool) + fields) * GPUME_QUEUED_BYTES;
}

/* Slow searches have fewer slots, but not where engines wait for each other's fields. */
static void test_slots(void)
{
    struct gpume_plan plan;
    struct gpume_params params = params_of(64, 48);
    const struct gpume_caps slow = {.window_bytes = UINT64_MAX, .align_bytes = 64, .batch_max = 8};
    REQUIRE_EQUAL(gpume_plan_make(&params, &slow, &counting_log, &plan), GPUME_OK);
    REQUIRE_EQUAL(plan.slots, 2);
    params.devices = "0,1";
    REQUIRE_EQUAL(gpume_plan_make(&params, &slow, &counting_log, &plan), GPUME_OK);
    REQUIRE_EQUAL(plan.slots, 3);
    /* The third slot's fields wait for others; the newest frames are kept. */
    REQUIRE_EQUAL(plan.pool, 2 * plan.batch + 3 + plan.reach);
    /* Frames of 2.2 MB: 48 MiB of them, and half as many for each of several engines. */
    params = params_of(1920, 1080);
    const struct gpume_caps fast = {.window_bytes = UINT64_MAX,
        .align_bytes = 64,
        .batch_max = GPUME_BATCH_MAX,
        .batch_work = UINT64_MAX};
    REQUIRE_EQUAL(gpume_plan_make(&params, &fast, &counting_log, &plan), GPUME_OK);
    const uint32_t alone = plan.batch;
    params.devices = "0,1";
    REQUIRE_EQUAL(gpume_plan_make(&params, &fast, &counting_log, &plan), GPUME_OK);
    REQUIRE_EQUAL(plan.batch, alone / 2);
}

/* What several references, reverse pairs, predictors and parts add to a run. */
static void test_options(void)
{
    struct gpume_plan plan;
    struct gpume_params params = params_of(64, 48); /* 12 squares of 16, 48 of 8 */
    params.shapes[0] = (struct gpume_block_size){16, 16};
    params.shapes[1] = (struct gpume_block_size){8, 8};
    params.shape_count = 2;
    params.direction = GPUME_DIRECTION_BOTH;
    params.distances[0] = 3;
    params.distances[1] = 1;
    params.distance_count = 2;
    REQUIRE_EQUAL(make(&params, &plan), GPUME_OK);
    REQUIRE_EQUAL(plan.reach, 6);
    REQUIRE_EQUAL(plan.requests, 4);
    REQUIRE_EQUAL(plan.references, 1);
    REQUIRE_EQUAL(plan.run_bytes, least_run_bytes(&plan));
    params.best_reference = params.partition = params.rate = params.confidence = true;
    params.lambda = 1;
    params.predictor = GPUME_PREDICTOR_GIVEN;
    params.predict = predict_nothing;
    REQUIRE_EQUAL(make(&params, &plan), GPUME_OK);
    REQUIRE_EQUAL(plan.reach, 6);
    REQUIRE_EQUAL(plan.requests, 1 + 4);
    REQUIRE_EQUAL(plan.references, 4);
    /* In a field predictors for 4 references, at most 48 parts of 12 bytes, returns; once the
     * vectors of 4 reverse pairs, and 4 words for each part that is ranked. */
    const uint64_t once = 4 * 60 * 4 + 48 * 16, of_field = 4 * 60 * 4 + 48 * 12 + 60 * 4;
    REQUIRE_EQUAL(
        plan.run_bytes, least_run_bytes(&plan) + once + plan.slots * plan.batch * of_field);

    const struct gpume_caps one = {.window_bytes = UINT64_MAX, .align_bytes = 64, .batch_max = 1};
    REQUIRE_EQUAL(gpume_plan_make(&params, &one, &counting_log, &plan), GPUME_OK);
    params.memory_max =
        plan.pool * plan.plane_bytes + (plan.reach + 1) * plan.surface_bytes + plan.run_bytes;
    REQUIRE_EQUAL(gpume_plan_make(&params, &one, &counting_log, &plan), GPUME_OK);
    const uint64_t bytes = params.memory_max - plan.run_bytes;
    REQUIRE_EQUAL(gpume_plan_check_memory(&plan, bytes, true, &counting_log), GPUME_OK);
    REQUIRE_EQUAL(gpume_plan_check_memory(&plan, bytes + 1, true, &counting_log), GPUME_AGAIN);
    REQUIRE_EQUAL(gpume_plan_check_memory(&plan, bytes + 1, false, &counting_log), GPUME_INVALID);
}

/* The parts of a split frame cover every block row, and none is larger than allowed. */
static void test_bands(void)
{
    struct gpume_plan plan;
    struct gpume_caps caps = {.window_bytes = 128u << 20, .align_bytes = 256, .batch_max = 16};
    struct gpume_params params = params_of(16384, 16384);
    params.bits = 16;
    params.window_x = params.window_y = 512;
    REQUIRE_EQUAL(gpume_plan_make(&params, &caps, &counting_log, &plan), GPUME_OK);
    REQUIRE(!plan.one_window);
    REQUIRE(plan.layers[0].band_count > 1);
    REQUIRE(
        (uint64_t)plan.layers[0].band_rows * plan.layers[0].band_count >= plan.layers[0].blocks_y);
    REQUIRE((uint64_t)plan.layers[0].band_rows * (plan.layers[0].band_count - 1) <
            plan.layers[0].blocks_y);
    uint64_t rows = (uint64_t)plan.layers[0].band_rows * params.block + 2 * params.window_y;
    REQUIRE(rows * plan.padded_stride * 2 + caps.align_bytes <= caps.window_bytes);
    REQUIRE_EQUAL(plan.batch, 1);

    /* Parts to filter fit, too, with all the samples that they read. */
    const struct gpume_prefilter widest = {.kind = GPUME_PREFILTER_GAUSS, .sigma = 16};
    params.prefilter = &widest;
    REQUIRE_EQUAL(gpume_plan_make(&params, &caps, &counting_log, &plan), GPUME_OK);
    rows = (uint64_t)plan.filter_rows + 2ull * plan.prefilter.radius_y;
    REQUIRE(plan.filter_rows > 0 && plan.prefilter.radius_y == 48);
    REQUIRE(rows * plan.padded_stride * 2 + caps.align_bytes <= caps.window_bytes);
    params.window_y = 8;
    caps.window_bytes = 3 << 20; /* enough for the search, but not for the filter */
    logged.errors = 0;
    REQUIRE_EQUAL(gpume_plan_make(&params, &caps, &counting_log, &plan), GPUME_UNSUPPORTED);
    REQUIRE_EQUAL(logged.errors, 1);
    params.prefilter = NULL;
    REQUIRE_EQUAL(gpume_plan_make(&params, &caps, &counting_log, &plan), GPUME_OK);
    params.window_y = 512;

    caps.window_bytes = 1 << 20; /* not even one row of blocks */
    logged.errors = 0;
    REQUIRE_EQUAL(gpume_plan_make(&params, &caps, &counting_log, &plan), GPUME_UNSUPPORTED);
    REQUIRE_EQUAL(logged.errors, 1);
}

/* One work item of k_quads.c loops block * (block / 4 + 1) times and a few more. */
static void test_iterations(void)
{
    REQUIRE(GPUME_BLOCK_MAX * (GPUME_BLOCK_MAX / 4 + 1) + 8 < GPUME_ITERATIONS_MAX);
}

int main(void)
{
    test_refusals();
    test_fast_pixels();
    test_sizes();
    test_layers();
    test_batch();
    test_slots();
    test_options();
    test_bands();
    test_iterations();
    return harness_verdict();
}
