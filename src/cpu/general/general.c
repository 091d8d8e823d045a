/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/general/general.h"

#include "arrays/host_sort.h"
#include "base/grid.h"
#include "base/status.h"
#include "cpu/general/choose.h"
#include "cpu/general/measure.h"
#include "cpu/general/predict.h"
#include "cpu/measure.h"
#include "cpu/memory.h"
#include "model/partition.h"

#include <string.h>

/* --- items: block rows of all layers, of one pair after the other */

static uint32_t rows_of(const struct gpume_plan *plan)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        rows += plan->layers[i].blocks_y;
    }
    return rows;
}

/* The layer that holds row `row` of them all, which becomes one of the layer. */
static const struct gpume_shape *find_row(const struct gpume_plan *plan, uint32_t *row)
{
    const struct gpume_shape *layer = plan->layers;
    while (*row >= layer->blocks_y) {
        *row -= layer->blocks_y;
        layer++;
    }
    return layer;
}

static bool is_cancelled(const struct gpume_general *general)
{
    return atomic_load_explicit(general->cancelled, memory_order_relaxed);
}

/* --- steps */

static void predict_item(void *opaque, uint32_t item)
{
    struct gpume_general *general = opaque;
    uint32_t rows = rows_of(general->plan), row = item % rows;
    const struct gpume_shape *layer = find_row(general->plan, &row);
    struct gpume_pair *pair = &general->pairs[item / rows];
    gpume_predict_row(layer, row, pair->vectors + layer->first, pair->predictors + layer->first);
}

static void search_row(struct gpume_general *general, const struct gpume_pair *pair,
    const struct gpume_shape *layer, uint32_t row, uint32_t count)
{
    const struct gpume_plan *plan = general->plan;
    struct gpume_vector left = {0, 0};
    struct gpume_bound bound;
    struct gpume_matcher_counts counts = {0};
    uint32_t boxes = gpume_rings_box(layer);
    for (uint32_t x = 0; x < layer->blocks_x && !is_cancelled(general); x++) {
        uint32_t index = row * layer->blocks_x + x, at = layer->first + index;
        struct gpume_candidate found[GPUME_CANDIDATES_MAX];
        struct gpume_matcher matcher = gpume_matcher_make(
            plan, general->kernels->general, layer, index, general->searched, pair->searched);
        gpume_matcher_predict(&matcher, pair->predictors[at]);
        gpume_matcher_bound(
            &matcher, layer, general->box_sums[boxes], pair->box_sums[boxes], &bound);
        const struct gpume_vector seeds[] = {{0, 0}, left, pair->predictors[at], pair->vectors[at]};
        pair->ties[at] = gpume_matcher_search(
            &matcher, seeds, sizeof(seeds) / sizeof(*seeds), found, count, &counts);
        for (uint32_t i = 0; i < count; i++) {
            size_t place = (size_t)i * plan->blocks + at;
            pair->vectors[place] =
                (struct gpume_vector){(int16_t)found[i].dx, (int16_t)found[i].dy};
            pair->costs[place] = found[i].cost;
        }
        left = pair->vectors[at];
    }
    atomic_fetch_add(&general->tried, counts.tried);
    atomic_fetch_add(&general->compared, counts.compared);
}

static void search_candidates(struct gpume_general *general, uint32_t item, uint32_t count)
{
    uint32_t rows = rows_of(general->plan), row = item % rows;
    const struct gpume_shape *layer = find_row(general->plan, &row);
    search_row(general, &general->pairs[item / rows], layer, row, count);
}

/* A pass before the last: the next one needs the best vectors alone, to predict and to begin with.
 */
static void search_best_item(void *opaque, uint32_t item)
{
    search_candidates(opaque, item, 1);
}

static void search_item(void *opaque, uint32_t item)
{
    struct gpume_general *general = opaque;
    search_candidates(general, item, general->plan->kept);
}

static void refine_item(void *opaque, uint32_t item)
{
    struct gpume_general *general = opaque;
    const struct gpume_pair *pair = &general->pairs[0];
    const int32_t units = (int32_t)general->plan->units;
    uint32_t row = item;
    const struct gpume_shape *layer = find_row(general->plan, &row);
    for (uint32_t x = 0; x < layer->blocks_x && !is_cancelled(general); x++) {
        uint32_t index = row * layer->blocks_x + x, at = layer->first + index;
        const struct gpume_vector whole = general->whole_vectors[at];
        const struct gpume_matcher matcher = gpume_matcher_make(general->plan,
            general->kernels->general, layer, index, general->searched, pair->searched);
        struct gpume_candidate best = gpume_matcher_refine(&matcher,
            (struct gpume_candidate){general->whole_costs[at], whole.dx * units, whole.dy * units});
        pair->vectors[at] = (struct gpume_vector){(int16_t)best.dx, (int16_t)best.dy};
        pair->costs[at] = best.cost;
    }
}

