/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays/host_sort.h"
#include "base/base.h"
#include "base/os.h"
#include "cpu/cpu.h"

#include <string.h>

/* Rows per work item, so that handing one out costs less than 1 %. Filtering takes much longer. */
#define PAD_ROWS 16u
#define FILTER_ROWS 8u
#define BOX_ROWS 16u
#define THREAD_ITEMS 8u /* per layer and thread: few threads wait for the last one */

void gpume_shared_divide(struct gpume_shared *shared, uint32_t threads)
{
    for (uint32_t i = 0; i < shared->plan.layer_count; i++) {
        const struct gpume_shape *layer = &shared->plan.layers[i];
        struct gpume_layer_division *division = &shared->divisions[i];
        uint64_t wanted = threads > 1 ? (uint64_t)threads * THREAD_ITEMS : 1;
        uint64_t per_row = gpume_min_u64(gpume_div_up(wanted, layer->blocks_y), layer->blocks_x);
        division->blocks = (uint32_t)gpume_div_up(layer->blocks_x, per_row);
        division->per_row = (uint32_t)gpume_div_up(layer->blocks_x, division->blocks);
        division->items = division->per_row * layer->blocks_y;
    }
}

static uint32_t end_row(uint32_t item, uint32_t item_rows, uint32_t rows)
{
    return (uint32_t)gpume_min_u64(((uint64_t)item + 1) * item_rows, rows);
}

/* --- surfaces */

static void pad_item(void *opaque, uint32_t item)
{
    const struct gpume_steps *steps = opaque;
    const struct gpume_plan *plan = &steps->shared->plan;
    uint32_t end = end_row(item, PAD_ROWS, plan->padded_rows);
    for (uint32_t row = item * PAD_ROWS; row < end; row++) {
        gpume_pad_row(plan, &steps->frame->plane, steps->surfaces[GPUME_SURFACE_SOURCE], row);
    }
}

static void filter_item(void *opaque, uint32_t item)
{
    const struct gpume_steps *steps = opaque;
    const struct gpume_plan *plan = &steps->shared->plan;
    uint32_t end = end_row(item, FILTER_ROWS, plan->params.height);
    for (uint32_t y = item * FILTER_ROWS; y < end && !gpume_is_cancelled(&steps->shared->cancelled);
         y++) {
        gpume_prefilter_row(plan, steps->surfaces[GPUME_SURFACE_SOURCE],
            steps->surfaces[GPUME_SURFACE_FILTERED], y);
    }
}

static struct gpume_step surface_step(
    struct gpume_steps *steps, enum gpume_surface surface, const struct gpume_plan *plan)
{
    const struct {
        gpume_work_fn fn;
        uint32_t rows, item_rows;
    } makers[GPUME_SURFACE_COUNT] = {
        [GPUME_SURFACE_SOURCE] = {pad_item, plan->padded_rows, PAD_ROWS},
        [GPUME_SURFACE_FILTERED] = {filter_item, plan->params.height, FILTER_ROWS},
    };
    return (struct gpume_step){.fn = makers[surface].fn,
        .opaque = steps,
        .pace = &steps->shared->paces.make[surface],
        .count = (uint32_t)gpume_div_up(makers[surface].rows, makers[surface].item_rows)};
}

static void fraction_item(void *opaque, uint32_t item)
{
    const struct gpume_fractions *fractions = opaque;
    const struct gpume_steps *steps = fractions->steps;
    if (!gpume_is_cancelled(&steps->shared->cancelled)) {
        steps->shared->search->general->fraction_rows(
            &steps->shared->plan, steps->surfaces[fractions->surface], item * GPUME_FRACTION_ROWS);
    }
}

/* The box sums of the searched surface, some rows of them. */
static void sum_item(void *opaque, uint32_t item)
{
    const struct gpume_steps *steps = opaque;
    const struct gpume_plan *plan = &steps->shared->plan;
    uint32_t count = GPUME_RING_BOXES * gpume_plan_search_planes(plan);
    for (uint32_t i = 0; i < count && !gpume_is_cancelled(&steps->shared->cancelled); i++) {
        uint32_t box = i % GPUME_RING_BOXES, plane = i / GPUME_RING_BOXES;
        if (steps->sums[box]) {
            steps->shared->search->general->sum_rows(plan,
                (const uint8_t *)steps->surfaces[plan->searched] + plane * plan->padded_bytes,
                (uint8_t *)steps->sums[box] + 2 * plane * plan->padded_bytes, 4u << box,
                item * GPUME_FRACTION_ROWS);
        }
    }
}

static void init_fractions(struct gpume_steps *steps, enum gpume_surface surface)
{
    const struct gpume_plan *plan = &steps->shared->plan;
    struct gpume_fractions *fractions = &steps->fractions[surface];
    *fractions = (struct gpume_fractions){.steps = steps, .surface = surface};
    fractions->step = (struct gpume_step){.fn = fraction_item,
        .opaque = fractions,
        .pace = &steps->shared->paces.fractions,
        .count = (uint32_t)gpume_div_up(plan->padded_rows, GPUME_FRACTION_ROWS)};
}

