/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume_search: frame pairs that the caller requests, compared with the oracle; fields with several
 * owners; refusals. Usage: test_search cpu|vulkan
 */
#include "brute.h"
#include "gpume/gpume.h"
#include "harness.h"
#include "synth.h"
#include "vulkan_probe.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES 23u
#define TASKS_MAX 200u
#define KEPT_MAX 2u /* fields that are kept while others are received */

static enum gpume_backend backend = GPUME_BACKEND_CPU;

static struct gpume_params params_of(uint32_t distance)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = 50;
    params.height = 37;
    params.window_x = 5;
    params.window_y = 3;
    params.backend = backend;
    params.direction = GPUME_DIRECTION_MANUAL;
    params.ref_distance = distance;
    params.first_frame = 100;
    params.want_predicted = params.want_frames = true;
    params.confidence = distance == 3;
    return params;
}

struct run {
    struct gpume_params params;
    gpume *ctx;
    struct gpume_plane planes[FRAMES];
    struct gpume_task tasks[TASKS_MAX];
    uint32_t sent, asked, received;
    bool wants_few; /* some tasks want some of their blocks, others all or none */
    const struct gpume_field *kept[KEPT_MAX];
};

static void open_run(struct run *run, uint32_t distance)
{
    *run = (struct run){.params = params_of(distance)};
    for (uint32_t i = 0; i < FRAMES; i++) {
        run->planes[i] = synth_plane(run->params.width, run->params.height, 8);
        synth_fill(&run->planes[i], SYNTH_PAN, i, 11);
    }
    REQUIRE_EQUAL(gpume_open(&run->ctx, &run->params), GPUME_OK);
}

static void close_run(struct run *run)
{
    for (uint32_t i = 0; i < KEPT_MAX; i++) {
        gpume_field_release(&run->kept[i]);
    }
    REQUIRE_EQUAL(gpume_close(&run->ctx), GPUME_OK);
    for (uint32_t i = 0; i < FRAMES; i++) {
        free(run->planes[i].data);
    }
}

static void compare(struct run *run, const struct gpume_field *field)
{
    const struct gpume_task *task = &run->tasks[run->received];
    REQUIRE_EQUAL(field->frame, task->target);
    REQUIRE_EQUAL(field->ref, task->reference);
    REQUIRE_EQUAL(field->tag, task->tag);
    REQUIRE_EQUAL(field->time_us, (int64_t)task->target * 1000);
    REQUIRE_EQUAL(field->vector_units, 1);
    REQUIRE_EQUAL(field->layer_count, 1);
    REQUIRE_EQUAL(field->layers[0]->block_w, 8);
    REQUIRE_EQUAL(field->layers[0]->block_h, 8);
    REQUIRE(field->layers[0]->vectors == field->vectors);
    REQUIRE(field->layers[0]->ranks == field->ranks);
    REQUIRE_EQUAL(field->layers[0]->texture != NULL, run->params.confidence);
    REQUIRE(!field->layers[0]->returns); /* no pair is searched but those that are asked for */
    struct brute b = brute_field(
        &run->params, &run->planes[task->target - 100], &run->planes[task->reference - 100]);
    for (uint32_t i = 0; i < b.blocks; i++) {
        if (!task->wanted || task->wanted[i]) {
            REQUIRE_EQUAL(field->costs[i], b.costs[i]);
            REQUIRE_EQUAL(field->vectors[i].dx, b.dx[i]);
            REQUIRE_EQUAL(field->vectors[i].dy, b.dy[i]);
        }
        REQUIRE(task->wanted || field->ranks[i] == b.ranks[i]);
    }
    REQUIRE(task->wanted || field->sums.sse_after == b.sse_after);
    brute_free(&b);
}

/* Receives all available fields, and takes a second reference to every third one, to be released
 * later. */
static int receive_all(struct run *run)
{
    const struct gpume_field *field = NULL;
    int status;
    while ((status = gpume_receive(run->ctx, &field, 0)) == GPUME_OK) {
        REQUIRE(run->received < run->asked);
        compare(run, field);
        if (run->received++ % 3 == 0) {
            const struct gpume_field **keeper = &run->kept[run->received % KEPT_MAX];
            gpume_field_release(keeper);
            *keeper = gpume_field_ref(field);
        }
        gpume_field_release(&field);
    }
    return status;
}

