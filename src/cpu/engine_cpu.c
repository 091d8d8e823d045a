/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU engine: an exact search (search/search.h) on a thread pool. cpu_submit queues the steps
 * of a submission (cpu.h). cpu_collect takes part in them until the submission's field is
 * complete, while the other threads go on with later submissions. All calls come from the
 * pipeline's thread. The same engine with the plain search is what --check compares with.
 */
#include "arrays/host_sort.h"
#include "base/base.h"
#include "cpu/cpu.h"
#include "frame/frame.h"

#include <stdio.h>
#include <stdlib.h>

static void free_all(struct gpume_allocations *memory)
{
    for (size_t i = 0; i < memory->count; i++) {
        free(memory->blocks[i]);
    }
    free(memory->blocks);
}

/* --- what it holds */

#define WIDE 1024u /* candidates per block from which elimination nearly always wins */

/* The last step queued of each kind; NULL: none. */
struct latest_steps {
    const struct gpume_step *surfaces[GPUME_SURFACE_COUNT];
    const struct gpume_step *fractions, *sums, *measure;
};

struct cpu_engine {
    struct gpume_shared shared;
    struct gpume_workers *workers;
    void **frames; /* pool */
    struct gpume_rings rings;
    struct gpume_scratch scratches[GPUME_SLOTS_MAX]; /* of tasks that are searched side by side */
    uint32_t scratch_count;                          /* 1, or as many as slots */
    struct gpume_steps *slots;
    struct gpume_policy policies[GPUME_LAYERS_MAX];
    struct gpume_stats stats; /* times of all threads together */
    struct gpume_allocations memory;
    char device[64];
    uint64_t tasks; /* submitted so far */
    struct latest_steps latest;
};

/* The last search of the task in a slot. */
static inline const struct gpume_step *last_search_of(
    const struct cpu_engine *cpu, const struct gpume_steps *steps)
{
    return &steps->layers[cpu->shared.plan.layer_count - 1].search;
}

static void **allocate_ring(
    const struct gpume_rings *rings, uint64_t frame_bytes, struct gpume_allocations *memory)
{
    /* At once, so that what the run does not need is never touched. */
    const uint64_t bytes = gpume_round_up(frame_bytes + GPUME_SEARCH_SLACK_BYTES, 64);
    void **ring = gpume_allocate(memory, rings->frames, sizeof(*ring));
    uint8_t *all = gpume_allocate(memory, rings->frames, bytes);
    for (uint32_t i = 0; !memory->failed && i < rings->frames; i++) {
        ring[i] = all + i * bytes;
    }
    return ring;
}

static void init_rings(
    struct gpume_rings *rings, const struct gpume_plan *plan, struct gpume_allocations *memory)
{
    /* Frames beyond those that a task may name, so that a task may begin before the one before it
     * is complete, and no more, so that they stay in the cache: one less than there are slots. */
    rings->frames = plan->reach + gpume_max_u32(plan->slots - 1, 2);
    rings->readers = gpume_allocate(memory, rings->frames, sizeof(*rings->readers));
    for (uint32_t i = 0; i < GPUME_SURFACE_COUNT; i++) {
        if (plan->has_surface[i]) {
            rings->planes[i] = allocate_ring(rings, plan->surface_bytes, memory);
        }
    }
    /* A sum has twice the bytes of a sample. */
    const uint64_t sum_bytes = 2 * plan->padded_bytes * gpume_plan_search_planes(plan);
    bool summed = !gpume_plan_searches_fast(plan) && !plan->params.no_elimination;
    for (uint32_t i = 0; summed && i < plan->layer_count; i++) {
        void ***ring = &rings->sums[gpume_bound_boxes(&plan->layers[i])];
        *ring = *ring ? *ring : allocate_ring(rings, sum_bytes, memory);
    }
}

