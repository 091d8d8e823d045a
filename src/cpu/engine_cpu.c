/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU engine: an exact search (search.h) on a thread pool. Submitting queues the steps of a
 * frame's work (job.h), collecting takes part in them until the frame's field is complete; threads
 * meanwhile go on with the frames behind it. Called from the pipeline's thread only. It is also
 * what --check compares with.
 */
#include "cpu/engine_cpu.h"

#include "base/grid.h"
#include "base/status.h"
#include "cpu/ceiling.h"
#include "cpu/job.h"
#include "cpu/rank.h"
#include "frame/stats.h"

#include <stdio.h>
#include <stdlib.h>

#define WIDE 1024u /* candidates a block from which elimination nearly always wins */
#define STEPS_MAX (GPUME_BOX_LEVELS + 5u) /* of a job */
#define AHEAD                                                                                      \
    2u /* padded frames beyond those that a field may look at: a field may begin before the one    \
          before it is over, and few frames stay in the cache */

struct cpu {
    struct gpume_job_shared shared;
    struct gpume_workers *workers;
    void **frames;   /* pool */
    void **padded;   /* ring */
    void **filtered; /* likewise, what is searched; NULL: the same */
    uint32_t ring;
    const struct gpume_step **readers; /* by place in the ring: the last that reads what is there */
    struct gpume_job *jobs;            /* slots */
    struct gpume_chooser chooser;
    struct gpume_stats stats; /* times of all threads together */
    uint64_t bytes;
    char device[64];
    /* for the next job: the last steps of their kind, and the last search that used box sums; or
     * NULL */
    const struct gpume_step *last_pad, *last_filter, *last_search, *last_rank, *last_measure;
    const struct gpume_step *last_sieved;
    uint64_t tasks; /* submitted so far */
};

/* Counts what the run takes; NULL when memory has run out. */
static void *allocate(struct cpu *cpu, uint64_t count, uint64_t size)
{
    if (size > 0 && count > SIZE_MAX / size) { /* 32-bit hosts */
        return NULL;
    }
    cpu->bytes += count * size;
    return calloc((size_t)count, (size_t)size);
}

static int allocate_job(struct cpu *cpu, struct gpume_job *job)
{
    const struct gpume_plan *plan = &cpu->shared.plan;
    job->vectors = allocate(cpu, plan->blocks, sizeof(*job->vectors));
    job->costs = allocate(cpu, plan->blocks, sizeof(*job->costs));
    job->ranks = allocate(cpu, plan->blocks, sizeof(*job->ranks));
    job->items = allocate(cpu, gpume_job_items(&cpu->shared), sizeof(*job->items));
    job->box_ns = allocate(cpu, gpume_job_box_items(&cpu->shared), sizeof(*job->box_ns));
    bool complete = job->vectors && job->costs && job->ranks && job->items && job->box_ns;
    if (plan->params.want_predicted) {
        job->predicted = allocate(cpu, plan->plane_bytes, 1);
        complete = complete && job->predicted;
    }
    gpume_job_init(job, &cpu->shared);
    return complete ? GPUME_OK : GPUME_NOMEM;
}

static int allocate_ring(struct cpu *cpu, void ***ring)
{
    uint64_t bytes = cpu->shared.plan.padded_bytes + GPUME_SEARCH_SLACK_BYTES;
    *ring = allocate(cpu, cpu->ring, sizeof(**ring));
    for (uint32_t i = 0; *ring && i < cpu->ring; i++) {
        (*ring)[i] = allocate(cpu, bytes, 1);
        if (!(*ring)[i]) {
            return GPUME_NOMEM;
        }
    }
    return *ring ? GPUME_OK : GPUME_NOMEM;
}

static void free_ring(const struct cpu *cpu, void **ring)
{
    for (uint32_t i = 0; ring && i < cpu->ring; i++) {
        free(ring[i]);
    }
    free(ring);
}