/* --- box sums */

static void box_item(void *opaque, uint32_t item)
{
    const struct gpume_box_level *work = opaque;
    struct gpume_steps *steps = work->steps;
    const struct gpume_boxes *boxes = &steps->scratch->boxes;
    uint64_t start = steps->probing ? gpume_clock_thread_ns() : 0;
    uint32_t end = end_row(item, BOX_ROWS, gpume_boxes_rows(boxes, work->level));
    for (uint32_t row = item * BOX_ROWS;
         row < end && !gpume_is_cancelled(&steps->shared->cancelled); row++) {
        steps->shared->search->box_row(boxes, steps->summed, work->level, row);
    }
    if (steps->probing) {
        uint64_t before = work->level ? steps->box_ns[item] : 0;
        steps->box_ns[item] = before + gpume_clock_thread_ns() - start;
    }
}

static void init_boxes(struct gpume_steps *steps)
{
    const struct gpume_boxes *boxes = &steps->scratch->boxes;
    for (uint32_t i = 0; i < boxes->levels; i++) {
        steps->levels[i] = (struct gpume_box_level){steps, i};
        steps->boxes[i] = (struct gpume_step){.fn = box_item,
            .opaque = &steps->levels[i],
            .pace = &steps->shared->paces.boxes[i],
            .count = (uint32_t)gpume_div_up(gpume_boxes_rows(boxes, i), BOX_ROWS)};
    }
}

/* --- layers */

static struct gpume_span span_of(const struct gpume_layer_steps *layer, uint32_t item)
{
    const struct gpume_layer_division *division = layer->division;
    struct gpume_span span = {.row = item / division->per_row};
    span.first = item % division->per_row * division->blocks;
    span.end = gpume_min_u32(span.first + division->blocks, layer->searched.layer->blocks_x);
    return span;
}

/* The next blocks of a span that are wanted, after those of `run`. False: there are none. */
static bool next_run(
    const struct gpume_layer_steps *layer, const struct gpume_span *span, struct gpume_span *run)
{
    const size_t row = (size_t)span->row * layer->searched.layer->blocks_x;
    const unsigned char *wanted = layer->wanted ? layer->wanted + row : NULL;
    run->first = run->end;
    while (run->first < span->end && wanted && !wanted[run->first]) {
        run->first++;
    }
    run->end = wanted ? run->first : span->end;
    while (run->end < span->end && wanted[run->end]) {
        run->end++;
    }
    return run->first < span->end;
}

static void search_span_item(void *opaque, uint32_t index)
{
    struct gpume_layer_steps *layer = opaque;
    struct gpume_item *item = &layer->items[index];
    if (gpume_is_cancelled(&layer->shared->cancelled)) {
        return;
    }
    struct gpume_span span = span_of(layer, index);
    struct gpume_search_field field = layer->searched;
    if (!gpume_policy_eliminates(&layer->choice, index)) {
        field.boxes = NULL;
    }
    item->counts = (struct gpume_search_counts){0};
    uint64_t start = layer->choice.probing ? gpume_clock_thread_ns() : 0;
    for (struct gpume_span run = {.row = span.row, .end = span.first};
         next_run(layer, &span, &run);) {
        layer->shared->search->span(&field, &run, layer->vectors, layer->costs, &item->counts);
    }
    item->probe_ns = layer->choice.probing ? gpume_clock_thread_ns() - start : 0;
}

/* A separate step: measuring each span right after its search was 25 % slower. */
static void measure_span_item(void *opaque, uint32_t index)
{
    struct gpume_layer_steps *layer = opaque;
    struct gpume_span span = span_of(layer, index);
    if (!gpume_is_cancelled(&layer->shared->cancelled)) {
        layer->items[index].sums = gpume_measure_span(
            layer->shared->search, &layer->measured, &span, layer->vectors, layer->predicted);
    }
}

static void rank_layer_item(void *opaque, uint32_t item)
{
    struct gpume_layer_steps *layer = opaque;
    (void)item;
    if (!gpume_is_cancelled(&layer->shared->cancelled)) {
        const struct gpume_shape *shape = layer->searched.layer;
        gpume_host_rank(
            layer->costs, shape->blocks, shape->cost_bits, layer->ranks, layer->scratch->ranking);
    }
}