static void init_scratch(struct cpu_engine *cpu, struct gpume_scratch *scratch)
{
    const struct gpume_plan *plan = &cpu->shared.plan;
    struct gpume_boxes *boxes = &scratch->boxes;
    if (cpu->shared.search->box_row && !plan->params.no_elimination &&
        gpume_plan_searches_fast(plan)) {
        *boxes = gpume_boxes_plan(plan);
    }
    for (uint32_t i = 0; i < boxes->levels; i++) {
        boxes->sums[i] = gpume_allocate(&cpu->memory, gpume_boxes_entries(boxes), sizeof(uint16_t));
    }
    uint64_t blocks = 0; /* of the largest layer */
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        blocks = gpume_max_u64(blocks, plan->layers[i].blocks);
    }
    scratch->ranking =
        gpume_allocate(&cpu->memory, blocks, GPUME_HOST_RANK_WORDS * sizeof(*scratch->ranking));
}

/* The number of workers decides how the layers are divided. */
static int allocate_engine(struct cpu_engine *cpu)
{
    const struct gpume_plan *plan = &cpu->shared.plan;
    struct gpume_allocations *memory = &cpu->memory;
    gpume_shared_divide(&cpu->shared, gpume_workers_count(cpu->workers));
    init_rings(&cpu->rings, plan, memory);
    for (uint32_t i = 0; i < cpu->scratch_count; i++) {
        init_scratch(cpu, &cpu->scratches[i]);
    }
    cpu->frames = gpume_allocate(memory, plan->pool, sizeof(*cpu->frames));
    cpu->slots = gpume_allocate(memory, plan->slots, sizeof(*cpu->slots));
    for (uint32_t i = 0; !memory->failed && i < plan->slots; i++) {
        gpume_steps_init(
            &cpu->slots[i], &cpu->shared, &cpu->scratches[i % cpu->scratch_count], memory);
    }
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        gpume_policy_init(&cpu->policies[i], cpu->scratches[0].boxes.levels > 0,
            plan->candidates >= WIDE, cpu->shared.divisions[i].items);
    }
    return memory->failed ? GPUME_NOMEM : GPUME_OK;
}

/* --- submitting: steps are queued */

#define STEPS_MAX                                                                                  \
    (2 * GPUME_SURFACE_COUNT + GPUME_BOX_SIZES + 3 * GPUME_LAYERS_MAX + GPUME_GENERAL_STEPS)

/* Steps to queue, in this order. */
struct step_queue {
    struct gpume_step *steps[STEPS_MAX];
    uint32_t count;
};

/* The step waits for up to three others; NULL: none. */
static void queue_step(struct step_queue *queue, struct gpume_step *step,
    const struct gpume_step *first, const struct gpume_step *second, const struct gpume_step *third)
{
    step->after[0] = first;
    step->after[1] = second;
    step->after[2] = third;
    queue->steps[queue->count++] = step;
}

/* When this step is complete, so are all surfaces queued so far. */
static const struct gpume_step *last_surface(const struct cpu_engine *cpu)
{
    const struct gpume_step *last = NULL;
    if (cpu->shared.plan.planes > 1) {
        return cpu->latest.fractions;
    }
    for (uint32_t i = 0; i < GPUME_SURFACE_COUNT; i++) {
        last = cpu->shared.plan.has_surface[i] ? cpu->latest.surfaces[i] : last;
    }
    return last;
}

/* Each surface is made of the one before it, and the first of the frame, as soon as no step reads
 * what is overwritten. The last step that measures implies all searches before it. */
static void queue_surfaces(
    struct cpu_engine *cpu, struct gpume_steps *steps, struct step_queue *queue)
{
    uint64_t sequence = steps->frame->sequence;
    const struct gpume_step *after = *gpume_rings_reader(&cpu->rings, sequence);
    for (uint32_t i = 0; i < GPUME_SURFACE_COUNT; i++) {
        if (cpu->shared.plan.has_surface[i]) {
            struct gpume_step *step = &steps->make[i];
            steps->surfaces[i] = gpume_rings_at(&cpu->rings, (enum gpume_surface)i, sequence);
            queue_step(queue, step, after, cpu->latest.surfaces[i], NULL);
            cpu->latest.surfaces[i] = after = step;
            if (cpu->shared.plan.planes > 1) {
                queue_step(queue, &steps->fractions[i].step, step, cpu->latest.fractions, NULL);
                cpu->latest.fractions = &steps->fractions[i].step;
            }
        }
    }
    for (uint32_t i = 0; i < GPUME_RING_BOXES; i++) {
        steps->sums[i] = gpume_rings_sums(&cpu->rings, i, sequence);
    }
    if (steps->sums[0] || steps->sums[1]) {
        queue_step(queue, &steps->sum, last_surface(cpu), cpu->latest.sums, NULL);
        cpu->latest.sums = &steps->sum;
    }
}