static int allocate_boxes(struct cpu *cpu)
{
    struct gpume_boxes *boxes = &cpu->shared.boxes;
    if (cpu->shared.search->box_row && !cpu->shared.plan.params.no_elimination) {
        *boxes = gpume_boxes_plan(&cpu->shared.plan);
    }
    for (uint32_t i = 0; i < boxes->levels; i++) {
        boxes->sums[i] = allocate(cpu, gpume_boxes_entries(boxes), sizeof(uint16_t));
        if (!boxes->sums[i]) {
            return GPUME_NOMEM;
        }
    }
    return GPUME_OK;
}

/* Once the workers are there: they decide how the work is cut. */
static int allocate_all(struct cpu *cpu)
{
    const struct gpume_plan *plan = &cpu->shared.plan;
    gpume_job_cut(&cpu->shared, gpume_workers_count(cpu->workers));
    int status;
    cpu->ring = plan->reach + AHEAD;
    GPUME_TRY(allocate_ring(cpu, &cpu->padded));
    if (gpume_plan_filters(plan)) {
        GPUME_TRY(allocate_ring(cpu, &cpu->filtered));
    }
    GPUME_TRY(allocate_boxes(cpu));
    gpume_chooser_init(&cpu->chooser, cpu->shared.boxes.levels > 0, plan->candidates >= WIDE,
        gpume_job_items(&cpu->shared));
    cpu->frames = allocate(cpu, plan->pool, sizeof(*cpu->frames));
    cpu->shared.scratch =
        allocate(cpu, plan->blocks, GPUME_RANK_SCRATCH_WORDS * sizeof(*cpu->shared.scratch));
    cpu->jobs = allocate(cpu, plan->slots, sizeof(*cpu->jobs));
    cpu->readers = allocate(cpu, cpu->ring, sizeof(*cpu->readers));
    if (!cpu->frames || !cpu->shared.scratch || !cpu->jobs || !cpu->readers) {
        return GPUME_NOMEM;
    }
    for (uint32_t i = 0; i < plan->slots; i++) {
        GPUME_TRY(allocate_job(cpu, &cpu->jobs[i]));
    }
fail:
    return status;
}

static int cpu_close(void **engine)
{
    struct cpu *cpu = *engine;
    if (!cpu) {
        return GPUME_OK;
    }
    *engine = NULL;
    gpume_workers_destroy(&cpu->workers);
    for (uint32_t i = 0; cpu->frames && i < cpu->shared.plan.pool; i++) {
        free(cpu->frames[i]);
    }
    free_ring(cpu, cpu->padded);
    free_ring(cpu, cpu->filtered);
    for (uint32_t i = 0; cpu->jobs && i < cpu->shared.plan.slots; i++) {
        free(cpu->jobs[i].vectors);
        free(cpu->jobs[i].costs);
        free(cpu->jobs[i].ranks);
        free(cpu->jobs[i].predicted);
        free(cpu->jobs[i].items);
        free(cpu->jobs[i].box_ns);
    }
    for (uint32_t i = 0; i < cpu->shared.boxes.levels; i++) {
        free(cpu->shared.boxes.sums[i]);
    }
    free(cpu->frames);
    free(cpu->jobs);
    free(cpu->readers);
    free(cpu->shared.scratch);
    free(cpu);
    return GPUME_OK;
}

int gpume_engine_cpu_open(void **engine, const struct gpume_params *params,
    const struct gpume_log *log, struct gpume_plan *plan, const struct gpume_search *search)
{
    static const struct gpume_caps caps = {
        .window_bytes = UINT64_MAX, .align_bytes = 64, .batch_max = 1, .batch_work = 1ull << 32};
    void *opened = calloc(1, sizeof(struct cpu));
    struct cpu *cpu = opened;
    if (!cpu) {
        return gpume_log_nomem(log, "the CPU engine");
    }
    cpu->shared.search = search;
    int status;
    GPUME_TRY(gpume_plan_make(params, &caps, log, &cpu->shared.plan));
    status = gpume_workers_create(&cpu->workers, params->threads);
    if (status == GPUME_AGAIN) {
        status = gpume_log_no_thread(log);
        goto fail;
    }
    if (status == GPUME_OK) {
        status = allocate_all(cpu);
    }
    if (status != GPUME_OK) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "out of memory: the CPU engine needs %llu MiB for %ux%u; use fewer threads",
            (unsigned long long)(cpu->bytes >> 20) + 1, params->width, params->height);
        goto fail;
    }
    snprintf(cpu->device, sizeof(cpu->device), "%u thread%s", gpume_workers_count(cpu->workers),
        gpume_workers_count(cpu->workers) == 1 ? "" : "s");
    *plan = cpu->shared.plan;
    *engine = cpu;
    return GPUME_OK;
