/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU engine: an exact search (search/search.h) on a thread pool. cpu_submit queues the steps
 * of a submission (steps.h). cpu_collect takes part in them until the submission's field is
 * complete, while the other threads go on with later submissions. All calls come from the
 * pipeline's thread. The same engine with the plain search is what --check compares with.
 */
#include "cpu/engine_cpu.h"

#include "base/grid.h"
#include "base/status.h"
#include "cpu/memory.h"
#include "cpu/rank.h"
#include "cpu/rings.h"
#include "cpu/steps.h"
#include "frame/stats.h"

#include <stdio.h>
#include <stdlib.h>

#define WIDE 1024u /* candidates per block from which elimination nearly always wins */
#define STEPS_MAX (GPUME_SURFACE_COUNT + GPUME_BOX_SIZES + 3 * GPUME_LAYERS_MAX)

/* The last step queued of each kind; NULL: none. */
struct latest {
    const struct gpume_step *surfaces[GPUME_SURFACE_COUNT];
    const struct gpume_step *search, *rank, *measure;
    const struct gpume_step *eliminating; /* the last search that uses box sums */
};

struct cpu {
    struct gpume_shared shared;
    struct gpume_workers *workers;
    void **frames; /* pool */
    struct gpume_rings rings;
    struct gpume_steps *slots;
    struct gpume_policy policies[GPUME_LAYERS_MAX];
    struct gpume_stats stats; /* times of all threads together */
    uint64_t bytes;           /* allocated */
    char device[64];
    uint64_t tasks; /* submitted so far */
    struct latest latest;
};

/* --- memory */

static int allocate_boxes(struct cpu *cpu)
{
    struct gpume_boxes *boxes = &cpu->shared.boxes;
    if (cpu->shared.search->box_row && !cpu->shared.plan.params.no_elimination) {
        *boxes = gpume_boxes_plan(&cpu->shared.plan);
    }
    for (uint32_t i = 0; i < boxes->levels; i++) {
        boxes->sums[i] = gpume_allocate(&cpu->bytes, gpume_boxes_entries(boxes), sizeof(uint16_t));
        if (!boxes->sums[i]) {
            return GPUME_NOMEM;
        }
    }
    return GPUME_OK;
}

static uint32_t largest_layer(const struct gpume_plan *plan)
{
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        blocks = gpume_max_u64(blocks, plan->layers[i].blocks);
    }
    return (uint32_t)blocks;
}

/* The number of workers decides how the layers are divided. */
static int allocate_all(struct cpu *cpu)
{
    const struct gpume_plan *plan = &cpu->shared.plan;
    int status;
    gpume_shared_divide(&cpu->shared, gpume_workers_count(cpu->workers));
    GPUME_TRY(gpume_rings_init(&cpu->rings, plan, &cpu->bytes));
    GPUME_TRY(allocate_boxes(cpu));
    cpu->frames = gpume_allocate(&cpu->bytes, plan->pool, sizeof(*cpu->frames));
    cpu->shared.scratch = gpume_allocate(
        &cpu->bytes, largest_layer(plan), GPUME_RANK_SCRATCH_WORDS * sizeof(*cpu->shared.scratch));
    cpu->slots = gpume_allocate(&cpu->bytes, plan->slots, sizeof(*cpu->slots));
    if (!cpu->frames || !cpu->shared.scratch || !cpu->slots) {
        return GPUME_NOMEM;
    }
    for (uint32_t i = 0; i < plan->slots; i++) {
        GPUME_TRY(gpume_steps_init(&cpu->slots[i], &cpu->shared, &cpu->bytes));
    }
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        gpume_policy_init(&cpu->policies[i], cpu->shared.boxes.levels > 0, plan->candidates >= WIDE,
            cpu->shared.divisions[i].items);
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
    gpume_rings_finish(&cpu->rings);
    for (uint32_t i = 0; cpu->slots && i < cpu->shared.plan.slots; i++) {
        gpume_steps_finish(&cpu->slots[i]);
    }
    for (uint32_t i = 0; i < cpu->shared.boxes.levels; i++) {
        free(cpu->shared.boxes.sums[i]);
    }
    free(cpu->frames);
    free(cpu->slots);
    free(cpu->shared.scratch);
    free(cpu);
    return GPUME_OK;
}

