/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/trial.h"

#include "base/grid.h"
#include "base/status.h"

#include <stdlib.h>

#define RUNS 4u        /* of each contender; the best counts, as clocks rise on the way */
#define SIDE_MAX 2048u /* pixels */
#define FIELDS 8u      /* at a time, to fill a large device */

/* Pixel differences a run, about: 1 ms on a large device. */
#define TRIAL_WORK (1ull << 34)
#define BLOCKS_MIN 2048u /* fewer do not fill a large device: such a trial would mislead */
#define LONG_RUN_NS 10000000u
#define TRIAL_NS 400000000u /* of device time, all together, about */

#define FRAMES 2u

struct trial {
    struct gpume_plan plan; /* of the small picture */
    struct gpume_layout layout;
    struct gpume_kernel upload;
    struct gpume_timeline timeline;
    struct gpume_slot slot;
    struct gpume_buffer uploads[FRAMES], ring, results, scratch;
    struct gpume_task tasks[FIELDS];
    struct gpume_work work;
    uint64_t spent_ns; /* by the contenders so far */
};

static uint64_t work_of(const struct gpume_plan *plan)
{
    return (uint64_t)plan->params.width * plan->params.height * plan->candidates;
}

/* The same search on a part of the picture: of BLOCKS_MIN blocks at least, however long that takes,
 * so far as the picture has them. */
static int make_plan(
    const struct gpume_plan *whole, const struct gpume_log *log, struct gpume_plan *plan)
{
    static const struct gpume_caps caps = {.window_bytes = UINT64_MAX,
        .align_bytes = 256,
        .batch_max = FIELDS,
        .batch_work = TRIAL_WORK};
    struct gpume_params p = whole->params;
    p.width = (uint32_t)gpume_min_u64(p.width, SIDE_MAX);
    p.height = (uint32_t)gpume_min_u64(p.height, SIDE_MAX);
    p.ref_distance = 1;
    p.direction = GPUME_DIRECTION_PAST;
    p.want_predicted = p.want_frames = false;
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

static int create_memory(struct gpume_gpu *gpu, struct trial *t)
{
    static const struct gpume_sieve_rule never = {.candidates_min = UINT64_MAX};
    int status;
    t->layout = gpume_layout_make(&t->plan, &never, 0);
    for (uint32_t i = 0; i < FRAMES; i++) {
        GPUME_TRY(
            gpume_buffer_create(gpu, GPUME_BUFFER_UPLOAD, t->plan.plane_bytes, &t->uploads[i]));
        fill_noise(&t->plan, &t->uploads[i], i + 1);
    }
    GPUME_TRY(gpume_buffer_create(
        gpu, GPUME_BUFFER_DEVICE, t->plan.padded_bytes * t->plan.ring, &t->ring));
    GPUME_TRY(gpume_buffer_create(gpu, GPUME_BUFFER_DEVICE, t->layout.results_bytes, &t->results));
    GPUME_TRY(gpume_buffer_create(gpu, GPUME_BUFFER_DEVICE, t->layout.scratch_bytes, &t->scratch));
    for (uint32_t i = 0; i < t->plan.batch; i++) {
        t->tasks[i] = (struct gpume_task){.target = i + 1, .reference = i};
    }
    t->work = (struct gpume_work){
        .gpu = gpu,
        .plan = &t->plan,
        .layout = &t->layout,
        .slot = &t->slot,
        .uploads = t->uploads,
        .ring = &t->ring,
        .results = &t->results,
        .scratch = &t->scratch,
        .tasks = t->tasks,
        .task_count = t->plan.batch,
    };
fail:
    return status;
}

/* The time that the match stage takes for a field; match NULL: only brings the frames. */
static int run(struct trial *t, const struct gpume_match *match, uint64_t *ns)
{
    uint64_t stage_ns[GPUME_STAGE_COUNT] = {0};
    int status;
    gpume_slot_begin(&t->slot);
    gpume_work_write_tasks(&t->work);
    gpume_barrier_from_earlier_slots(&t->slot);
    for (uint32_t i = 0; !match && i < t->plan.ring; i++) {
        gpume_k_upload_record(&t->work, &t->upload, i % FRAMES, i);
    }
    gpume_slot_stage_done(&t->slot, GPUME_STAGE_UPLOAD);
    if (match) {
        gpume_k_match_record(&t->work, match);
        gpume_slot_stage_done(&t->slot, GPUME_STAGE_MATCH);
    }
    GPUME_TRY(gpume_slot_submit(&t->slot, &t->timeline));
    GPUME_TRY(gpume_slot_wait(&t->slot, &t->timeline, stage_ns));
    *ns = stage_ns[GPUME_STAGE_MATCH] / t->plan.batch;
fail:
    return status;
}

static int create(struct gpume_gpu *gpu, struct trial *t)
{
    uint64_t ns;
    int status;
    uint32_t binds = t->plan.ring * gpume_k_upload_binds(&t->plan) + GPUME_K_BAND_BINDS;
    GPUME_TRY(create_memory(gpu, t));
    GPUME_TRY(gpume_k_upload_create(gpu, &t->plan, &t->upload));
    GPUME_TRY(gpume_kernel_wait(gpu, &t->upload));
    GPUME_TRY(gpume_timeline_create(gpu, &t->timeline));
    GPUME_TRY(gpume_slot_create(gpu, binds, sizeof(struct gpume_task_table), &t->slot));
    GPUME_TRY(run(t, NULL, &ns));
fail:
    return status;
}

static void destroy(struct gpume_gpu *gpu, struct trial *t)
{
    gpume_slot_destroy(&t->slot);
    gpume_timeline_destroy(gpu, &t->timeline);
    gpume_kernel_destroy(gpu, &t->upload);
    struct gpume_buffer *all[] = {
        &t->uploads[0], &t->uploads[1], &t->ring, &t->results, &t->scratch};
    for (uint32_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        gpume_buffer_destroy(gpu, all[i]);
    }
}

static int run_one(
    struct trial *t, struct gpume_contender *contender, const struct gpume_match *match)
{
    uint64_t ns = 0;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < RUNS && ns < LONG_RUN_NS; i++) {
        GPUME_TRY(run(t, match, &ns));
        contender->ns = i == 0 ? ns : gpume_min_u64(contender->ns, ns);
        t->spent_ns += ns * t->plan.batch;
    }
fail:
    return status;
}