fail:
    cpu_close(&opened);
    return status;
}

static int cpu_open(void **engine, const struct gpume_params *params, const struct gpume_log *log,
    struct gpume_plan *plan)
{
    const struct gpume_search *search = gpume_search_select(params->search);
    if (!search) {
        return GPUME_UNSUPPORTED; /* lib.c has told why */
    }
    int status = gpume_engine_cpu_open(engine, params, log, plan, search);
    if (status == GPUME_OK) {
        const struct cpu *cpu = *engine;
        status = gpume_plan_check_memory(
            params, cpu->bytes + plan->pool * plan->plane_bytes, cpu->shared.boxes.levels > 0, log);
    }
    if (status != GPUME_OK) {
        cpu_close(engine);
    }
    return status;
}

static int cpu_list_searches(
    const char *device, struct gpume_search_info *searches, uint32_t *count)
{
    (void)device;
    const struct gpume_search *search;
    for (*count = 0; (search = gpume_search_at(*count)); (*count)++) {
        searches[*count] = (struct gpume_search_info){.backend = GPUME_BACKEND_CPU,
            .available = search->available(),
            .automatic = search == gpume_search_select(NULL)};
        snprintf(searches[*count].name, sizeof(searches->name), "%s", search->name);
        snprintf(searches[*count].summary, sizeof(searches->summary), "%s", search->summary);
    }
    return GPUME_OK;
}

static void *cpu_frame_memory(void *engine, uint32_t index)
{
    struct cpu *cpu = engine;
    if (!cpu->frames[index]) { /* not at open: the check engine never asks for any */
        cpu->frames[index] = allocate(cpu, cpu->shared.plan.plane_bytes, 1);
    }
    return cpu->frames[index];
}

static void *ring_frame(const struct cpu *cpu, uint64_t sequence)
{
    return cpu->padded[sequence % cpu->ring];
}

/* The frame that is searched in its place. */
static void *searched_frame(const struct cpu *cpu, uint64_t sequence)
{
    return (cpu->filtered ? cpu->filtered : cpu->padded)[sequence % cpu->ring];
}

/* The last step of the last frame by itself, after which it and all before it can be searched. */
static const struct gpume_step *last_ready(const struct cpu *cpu)
{
    return cpu->filtered ? cpu->last_filter : cpu->last_pad;
}

/* Is the search of an earlier task over before the next one that uses box sums begins? It used them
 * too, or it is the last one, for which that one waits. */
static bool ends_before_next(const struct cpu *cpu, const struct gpume_job *job)
{
    return job->field.boxes || &job->search == cpu->last_search;
}

/* The vectors of the most recent task whose reference lies as far from its target as this one's,
 * among those that the slots still hold; or NULL. */
static const struct gpume_vector *hints_for(const struct cpu *cpu, const struct gpume_task *task)
{
    const struct gpume_job *latest = NULL;
    for (uint32_t i = 0; i < cpu->shared.plan.slots; i++) {
        const struct gpume_job *job = &cpu->jobs[i];
        bool alike = job->number > 0 &&
                     job->task.reference - job->task.target == task->reference - task->target;
        bool later = !latest || job->number > latest->number;
        latest = alike && later && ends_before_next(cpu, job) ? job : latest;
    }
    return latest ? latest->vectors : NULL;
}

/* A field without box sums may overlap with the one before it. With them it waits for that, and
 * later ones wait for it: they may use its sums or write over its hints. Gives the number of steps.
 */