static int refuse_general(const struct gpume_plan *plan, const struct gpume_log *log)
{
    if (!plan->general) {
        return GPUME_OK;
    }
    gpume_log_write(log, GPUME_LOG_ERROR, "the general search is not built in");
    return GPUME_UNSUPPORTED;
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
    GPUME_TRY(refuse_general(&cpu->shared.plan, log));
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
        return GPUME_UNSUPPORTED; /* lib.c has logged why */
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
    if (!cpu->frames[index]) { /* not in cpu_open: the engine of --check never asks for any */
        cpu->frames[index] = gpume_allocate(&cpu->bytes, cpu->shared.plan.plane_bytes, 1);
    }
    return cpu->frames[index];
}

/* --- submitting */

/* Steps to queue, in this order. */
struct queue {
    struct gpume_step *steps[STEPS_MAX];
    uint32_t count;
};

static void append(struct queue *queue, struct gpume_step *step, const struct gpume_step *after,
    const struct gpume_step *and_after)
{
    step->after[0] = after;
    step->after[1] = and_after;
    queue->steps[queue->count++] = step;
}

/* With several threads the surfaces of a frame are queued before the last ranking. While one thread
 * ranks, the others would make all rows of the surfaces, and then each thread would not have those
 * in its cache that it searches. A single thread has all rows in its cache, and those of the last
 * field too: it ranks first. */
static const struct gpume_step *surfaces_before(const struct cpu *cpu)
{
    return gpume_workers_count(cpu->workers) > 1 ? cpu->latest.rank : NULL;
}

/* Each surface is made of the one before it, and the first of the frame, as soon as no step reads
 * what is overwritten. The last step that measures implies all searches before it. */
static void queue_surfaces(struct cpu *cpu, struct gpume_steps *steps, struct queue *queue)
{
    uint64_t sequence = steps->frame->sequence;
    const struct gpume_step *after = *gpume_rings_reader(&cpu->rings, sequence);
    for (uint32_t i = 0; i < GPUME_SURFACE_COUNT; i++) {
        if (cpu->shared.plan.has_surface[i]) {
            struct gpume_step *step = &steps->make[i];
            steps->surfaces[i] = gpume_rings_at(&cpu->rings, (enum gpume_surface)i, sequence);
            append(queue, step, after, cpu->latest.surfaces[i]);
            step->before = surfaces_before(cpu);
            cpu->latest.surfaces[i] = after = step;
        }
    }
}

/* When this step is complete, so are all surfaces queued so far. */
static const struct gpume_step *last_surface(const struct cpu *cpu)
{
    const struct gpume_step *last = NULL;
    for (uint32_t i = 0; i < GPUME_SURFACE_COUNT; i++) {
        last = cpu->shared.plan.has_surface[i] ? cpu->latest.surfaces[i] : last;
    }
    return last;
}

static const struct gpume_step *last_search(const struct cpu *cpu, const struct gpume_steps *steps)
{
    return &steps->layers[cpu->shared.plan.layer_count - 1].search;
}

/* Are the searches of an earlier task complete before the next task that uses box sums begins? They
 * used box sums too, or they are the last ones, which that task waits for. */
static bool ends_before_next(const struct cpu *cpu, const struct gpume_steps *steps)
{
    return steps->uses_boxes || last_search(cpu, steps) == cpu->latest.search;
}

/* The most recent task whose reference lies as far from its target as this one's: its vectors are
 * the hints. NULL: the slots hold none. */
static const struct gpume_steps *hints_for(const struct cpu *cpu, const struct gpume_task *task)
{
    const struct gpume_steps *latest = NULL;
    for (uint32_t i = 0; i < cpu->shared.plan.slots; i++) {
        const struct gpume_steps *steps = &cpu->slots[i];
        bool alike = steps->number > 0 &&
                     steps->task.reference - steps->task.target == task->reference - task->target;
        bool later = !latest || steps->number > latest->number;
        latest = alike && later && ends_before_next(cpu, steps) ? steps : latest;
    }
    return latest;
}

