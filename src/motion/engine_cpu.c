/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU engine: an exact search (search.h) on a thread pool. Submitting pads the frames into a
 * ring; collecting searches, measures and ranks each field, a row of blocks a work item. Called
 * from the pipeline's thread only. It is also what --check compares with.
 */
#include "motion/engine_cpu.h"

#include "base/clock.h"
#include "base/grid.h"
#include "base/status.h"
#include "base/workers.h"
#include "motion/ceiling.h"
#include "motion/chooser.h"
#include "motion/measure.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOX_ROWS 16u /* rows of box sums in a work item: handing one out costs less than 1 % */
#define WIDE 1024u   /* candidates a block from which elimination nearly always wins */

/* The results of one field of one slot. */
struct results {
    struct gpume_vector *vectors;
    uint32_t *costs, *ranks;
    void *predicted;
};

struct cpu {
    struct gpume_plan plan;
    const struct gpume_search *search;
    struct gpume_workers *workers;
    void **frames;           /* pool */
    void **padded;           /* ring */
    struct results *results; /* slots * batch */
    struct gpume_sums *row_sums;
    struct gpume_search_counts *row_counts;
    uint32_t *scratch; /* for ranking */
    struct gpume_boxes boxes;
    struct gpume_chooser chooser;
    uint64_t *box_ns; /* a work item of the widest level, while probing */
    struct gpume_stats stats;
    atomic_bool cancelled;
    uint64_t bytes;
    char device[64];
    /* the parallel loop under way */
    const struct gpume_frame *pad_frame;
    uint32_t box_level;
    struct gpume_search_field field;
    const struct results *result;
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

static int allocate_results(struct cpu *cpu, struct results *results)
{
    const struct gpume_plan *plan = &cpu->plan;
    results->vectors = allocate(cpu, plan->blocks, sizeof(*results->vectors));
    results->costs = allocate(cpu, plan->blocks, sizeof(*results->costs));
    results->ranks = allocate(cpu, plan->blocks, sizeof(*results->ranks));
    bool complete = results->vectors && results->costs && results->ranks;
    if (plan->params.want_predicted) {
        results->predicted = allocate(cpu, plan->plane_bytes, 1);
        complete = complete && results->predicted;
    }
    return complete ? GPUME_OK : GPUME_NOMEM;
}

static int allocate_padded(struct cpu *cpu)
{
    cpu->padded = allocate(cpu, cpu->plan.ring, sizeof(*cpu->padded));
    for (uint32_t i = 0; cpu->padded && i < cpu->plan.ring; i++) {
        cpu->padded[i] = allocate(cpu, cpu->plan.padded_bytes + GPUME_SEARCH_SLACK_BYTES, 1);
        if (!cpu->padded[i]) {
            return GPUME_NOMEM;
        }
    }
    return cpu->padded ? GPUME_OK : GPUME_NOMEM;
}

/* Box sums, and what the choice for or against them needs. */
static int allocate_boxes(struct cpu *cpu)
{
    const struct gpume_plan *plan = &cpu->plan;
    if (cpu->search->box_row && !plan->params.no_elimination) {
        cpu->boxes = gpume_boxes_plan(plan);
    }
    gpume_chooser_init(
        &cpu->chooser, cpu->boxes.levels > 0, plan->candidates >= WIDE, plan->blocks_y);
    cpu->chooser.searched_ns = allocate(cpu, plan->blocks_y, sizeof(uint64_t));
    cpu->box_ns = allocate(cpu, gpume_div_up(plan->padded_rows, BOX_ROWS), sizeof(uint64_t));
    bool complete = cpu->chooser.searched_ns && cpu->box_ns;
    for (uint32_t i = 0; i < cpu->boxes.levels; i++) {
        cpu->boxes.sums[i] = allocate(cpu, gpume_boxes_entries(&cpu->boxes), sizeof(uint16_t));
        complete = complete && cpu->boxes.sums[i];
    }
    return complete ? GPUME_OK : GPUME_NOMEM;
}

static int allocate_all(struct cpu *cpu)
{
    const struct gpume_plan *plan = &cpu->plan;
    uint32_t fields = plan->slots * plan->batch;
    int status;
    GPUME_TRY(allocate_padded(cpu));
    GPUME_TRY(allocate_boxes(cpu));
    cpu->frames = allocate(cpu, plan->pool, sizeof(*cpu->frames));
    cpu->row_sums = allocate(cpu, plan->blocks_y, sizeof(*cpu->row_sums));
    cpu->row_counts = allocate(cpu, plan->blocks_y, sizeof(*cpu->row_counts));
    cpu->scratch = allocate(cpu, plan->blocks, 2 * sizeof(*cpu->scratch));
    cpu->results = allocate(cpu, fields, sizeof(*cpu->results));
    if (!cpu->frames || !cpu->row_sums || !cpu->row_counts || !cpu->scratch || !cpu->results) {
        return GPUME_NOMEM;
    }
    for (uint32_t i = 0; i < fields; i++) {
        GPUME_TRY(allocate_results(cpu, &cpu->results[i]));
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
    for (uint32_t i = 0; cpu->frames && i < cpu->plan.pool; i++) {
        free(cpu->frames[i]);
    }
    for (uint32_t i = 0; cpu->padded && i < cpu->plan.ring; i++) {
        free(cpu->padded[i]);
    }
    for (uint32_t i = 0; cpu->results && i < cpu->plan.slots * cpu->plan.batch; i++) {
        free(cpu->results[i].vectors);
        free(cpu->results[i].costs);
        free(cpu->results[i].ranks);
        free(cpu->results[i].predicted);
    }
    for (uint32_t i = 0; i < cpu->boxes.levels; i++) {
        free(cpu->boxes.sums[i]);
    }
    free(cpu->chooser.searched_ns);
    free(cpu->box_ns);
    free(cpu->frames);
    free(cpu->padded);
    free(cpu->results);
    free(cpu->row_sums);
    free(cpu->row_counts);
    free(cpu->scratch);
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
        return GPUME_NOMEM;
    }
    cpu->search = search;
    int status;
    GPUME_TRY(gpume_plan_make(params, &caps, log, &cpu->plan));
    status = allocate_all(cpu);
    if (status == GPUME_OK) {
        status = gpume_workers_create(&cpu->workers, params->threads);
    }
    if (status != GPUME_OK) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "out of memory: the CPU engine needs %llu MiB for %ux%u, or fewer threads",
            (unsigned long long)(cpu->bytes >> 20) + 1, params->width, params->height);
        goto fail;
    }
    snprintf(cpu->device, sizeof(cpu->device), "%u thread%s", gpume_workers_count(cpu->workers),
        gpume_workers_count(cpu->workers) == 1 ? "" : "s");
    *plan = cpu->plan;
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
    /* lib.c has told why */
    return search ? gpume_engine_cpu_open(engine, params, log, plan, search) : GPUME_UNSUPPORTED;
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
        cpu->frames[index] = allocate(cpu, cpu->plan.plane_bytes, 1);
    }
    return cpu->frames[index];
}