/* The most recent task whose reference lies as far from its target as this one's: its vectors are
 * the hints. This task is searched when that one has been, so where several are searched side by
 * side, it is one of half as many tasks ago. NULL: the slots hold none. */
static struct gpume_steps *hints_for(
    struct cpu_engine *cpu, const struct gpume_steps *own, const struct gpume_task *task)
{
    const uint64_t ago = gpume_max_u32(1, cpu->scratch_count / 2);
    struct gpume_steps *latest = NULL;
    for (uint32_t i = 0; i < cpu->shared.plan.slots; i++) {
        struct gpume_steps *steps = &cpu->slots[i];
        bool alike = steps != own && steps->number > 0 && steps->number + ago <= cpu->tasks + 1 &&
                     steps->task.reference - steps->task.target == task->reference - task->target;
        bool later = !latest || steps->number > latest->number;
        latest = alike && later ? steps : latest;
    }
    return latest;
}

/* Where each layer finds its surfaces, and whether it is searched with elimination. Returns the
 * task that gives hints; NULL: none. */
static struct gpume_steps *prepare_search(
    struct cpu_engine *cpu, struct gpume_steps *steps, const struct gpume_task *task)
{
    const struct gpume_plan *plan = &cpu->shared.plan;
    struct gpume_steps *hints = hints_for(cpu, steps, task);
    steps->uses_boxes = steps->probing = false;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        struct gpume_layer_steps *layer = &steps->layers[i];
        layer->choice = gpume_policy_next(&cpu->policies[i]);
        if (task->wanted) { /* what few blocks take says nothing of the others */
            layer->choice.probing = false;
        }
        bool uses_boxes = gpume_policy_needs_boxes(&layer->choice);
        layer->searched.target = gpume_rings_at(&cpu->rings, plan->searched, task->target);
        layer->searched.reference = gpume_rings_at(&cpu->rings, plan->searched, task->reference);
        layer->wanted = task->wanted ? task->wanted + plan->layers[i].first : NULL;
        layer->searched.boxes = uses_boxes ? &layer->boxes : NULL;
        layer->searched.hints = uses_boxes && hints ? hints->layers[i].vectors : NULL;
        layer->measured.target = gpume_rings_at(&cpu->rings, plan->measured, task->target);
        layer->measured.reference = gpume_rings_at(&cpu->rings, plan->measured, task->reference);
        steps->uses_boxes = steps->uses_boxes || uses_boxes;
        steps->probing = steps->probing || layer->choice.probing;
    }
    steps->summed = steps->layers[0].searched.reference;
    steps->number = ++cpu->tasks;
    return steps->uses_boxes ? hints : NULL;
}

/* Box sums wait for the last task that has any in the same memory, and for the task that gives
 * hints. The search overwrites vectors, and so waits for the last one that has them as hints. */
static void queue_search(struct cpu_engine *cpu, struct gpume_steps *steps,
    struct gpume_steps *hints, struct step_queue *queue)
{
    struct gpume_scratch *scratch = steps->scratch;
    const struct gpume_step *after = last_surface(cpu);
    const struct gpume_step *used = scratch->search;
    const struct gpume_step *hinted = hints ? last_search_of(cpu, hints) : NULL;
    for (uint32_t i = 0; steps->uses_boxes && i < scratch->boxes.levels; i++) {
        queue_step(queue, &steps->boxes[i], after, used, hinted);
        after = &steps->boxes[i];
        used = hinted = NULL;
    }
    const struct gpume_step *read = steps->reader, *and_read = hints ? hints->reader : NULL;
    for (uint32_t i = 0; i < cpu->shared.plan.layer_count; i++) {
        struct gpume_layer_steps *layer = &steps->layers[i];
        queue_step(queue, &layer->search, after, read, and_read);
        if (!steps->general) {
            queue_step(queue, &layer->rank, &layer->search, scratch->rank, NULL);
            scratch->rank = &layer->rank;
            /* After that of the layer before: see queue_surfaces. */
            queue_step(queue, &layer->measure, &layer->search, cpu->latest.measure, NULL);
            cpu->latest.measure = &layer->measure;
        }
        after = &layer->search;
        read = and_read = NULL;
    }
    steps->reader = NULL;
    if (steps->uses_boxes) {
        scratch->search = after;
    }
    if (hints) {
        hints->reader = after;
    }
}