static void choose_item(void *opaque, uint32_t item)
{
    struct gpume_general *general = opaque;
    uint32_t row = item;
    const struct gpume_shape *layer = find_row(general->plan, &row);
    for (uint32_t x = 0; x < layer->blocks_x && !is_cancelled(general); x++) {
        gpume_choose_block(general, layer, row * layer->blocks_x + x);
    }
}

/* Blocks of a layer, from the first to the one after the last. */
struct range {
    uint32_t first, end;
};

/* Those inside a row of the largest squares. */
static struct range blocks_inside(
    const struct gpume_shape *layer, const struct gpume_shape *root, uint32_t root_row)
{
    uint32_t rows = root->block_h / layer->block_h;
    uint64_t first = gpume_min_u64((uint64_t)root_row * rows, layer->blocks_y);
    uint64_t end = gpume_min_u64(first + rows, layer->blocks_y);
    return (struct range){(uint32_t)first * layer->blocks_x, (uint32_t)end * layer->blocks_x};
}

/* One row of the largest squares. */
static void partition_item(void *opaque, uint32_t item)
{
    struct gpume_general *general = opaque;
    const struct gpume_plan *plan = general->plan;
    const struct gpume_partition partition = gpume_partition_of(plan);
    const struct gpume_shape *root = &plan->layers[partition.levels[0].whole];
    struct range ranges[GPUME_LAYERS_MAX];
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        ranges[i] = blocks_inside(&plan->layers[i], root, item);
        memset(general->chosen + plan->layers[i].first + ranges[i].first, 0,
            (ranges[i].end - ranges[i].first) * sizeof(*general->chosen));
    }
    for (uint32_t i = item * root->blocks_x; i < (item + 1) * root->blocks_x; i++) {
        gpume_partition_choose(plan, &partition, general->costs, general->bits, i, general->chosen);
    }
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        gpume_measure_map(general, &plan->layers[i], ranges[i].first, ranges[i].end);
    }
}

static void rank_item(void *opaque, uint32_t item)
{
    struct gpume_general *general = opaque;
    (void)item;
    for (uint32_t i = 0; i < general->plan->layer_count; i++) {
        const struct gpume_shape *layer = &general->plan->layers[i];
        gpume_host_rank(general->costs + layer->first, layer->blocks, 32,
            general->ranks + layer->first, general->scratch);
    }
}

static void measure_item(void *opaque, uint32_t item)
{
    struct gpume_general *general = opaque;
    general->sums[item] = gpume_measure_rows(general, item);
}

/* stage: the row of its time in the statistics. */
static void add_step(
    struct gpume_general *general, const char *stage, gpume_work_fn fn, uint32_t count)
{
    const uint32_t index = general->step_count++;
    general->stages[index] = stage;
    general->steps[index] = (struct gpume_step){
        .fn = fn, .opaque = general, .pace = &general->paces[index], .count = count};
}

static void add_steps(struct gpume_general *general)
{
    const struct gpume_plan *plan = general->plan;
    uint32_t rows = rows_of(plan);
    general->step_count = 0;
    if (plan->fast_pixels) {
        add_step(general, "match", refine_item, rows);
    }
    for (uint32_t i = 0; !plan->fast_pixels && i < plan->passes; i++) {
        if (i > 0) {
            add_step(general, "match", predict_item, general->pair_count * rows);
        }
        add_step(general, "match", i + 1 < plan->passes ? search_best_item : search_item,
            general->pair_count * rows);
    }
    add_step(general, "match", choose_item, rows);
    if (plan->params.partition) {
        const struct gpume_partition partition = gpume_partition_of(plan);
        add_step(
            general, "reduce", partition_item, plan->layers[partition.levels[0].whole].blocks_y);
    }
    add_step(general, "rank", rank_item, 1);
    add_step(general, "reduce", measure_item, gpume_measure_items(plan));
}

/* --- memory */

static int allocate_pair(struct gpume_pair *pair, const struct gpume_plan *plan, uint64_t *bytes)
{
    uint64_t kept = (uint64_t)plan->blocks * plan->kept;
    pair->predictors = gpume_allocate(bytes, plan->blocks, sizeof(*pair->predictors));
    pair->vectors = gpume_allocate(bytes, kept, sizeof(*pair->vectors));
    pair->costs = gpume_allocate(bytes, kept, sizeof(*pair->costs));
    pair->ties = gpume_allocate(bytes, plan->blocks, sizeof(*pair->ties));
    return pair->predictors && pair->vectors && pair->costs && pair->ties ? GPUME_OK : GPUME_NOMEM;
}

/* Allocates an array of words if the plan wants it. */
static int allocate_words(uint32_t **words, bool wanted, uint64_t count, uint64_t *bytes)
{
    *words = wanted ? gpume_allocate(bytes, count, sizeof(**words)) : NULL;
    return wanted && !*words ? GPUME_NOMEM : GPUME_OK;
}