static void *ring_frame(struct cpu *cpu, uint64_t sequence)
{
    return cpu->padded[sequence % cpu->plan.ring];
}

static void pad_item(void *opaque, uint32_t row)
{
    struct cpu *cpu = opaque;
    const struct gpume_frame *frame = cpu->pad_frame;
    gpume_pad_row(&cpu->plan, &frame->plane, ring_frame(cpu, frame->sequence), row);
}

static int cpu_submit(void *engine, uint32_t slot, const struct gpume_batch *batch)
{
    (void)slot;
    (void)engine;
    (void)batch;
    return GPUME_OK; /* the work is done when it is collected: this engine has no second processor
                      */
}

static void search_item(void *opaque, uint32_t row)
{
    struct cpu *cpu = opaque;
    if (atomic_load_explicit(&cpu->cancelled, memory_order_relaxed)) {
        return;
    }
    size_t first = (size_t)row * cpu->plan.blocks_x;
    bool probing = cpu->chooser.probing;
    uint64_t start = probing ? gpume_clock_thread_ns() : 0;
    struct gpume_search_field field = cpu->field;
    if (!gpume_chooser_eliminates(&cpu->chooser, row)) {
        field.boxes = NULL;
    }
    cpu->row_counts[row] = (struct gpume_search_counts){0};
    cpu->search->row(&field, row, cpu->result->vectors + first, cpu->result->costs + first,
        &cpu->row_counts[row]);
    if (probing) {
        cpu->chooser.searched_ns[row] = gpume_clock_thread_ns() - start;
    }
}

static void box_item(void *opaque, uint32_t item)
{
    struct cpu *cpu = opaque;
    bool probing = cpu->chooser.probing;
    uint64_t start = probing ? gpume_clock_thread_ns() : 0;
    uint32_t rows = gpume_boxes_rows(&cpu->boxes, cpu->box_level);
    uint32_t end = (uint32_t)gpume_min_u64((uint64_t)(item + 1) * BOX_ROWS, rows);
    for (uint32_t row = item * BOX_ROWS; row < end; row++) {
        cpu->search->box_row(&cpu->boxes, cpu->field.reference, cpu->box_level, row);
    }
    if (probing) {
        cpu->box_ns[item] += gpume_clock_thread_ns() - start;
    }
}

/* The sums of the reference, level by level. Gives the processor time that they took. */
static uint64_t make_boxes(struct cpu *cpu)
{
    uint32_t items = (uint32_t)gpume_div_up(cpu->plan.padded_rows, BOX_ROWS);
    memset(cpu->box_ns, 0, items * sizeof(*cpu->box_ns));
    for (cpu->box_level = 0; cpu->box_level < cpu->boxes.levels; cpu->box_level++) {
        uint32_t rows = gpume_boxes_rows(&cpu->boxes, cpu->box_level);
        gpume_workers_run(cpu->workers, box_item, cpu, (uint32_t)gpume_div_up(rows, BOX_ROWS));
    }
    uint64_t sum = 0;
    for (uint32_t i = 0; i < items; i++) {
        sum += cpu->box_ns[i];
    }
    return sum;
}