/* The last step reads all that the task needs, so it waits for that of the task before. Where tasks
 * share memory to rank in, they do not overlap. */
static void queue_general(
    struct cpu_engine *cpu, struct gpume_steps *steps, struct step_queue *queue)
{
    struct gpume_general *general = steps->general;
    const struct gpume_step *before = cpu->latest.measure;
    const struct gpume_step *after = steps->layers      ? last_search_of(cpu, steps)
                                     : cpu->latest.sums ? cpu->latest.sums
                                                        : last_surface(cpu);
    for (uint32_t i = 0; i < general->step_count; i++) {
        const bool waits = cpu->scratch_count == 1 ? i == 0 : i + 1 == general->step_count;
        queue_step(queue, &general->steps[i], after, waits ? before : NULL, NULL);
        after = &general->steps[i];
    }
    cpu->latest.measure = after;
}

static void queue_task(struct cpu_engine *cpu, struct gpume_steps *steps,
    const struct gpume_field_box *box, struct step_queue *queue)
{
    const struct gpume_task *task = &box->task;
    if (steps->layers) {
        struct gpume_steps *hints = prepare_search(cpu, steps, task);
        queue_search(cpu, steps, hints, queue);
    }
    if (steps->general) {
        gpume_general_start(steps->general, &cpu->rings, box);
        queue_general(cpu, steps, queue);
    }
    steps->task = *task;
    *gpume_rings_reader(&cpu->rings, task->target) = cpu->latest.measure;
    *gpume_rings_reader(&cpu->rings, task->reference) = cpu->latest.measure;
    for (uint32_t i = 0; i < task->more_count; i++) {
        *gpume_rings_reader(&cpu->rings, task->more[i]) = cpu->latest.measure;
    }
}

static int cpu_submit(void *engine, uint32_t slot, const struct gpume_submission *batch)
{
    struct cpu_engine *cpu = engine;
    struct gpume_steps *steps = &cpu->slots[slot];
    struct step_queue queue = {.count = 0};
    if (batch->frame_count > 0) {
        steps->frame = batch->frames[0];
        queue_surfaces(cpu, steps, &queue);
    }
    if (batch->field_count > 0) {
        queue_task(cpu, steps, batch->fields[0], &queue);
    }
    gpume_workers_add(cpu->workers, queue.steps, queue.count);
    return GPUME_OK;
}

/* --- collecting: what they found is added up */

/* Learns from the times of the fast search and adds up its statistics. */
static void complete_search(
    struct cpu_engine *cpu, const struct gpume_steps *steps, const struct gpume_field_box *box)
{
    struct gpume_search_counts counts = {0};
    for (uint32_t i = 0; i < cpu->shared.plan.layer_count; i++) {
        const struct gpume_layer_steps *layer = &steps->layers[i];
        struct gpume_item total = gpume_layer_total(layer);
        if (layer->choice.probing) {
            struct gpume_probe probe = gpume_steps_probe(steps, i);
            gpume_policy_learn(&cpu->policies[i], &probe);
        }
        gpume_stats_add_ns(&cpu->stats, "match", layer->search.busy_ns);
        counts.candidates += total.counts.candidates;
        counts.past_blocks += total.counts.past_blocks;
        counts.past_parts += total.counts.past_parts;
    }
    for (uint32_t i = 0; steps->uses_boxes && i < steps->scratch->boxes.levels; i++) {
        gpume_stats_add_ns(&cpu->stats, "match", steps->boxes[i].busy_ns);
    }
    if (!box->hidden) {
        /* Blocks that were searched without elimination have compared all candidates and counted
         * none. */
        uint64_t candidates = cpu->shared.plan.field_candidates;
        uint64_t in_full = candidates - counts.candidates;
        cpu->stats.candidates += candidates;
        cpu->stats.past_blocks += counts.past_blocks + in_full;
        cpu->stats.past_parts += counts.past_parts + in_full;
    }
}