/* Where each layer finds its surfaces, and whether it is searched with elimination. */
static void prepare_task(struct cpu *cpu, struct gpume_steps *steps, const struct gpume_task *task)
{
    const struct gpume_plan *plan = &cpu->shared.plan;
    const struct gpume_steps *hints = hints_for(cpu, task);
    steps->uses_boxes = steps->probing = false;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        struct gpume_layer_steps *layer = &steps->layers[i];
        layer->choice = gpume_policy_next(&cpu->policies[i]);
        bool uses_boxes = gpume_choice_needs_boxes(&layer->choice);
        layer->searched.target = gpume_rings_at(&cpu->rings, plan->searched, task->target);
        layer->searched.reference = gpume_rings_at(&cpu->rings, plan->searched, task->reference);
        layer->searched.boxes = uses_boxes ? &layer->boxes : NULL;
        layer->searched.hints = uses_boxes && hints ? hints->layers[i].vectors : NULL;
        layer->measured.target = gpume_rings_at(&cpu->rings, plan->measured, task->target);
        layer->measured.reference = gpume_rings_at(&cpu->rings, plan->measured, task->reference);
        steps->uses_boxes = steps->uses_boxes || uses_boxes;
        steps->probing = steps->probing || layer->choice.probing;
    }
    steps->summed = steps->layers[0].searched.reference;
    steps->task = *task;
    steps->number = ++cpu->tasks;
}

/* A task without box sums may overlap with the one before it. A task with them waits for that one,
 * and later tasks wait for it: they may overwrite its box sums or its hints. */
static void queue_task(struct cpu *cpu, struct gpume_steps *steps, struct queue *queue)
{
    struct latest *latest = &cpu->latest;
    const struct gpume_step *after = last_surface(cpu);
    const struct gpume_step *and_after = steps->uses_boxes ? latest->search : latest->eliminating;
    for (uint32_t i = 0; steps->uses_boxes && i < cpu->shared.boxes.levels; i++) {
        append(queue, &steps->boxes[i], after, and_after);
        after = &steps->boxes[i];
        and_after = NULL;
    }
    for (uint32_t i = 0; i < cpu->shared.plan.layer_count; i++) {
        struct gpume_layer_steps *layer = &steps->layers[i];
        append(queue, &layer->search, after, and_after);
        append(queue, &layer->rank, &layer->search, latest->rank); /* they share the scratch */
        append(queue, &layer->measure, &layer->search, latest->measure); /* see queue_surfaces */
        after = latest->search = &layer->search;
        and_after = NULL;
        latest->rank = &layer->rank;
        latest->measure = &layer->measure;
    }
    latest->eliminating = steps->uses_boxes ? latest->search : latest->eliminating;
    *gpume_rings_reader(&cpu->rings, steps->task.target) = latest->measure;
    *gpume_rings_reader(&cpu->rings, steps->task.reference) = latest->measure;
}

static int cpu_submit(void *engine, uint32_t slot, const struct gpume_batch *batch)
{
    struct cpu *cpu = engine;
    struct gpume_steps *steps = &cpu->slots[slot];
    struct queue queue = {.count = 0};
    if (batch->frame_count > 0) {
        steps->frame = batch->frames[0];
        queue_surfaces(cpu, steps, &queue);
    }
    if (batch->field_count > 0) {
        prepare_task(cpu, steps, &batch->fields[0]->task);
        queue_task(cpu, steps, &queue);
    }
    gpume_workers_add(cpu->workers, queue.steps, queue.count);
    return GPUME_OK;
}

/* --- collecting */

static void fill_field(
    const struct gpume_steps *steps, const struct gpume_sums *sums, struct gpume_field_box *box)
{
    const struct gpume_plan *plan = &steps->shared->plan;
    struct gpume_field *field = &box->field;
    box->results = (struct gpume_results){
        .vectors = steps->vectors, .costs = steps->costs, .ranks = steps->ranks};
    field->sums = *sums;
    field->predicted = (struct gpume_plane){.data = steps->predicted,
        .stride = plan->plane_stride,
        .width = plan->params.width,
        .height = plan->params.height,
        .bits = plan->params.bits};
}