static void send_next(struct run *run)
{
    const int64_t time_us = (100 + (int64_t)run->sent) * 1000;
    while (gpume_send_plane(run->ctx, &run->planes[run->sent], time_us) == GPUME_AGAIN) {
        receive_all(run);
        for (uint32_t i = 0; i < KEPT_MAX; i++) {
            gpume_field_release(&run->kept[i]);
        }
    }
    run->sent++;
}

/* Of 7 x 5 blocks: those at both ends of rows and in runs; none; and the last one. */
static const unsigned char wanted[3][35] = {
    {1, 1, 0, 0, 1, 0, 1, [13] = 1, 1, [23] = 1, 1}, {0}, {[34] = 1}};

static int ask(struct run *run, uint64_t target, uint64_t reference)
{
    struct gpume_task *task = &run->tasks[run->asked];
    *task = (struct gpume_task){
        .size = sizeof(*task), .target = target, .reference = reference, .tag = 7000 + run->asked};
    if (run->wants_few && run->asked % 4 > 0) {
        task->wanted = wanted[run->asked % 3];
    }
    int status;
    while ((status = gpume_search(run->ctx, task)) == GPUME_AGAIN) {
        receive_all(run);
    }
    run->asked += status == GPUME_OK;
    return status;
}

/* Any pairs within reach, in any order, several per frame and none for some. */
static void test_random(uint32_t distance, uint64_t seed, bool wants_few)
{
    struct run run;

    open_run(&run, distance);
    run.wants_few = wants_few;
    while (run.sent < FRAMES) {
        send_next(&run);
        const uint32_t reach = run.sent < distance + 1 ? run.sent : distance + 1;
        for (uint32_t i = harness_random(&seed) % 6; i > 0; i--) {
            const uint64_t newest = 100 + run.sent - 1;
            const uint64_t target = newest - harness_random(&seed) % reach;
            REQUIRE_EQUAL(ask(&run, target, newest - harness_random(&seed) % reach), 0);
        }
    }
    REQUIRE_EQUAL(gpume_finish(run.ctx), GPUME_OK);
    int status = GPUME_AGAIN;
    while (status == GPUME_AGAIN) {
        status = receive_all(&run);
        for (uint32_t i = 0; i < KEPT_MAX; i++) {
            gpume_field_release(&run.kept[i]);
        }
    }
    REQUIRE_EQUAL(status, GPUME_EOF);
    REQUIRE_EQUAL(run.received, run.asked);
    close_run(&run);
}

static void test_refusals(void)
{
    struct run run;
    open_run(&run, 2);
    struct gpume_task task = {.size = sizeof(task), .target = 100, .reference = 100};
    REQUIRE_EQUAL(gpume_search(NULL, &task), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_search(run.ctx, NULL), GPUME_INVALID);
    REQUIRE_EQUAL(ask(&run, 100, 100), GPUME_INVALID); /* nothing has been sent */
    for (uint32_t i = 0; i < 4; i++) {
        send_next(&run);
    }
    REQUIRE_EQUAL(ask(&run, 103, 100), GPUME_INVALID); /* too old */
    REQUIRE_EQUAL(ask(&run, 104, 103), GPUME_INVALID); /* not sent yet */
    REQUIRE_EQUAL(ask(&run, 103, 99), GPUME_INVALID);
    task.size = 0;
    REQUIRE_EQUAL(gpume_search(run.ctx, &task), GPUME_INVALID);
    REQUIRE_EQUAL(ask(&run, 101, 103), GPUME_OK);
    REQUIRE_EQUAL(gpume_finish(run.ctx), GPUME_OK);
    REQUIRE_EQUAL(ask(&run, 103, 102), GPUME_INVALID); /* finished */
    REQUIRE_EQUAL(receive_all(&run), GPUME_EOF);
    close_run(&run);
    struct gpume_params params = params_of(1);
    params.direction = GPUME_DIRECTION_PAST;
    gpume *ctx = NULL;
    task = (struct gpume_task){.size = sizeof(task), .target = 100, .reference = 100};
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_OK);
    REQUIRE_EQUAL(gpume_search(ctx, &task), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    params = params_of(1);
    params.target_count = 3;
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_INVALID);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "vulkan") == 0) {
        backend = GPUME_BACKEND_VULKAN;
        vulkan_probe_or_skip(false);
    }
    for (uint32_t distance = 1; distance <= 5; distance += 2) {
        test_random(distance, distance, false);
    }
    test_random(2, 2, true);
    test_refusals();
    return harness_verdict();
}
