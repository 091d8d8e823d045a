/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/grid.h"
#include "cpu/cpu.h"

#define STEPS_MAX                                                                                  \
    (2 * GPUME_SURFACE_COUNT + GPUME_BOX_SIZES + 3 * GPUME_LAYERS_MAX + GPUME_GENERAL_STEPS)

/* Steps to queue, in this order. */
struct queue {
    struct gpume_step *steps[STEPS_MAX];
    uint32_t count;
};

/* The step waits for up to three others; NULL: none. */
static void append(struct queue *queue, struct gpume_step *step, const struct gpume_step *first,
    const struct gpume_step *second, const struct gpume_step *third)
{
    step->after[0] = first;
    step->after[1] = second;
    step->after[2] = third;
    queue->steps[queue->count++] = step;
}

/* When this step is complete, so are all surfaces queued so far. */
static const struct gpume_step *last_surface(const struct gpume_cpu *cpu)
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
static void queue_surfaces(struct gpume_cpu *cpu, struct gpume_steps *steps, struct queue *queue)
{
    uint64_t sequence = steps->frame->sequence;
    const struct gpume_step *after = *gpume_rings_reader(&cpu->rings, sequence);
    for (uint32_t i = 0; i < GPUME_SURFACE_COUNT; i++) {
        if (cpu->shared.plan.has_surface[i]) {
            struct gpume_step *step = &steps->make[i];
            steps->surfaces[i] = gpume_rings_at(&cpu->rings, (enum gpume_surface)i, sequence);
            append(queue, step, after, cpu->latest.surfaces[i], NULL);
            cpu->latest.surfaces[i] = after = step;
            if (cpu->shared.plan.planes > 1) {
                append(queue, &steps->fractions[i].step, step, cpu->latest.fractions, NULL);
                cpu->latest.fractions = &steps->fractions[i].step;
            }
        }
    }
    for (uint32_t i = 0; i < GPUME_RING_BOXES; i++) {
        steps->sums[i] = gpume_rings_sums(&cpu->rings, i, sequence);
    }
    if (steps->sums[0] || steps->sums[1]) {
        append(queue, &steps->sum, last_surface(cpu), cpu->latest.sums, NULL);
        cpu->latest.sums = &steps->sum;
    }
}

/* The most recent task whose reference lies as far from its target as this one's: its vectors are
 * the hints. This task is searched when that one has been, so where several are searched side by
 * side, it is one of half as many tasks ago. NULL: the slots hold none. */
static struct gpume_steps *hints_for(
    struct gpume_cpu *cpu, const struct gpume_steps *own, const struct gpume_task *task)
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
    struct gpume_cpu *cpu, struct gpume_steps *steps, const struct gpume_task *task)
{
    const struct gpume_plan *plan = &cpu->shared.plan;
    struct gpume_steps *hints = hints_for(cpu, steps, task);
    steps->uses_boxes = steps->probing = false;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        struct gpume_layer_steps *layer = &steps->layers[i];
        layer->choice = gpume_policy_next(&cpu->policies[i]);
        bool uses_boxes = gpume_policy_needs_boxes(&layer->choice);
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
    steps->number = ++cpu->tasks;
    return steps->uses_boxes ? hints : NULL;
}

static void queue_results(struct gpume_latest *latest, struct gpume_scratch *scratch,
    struct gpume_layer_steps *layer, struct queue *queue)
{
    append(queue, &layer->rank, &layer->search, scratch->rank, NULL);
    append(queue, &layer->measure, &layer->search, latest->measure, NULL); /* see queue_surfaces */
    scratch->rank = &layer->rank;
    latest->measure = &layer->measure;
}

/* Box sums wait for the last task that has any in the same memory, and for the task that gives
 * hints. The search overwrites vectors, and so waits for the last one that has them as hints. */
static void queue_search(struct gpume_cpu *cpu, struct gpume_steps *steps,
    struct gpume_steps *hints, struct queue *queue)
{
    struct gpume_scratch *scratch = steps->scratch;
    const struct gpume_step *after = last_surface(cpu);
    const struct gpume_step *used = scratch->search;
    const struct gpume_step *hinted = hints ? gpume_cpu_last_search(cpu, hints) : NULL;
    for (uint32_t i = 0; steps->uses_boxes && i < scratch->boxes.levels; i++) {
        append(queue, &steps->boxes[i], after, used, hinted);
        after = &steps->boxes[i];
        used = hinted = NULL;
    }
    const struct gpume_step *read = steps->reader, *and_read = hints ? hints->reader : NULL;
    for (uint32_t i = 0; i < cpu->shared.plan.layer_count; i++) {
        struct gpume_layer_steps *layer = &steps->layers[i];
        append(queue, &layer->search, after, read, and_read);
        if (!steps->general) {
            queue_results(&cpu->latest, scratch, layer, queue);
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
static void queue_general(struct gpume_cpu *cpu, struct gpume_steps *steps, struct queue *queue)
{
    struct gpume_general *general = steps->general;
    const struct gpume_step *before = cpu->latest.measure;
    const struct gpume_step *after = steps->layers      ? gpume_cpu_last_search(cpu, steps)
                                     : cpu->latest.sums ? cpu->latest.sums
                                                        : last_surface(cpu);
    for (uint32_t i = 0; i < general->step_count; i++) {
        const bool waits = cpu->scratch_count == 1 ? i == 0 : i + 1 == general->step_count;
        append(queue, &general->steps[i], after, waits ? before : NULL, NULL);
        after = &general->steps[i];
    }
    cpu->latest.measure = after;
}

static void queue_task(struct gpume_cpu *cpu, struct gpume_steps *steps,
    const struct gpume_field_box *box, struct queue *queue)
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

int gpume_cpu_submit(void *engine, uint32_t slot, const struct gpume_batch *batch)
{
    struct gpume_cpu *cpu = engine;
    struct gpume_steps *steps = &cpu->slots[slot];
    struct queue queue = {.count = 0};
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