/* The field's sums are those of the first layer, as the predicted frame is. */
static void complete_field(
    struct cpu_engine *cpu, const struct gpume_steps *steps, struct gpume_field_box *box)
{
    box->results = (struct gpume_results){
        .vectors = steps->vectors, .costs = steps->costs, .ranks = steps->ranks};
    box->field.sums = gpume_layer_total(&steps->layers[0]).sums;
    box->field.predicted = gpume_plan_plane(&cpu->shared.plan, steps->predicted);
    for (uint32_t i = 0; i < cpu->shared.plan.layer_count; i++) {
        const struct gpume_layer_steps *layer = &steps->layers[i];
        gpume_stats_add_ns(&cpu->stats, "reduce", layer->measure.busy_ns);
        gpume_stats_add_ns(&cpu->stats, "rank", layer->rank.busy_ns);
    }
}

static void complete_general(
    struct cpu_engine *cpu, struct gpume_general *general, struct gpume_field_box *box)
{
    uint32_t count = general->step_count;
    for (uint32_t i = 0; i < count; i++) {
        gpume_stats_add_ns(&cpu->stats, general->stages[i], general->steps[i].busy_ns);
    }
    if (!cpu->shared.plan.fast_pixels && !box->hidden) {
        gpume_stats_count_sweeps(&cpu->stats, &cpu->shared.plan, general->tried, general->compared);
    }
    gpume_general_complete(general, box);
}

static void complete_task(
    struct cpu_engine *cpu, struct gpume_steps *steps, struct gpume_field_box *box)
{
    cpu->stats.fields += !box->hidden;
    if (steps->layers) {
        complete_search(cpu, steps, box);
    }
    if (steps->general) {
        complete_general(cpu, steps->general, box);
    } else {
        complete_field(cpu, steps, box);
    }
}

/* Steps that the submission does not have are complete. */
static void wait_for(const struct cpu_engine *cpu, const struct gpume_steps *steps)
{
    for (uint32_t i = 0; i < GPUME_SURFACE_COUNT; i++) {
        gpume_workers_wait(cpu->workers, &steps->make[i]);
        gpume_workers_wait(cpu->workers, &steps->fractions[i].step);
    }
    gpume_workers_wait(cpu->workers, &steps->sum);
    if (steps->general) {
        for (uint32_t i = 0; i < steps->general->step_count; i++) {
            gpume_workers_wait(cpu->workers, &steps->general->steps[i]);
        }
        return;
    }
    const struct gpume_layer_steps *last = &steps->layers[cpu->shared.plan.layer_count - 1];
    gpume_workers_wait(cpu->workers, &last->measure);
    gpume_workers_wait(cpu->workers, &last->rank);
}

static int cpu_collect(void *engine, uint32_t slot, const struct gpume_submission *batch)
{
    struct cpu_engine *cpu = engine;
    struct gpume_steps *steps = &cpu->slots[slot];
    wait_for(cpu, steps);
    for (uint32_t i = 0; batch->frame_count > 0 && i < GPUME_SURFACE_COUNT; i++) {
        gpume_stats_add_ns(&cpu->stats, "upload", steps->make[i].busy_ns);
        gpume_stats_add_ns(&cpu->stats, "upload", steps->fractions[i].step.busy_ns);
    }
    if (batch->frame_count > 0 && steps->general) {
        gpume_stats_add_ns(&cpu->stats, "match", steps->sum.busy_ns);
    }
    if (atomic_load(&cpu->shared.cancelled)) {
        return GPUME_CANCELLED; /* work items are missing: nothing to learn from */
    }
    if (batch->field_count > 0) {
        complete_task(cpu, steps, batch->fields[0]);
    }
    return GPUME_OK;
}