static void init_layer(struct gpume_steps *steps, uint32_t index)
{
    struct gpume_shared *shared = steps->shared;
    struct gpume_layer_steps *layer = &steps->layers[index];
    const struct gpume_shape *shape = &shared->plan.layers[index];
    layer->shared = shared;
    layer->division = &shared->divisions[index];
    layer->scratch = steps->scratch;
    layer->boxes = gpume_boxes_of_layer(&steps->scratch->boxes, shape);
    layer->searched = (struct gpume_search_field){
        .plan = &shared->plan, .layer = shape, .cancelled = &shared->cancelled};
    layer->measured = layer->searched;
    layer->vectors = steps->vectors + shape->first;
    layer->costs = steps->costs + shape->first;
    layer->ranks = steps->ranks ? steps->ranks + shape->first : NULL;
    layer->predicted = index == 0 ? steps->predicted : NULL;
    uint32_t items = layer->division->items;
    layer->search = (struct gpume_step){.fn = search_span_item,
        .opaque = layer,
        .pace = &shared->paces.search[index],
        .count = items};
    layer->rank = (struct gpume_step){.fn = rank_layer_item, .opaque = layer, .count = 1};
    layer->measure = (struct gpume_step){.fn = measure_span_item,
        .opaque = layer,
        .pace = &shared->paces.measure[index],
        .count = items};
}

static void init_general(struct gpume_steps *steps, struct gpume_allocations *memory)
{
    struct gpume_shared *shared = steps->shared;
    struct gpume_general *general = gpume_allocate(memory, 1, sizeof(*general));
    steps->general = general;
    if (general) {
        general->kernels = shared->search;
        general->cancelled = &shared->cancelled;
        general->scratch = steps->scratch->ranking;
        general->paces = shared->paces.general;
        general->whole_vectors = steps->vectors;
        general->whole_costs = steps->costs;
        gpume_general_init(general, &shared->plan, memory);
    }
}

static void init_fast(struct gpume_steps *steps, struct gpume_allocations *memory)
{
    const struct gpume_plan *plan = &steps->shared->plan;
    const uint64_t box_items = gpume_div_up(plan->padded_rows, BOX_ROWS);
    steps->layers = gpume_allocate(memory, plan->layer_count, sizeof(*steps->layers));
    steps->vectors = gpume_allocate(memory, plan->blocks, sizeof(*steps->vectors));
    steps->costs = gpume_allocate(memory, plan->blocks, sizeof(*steps->costs));
    steps->box_ns = gpume_allocate(memory, box_items, sizeof(*steps->box_ns));
    if (!plan->general) { /* else it has its own of these */
        steps->ranks = gpume_allocate(memory, plan->blocks, sizeof(*steps->ranks));
        steps->predicted =
            plan->params.want_predicted ? gpume_allocate(memory, plan->plane_bytes, 1) : NULL;
    }
    init_boxes(steps);
    for (uint32_t i = 0; !memory->failed && i < plan->layer_count; i++) {
        init_layer(steps, i);
        steps->layers[i].items = gpume_allocate(
            memory, steps->shared->divisions[i].items, sizeof(*steps->layers[i].items));
    }
}

void gpume_steps_init(struct gpume_steps *steps, struct gpume_shared *shared,
    struct gpume_scratch *scratch, struct gpume_allocations *memory)
{
    const struct gpume_plan *plan = &shared->plan;
    steps->shared = shared;
    steps->scratch = scratch;
    for (uint32_t i = 0; i < GPUME_SURFACE_COUNT; i++) {
        steps->make[i] = surface_step(steps, (enum gpume_surface)i, plan);
        init_fractions(steps, (enum gpume_surface)i);
    }
    steps->sum = (struct gpume_step){.fn = sum_item,
        .opaque = steps,
        .pace = &shared->paces.sum,
        .count = steps->fractions[0].step.count};
    if (gpume_plan_searches_fast(plan)) {
        init_fast(steps, memory);
    }
    if (plan->general) {
        init_general(steps, memory);
    }
}

struct gpume_item gpume_layer_total(const struct gpume_layer_steps *layer)
{
    struct gpume_item total = {0};
    for (uint32_t i = 0; i < layer->division->items; i++) {
        const struct gpume_item *item = &layer->items[i];
        gpume_measure_add(&total.sums, &item->sums);
        total.counts.candidates += item->counts.candidates;
        total.counts.past_blocks += item->counts.past_blocks;
        total.counts.past_parts += item->counts.past_parts;
    }
    return total;
}

struct gpume_probe gpume_steps_probe(const struct gpume_steps *steps, uint32_t index)
{
    const struct gpume_layer_steps *layer = &steps->layers[index];
    struct gpume_probe probe = {0};
    for (uint32_t i = 0; i < layer->division->items; i++) {
        bool eliminated = gpume_policy_eliminates(&layer->choice, i);
        probe.ns[eliminated] += layer->items[i].probe_ns;
        probe.items[eliminated]++;
    }
    for (uint32_t i = 0; i < steps->boxes[0].count; i++) {
        probe.box_ns += steps->box_ns[i];
    }
    probe.box_ns /= steps->shared->plan.layer_count;
    return probe;
}