static uint32_t prepare_field(struct cpu *cpu, struct gpume_job *job, const struct gpume_task *task,
    struct gpume_step **steps)
{
    uint32_t count = 0;
    job->choice = gpume_chooser_next(&cpu->chooser);
    bool sieved = gpume_choice_needs_boxes(&job->choice);
    job->field.hints = sieved ? hints_for(cpu, task) : NULL;
    job->field.boxes = sieved ? &cpu->shared.boxes : NULL;
    job->task = *task;
    job->number = ++cpu->tasks;
    const struct gpume_step *before = last_ready(cpu);
    const struct gpume_step *other = sieved ? cpu->last_search : cpu->last_sieved;
    for (uint32_t i = 0; sieved && i < cpu->shared.boxes.levels; i++) {
        job->boxes[i].after[0] = before;
        job->boxes[i].after[1] = other;
        before = &job->boxes[i];
        other = NULL;
        steps[count++] = &job->boxes[i];
    }
    job->search.after[0] = before;
    job->search.after[1] = other;
    steps[count++] = &job->search;
    job->rank.after[0] = &job->search;
    job->rank.after[1] = cpu->last_rank; /* they share their scratch memory */
    steps[count++] = &job->rank;
    job->measure.after[0] = &job->search;
    job->measure.after[1] = cpu->last_measure; /* see prepare_frame */
    steps[count++] = &job->measure;
    cpu->last_search = &job->search;
    cpu->last_sieved = sieved ? &job->search : cpu->last_sieved;
    cpu->last_rank = &job->rank;
    cpu->last_measure = &job->measure;
    return count;
}

/* Before what of the last field a frame is made ready. One thread ranks: meanwhile another would
 * make all rows ready, and each thread shall have those in its cache that it searches. Alone a
 * thread has them all, and those of the last field still. */
static const struct gpume_step *ready_before(const struct cpu *cpu)
{
    return gpume_workers_count(cpu->workers) > 1 ? cpu->last_rank : NULL;
}

/* Whoever waits for one of these steps, or for one that measures, waits for all before it. */
static uint32_t prepare_frame(struct cpu *cpu, struct gpume_job *job, struct gpume_step **steps)
{
    uint64_t sequence = job->frame->sequence;
    uint32_t count = 0;
    job->padded = ring_frame(cpu, sequence);
    job->pad.after[0] = cpu->last_pad;
    job->pad.after[1] = cpu->readers[sequence % cpu->ring];
    job->pad.before = ready_before(cpu);
    steps[count++] = &job->pad;
    cpu->last_pad = &job->pad;
    if (cpu->filtered) {
        job->filtered = searched_frame(cpu, sequence);
        job->filter.after[0] = &job->pad;
        job->filter.after[1] = cpu->last_filter;
        job->filter.before = ready_before(cpu);
        steps[count++] = &job->filter;
        cpu->last_filter = &job->filter;
    }
    return count;
}

static int cpu_submit(void *engine, uint32_t slot, const struct gpume_batch *batch)
{
    struct cpu *cpu = engine;
    struct gpume_job *job = &cpu->jobs[slot];
    struct gpume_step *steps[STEPS_MAX];
    uint32_t count = 0;
    if (batch->frame_count > 0) {
        job->frame = batch->frames[0];
        count += prepare_frame(cpu, job, steps);
    }
    if (batch->field_count > 0) {
        const struct gpume_task *task = &batch->fields[0]->task;
        job->field.target = searched_frame(cpu, task->target);
        job->field.reference = searched_frame(cpu, task->reference);
        job->measured.target = ring_frame(cpu, task->target);
        job->measured.reference = ring_frame(cpu, task->reference);
        count += prepare_field(cpu, job, task, steps + count);
        cpu->readers[task->target % cpu->ring] = &job->measure;
        cpu->readers[task->reference % cpu->ring] = &job->measure;
    }
    gpume_workers_add(cpu->workers, steps, count);
    return GPUME_OK;
}

