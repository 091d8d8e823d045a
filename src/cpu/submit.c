/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/cpu.h"

#define STEPS_MAX                                                                                  \
    (2 * GPUME_SURFACE_COUNT + GPUME_BOX_SIZES + 3 * GPUME_LAYERS_MAX + GPUME_GENERAL_STEPS)

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
static const struct gpume_step *surfaces_before(const struct gpume_cpu *cpu)
{
    return gpume_workers_count(cpu->workers) > 1 ? cpu->latest.rank : NULL;
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
            append(queue, step, after, cpu->latest.surfaces[i]);
            step->before = surfaces_before(cpu);
            cpu->latest.surfaces[i] = after = step;
            if (cpu->shared.plan.planes > 1) {
                append(queue, &steps->fractions[i].step, step, cpu->latest.fractions);
                cpu->latest.fractions = &steps->fractions[i].step;
            }
        }
    }
    for (uint32_t i = 0; i < GPUME_RING_BOXES; i++) {
        steps->sums[i] = gpume_rings_sums(&cpu->rings, i, sequence);
    }
    if (steps->sums[0] || steps->sums[1]) {
        append(queue, &steps->sum, last_surface(cpu), cpu->latest.sums);
        cpu->latest.sums = &steps->sum;
    }
}

/* Are the searches of an earlier task complete before the next task that uses box sums begins? They
 * used box sums too, or they are the last ones, which that task waits for. */
static bool ends_before_next(const struct gpume_cpu *cpu, const struct gpume_steps *steps)
{
    return steps->uses_boxes || gpume_cpu_last_search(cpu, steps) == cpu->latest.search;
}

/* The most recent task whose reference lies as far from its target as this one's: its vectors are
 * the hints. NULL: the slots hold none. */
static const struct gpume_steps *hints_for(
    const struct gpume_cpu *cpu, const struct gpume_task *task)
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
static void prepare_search(
    struct gpume_cpu *cpu, struct gpume_steps *steps, const struct gpume_task *task)
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
    steps->number = ++cpu->tasks;
}

static void queue_results(
    struct gpume_latest *latest, struct gpume_layer_steps *layer, struct queue *queue)
{
    append(queue, &layer->rank, &layer->search, latest->rank);       /* they share the scratch */
    append(queue, &layer->measure, &layer->search, latest->measure); /* see queue_surfaces */
    latest->rank = &layer->rank;
    latest->measure = &layer->measure;
}

/* A task without box sums may overlap with the one before it. A task with them waits for that one,
 * and later tasks wait for it: they may overwrite its box sums or its hints. */
static void queue_search(struct gpume_cpu *cpu, struct gpume_steps *steps, struct queue *queue)
{
    struct gpume_latest *latest = &cpu->latest;
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
        if (!steps->general) {
            queue_results(latest, layer, queue);
        }
        after = latest->search = &layer->search;
        and_after = NULL;
    }
    latest->eliminating = steps->uses_boxes ? latest->search : latest->eliminating;
}

/* One task after the other: the last step of each reads all that it needs, and they share memory.
 */
static void queue_general(struct gpume_cpu *cpu, struct gpume_steps *steps, struct queue *queue)
{
    struct gpume_general *general = steps->general;
    const struct gpume_step *after = steps->layers      ? cpu->latest.search
                                     : cpu->latest.sums ? cpu->latest.sums
                                                        : last_surface(cpu);
    for (uint32_t i = 0; i < general->step_count; i++) {
        append(queue, &general->steps[i], after, i == 0 ? cpu->latest.measure : NULL);
        after = &general->steps[i];
    }
    cpu->latest.measure = after;
}

static void queue_task(struct gpume_cpu *cpu, struct gpume_steps *steps,
    const struct gpume_field_box *box, struct queue *queue)
{
    const struct gpume_task *task = &box->task;
    if (steps->layers) {
        prepare_search(cpu, steps, task);
        queue_search(cpu, steps, queue);
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
