/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/job.h"

#include "base/clock.h"
#include "base/grid.h"
#include "cpu/measure.h"
#include "cpu/pad.h"
#include "cpu/prefilter_rows.h"
#include "cpu/rank.h"

/* Rows that are padded or summed in a work item: handing one out costs less than 1 %. */
#define PAD_ROWS 16u
#define BOX_ROWS 16u
#define FILTER_ROWS 8u  /* of a work item: much more work a row */
#define THREAD_ITEMS 8u /* of a search, a thread: what the last one leaves idle is little */

void gpume_job_cut(struct gpume_job_shared *shared, uint32_t threads)
{
    const struct gpume_plan *plan = &shared->plan;
    uint64_t wanted = threads > 1 ? (uint64_t)threads * THREAD_ITEMS : 1;
    uint64_t spans =
        gpume_min_u64(gpume_div_up(wanted, plan->layers[0].blocks_y), plan->layers[0].blocks_x);
    shared->span = (uint32_t)gpume_div_up(plan->layers[0].blocks_x, spans);
    shared->spans = (uint32_t)gpume_div_up(plan->layers[0].blocks_x, shared->span);
}

uint32_t gpume_job_items(const struct gpume_job_shared *shared)
{
    return shared->plan.layers[0].blocks_y * shared->spans; /* at most one a block */
}

uint32_t gpume_job_box_items(const struct gpume_job_shared *shared)
{
    return (uint32_t)gpume_div_up(shared->plan.padded_rows, BOX_ROWS);
}

static bool is_cancelled(const struct gpume_job *job)
{
    return atomic_load_explicit(&job->shared->cancelled, memory_order_relaxed);
}

static void pad_item(void *opaque, uint32_t item)
{
    struct gpume_job *job = opaque;
    const struct gpume_plan *plan = &job->shared->plan;
    uint32_t end = (uint32_t)gpume_min_u64((uint64_t)(item + 1) * PAD_ROWS, plan->padded_rows);
    for (uint32_t row = item * PAD_ROWS; row < end; row++) {
        gpume_pad_row(plan, &job->frame->plane, job->padded, row);
    }
}

static void filter_item(void *opaque, uint32_t item)
{
    struct gpume_job *job = opaque;
    const struct gpume_plan *plan = &job->shared->plan;
    uint64_t end = gpume_min_u64((uint64_t)(item + 1) * FILTER_ROWS, plan->params.height);
    for (uint32_t y = item * FILTER_ROWS; y < end && !is_cancelled(job); y++) {
        gpume_prefilter_row(plan, job->padded, job->filtered, y);
    }
}

static void box_item(void *opaque, uint32_t item)
{
    const struct gpume_job_level *work = opaque;
    struct gpume_job *job = work->job;
    const struct gpume_boxes *boxes = &job->shared->boxes;
    uint64_t start = job->choice.probing ? gpume_clock_thread_ns() : 0;
    uint32_t rows = gpume_boxes_rows(boxes, work->level);
    uint32_t end = (uint32_t)gpume_min_u64((uint64_t)(item + 1) * BOX_ROWS, rows);
    for (uint32_t row = item * BOX_ROWS; row < end && !is_cancelled(job); row++) {
        job->shared->search->box_row(boxes, job->field.reference, work->level, row);
    }
    if (job->choice.probing) {
        uint64_t before = work->level ? job->box_ns[item] : 0;
        job->box_ns[item] = before + gpume_clock_thread_ns() - start;
    }
}

static struct gpume_span span_of(const struct gpume_job_shared *shared, uint32_t item)
{
    struct gpume_span span = {.row = item / shared->spans};
    span.first = item % shared->spans * shared->span;
    span.end = (uint32_t)gpume_min_u64(span.first + shared->span, shared->plan.layers[0].blocks_x);
    return span;
}

