/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/trial.h"

#include "base/grid.h"
#include "base/status.h"
#include "gpu/plan_gpu.h"
#include "gpu/stages/stage.h"

#include <stdlib.h>

#define RUNS 4u        /* of each contender; the best counts, since clocks rise meanwhile */
#define SIDE_MAX 2048u /* pixels */
#define FIELDS 8u      /* at a time, to fill a large device */

/* Pixel differences per run, roughly: 1 ms on a large device. */
#define TRIAL_WORK (1ull << 34)
#define BLOCKS_MIN 2048u /* with fewer a large device is not busy, and a trial would mislead */
#define LONG_RUN_NS 10000000u
#define TRIAL_NS 400000000u /* of device time for all contenders, roughly */

#define FRAMES 2u

struct trial {
    struct gpume_gpu *gpu;
    struct gpume_plan_gpu planned; /* of the small picture */
    struct gpume_memory memory;
    struct gpume_gpu_stage upload;
    struct gpume_timeline timeline;
    struct gpume_slot slot;
    uint64_t spent_ns; /* by the contenders so far */
};

static uint64_t work_of(const struct gpume_plan *plan)
{
    return (uint64_t)plan->params.width * plan->params.height * plan->candidates;
}

/* The same search on a part of the picture, of at least BLOCKS_MIN blocks if the picture has them,
 * however long that takes. */
static int make_plan(const struct gpume_plan *whole, const struct gpume_shape *layer,
    const struct gpume_log *log, struct gpume_plan *plan)
{
    static const struct gpume_caps caps = {.window_bytes = UINT64_MAX,
        .align_bytes = 256,
        .batch_max = FIELDS,
        .batch_work = TRIAL_WORK};
    struct gpume_params p = whole->params;
    p.width = gpume_min_u32(p.width, SIDE_MAX);
    p.height = gpume_min_u32(p.height, SIDE_MAX);
    p.shape_count = 1;
    p.shapes[0] = (struct gpume_block_size){layer->block_w, layer->block_h};
    p.ref_distance = 1;
    p.distance_count = 0;
    p.direction = GPUME_DIRECTION_PAST;
    p.want_predicted = p.want_frames = false;
    p.prefilter = NULL;
    p.best_reference = p.bidirectional = false;
    p.subpel = 1; /* what is refined makes no difference to the search */
    p.refine_metric = GPUME_REFINE_BY_METRIC;
    int status = gpume_plan_make(&p, &caps, log, plan);
    while (status == GPUME_OK && work_of(plan) > TRIAL_WORK && plan->blocks >= 2 * BLOCKS_MIN) {
        *(p.width > p.height ? &p.width : &p.height) /= 2;
        status = gpume_plan_make(&p, &caps, log, plan);
    }
    return status;
}

static void fill_noise(const struct gpume_plan *plan, struct gpume_buffer *upload, uint32_t seed)
{
    uint32_t peak = (1u << plan->params.bits) - 1, state = seed;
    for (uint64_t i = 0; i < plan->plane_bytes / plan->sample_bytes; i++) {
        state = state * 1664525u + 1013904223u; /* Numerical Recipes' quick generator */
        uint32_t value = state >> 16 & peak;
        if (plan->sample_bytes == 2) {
            ((uint16_t *)upload->mapped)[i] = (uint16_t)value;
        } else {
            ((uint8_t *)upload->mapped)[i] = (uint8_t)value;
        }
    }
}

/* Two frames are enough, and nothing is read back. */
static int create_memory(struct trial *t)
{
    const struct gpume_plan *plan = &t->planned.plan;
    struct gpume_memory_needs *needs = &t->planned.needs;
    gpume_plan_gpu_needs(t->gpu, NULL, 1, &t->planned);
    needs->parts[GPUME_MEMORY_UPLOADS].count = FRAMES;
    needs->parts[GPUME_MEMORY_READBACK].count = 0;
    int status = gpume_memory_create(t->gpu, needs, &t->memory);
    for (uint32_t i = 0; status == GPUME_OK && i < FRAMES; i++) {
        fill_noise(plan, &t->memory.parts[GPUME_MEMORY_UPLOADS][i], i + 1);
    }
    return status;
}

static struct gpume_stage_setup setup_of(
    const struct trial *t, const struct gpume_match_choice *choice)
{
    return (struct gpume_stage_setup){
        .gpu = t->gpu,
        .plan = &t->planned.plan,
        .layout = &t->planned.layout,
        .choice = choice,
    };
}

/* Runs a stage over all frames of the ring or over as many tasks as a submission takes. ns: per
 * task, where it is the search. */