static void fill_field(
    const struct gpume_job *job, const struct gpume_sums *sums, struct gpume_field *field)
{
    const struct gpume_plan *plan = &job->shared->plan;
    field->vectors = job->vectors;
    field->costs = job->costs;
    field->ranks = job->ranks;
    field->sums = *sums;
    field->predicted = (struct gpume_plane){.data = job->predicted,
        .stride = plan->plane_stride,
        .width = plan->params.width,
        .height = plan->params.height,
        .bits = plan->params.bits};
}

/* Blocks that were searched without elimination have compared all they do not count. */
static void add_counts(
    struct gpume_stats *stats, uint64_t candidates, const struct gpume_search_counts *counts)
{
    uint64_t in_full = candidates - counts->candidates;
    stats->candidates += candidates;
    stats->past_blocks += counts->past_blocks + in_full;
    stats->past_parts += counts->past_parts + in_full;
}

static void complete_field(struct cpu *cpu, const struct gpume_job *job, struct gpume_field *field)
{
    struct gpume_job_item total = gpume_job_total(job);
    if (job->choice.probing) {
        struct gpume_probe probe = gpume_job_probe(job);
        gpume_chooser_learn(&cpu->chooser, &probe);
    }
    for (uint32_t i = 0; job->field.boxes && i < cpu->shared.boxes.levels; i++) {
        gpume_stats_add_ns(&cpu->stats, "match", job->boxes[i].busy_ns);
    }
    gpume_stats_add_ns(&cpu->stats, "match", job->search.busy_ns);
    gpume_stats_add_ns(&cpu->stats, "reduce", job->measure.busy_ns);
    gpume_stats_add_ns(&cpu->stats, "rank", job->rank.busy_ns);
    cpu->stats.fields++;
    add_counts(&cpu->stats, cpu->shared.plan.field_candidates, &total.counts);
    fill_field(job, &total.sums, field);
}

static int cpu_collect(void *engine, uint32_t slot, const struct gpume_batch *batch)
{
    struct cpu *cpu = engine;
    struct gpume_job *job = &cpu->jobs[slot];
    gpume_workers_wait(cpu->workers, &job->pad); /* those that it does not have are over */
    gpume_workers_wait(cpu->workers, &job->filter);
    gpume_workers_wait(cpu->workers, &job->measure);
    gpume_workers_wait(cpu->workers, &job->rank);
    if (batch->frame_count > 0) {
        gpume_stats_add_ns(&cpu->stats, "upload", job->pad.busy_ns + job->filter.busy_ns);
    }
    if (atomic_load(&cpu->shared.cancelled)) {
        return GPUME_CANCELLED; /* work items are missing: nothing to learn from */
    }
    if (batch->field_count > 0) {
        complete_field(cpu, job, &batch->fields[0]->field);
    }
    if (cpu->last_sieved == &job->search) {
        cpu->last_sieved = NULL; /* the slot's next job is none to wait for */
    }
    return GPUME_OK;
}

static void cpu_cancel(void *engine)
{
    struct cpu *cpu = engine;
    atomic_store(&cpu->shared.cancelled, true);
}

static void cpu_get_stats(void *engine, struct gpume_stats *stats)
{
    const struct cpu *cpu = engine;
    uint32_t threads = gpume_workers_count(cpu->workers);
    *stats = cpu->stats;
    for (uint32_t i = 0; i < stats->stage_count; i++) {
        stats->stages[i].ns /= threads;
    }
}

static void cpu_get_info(void *engine, struct gpume_info *info)
{
    const struct cpu *cpu = engine;
    info->backend = "cpu";
    info->device = cpu->device;
    info->driver = "";
    info->search = cpu->shared.search->name;
    info->eliminates = cpu->shared.boxes.levels > 0;
    info->host_bytes = cpu->bytes;
}

const struct gpume_engine_ops gpume_engine_cpu = {
    .list_searches = cpu_list_searches,
    .measure_ceiling = gpume_ceiling_measure,
    .open = cpu_open,
    .frame_memory = cpu_frame_memory,
    .submit = cpu_submit,
    .collect = cpu_collect,
    .cancel = cpu_cancel,
    .get_stats = cpu_get_stats,
    .get_info = cpu_get_info,
    .close = cpu_close,
};