/* All are compiled at a time, each in a thread of its own. */
static int run_all(struct trial *t, struct gpume_contender *contenders, struct gpume_match *matches,
    uint32_t count)
{
    struct gpume_gpu *gpu = t->work.gpu;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < count; i++) {
        GPUME_TRY(gpume_k_match_create(
            gpu, &t->plan, contenders[i].variant, &contenders[i].tile, false, &matches[i]));
    }
    for (uint32_t i = 0; i < count; i++) {
        GPUME_TRY(gpume_kernel_wait(gpu, &matches[i].tiles));
        GPUME_TRY(gpume_kernel_wait(gpu, &matches[i].quads));
    }
    for (uint32_t i = count; i > 0 && t->spent_ns < TRIAL_NS; i--) {
        GPUME_TRY(run_one(t, &contenders[i - 1], &matches[i - 1]));
    }
fail:
    return status;
}

int gpume_trial_run(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    struct gpume_contender *contenders, uint32_t count)
{
    struct trial trial = {0};
    int status = make_plan(plan, gpu->log, &trial.plan);
    if (status != GPUME_OK || (uint64_t)trial.plan.blocks * trial.plan.batch < BLOCKS_MIN / 2) {
        return status;
    }
    struct gpume_match *matches = calloc(count, sizeof(*matches));
    status = matches ? create(gpu, &trial) : gpume_log_nomem(gpu->log, "a trial of searches");
    if (status == GPUME_OK) {
        status = run_all(&trial, contenders, matches, count);
    }
    for (uint32_t i = 0; matches && i < count; i++) {
        gpume_k_match_destroy(gpu, &matches[i]);
    }
    destroy(gpu, &trial);
    free(matches);
    return status;
}
