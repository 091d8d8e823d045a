/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/checker.h"

#include "base/base.h"
#include "frame/engine.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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
        return gpume_log_nomem(log, "a second search");
    }
    struct gpume_params plain = *params;
    plain.want_predicted = false;
    plain.want_frames = false;
    plain.backend = GPUME_BACKEND_CPU;
    plain.device = plain.devices = NULL;
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

/* --- comparing */

#define ARRAY(member) offsetof(struct gpume_results, member)
#define ALWAYS SIZE_MAX
#define ENTRY_BYTES sizeof(uint32_t)

static_assert(sizeof(struct gpume_vector) == ENTRY_BYTES, "all arrays have entries of one size");

/* What a search finds for a block, in the arrays that the plan wants. */
static const struct {
    const char *name;
    size_t array;
    bool by_candidate;
    size_t where; /* where this array does not hold GPUME_NONE, or ALWAYS */
} findings[] = {
    {"cost", ARRAY(costs), true, ALWAYS},
    {"vector", ARRAY(vectors), true, ARRAY(costs)},
    {"bits", ARRAY(bits), true, ARRAY(costs)},
    {"reference", ARRAY(refs), false, ALWAYS},
    {"second reference", ARRAY(refs2), false, ALWAYS},
    {"second vector", ARRAY(vectors2), false, ARRAY(refs2)},
    {"number of ties", ARRAY(ties), false, ALWAYS},
    {"texture", ARRAY(texture), false, ALWAYS},
    {"partition", ARRAY(chosen), false, ALWAYS},
};

/* NULL: there is no such array. */
static const char *entry_of(const struct gpume_results *results, size_t array, size_t index)
{
    const char *entries;
    memcpy(&entries, (const char *)results + array, sizeof(entries));
    return entries ? entries + index * ENTRY_BYTES : NULL;
}

static bool is_none(const struct gpume_results *results, size_t array, size_t index)
{
    const uint32_t none = GPUME_NONE;
    return array != ALWAYS && memcmp(entry_of(results, array, index), &none, ENTRY_BYTES) == 0;
}

/* The name of the first finding that is not what the reference search has; NULL: there is none. */
static const char *find_difference(
    const struct gpume_checker *checker, const struct gpume_results *found, uint32_t block)
{
    const struct gpume_results *expected = &checker->box.results;
    for (size_t i = 0; i < sizeof(findings) / sizeof(*findings); i++) {
        const uint32_t candidates = findings[i].by_candidate ? checker->plan.kept : 1;
        for (uint32_t j = 0; j < candidates; j++) {
            const size_t index = (size_t)j * checker->plan.blocks + block;
            const char *wanted = entry_of(expected, findings[i].array, index);
            const char *entry = entry_of(found, findings[i].array, index);
            if (wanted && !is_none(expected, findings[i].where, index) &&
                (!entry || memcmp(entry, wanted, ENTRY_BYTES) != 0)) {
                return findings[i].name;
            }
        }
    }
    return NULL;
}

static void log_mismatch(struct gpume_checker *checker, const struct gpume_field_box *box,
    uint32_t block, const char *difference)
{
    const struct gpume_results *expected = &checker->box.results, *found = &box->results;
    if (checker->logged) {
        return;
    }
    checker->logged = true;
    gpume_log_write(checker->log, GPUME_LOG_WARNING,
        "frame %llu, block %u: another %s; vector (%d,%d) cost %u, the reference search has "
        "(%d,%d) cost %u",
        (unsigned long long)box->field.frame, block, difference, found->vectors[block].dx,
        found->vectors[block].dy, found->costs[block], expected->vectors[block].dx,
        expected->vectors[block].dy, expected->costs[block]);
}

static void compare(struct gpume_checker *checker, struct gpume_field_box *box)
{
    box->field.checked = checker->plan.blocks;
    box->field.matched = 0;
    for (uint32_t i = 0; i < checker->plan.blocks; i++) {
        const char *difference = find_difference(checker, &box->results, i);
        if (difference) {
            log_mismatch(checker, box, i, difference);
        }
        box->field.matched += !difference;
    }
}

/* --- searching again */

/* A field goes into the checker's box, with the predictors of the field that is checked. */
static int check_part(struct gpume_checker *checker, struct gpume_submission *part)
{
    struct gpume_field_box *box = part->field_count > 0 ? part->fields[0] : NULL;
    if (box) {
        checker->box.task = box->task;
        checker->box.predictors = box->predictors;
        part->fields[0] = &checker->box;
    }
    int status;
    GPUME_TRY(gpume_engine_cpu.submit(checker->engine, 0, part));
    GPUME_TRY(gpume_engine_cpu.collect(checker->engine, 0, part));
    if (box) {
        compare(checker, box);
    }
fail:
    return status;
}

/* A submission in parts of one frame or one task, since the reference takes no more at a time and
 * keeps few frames: each frame comes just before the first task that looks at it. */
struct parts {
    const struct gpume_submission *batch;
    uint32_t frame, field; /* the next ones */
};

static uint64_t newest_of(const struct gpume_task *task)
{
    uint64_t newest = gpume_max_u64(task->target, task->reference);
    for (uint32_t i = 0; i < task->more_count; i++) {
        newest = gpume_max_u64(newest, task->more[i]);
    }
    return newest;
}

/* False: there is no further part. */
static bool next_part(struct parts *parts, struct gpume_submission *part)
{
    const struct gpume_submission *batch = parts->batch;
    while (parts->field < batch->field_count && batch->fields[parts->field]->hidden) {
        parts->field++;
    }
    bool field_left = parts->field < batch->field_count;
    bool frame_left = parts->frame < batch->frame_count;
    if (field_left && frame_left) {
        const uint64_t newest = newest_of(&batch->fields[parts->field]->task);
        frame_left = batch->frames[parts->frame]->sequence <= newest;
    }
    *part = (struct gpume_submission){0};
    if (frame_left) {
        part->frames[part->frame_count++] = batch->frames[parts->frame++];
    } else if (field_left) {
        part->fields[part->field_count++] = batch->fields[parts->field++];
    }
    return frame_left || field_left;
}

int gpume_checker_batch(struct gpume_checker *checker, const struct gpume_submission *batch)
{
    struct parts parts = {.batch = batch};
    struct gpume_submission part;
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
