/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Vulkan engine accepts any tasks whose frames it holds, in any order: frames shared by tasks,
 * a frame searched in itself, a task twice. The result of task i is field i. With and without
 * pruning, with a filter, and in submissions that use frames of earlier ones. Skips without a
 * Vulkan driver.
 */
#include "brute.h"
#include "gpu/engine_gpu.h"
#include "harness.h"
#include "synth.h"
#include "vulkan_probe.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES 6u
#define SEED 20060923u

struct run {
    struct gpume_params params;
    struct gpume_plan plan;
    void *engine;
    struct gpume_plane planes[FRAMES];
    struct gpume_frame frames[FRAMES];
};

static void on_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "  log: %s\n", line);
    }
}

static void fill_frame(struct run *run, uint32_t index)
{
    const struct gpume_plane *from = &run->planes[index];
    uint8_t *to = gpume_engine_gpu.frame_memory(run->engine, index);
    REQUIRE(to);
    for (uint32_t y = 0; y < from->height; y++) {
        memcpy(to + (size_t)y * run->plan.plane_stride,
            (const uint8_t *)from->data + (ptrdiff_t)y * from->stride, from->width);
    }
    run->frames[index] =
        (struct gpume_frame){.sequence = index, .pool_index = index, .home = run->engine};
}

static void check_field(
    const struct run *run, const struct gpume_task *task, const struct gpume_field_box *box)
{
    struct brute b =
        brute_field(&run->params, &run->planes[task->target], &run->planes[task->reference]);
    for (uint32_t i = 0; i < b.blocks; i++) {
        REQUIRE_EQUAL(box->results.costs[i], b.costs[i]);
        REQUIRE_EQUAL(box->results.vectors[i].dx, b.dx[i]);
        REQUIRE_EQUAL(box->results.vectors[i].dy, b.dy[i]);
        REQUIRE_EQUAL(box->results.ranks[i], b.ranks[i]);
    }
    REQUIRE_EQUAL(box->field.sums.zero, b.zero);
    REQUIRE_EQUAL(box->field.sums.sad_after, b.sad_after);
    REQUIRE_EQUAL(box->field.sums.sse_before, b.sse_before);
    brute_free(&b);
}

/* Submits frames first .. first + count - 1 and the tasks, and checks every field. */
static void submit(struct run *run, uint32_t first, uint32_t count, const struct gpume_task *tasks,
    uint32_t task_count)
{
    static struct gpume_field_box boxes[GPUME_BATCH_MAX];
    struct gpume_submission batch = {.frame_count = count, .field_count = task_count};
    for (uint32_t i = 0; i < count; i++) {
        batch.frames[i] = &run->frames[first + i];
    }
    for (uint32_t i = 0; i < task_count; i++) {
        boxes[i] = (struct gpume_field_box){.task = tasks[i]};
        batch.fields[i] = &boxes[i];
    }
    REQUIRE_EQUAL(gpume_engine_gpu.submit(run->engine, 0, &batch), GPUME_OK);
    REQUIRE_EQUAL(gpume_engine_gpu.collect(run->engine, 0, &batch), GPUME_OK);
    for (uint32_t i = 0; i < task_count; i++) {
        check_field(run, &tasks[i], &boxes[i]);
    }
}

static void check(uint32_t window, bool prune, const struct gpume_prefilter *prefilter)
{
    static const struct gpume_task early[] = {{.target = 1, .reference = 0},
        {.target = 0, .reference = 1}, {.target = 1, .reference = 1}},
                                   late[] = {{.target = 5, .reference = 2},
                                       {.target = 0, .reference = 4}, {.target = 3, .reference = 3},
                                       {.target = 4, .reference = 0}, {.target = 5, .reference = 2},
                                       {.target = 2, .reference = 5},
                                       {.target = 1, .reference = 5}};
    const struct gpume_log log = {.fn = on_log};
    const struct gpume_engine_gpu_rules rules = {.force_pruning = prune};
    struct run run = {0};
    gpume_params_default(&run.params);
    run.params.backend = GPUME_BACKEND_VULKAN;
    run.params.width = 45;
    run.params.height = 40;
    run.params.window_x = run.params.window_y = window;
    run.params.ref_distance = FRAMES;
    run.params.prefilter = prefilter;
    REQUIRE_EQUAL(
        gpume_engine_gpu_open_with(&run.engine, &run.params, &log, &rules, &run.plan), GPUME_OK);
    REQUIRE(run.plan.batch >= 7 && run.plan.ring >= FRAMES && run.plan.pool >= FRAMES);
    for (uint32_t i = 0; i < FRAMES; i++) {
        run.planes[i] = synth_plane(run.params.width, run.params.height, 8);
        synth_fill(&run.planes[i], i % 2 ? SYNTH_TIES : SYNTH_PAN, i, SEED);
        fill_frame(&run, i);
    }
    submit(&run, 0, 2, early, 3);
    submit(&run, 2, 4, late, 7);
    submit(&run, 0, 0, late, 7); /* not pruned */
    submit(&run, 0, 0, early, 3);
    REQUIRE_EQUAL(gpume_engine_gpu.close(&run.engine), GPUME_OK);
    for (uint32_t i = 0; i < FRAMES; i++) {
        free(run.planes[i].data);
    }
}

int main(void)
{
    static const struct gpume_prefilter box = {
        .kind = GPUME_PREFILTER_BOX, .width = 3, .height = 3};
    vulkan_probe_or_skip(false);
    check(7, false, NULL);
    check(7, true, NULL);
    check(16, true, NULL);
    check(16, true, &box);
    return harness_verdict();
}
