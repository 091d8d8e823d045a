/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/status.h"
#include "cpu/cpu.h"
#include "frame/stats.h"

/* Blocks that were searched without elimination have compared all candidates and counted none. */
static void add_counts(
    struct gpume_stats *stats, uint64_t candidates, const struct gpume_search_counts *counts)
{
    uint64_t in_full = candidates - counts->candidates;
    stats->candidates += candidates;
    stats->past_blocks += counts->past_blocks + in_full;
    stats->past_parts += counts->past_parts + in_full;
}

/* Learns from the times of the fast search and adds up its statistics. */
static void complete_search(
    struct gpume_cpu *cpu, const struct gpume_steps *steps, const struct gpume_field_box *box)
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
        add_counts(&cpu->stats, cpu->shared.plan.field_candidates, &counts);
    }
}

/* The field's sums are those of the first layer, as the predicted frame is. */
static void complete_field(
    struct gpume_cpu *cpu, const struct gpume_steps *steps, struct gpume_field_box *box)
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
    struct gpume_cpu *cpu, struct gpume_general *general, struct gpume_field_box *box)
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
    struct gpume_cpu *cpu, struct gpume_steps *steps, struct gpume_field_box *box)
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
static void wait_for(const struct gpume_cpu *cpu, const struct gpume_steps *steps)
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

int gpume_cpu_collect(void *engine, uint32_t slot, const struct gpume_batch *batch)
{
    struct gpume_cpu *cpu = engine;
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