static int allocate_results(struct gpume_general *g, const struct gpume_plan *plan, uint64_t *bytes)
{
    const struct gpume_params *p = &plan->params;
    uint64_t blocks = plan->blocks, kept = blocks * plan->kept;
    int status;
    g->vectors = gpume_allocate(bytes, kept, sizeof(*g->vectors));
    g->vectors2 = p->bidirectional ? gpume_allocate(bytes, blocks, sizeof(*g->vectors2)) : NULL;
    g->sums = gpume_allocate(bytes, gpume_measure_items(plan), sizeof(*g->sums));
    g->predicted = p->want_predicted ? gpume_allocate(bytes, plan->plane_bytes, 1) : NULL;
    if (!g->vectors || !g->sums || (p->bidirectional && !g->vectors2) ||
        (p->want_predicted && !g->predicted)) {
        return GPUME_NOMEM;
    }
    GPUME_TRY(allocate_words(&g->costs, true, kept, bytes));
    GPUME_TRY(allocate_words(&g->ranks, true, blocks, bytes));
    GPUME_TRY(allocate_words(&g->bits, p->rate, kept, bytes));
    GPUME_TRY(allocate_words(&g->refs, p->best_reference, blocks, bytes));
    GPUME_TRY(allocate_words(&g->refs2, p->bidirectional, blocks, bytes));
    GPUME_TRY(allocate_words(&g->ties, p->confidence, blocks, bytes));
    GPUME_TRY(allocate_words(&g->texture, p->confidence, blocks, bytes));
    GPUME_TRY(allocate_words(&g->chosen, p->partition, blocks, bytes));
    GPUME_TRY(allocate_words(&g->cells, p->partition, gpume_measure_cells(plan), bytes));
fail:
    return status;
}

int gpume_general_init(struct gpume_general *g, const struct gpume_plan *plan, uint64_t *bytes)
{
    int status = GPUME_OK;
    g->plan = plan;
    for (uint32_t i = 0; status == GPUME_OK && i < plan->references; i++) {
        status = allocate_pair(&g->pairs[i], plan, bytes);
    }
    return status == GPUME_OK ? allocate_results(g, plan, bytes) : status;
}

void gpume_general_finish(struct gpume_general *g)
{
    for (uint32_t i = 0; i < GPUME_REFERENCES_MAX; i++) {
        free(g->pairs[i].predictors);
        free(g->pairs[i].vectors);
        free(g->pairs[i].costs);
        free(g->pairs[i].ties);
    }
    void *const arrays[] = {g->vectors, g->vectors2, g->costs, g->ranks, g->bits, g->refs, g->refs2,
        g->ties, g->texture, g->chosen, g->cells, g->predicted, g->sums};
    for (uint32_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
        free(arrays[i]);
    }
}

/* --- a task */

static void start_pair(struct gpume_general *g, const struct gpume_rings *rings, uint32_t index,
    const struct gpume_task *task)
{
    const struct gpume_plan *plan = g->plan;
    struct gpume_pair *pair = &g->pairs[index];
    uint64_t reference = index == 0 ? task->reference : task->more[index - 1];
    pair->searched = gpume_rings_at(rings, plan->searched, reference);
    pair->measured = gpume_rings_at(rings, plan->measured, reference);
    pair->future = reference > task->target;
    for (uint32_t i = 0; i < GPUME_RING_BOXES; i++) {
        pair->box_sums[i] = gpume_rings_sums(rings, i, reference);
    }
    for (uint32_t i = 0; i < plan->blocks; i++) {
        pair->predictors[i] =
            g->given ? g->given[(size_t)index * plan->blocks + i] : (struct gpume_vector){0, 0};
    }
}

void gpume_general_start(struct gpume_general *general, const struct gpume_rings *rings,
    const struct gpume_field_box *box)
{
    const struct gpume_plan *plan = general->plan;
    general->searched = gpume_rings_at(rings, plan->searched, box->task.target);
    general->measured = gpume_rings_at(rings, plan->measured, box->task.target);
    general->given = box->predictors;
    general->tried = general->compared = 0;
    for (uint32_t i = 0; i < GPUME_RING_BOXES; i++) {
        general->box_sums[i] = gpume_rings_sums(rings, i, box->task.target);
    }
    general->pair_count = 1 + box->task.more_count;
    for (uint32_t i = 0; i < general->pair_count; i++) {
        start_pair(general, rings, i, &box->task);
    }
    add_steps(general);
}

void gpume_general_complete(struct gpume_general *g, struct gpume_field_box *box)
{
    const struct gpume_plan *plan = g->plan;
    struct gpume_field *field = &box->field;
    box->results = (struct gpume_results){.vectors = g->vectors,
        .costs = g->costs,
        .ranks = g->ranks,
        .bits = g->bits,
        .refs = g->refs,
        .refs2 = g->refs2,
        .vectors2 = g->vectors2,
        .ties = g->ties,
        .texture = g->texture,
        .chosen = g->chosen};
    field->sums = (struct gpume_sums){.zero = gpume_measure_zero(g)};
    for (uint32_t i = 0; i < gpume_measure_items(plan); i++) {
        gpume_measure_add(&field->sums, &g->sums[i]);
    }
    field->predicted = gpume_plan_plane(plan, g->predicted);
}