/* Rows that were searched without elimination have compared all they do not count. */
static void add_counts(struct cpu *cpu)
{
    struct gpume_stats *stats = &cpu->stats;
    uint64_t in_full = cpu->plan.field_candidates;
    for (uint32_t row = 0; row < cpu->plan.blocks_y; row++) {
        in_full -= cpu->row_counts[row].candidates;
        stats->past_blocks += cpu->row_counts[row].past_blocks;
        stats->past_parts += cpu->row_counts[row].past_parts;
    }
    stats->candidates += cpu->plan.field_candidates;
    stats->past_blocks += in_full;
    stats->past_parts += in_full;
}

static void search_field(struct cpu *cpu)
{
    gpume_chooser_begin(&cpu->chooser);
    bool boxes = gpume_chooser_needs_boxes(&cpu->chooser);
    uint64_t box_ns = boxes ? make_boxes(cpu) : 0;
    cpu->field.boxes = boxes ? &cpu->boxes : NULL;
    gpume_workers_run(cpu->workers, search_item, cpu, cpu->plan.blocks_y);
    if (atomic_load(&cpu->cancelled)) {
        return; /* rows are missing: nothing to learn from */
    }
    gpume_chooser_end(&cpu->chooser, box_ns);
    add_counts(cpu);
    cpu->field.hints = cpu->result->vectors; /* for the next field; it may be in use, unchanged */
}

static void measure_item(void *opaque, uint32_t row)
{
    struct cpu *cpu = opaque;
    const struct gpume_vector *vectors = cpu->result->vectors + (size_t)row * cpu->plan.blocks_x;
    cpu->row_sums[row] =
        gpume_measure_row(cpu->search, &cpu->field, vectors, row, cpu->result->predicted);
}

static struct gpume_sums total_sums(const struct cpu *cpu)
{
    struct gpume_sums total = {0};
    for (uint32_t row = 0; row < cpu->plan.blocks_y; row++) {
        const struct gpume_sums *sums = &cpu->row_sums[row];
        total.zero += sums->zero;
        total.sad_before += sums->sad_before;
        total.sad_after += sums->sad_after;
        total.sse_before += sums->sse_before;
        total.sse_after += sums->sse_after;
    }
    return total;
}

static void fill_field(struct cpu *cpu, struct gpume_field *field)
{
    const struct gpume_plan *plan = &cpu->plan;
    field->vectors = cpu->result->vectors;
    field->costs = cpu->result->costs;
    field->ranks = cpu->result->ranks;
    field->sums = total_sums(cpu);
    field->predicted = (struct gpume_plane){.data = cpu->result->predicted,
        .stride = plan->plane_stride,
        .width = plan->params.width,
        .height = plan->params.height,
        .bits = plan->params.bits};
}

static void compute_field(struct cpu *cpu, uint64_t sequence, struct gpume_field *field)
{
    const struct gpume_plan *plan = &cpu->plan;
    cpu->field.plan = plan;
    cpu->field.cancelled = &cpu->cancelled;
    cpu->field.target = ring_frame(cpu, sequence);
    cpu->field.reference = ring_frame(cpu, sequence - plan->params.ref_distance);
    uint64_t start = gpume_clock_ns();
    search_field(cpu);
    uint64_t matched = gpume_clock_ns();
    gpume_workers_run(cpu->workers, measure_item, cpu, plan->blocks_y);
    uint64_t measured = gpume_clock_ns();
    gpume_rank_costs(plan, cpu->result->costs, cpu->result->ranks, cpu->scratch);
    uint64_t ranked = gpume_clock_ns();
    fill_field(cpu, field);
    cpu->stats.match_ns += matched - start;
    cpu->stats.reduce_ns += measured - matched;
    cpu->stats.rank_ns += ranked - measured;
    cpu->stats.fields++;
}

static int cpu_collect(void *engine, uint32_t slot, const struct gpume_batch *batch)
{
    struct cpu *cpu = engine;
    uint32_t field = 0;
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        uint64_t start = gpume_clock_ns();
        cpu->pad_frame = batch->frames[i];
        gpume_workers_run(cpu->workers, pad_item, cpu, cpu->plan.padded_rows);
        cpu->stats.upload_ns += gpume_clock_ns() - start;
        uint64_t sequence = batch->frames[i]->sequence;
        if (sequence >= cpu->plan.params.ref_distance) {
            cpu->result = &cpu->results[slot * cpu->plan.batch + field];
            compute_field(cpu, sequence, &batch->fields[field]->field);
            field++;
        }
    }
    return atomic_load(&cpu->cancelled) ? GPUME_CANCELLED : GPUME_OK;
}

static void cpu_cancel(void *engine)
{
    struct cpu *cpu = engine;
    atomic_store(&cpu->cancelled, true);
}

static void cpu_get_stats(void *engine, struct gpume_stats *stats)
{
    const struct cpu *cpu = engine;
    *stats = cpu->stats;
}

static void cpu_get_info(void *engine, struct gpume_info *info)
{
    const struct cpu *cpu = engine;
    info->backend = "cpu";
    info->device = cpu->device;
    info->driver = "";
    info->search = cpu->search->name;
    info->eliminates = cpu->boxes.levels > 0;
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