/* Blocks that were searched without elimination have compared all candidates and counted none. */
static void add_counts(
    struct gpume_stats *stats, uint64_t candidates, const struct gpume_search_counts *counts)
{
    uint64_t in_full = candidates - counts->candidates;
    stats->candidates += candidates;
    stats->past_blocks += counts->past_blocks + in_full;
    stats->past_parts += counts->past_parts + in_full;
}

/* Learns from a layer's times, adds up its statistics, and gives its sums. */
static struct gpume_item complete_layer(
    struct cpu *cpu, const struct gpume_steps *steps, uint32_t index)
{
    const struct gpume_layer_steps *layer = &steps->layers[index];
    if (layer->choice.probing) {
        struct gpume_probe probe = gpume_steps_probe(steps, index);
        gpume_policy_learn(&cpu->policies[index], &probe);
    }
    gpume_stats_add_ns(&cpu->stats, "match", layer->search.busy_ns);
    gpume_stats_add_ns(&cpu->stats, "reduce", layer->measure.busy_ns);
    gpume_stats_add_ns(&cpu->stats, "rank", layer->rank.busy_ns);
    return gpume_layer_total(layer);
}

/* The field's sums are those of the first layer, as the predicted frame is. */
static void complete_field(
    struct cpu *cpu, const struct gpume_steps *steps, struct gpume_field_box *box)
{
    struct gpume_search_counts counts = {0};
    struct gpume_sums sums = {0};
    for (uint32_t i = 0; i < cpu->shared.plan.layer_count; i++) {
        struct gpume_item total = complete_layer(cpu, steps, i);
        counts.candidates += total.counts.candidates;
        counts.past_blocks += total.counts.past_blocks;
        counts.past_parts += total.counts.past_parts;
        sums = i == 0 ? total.sums : sums;
    }
    for (uint32_t i = 0; steps->uses_boxes && i < cpu->shared.boxes.levels; i++) {
        gpume_stats_add_ns(&cpu->stats, "match", steps->boxes[i].busy_ns);
    }
    cpu->stats.fields++;
    add_counts(&cpu->stats, cpu->shared.plan.field_candidates, &counts);
    fill_field(steps, &sums, box);
}

/* Steps that the submission does not have are complete. */
static void wait_for(const struct cpu *cpu, const struct gpume_steps *steps)
{
    const struct gpume_layer_steps *last = &steps->layers[cpu->shared.plan.layer_count - 1];
    for (uint32_t i = 0; i < GPUME_SURFACE_COUNT; i++) {
        gpume_workers_wait(cpu->workers, &steps->make[i]);
    }
    gpume_workers_wait(cpu->workers, &last->measure);
    gpume_workers_wait(cpu->workers, &last->rank);
}

static int cpu_collect(void *engine, uint32_t slot, const struct gpume_batch *batch)
{
    struct cpu *cpu = engine;
    struct gpume_steps *steps = &cpu->slots[slot];
    wait_for(cpu, steps);
    for (uint32_t i = 0; batch->frame_count > 0 && i < GPUME_SURFACE_COUNT; i++) {
        gpume_stats_add_ns(&cpu->stats, "upload", steps->make[i].busy_ns);
    }
    if (atomic_load(&cpu->shared.cancelled)) {
        return GPUME_CANCELLED; /* work items are missing: nothing to learn from */
    }
    if (batch->field_count > 0) {
        complete_field(cpu, steps, batch->fields[0]);
    }
    if (cpu->latest.eliminating == last_search(cpu, steps)) {
        cpu->latest.eliminating = NULL; /* the next search in this slot may be another kind */
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
    .open = cpu_open,
    .frame_memory = cpu_frame_memory,
    .submit = cpu_submit,
    .collect = cpu_collect,
    .cancel = cpu_cancel,
    .get_stats = cpu_get_stats,
    .get_info = cpu_get_info,
    .close = cpu_close,
};
