/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/checker.h"

#include "base/grid.h"
#include "base/status.h"
#include "frame/engine.h"

#include <stdlib.h>

struct gpume_checker {
    void *engine;
    struct gpume_plan plan;
    const struct gpume_log *log;
    struct gpume_field_box box;
    bool logged; /* the first mismatch */
};

int gpume_checker_open(
    struct gpume_checker **out, const struct gpume_params *params, const struct gpume_log *log)
{
    struct gpume_checker *checker = calloc(1, sizeof(*checker));
    if (!checker) {
        return gpume_log_nomem(log, "params.check");
    }
    struct gpume_params plain = *params;
    plain.want_predicted = false;
    plain.want_frames = false;
    plain.backend = GPUME_BACKEND_CPU;
    plain.search = "plain";
    plain.memory_max = 0; /* comes on top of what was allowed for the engine */
    checker->log = log;
    int status = gpume_engine_cpu.open(&checker->engine, &plain, log, &checker->plan);
    if (status != GPUME_OK) {
        free(checker);
        return status;
    }
    *out = checker;
    return GPUME_OK;
}

static void log_mismatch(
    struct gpume_checker *checker, const struct gpume_field *field, uint32_t block)
{
    const struct gpume_results *expected = &checker->box.results;
    if (checker->logged) {
        return;
    }
    checker->logged = true;
    gpume_log_write(checker->log, GPUME_LOG_WARNING,
        "frame %llu, block %u: vector (%d,%d) cost %u, the reference search has (%d,%d) cost %u",
        (unsigned long long)field->frame, block, field->vectors[block].dx, field->vectors[block].dy,
        field->costs[block], expected->vectors[block].dx, expected->vectors[block].dy,
        expected->costs[block]);
}

static void compare(struct gpume_checker *checker, struct gpume_field *field)
{
    const struct gpume_results *expected = &checker->box.results;
    field->checked = checker->plan.blocks;
    field->matched = 0;
    for (uint32_t i = 0; i < checker->plan.blocks; i++) {
        bool same = field->vectors[i].dx == expected->vectors[i].dx &&
                    field->vectors[i].dy == expected->vectors[i].dy &&
                    field->costs[i] == expected->costs[i];
        field->matched += same;
        if (!same) {
            log_mismatch(checker, field, i);
        }
    }
}

/* A field goes into a box of its own. */
static int check_part(struct gpume_checker *checker, struct gpume_batch *part)
{
    struct gpume_field_box *box = part->field_count > 0 ? part->fields[0] : NULL;
    if (box) {
        checker->box.task = box->task;
        part->fields[0] = &checker->box;
    }
    int status;
    GPUME_TRY(gpume_engine_cpu.submit(checker->engine, 0, part));
    GPUME_TRY(gpume_engine_cpu.collect(checker->engine, 0, part));
    if (box) {
        compare(checker, &box->field);
    }
fail:
    return status;
}

/* A submission in parts of one frame or one task, since the reference takes no more at a time and
 * keeps few frames: each frame comes just before the first task that looks at it. */
struct parts {
    const struct gpume_batch *batch;
    uint32_t frame, field; /* the next ones */
};

/* False: there is no further part. */
static bool next_part(struct parts *parts, struct gpume_batch *part)
{
    const struct gpume_batch *batch = parts->batch;
    bool field_left = parts->field < batch->field_count;
    bool frame_left = parts->frame < batch->frame_count;
    if (field_left && frame_left) {
        const struct gpume_task *pair = &batch->fields[parts->field]->task;
        uint64_t newest = gpume_max_u64(pair->target, pair->reference);
        frame_left = batch->frames[parts->frame]->sequence <= newest;
    }
    *part = (struct gpume_batch){0};
    if (frame_left) {
        part->frames[part->frame_count++] = batch->frames[parts->frame++];
    } else if (field_left) {
        part->fields[part->field_count++] = batch->fields[parts->field++];
    }
    return frame_left || field_left;
}

int gpume_checker_batch(struct gpume_checker *checker, const struct gpume_batch *batch)
{
    struct parts parts = {.batch = batch};
    struct gpume_batch part;
    int status = GPUME_OK;
    while (status == GPUME_OK && next_part(&parts, &part)) {
        status = check_part(checker, &part);
    }
    return status;
}

void gpume_checker_cancel(struct gpume_checker *checker)
{
    gpume_engine_cpu.cancel(checker->engine);
}

void gpume_checker_close(struct gpume_checker **out)
{
    struct gpume_checker *checker = *out;
    if (!checker) {
        return;
    }
    *out = NULL;
    gpume_engine_cpu.close(&checker->engine);
    free(checker);
}