static void search_item(void *opaque, uint32_t index)
{
    struct gpume_job *job = opaque;
    struct gpume_job_item *item = &job->items[index];
    if (is_cancelled(job)) {
        return;
    }
    struct gpume_span span = span_of(job->shared, index);
    struct gpume_search_field field = job->field;
    if (!gpume_choice_eliminates(&job->choice, index)) {
        field.boxes = NULL;
    }
    item->counts = (struct gpume_search_counts){0};
    uint64_t start = job->choice.probing ? gpume_clock_thread_ns() : 0;
    job->shared->search->span(&field, &span, job->vectors, job->costs, &item->counts);
    item->probe_ns = job->choice.probing ? gpume_clock_thread_ns() - start : 0;
}

/* Not right behind the search of the same span: going back and forth between the two was 25 %
 * slower. */
static void measure_item(void *opaque, uint32_t index)
{
    struct gpume_job *job = opaque;
    struct gpume_span span = span_of(job->shared, index);
    if (!is_cancelled(job)) {
        job->items[index].sums = gpume_measure_span(
            job->shared->search, &job->measured, &span, job->vectors, job->predicted);
    }
}

static void rank_item(void *opaque, uint32_t item)
{
    struct gpume_job *job = opaque;
    (void)item;
    if (!is_cancelled(job)) {
        gpume_rank_costs(
            &job->shared->plan.layers[0], job->costs, job->ranks, job->shared->scratch);
    }
}

void gpume_job_init(struct gpume_job *job, struct gpume_job_shared *shared)
{
    const struct gpume_plan *plan = &shared->plan;
    job->shared = shared;
    job->field.plan = plan;
    job->field.layer = &plan->layers[0];
    job->field.cancelled = &shared->cancelled;
    job->measured = job->field;
    job->pad = (struct gpume_step){.fn = pad_item,
        .opaque = job,
        .count = (uint32_t)gpume_div_up(plan->padded_rows, PAD_ROWS)};
    job->filter = (struct gpume_step){.fn = filter_item,
        .opaque = job,
        .count = (uint32_t)gpume_div_up(plan->params.height, FILTER_ROWS)};
    for (uint32_t i = 0; i < shared->boxes.levels; i++) {
        uint32_t rows = gpume_boxes_rows(&shared->boxes, i);
        job->levels[i] = (struct gpume_job_level){job, i};
        job->boxes[i] = (struct gpume_step){.fn = box_item,
            .opaque = &job->levels[i],
            .count = (uint32_t)gpume_div_up(rows, BOX_ROWS)};
    }
    job->search =
        (struct gpume_step){.fn = search_item, .opaque = job, .count = gpume_job_items(shared)};
    job->rank = (struct gpume_step){.fn = rank_item, .opaque = job, .count = 1};
    job->measure =
        (struct gpume_step){.fn = measure_item, .opaque = job, .count = gpume_job_items(shared)};
}

struct gpume_job_item gpume_job_total(const struct gpume_job *job)
{
    struct gpume_job_item total = {0};
    for (uint32_t i = 0; i < gpume_job_items(job->shared); i++) {
        const struct gpume_job_item *item = &job->items[i];
        total.sums.zero += item->sums.zero;
        total.sums.sad_before += item->sums.sad_before;
        total.sums.sad_after += item->sums.sad_after;
        total.sums.sse_before += item->sums.sse_before;
        total.sums.sse_after += item->sums.sse_after;
        total.counts.candidates += item->counts.candidates;
        total.counts.past_blocks += item->counts.past_blocks;
        total.counts.past_parts += item->counts.past_parts;
    }
    return total;
}

struct gpume_probe gpume_job_probe(const struct gpume_job *job)
{
    struct gpume_probe probe = {0};
    for (uint32_t i = 0; i < gpume_job_items(job->shared); i++) {
        bool eliminated = gpume_choice_eliminates(&job->choice, i);
        probe.ns[eliminated] += job->items[i].probe_ns;
        probe.items[eliminated]++;
    }
    for (uint32_t i = 0; i < job->boxes[0].count; i++) {
        probe.box_ns += job->box_ns[i];
    }
    return probe;
}