static int run(struct trial *t, const struct gpume_gpu_stage *stage, uint64_t *ns)
{
    const struct gpume_plan *plan = &t->planned.plan;
    struct gpume_frame *frames[FIELDS + 1];
    struct gpume_frame copies[FIELDS + 1];
    uint32_t uploads[FIELDS + 1];
    struct gpume_task tasks[FIELDS];
    for (uint32_t i = 0; i < plan->ring; i++) {
        copies[i] = (struct gpume_frame){.sequence = i};
        uploads[i] = i % FRAMES;
        frames[i] = &copies[i];
    }
    for (uint32_t i = 0; i < plan->batch; i++) {
        tasks[i] = (struct gpume_task){.target = i + 1, .reference = i};
    }
    const struct gpume_work work = {
        .plan = plan,
        .layout = &t->planned.layout,
        .memory = &t->memory,
        .slot = &t->slot,
        .frames = frames,
        .uploads = uploads,
        .frame_count = plan->ring,
        .tasks = tasks,
        .task_count = plan->batch,
    };
    uint64_t row_ns[GPUME_ROW_COUNT] = {0};
    int status;
    gpume_slot_begin(&t->slot);
    gpume_work_write_tasks(&work);
    gpume_barrier_kernel_to_kernel(&t->slot);
    gpume_slot_row_done(&t->slot, GPUME_ROW_UPLOAD);
    stage->ops->record(stage, &work);
    gpume_slot_row_done(&t->slot, GPUME_ROW_MATCH);
    GPUME_TRY(gpume_slot_submit(&t->slot, &t->timeline));
    GPUME_TRY(gpume_slot_wait(&t->slot, &t->timeline, row_ns));
    *ns = row_ns[GPUME_ROW_MATCH] / plan->batch;
fail:
    return status;
}

static int create(struct trial *t)
{
    struct gpume_stage_setup setup = setup_of(t, NULL);
    uint64_t ns;
    int status;
    GPUME_TRY(create_memory(t));
    GPUME_TRY(gpume_stage_create(&gpume_stage_upload, &setup, &t->upload));
    GPUME_TRY(gpume_stage_wait(&t->upload));
    GPUME_TRY(gpume_timeline_create(t->gpu, &t->timeline));
    GPUME_TRY(gpume_slot_create(t->gpu, t->planned.needs.binds + t->planned.plan.ring,
        sizeof(struct gpume_task_table), &t->slot));
    GPUME_TRY(run(t, &t->upload, &ns));
fail:
    return status;
}

static void destroy(struct trial *t)
{
    gpume_slot_destroy(&t->slot);
    gpume_timeline_destroy(t->gpu, &t->timeline);
    gpume_stage_destroy(&t->upload);
    gpume_memory_destroy(t->gpu, &t->planned.needs, &t->memory);
}

static int run_one(
    struct trial *t, struct gpume_contender *contender, const struct gpume_gpu_stage *match)
{
    uint64_t ns = 0;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < RUNS && ns < LONG_RUN_NS; i++) {
        GPUME_TRY(run(t, match, &ns));
        contender->ns = i == 0 ? ns : gpume_min_u64(contender->ns, ns);
        t->spent_ns += ns * t->planned.plan.batch;
    }
fail:
    return status;
}

/* A contender's match stage. */
struct entry {
    struct gpume_match_choice choice;
    struct gpume_gpu_stage match;
};

/* All are compiled at a time, each in a thread of its own. */
static int run_all(
    struct trial *t, struct gpume_contender *contenders, struct entry *entries, uint32_t count)
{
    int status = GPUME_OK;
    for (uint32_t i = 0; i < count; i++) {
        entries[i].choice = (struct gpume_match_choice){
            .variant = contenders[i].variant, .tile = contenders[i].tile};
        struct gpume_stage_setup setup = setup_of(t, &entries[i].choice);
        GPUME_TRY(gpume_stage_create(&gpume_stage_match, &setup, &entries[i].match));
    }
    for (uint32_t i = 0; i < count; i++) {
        GPUME_TRY(gpume_stage_wait(&entries[i].match));
    }
    for (uint32_t i = count; i > 0 && t->spent_ns < TRIAL_NS; i--) {
        GPUME_TRY(run_one(t, &contenders[i - 1], &entries[i - 1].match));
    }
fail:
    return status;
}

int gpume_trial_run(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, struct gpume_contender *contenders, uint32_t count)
{
    struct trial trial = {.gpu = gpu};
    const struct gpume_plan *small = &trial.planned.plan;
    int status = make_plan(plan, layer, gpu->log, &trial.planned.plan);
    if (status != GPUME_OK || (uint64_t)small->blocks * small->batch < BLOCKS_MIN / 2) {
        return status;
    }
    struct entry *entries = calloc(count, sizeof(*entries));
    status = entries ? create(&trial) : gpume_log_nomem(gpu->log, "a trial of searches");
    if (status == GPUME_OK) {
        status = run_all(&trial, contenders, entries, count);
    }
    for (uint32_t i = 0; entries && i < count; i++) {
        gpume_stage_destroy(&entries[i].match);
    }
    destroy(&trial);
    free(entries);
    return status;
}
