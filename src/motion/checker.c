/* SPDX-License-Identifier: BSD-2-Clause */
#include "motion/checker.h"

#include "base/grid.h"
#include "base/status.h"
#include "motion/engine_cpu.h"

#include <stdlib.h>

struct gpume_checker {
    void *engine;
    struct gpume_plan plan;
    const struct gpume_log *log;
    struct gpume_field_box box;
    bool told; /* the first mismatch has been logged */
};

int gpume_checker_open(
    struct gpume_checker **out, const struct gpume_params *params, const struct gpume_log *log)
{
    struct gpume_checker *checker = calloc(1, sizeof(*checker));
    if (!checker) {
        return gpume_log_nomem(log, "--check");
    }
    struct gpume_params plain = *params;
    plain.want_predicted = false;
    plain.want_frames = false;
    checker->log = log;
    int status =
        gpume_engine_cpu_open(&checker->engine, &plain, log, &checker->plan, &gpume_search_plain);
    if (status != GPUME_OK) {
        free(checker);
        return status;
    }
    *out = checker;
    return GPUME_OK;
}

static void tell(struct gpume_checker *checker, const struct gpume_field *field, uint32_t block)
{
    const struct gpume_field *expected = &checker->box.field;
    if (checker->told) {
        return;
    }
    checker->told = true;
    gpume_log_write(checker->log, GPUME_LOG_WARNING,
        "frame %llu, block %u: vector (%d,%d) cost %u, the reference has (%d,%d) cost %u",
        (unsigned long long)field->frame, block, field->vectors[block].dx, field->vectors[block].dy,
        field->costs[block], expected->vectors[block].dx, expected->vectors[block].dy,
        expected->costs[block]);
}

static void compare(struct gpume_checker *checker, struct gpume_field *field)
{
    const struct gpume_field *expected = &checker->box.field;
    field->checked = checker->plan.blocks;
    field->matched = 0;
    for (uint32_t i = 0; i < checker->plan.blocks; i++) {
        bool same = field->vectors[i].dx == expected->vectors[i].dx &&
                    field->vectors[i].dy == expected->vectors[i].dy &&
                    field->costs[i] == expected->costs[i];
        field->matched += same;
        if (!same) {
            tell(checker, field, i);
        }
    }
}

static int run(struct gpume_checker *checker, const struct gpume_batch *batch)
{
    int status = gpume_engine_cpu.submit(checker->engine, 0, batch);
    return status == GPUME_OK ? gpume_engine_cpu.collect(checker->engine, 0, batch) : status;
}

static int take_frame(struct gpume_checker *checker, struct gpume_frame *frame)
{
    return run(checker, &(struct gpume_batch){.frames = {frame}, .frame_count = 1});
}

static int check_field(struct gpume_checker *checker, struct gpume_field_box *box)
{
    checker->box.pair = box->pair;
    int status = run(checker, &(struct gpume_batch){.fields = {&checker->box}, .field_count = 1});
    if (status == GPUME_OK) {
        compare(checker, &box->field);
    }
    return status;
}

/* This engine keeps few frames: each comes just before the first field that looks at it. */
int gpume_checker_batch(struct gpume_checker *checker, const struct gpume_batch *batch)
{
    uint32_t frame = 0;
    int status = GPUME_OK;
    for (uint32_t i = 0; status == GPUME_OK && i < batch->field_count; i++) {
        const struct gpume_pair *pair = &batch->fields[i]->pair;
        uint64_t newest = gpume_max_u64(pair->target, pair->reference);
        while (frame < batch->frame_count && batch->frames[frame]->sequence <= newest) {
            GPUME_TRY(take_frame(checker, batch->frames[frame++]));
        }
        status = check_field(checker, batch->fields[i]);
    }
    while (status == GPUME_OK && frame < batch->frame_count) {
        status = take_frame(checker, batch->frames[frame++]);
    }
fail:
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
