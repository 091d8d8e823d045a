/* SPDX-License-Identifier: BSD-2-Clause */
/* cli/run_window: which frames a run reads, how many frame pairs it has, and where it resumes. */
#include "estimate/estimate.h"
#include "harness.h"

static struct gpume_estimate_options options;
static struct gpume_summary done;

static struct gpume_run_window make(enum gpume_direction direction, uint32_t distance,
    uint64_t first, uint64_t last, uint64_t frames)
{
    options.params.direction = direction;
    options.params.ref_distance = distance;
    done.first_field = first;
    done.last_field = last;
    done.targets = last - first + 1;
    done.frames = frames;
    return gpume_run_window_make(&options, &done);
}

/* Frames that fields needed, whichever references they have. */
static void test_known(void)
{
    static const struct gpume_vector vectors[1];
    static const uint64_t refs[] = {7, 13};
    const struct gpume_layer layer = {.blocks_x = 1, .blocks_y = 1, .vectors = vectors};
    const struct gpume_layer *const layers[] = {&layer};
    struct gpume_run run = {.params = {.width = 4, .height = 4, .bits = 8}};
    struct gpume_field field = {.frame = 10,
        .ref = 7,
        .blocks_x = 1,
        .blocks_y = 1,
        .layers = layers,
        .layer_count = 1,
        .refs = refs,
        .ref_count = 1};
    struct gpume_summary summary = {.run = &run};
    REQUIRE_EQUAL(gpume_run_window_make(&options, &summary).known, 0);
    gpume_summary_add(&summary, &field);
    REQUIRE_EQUAL(summary.frames, 11);
    field.ref_count = 2;
    gpume_summary_add(&summary, &field);
    REQUIRE_EQUAL(summary.frames, 14);
    field = (struct gpume_field){.frame = 11, .ref = 16, .layers = layers};
    gpume_summary_add(&summary, &field);
    REQUIRE_EQUAL(summary.frames, 17);
    REQUIRE_EQUAL(make(GPUME_DIRECTION_BOTH, 3, 0, 11, 17).known, 17);
}

/* All fields are complete: the same frames are read again, to check that they still exist. */
static void test_nothing_left(void)
{
    options.asked.frames = 8;
    struct gpume_run_window window = make(GPUME_DIRECTION_PAST, 3, 3, 10, 11);
    REQUIRE_EQUAL(window.first_frame + window.send, 11);
    REQUIRE(window.send > 0 && window.first_target == UINT64_MAX);
    window = make(GPUME_DIRECTION_FUTURE, 3, 0, 7, 11);
    REQUIRE_EQUAL(window.first_frame + window.send, 11);
    options.asked.frames = 9; /* one is */
    window = make(GPUME_DIRECTION_PAST, 3, 3, 10, 11);
    REQUIRE_EQUAL(window.first_frame + window.send, 12);
    REQUIRE_EQUAL(window.first_target, 11);
    options.asked.frames = 0;
}

static uint64_t expect(enum gpume_direction direction, bool joins, uint64_t frames)
{
    options.params.direction = direction;
    options.params.best_reference = joins;
    return gpume_run_window_expect(&options, frames);
}

static bool ends(enum gpume_direction direction, uint64_t frame, uint64_t ref)
{
    const struct gpume_field field = {.frame = frame, .ref = ref};
    options.params.direction = direction;
    return gpume_run_window_ends(&options.params, &field);
}

/* Distances 2 and 5. */
static void test_lists(void)
{
    options.params.ref_distance = options.params.distances[0] = 2;
    options.params.distances[1] = 5;
    options.params.distance_count = 2;
    REQUIRE_EQUAL(expect(GPUME_DIRECTION_PAST, false, 10), 8 + 5);
    REQUIRE_EQUAL(expect(GPUME_DIRECTION_FUTURE, false, 10), 8 + 5);
    REQUIRE_EQUAL(expect(GPUME_DIRECTION_BOTH, false, 10), 26);
    REQUIRE_EQUAL(expect(GPUME_DIRECTION_PAST, true, 10), 8);
    REQUIRE_EQUAL(expect(GPUME_DIRECTION_FUTURE, true, 10), 8);
    REQUIRE_EQUAL(expect(GPUME_DIRECTION_BOTH, true, 10), 10);
    REQUIRE_EQUAL(expect(GPUME_DIRECTION_BOTH, true, 3), 2); /* the frame in the middle has none */
    options.params.best_reference = false;
    REQUIRE(!ends(GPUME_DIRECTION_PAST, 6, 4) && ends(GPUME_DIRECTION_PAST, 6, 1));
    REQUIRE(ends(GPUME_DIRECTION_PAST, 3, 1)); /* frame 3 has nothing 5 frames before it */
    REQUIRE(!ends(GPUME_DIRECTION_BOTH, 6, 1) && !ends(GPUME_DIRECTION_BOTH, 6, 8));
    REQUIRE(ends(GPUME_DIRECTION_BOTH, 6, 11));
    struct gpume_run_window window = make(GPUME_DIRECTION_BOTH, 2, 0, 9, 15);
    REQUIRE_EQUAL(window.first_target, 10);
    REQUIRE_EQUAL(window.first_frame, 5);
    options.asked.frames = 12;
    window = gpume_run_window_make(&options, &done);
    REQUIRE_EQUAL(window.first_frame + window.send, 12 + 5);
    options.asked.frames = 0;
    options.params.distance_count = 0;
}

int main(void)
{
    test_known();
    test_nothing_left();
    test_lists();
    return harness_verdict();
}