/* --- the engine */

static int cpu_close(void **engine)
{
    struct cpu_engine *cpu = *engine;
    if (!cpu) {
        return GPUME_OK;
    }
    *engine = NULL;
    gpume_workers_destroy(&cpu->workers);
    free_all(&cpu->memory);
    free(cpu);
    return GPUME_OK;
}

int gpume_engine_cpu_open(void **engine, const struct gpume_params *params,
    const struct gpume_log *log, struct gpume_plan *plan, const struct gpume_search *search)
{
    const uint32_t threads = params->threads ? params->threads : gpume_workers_processors();
    const struct gpume_caps caps = {.window_bytes = UINT64_MAX,
        .align_bytes = 64,
        .batch_max = 1,
        .batch_work = 1ull << 32,
        .threads = threads};
    void *opened = calloc(1, sizeof(struct cpu_engine));
    struct cpu_engine *cpu = opened;
    if (!cpu) {
        return gpume_log_nomem(log, "the CPU engine");
    }
    cpu->shared.search = search;
    int status;
    GPUME_TRY(gpume_plan_make(params, &caps, log, &cpu->shared.plan));
    if (!search->box_row) { /* the general search has elimination, this one does not */
        cpu->shared.plan.fast_pixels = false;
    }
    cpu->scratch_count = cpu->shared.plan.overlap > 1 ? cpu->shared.plan.slots : 1;
    status = gpume_workers_create(&cpu->workers, params->threads);
    if (status == GPUME_AGAIN) {
        status = gpume_log_no_thread(log);
        goto fail;
    }
    if (status == GPUME_OK) {
        status = allocate_engine(cpu);
    }
    if (status == GPUME_NOMEM && /* of which there was no need to ask */
        gpume_plan_check_memory(&cpu->shared.plan, cpu->memory.bytes, false, log) != GPUME_OK) {
        status = GPUME_INVALID;
        goto fail;
    }
    if (status != GPUME_OK) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "out of memory: the CPU engine needs %llu MiB for %ux%u; use fewer threads",
            (unsigned long long)(cpu->memory.bytes >> 20) + 1, params->width, params->height);
        goto fail;
    }
    snprintf(cpu->device, sizeof(cpu->device), "%u thread%s", gpume_workers_count(cpu->workers),
        gpume_plural(gpume_workers_count(cpu->workers)));
    *plan = cpu->shared.plan;
    *engine = cpu;
    return GPUME_OK;
fail:
    cpu_close(&opened);
    return status;
}

static bool engine_eliminates(const struct cpu_engine *cpu)
{
    return cpu->scratches[0].boxes.levels > 0 || cpu->rings.sums[0] || cpu->rings.sums[1];
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
        const struct cpu_engine *cpu = *engine;
        status = gpume_plan_check_memory(
            plan, cpu->memory.bytes + plan->pool * plan->plane_bytes, engine_eliminates(cpu), log);
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
    struct cpu_engine *cpu = engine;
    if (!cpu->frames[index]) { /* not in cpu_open: the engine of --check never asks for any */
        cpu->frames[index] = gpume_allocate(&cpu->memory, cpu->shared.plan.plane_bytes, 1);
    }
    return cpu->frames[index];
}

static void cpu_cancel(void *engine)
{
    struct cpu_engine *cpu = engine;
    atomic_store(&cpu->shared.cancelled, true);
}

static void cpu_get_stats(void *engine, struct gpume_stats *stats)
{
    const struct cpu_engine *cpu = engine;
    uint32_t threads = gpume_workers_count(cpu->workers);
    *stats = cpu->stats;
    for (uint32_t i = 0; i < stats->stage_count; i++) {
        stats->stages[i].ns /= threads;
    }
}

static void cpu_get_info(void *engine, struct gpume_info *info)
{
    const struct cpu_engine *cpu = engine;
    info->backend = "cpu";
    info->device = cpu->device;
    info->driver = "";
    info->search = cpu->shared.search->name;
    info->eliminates = engine_eliminates(cpu);
    info->host_bytes = cpu->memory.bytes;
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
