/* SPDX-License-Identifier: BSD-2-Clause */
/* What a lane adds to the results of its engine: the blocks of a partition, how far reverse vectors
 * lead away, and the comparison with a second search. The lane's thread. */
#include "run/lane.h"

#include "arrays/host_sort.h"
#include "base/base.h"
#include "frame/frame.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* --- the blocks of a partition */

#define SCRATCH_WORDS 4u /* of a part: its cost, its index, and room for both in the sort */

int gpume_parts_init(struct gpume_parts *parts, const struct gpume_plan *plan)
{
    parts->plan = plan;
    parts->partition = gpume_partition_of(plan);
    parts->scratch =
        calloc(plan->layers[plan->finest].blocks, SCRATCH_WORDS * sizeof(*parts->scratch));
    return parts->scratch ? GPUME_OK : GPUME_NOMEM;
}

void gpume_parts_finish(struct gpume_parts *parts)
{
    free(parts->scratch);
    *parts = (struct gpume_parts){0};
}

/* Appends the block at pixel (x,y) to the list if it is chosen. */
static bool add_block(const struct gpume_parts *parts, struct gpume_field_box *box, uint32_t layer,
    uint32_t x, uint32_t y)
{
    const struct gpume_params *params = &parts->plan->params;
    if (layer == GPUME_NONE || x >= params->width || y >= params->height) {
        return false;
    }
    const struct gpume_shape *shape = &parts->plan->layers[layer];
    const uint32_t block = y / shape->block_h * shape->blocks_x + x / shape->block_w;
    if (!box->results.chosen[shape->first + block]) {
        return false;
    }
    box->parts[box->field.part_count++] = (struct gpume_part){.layer = layer, .block = block};
    return true;
}

/* Appends what was chosen of the square at pixel (x,y). */
static void add_square(const struct gpume_parts *parts, struct gpume_field_box *box, uint32_t index,
    uint32_t x, uint32_t y)
{
    if (index == parts->partition.level_count) {
        return;
    }
    const struct gpume_partition_level *level = &parts->partition.levels[index];
    const uint32_t half = level->side / 2;
    if (add_block(parts, box, level->whole, x, y)) {
        return;
    }
    if (add_block(parts, box, level->above, x, y)) {
        add_block(parts, box, level->above, x, y + half);
        return;
    }
    if (add_block(parts, box, level->beside, x, y)) {
        add_block(parts, box, level->beside, x + half, y);
        return;
    }
    for (uint32_t i = 0; i < 4; i++) {
        add_square(parts, box, index + 1, x + i % 2 * half, y + i / 2 * half);
    }
}

static void rank_parts(const struct gpume_parts *parts, struct gpume_field_box *box)
{
    const struct gpume_sort_params falling = {.descending = true, .key_bits = 32};
    const uint32_t count = box->field.part_count;
    uint32_t *costs = parts->scratch, *order = costs + count;
    for (uint32_t i = 0; i < count; i++) {
        const struct gpume_part *part = &box->parts[i];
        costs[i] = box->results.costs[parts->plan->layers[part->layer].first + part->block];
        order[i] = i;
    }
    gpume_radix_sort(&falling, costs, order, count, order + count);
    for (uint32_t rank = 0; rank < count; rank++) {
        box->parts[order[rank]].rank = rank;
    }
}

void gpume_parts_list(const struct gpume_parts *parts, struct gpume_field_box *box)
{
    const struct gpume_shape *largest = &parts->plan->layers[parts->partition.levels[0].whole];
    box->field.part_count = 0;
    for (uint32_t i = 0; i < largest->blocks; i++) {
        add_square(parts, box, 0, i % largest->blocks_x * largest->block_w,
            i / largest->blocks_x * largest->block_h);
    }
    rank_parts(parts, box);
    box->field.parts = box->parts;
}

/* --- how far reverse vectors lead away */

/* A reverse pair keeps the vectors of all layers. With params.partition it keeps those of the
 * chosen blocks alone, spread over the grid of the smallest square.
 *
 * The vectors of future pairs lie behind those of a task's reverse pairs: for every distance d
 * those of the last d targets, target t at place t % d, until target t + d needs them. */
struct gpume_returns {
    struct gpume_plan plan;
    uint32_t kept;                /* vectors of a reverse pair */
    struct gpume_vector *vectors; /* of all reverse pairs of a task, then of earlier future pairs */
    uint32_t count;               /* reverse pairs that have come for the next task */
    struct gpume_field_box *waits; /* the future pair whose reverse comes next; NULL: none */
};

static const struct gpume_shape *finest_layer(const struct gpume_returns *returns)
{
    return &returns->plan.layers[returns->plan.finest];
}

int gpume_returns_open(struct gpume_returns **out, const struct gpume_plan *plan)
{
    struct gpume_returns *returns = calloc(1, sizeof(*returns));
    if (!returns) {
        return GPUME_NOMEM;
    }
    returns->plan = *plan;
    returns->kept = plan->params.partition ? finest_layer(returns)->blocks : plan->blocks;
    returns->vectors =
        calloc((size_t)gpume_plan_reverse_pairs(plan) * returns->kept, sizeof(*returns->vectors));
    if (!returns->vectors) {
        gpume_returns_close(&returns);
        return GPUME_NOMEM;
    }
    *out = returns;
    return GPUME_OK;
}

void gpume_returns_close(struct gpume_returns **returns)
{
    if (*returns) {
        free((*returns)->vectors);
        free(*returns);
        *returns = NULL;
    }
}

/* --- keeping the vectors of a reverse pair */

/* Writes the block's vector to all squares of the finest grid that it covers. */
static void spread_vector(const struct gpume_shape *finest, struct gpume_vector *to,
    const struct gpume_shape *layer, uint32_t block, struct gpume_vector vector)
{
    const uint32_t across = layer->block_w / finest->block_w;
    const uint32_t down = layer->block_h / finest->block_h;
    const uint64_t left = (uint64_t)(block % layer->blocks_x) * across;
    const uint64_t top = (uint64_t)(block / layer->blocks_x) * down;
    const uint64_t right = gpume_min_u64(left + across, finest->blocks_x);
    const uint64_t bottom = gpume_min_u64(top + down, finest->blocks_y);
    for (uint64_t y = top; y < bottom; y++) {
        for (uint64_t x = left; x < right; x++) {
            to[y * finest->blocks_x + x] = vector;
        }
    }
}

static struct gpume_vector *vectors_at(const struct gpume_returns *returns, uint64_t place)
{
    return returns->vectors + (size_t)place * returns->kept;
}

/* Of a future pair of this target, for the target that is its reference. */
static struct gpume_vector *future_vectors(
    const struct gpume_returns *returns, uint64_t target, uint64_t distance)
{
    uint64_t place = returns->plan.references;
    for (uint32_t i = 0; returns->plan.distances[i] != distance; i++) {
        place += returns->plan.distances[i];
    }
    return vectors_at(returns, place + target % distance);
}

static void keep_vectors(const struct gpume_returns *returns, const struct gpume_results *results,
    struct gpume_vector *to)
{
    const struct gpume_plan *plan = &returns->plan;
    if (!plan->params.partition) {
        memcpy(to, results->vectors, returns->kept * sizeof(*to));
        return;
    }
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        const struct gpume_shape *layer = &plan->layers[i];
        for (uint32_t block = 0; block < layer->blocks; block++) {
            if (results->chosen[layer->first + block]) {
                const struct gpume_vector vector = results->vectors[layer->first + block];
                spread_vector(finest_layer(returns), to, layer, block, vector);
            }
        }
    }
}

/* --- looking them up */

/* Along one axis: the pixel in the middle of the block's match, rounded down, and the nearest one
 * where that lies outside the picture. */
static uint32_t middle_of_match(
    uint32_t start, uint32_t side, uint32_t size, int32_t displacement, uint32_t units)
{
    const int64_t visible = (int64_t)gpume_min_u64(side, size - start);
    const int64_t middle = (2 * (int64_t)start + visible) * units + 2 * (int64_t)displacement;
    return middle < 0 ? 0 : (uint32_t)gpume_min_u64((uint64_t)middle / (2 * units), size - 1);
}

/* reverse: the vectors of the reverse pairs. */
static uint32_t return_of_block(const struct gpume_returns *returns,
    const struct gpume_vector *reverse, const struct gpume_results *results,
    const struct gpume_shape *layer, uint32_t block)
{
    const struct gpume_plan *plan = &returns->plan;
    const struct gpume_params *params = &plan->params;
    const struct gpume_vector forward = results->vectors[layer->first + block];
    const uint32_t reference = results->refs ? results->refs[layer->first + block] : 0;
    const uint32_t x = middle_of_match(block % layer->blocks_x * layer->block_w, layer->block_w,
        params->width, forward.dx, plan->units);
    const uint32_t y = middle_of_match(block / layer->blocks_x * layer->block_h, layer->block_h,
        params->height, forward.dy, plan->units);
    const struct gpume_shape *grid = params->partition ? finest_layer(returns) : layer;
    reverse += (size_t)reference * returns->kept + (params->partition ? 0 : layer->first);
    const struct gpume_vector backward =
        reverse[y / grid->block_h * grid->blocks_x + x / grid->block_w];
    return gpume_max_u32(
        (uint32_t)abs(forward.dx + backward.dx), (uint32_t)abs(forward.dy + backward.dy));
}

static void fill_returns(const struct gpume_returns *returns, const struct gpume_vector *reverse,
    struct gpume_field_box *box)
{
    for (uint32_t i = 0; i < returns->plan.layer_count; i++) {
        const struct gpume_shape *layer = &returns->plan.layers[i];
        for (uint32_t block = 0; block < layer->blocks; block++) {
            box->returns[layer->first + block] =
                return_of_block(returns, reverse, &box->results, layer, block);
        }
    }
}

/* Its reverse pairs were hidden, or it is a past pair whose reverse has come, or the field before
 * has waited for it. */
static uint32_t complete_returns(struct gpume_returns *returns, struct gpume_field_box *box,
    struct gpume_field_box *done[GPUME_RETURNS_DONE])
{
    const struct gpume_task *task = &box->task;
    uint32_t count = 0;
    if (returns->waits) {
        keep_vectors(returns, &box->results, returns->vectors);
        fill_returns(returns, returns->vectors, returns->waits);
        done[count++] = returns->waits;
        returns->waits = NULL;
    }
    const struct gpume_vector *reverse =
        returns->count > 0
            ? returns->vectors
            : future_vectors(returns, task->reference, task->target - task->reference);
    fill_returns(returns, reverse, box);
    returns->count = 0;
    done[count++] = box;
    return count;
}

uint32_t gpume_returns_take(struct gpume_returns *returns, struct gpume_field_box *box,
    struct gpume_field_box *done[GPUME_RETURNS_DONE])
{
    const struct gpume_task *task = &box->task;
    if (box->hidden) {
        keep_vectors(returns, &box->results, vectors_at(returns, returns->count++));
        done[0] = box;
        return 1;
    }
    if (!returns->plan.params.best_reference && task->reference > task->target) {
        keep_vectors(returns, &box->results,
            future_vectors(returns, task->target, task->reference - task->target));
        if (returns->count == 0) { /* the next field is its reverse */
            returns->waits = box;
            return 0;
        }
    }
    return complete_returns(returns, box, done);
}

/* --- params.check */

struct gpume_checker {
    void *engine;
    struct gpume_plan plan;
    const struct gpume_log *log;
    struct gpume_field_box box;
    bool logged; /* the first mismatch */
};

int gpume_checker_open(
    struct gpume_checker **out, const struct gpume_params *params, const struct gpume_log *log)
{
    struct gpume_checker *checker = calloc(1, sizeof(*checker));
    if (!checker) {
        return gpume_log_nomem(log, "a second search");
    }
    struct gpume_params plain = *params;
    plain.want_predicted = false;
    plain.want_frames = false;
    plain.backend = GPUME_BACKEND_CPU;
    plain.device = plain.devices = NULL;
    plain.search = "plain";
    plain.memory_max = 0; /* comes on top of what was allowed for the engine */
    checker->log = log;
    int status = gpume_engine_cpu.open(&checker->engine, &plain, log, &checker->plan);
    if (status != GPUME_OK) {
        free(checker);
        return status;
    }
    *out = checker;
    return GPUME_OK;
}

/* --- comparing */

#define ARRAY(member) offsetof(struct gpume_results, member)
#define ALWAYS SIZE_MAX
#define ENTRY_BYTES sizeof(uint32_t)

static_assert(sizeof(struct gpume_vector) == ENTRY_BYTES, "all arrays have entries of one size");

/* What a search finds for a block, in the arrays that the plan wants. */
static const struct {
    const char *name;
    size_t array;
    bool by_candidate;
    size_t where; /* where this array does not hold GPUME_NONE, or ALWAYS */
} findings[] = {
    {"cost", ARRAY(costs), true, ALWAYS},
    {"vector", ARRAY(vectors), true, ARRAY(costs)},
    {"bits", ARRAY(bits), true, ARRAY(costs)},
    {"reference", ARRAY(refs), false, ALWAYS},
    {"second reference", ARRAY(refs2), false, ALWAYS},
    {"second vector", ARRAY(vectors2), false, ARRAY(refs2)},
    {"number of ties", ARRAY(ties), false, ALWAYS},
    {"texture", ARRAY(texture), false, ALWAYS},
    {"partition", ARRAY(chosen), false, ALWAYS},
};

/* NULL: there is no such array. */
static const char *entry_of(const struct gpume_results *results, size_t array, size_t index)
{
    const char *entries;
    memcpy(&entries, (const char *)results + array, sizeof(entries));
    return entries ? entries + index * ENTRY_BYTES : NULL;
}

static bool is_none(const struct gpume_results *results, size_t array, size_t index)
{
    const uint32_t none = GPUME_NONE;
    return array != ALWAYS && memcmp(entry_of(results, array, index), &none, ENTRY_BYTES) == 0;
}

/* The name of the first finding that is not what the reference search has; NULL: there is none. */
static const char *find_difference(
    const struct gpume_checker *checker, const struct gpume_results *found, uint32_t block)
{
    const struct gpume_results *expected = &checker->box.results;
    for (size_t i = 0; i < sizeof(findings) / sizeof(*findings); i++) {
        const uint32_t candidates = findings[i].by_candidate ? checker->plan.kept : 1;
        for (uint32_t j = 0; j < candidates; j++) {
            const size_t index = (size_t)j * checker->plan.blocks + block;
            const char *wanted = entry_of(expected, findings[i].array, index);
            const char *entry = entry_of(found, findings[i].array, index);
            if (wanted && !is_none(expected, findings[i].where, index) &&
                (!entry || memcmp(entry, wanted, ENTRY_BYTES) != 0)) {
                return findings[i].name;
            }
        }
    }
    return NULL;
}

static void log_mismatch(struct gpume_checker *checker, const struct gpume_field_box *box,
    uint32_t block, const char *difference)
{
    const struct gpume_results *expected = &checker->box.results, *found = &box->results;
    if (checker->logged) {
        return;
    }
    checker->logged = true;
    gpume_log_write(checker->log, GPUME_LOG_WARNING,
        "frame %llu, block %u: another %s; vector (%d,%d) cost %u, the reference search has "
        "(%d,%d) cost %u",
        (unsigned long long)box->field.frame, block, difference, found->vectors[block].dx,
        found->vectors[block].dy, found->costs[block], expected->vectors[block].dx,
        expected->vectors[block].dy, expected->costs[block]);
}

static void compare(struct gpume_checker *checker, struct gpume_field_box *box)
{
    box->field.checked = checker->plan.blocks;
    box->field.matched = 0;
    for (uint32_t i = 0; i < checker->plan.blocks; i++) {
        const char *difference = find_difference(checker, &box->results, i);
        if (difference) {
            log_mismatch(checker, box, i, difference);
        }
        box->field.matched += !difference;
    }
}

/* --- searching again */

/* A field goes into the checker's box, with the predictors of the field that is checked. */
static int check_part(struct gpume_checker *checker, struct gpume_submission *part)
{
    struct gpume_field_box *box = part->field_count > 0 ? part->fields[0] : NULL;
    if (box) {
        checker->box.task = box->task;
        checker->box.predictors = box->predictors;
        part->fields[0] = &checker->box;
    }
    int status;
    GPUME_TRY(gpume_engine_cpu.submit(checker->engine, 0, part));
    GPUME_TRY(gpume_engine_cpu.collect(checker->engine, 0, part));
    if (box) {
        compare(checker, box);
    }
fail:
    return status;
}

/* A submission in parts of one frame or one task, since the reference takes no more at a time and
 * keeps few frames: each frame comes just before the first task that looks at it. */
struct parts {
    const struct gpume_submission *batch;
    uint32_t frame, field; /* the next ones */
};

static uint64_t newest_of(const struct gpume_task *task)
{
    uint64_t newest = gpume_max_u64(task->target, task->reference);
    for (uint32_t i = 0; i < task->more_count; i++) {
        newest = gpume_max_u64(newest, task->more[i]);
    }
    return newest;
}

/* False: there is no further part. */
static bool next_part(struct parts *parts, struct gpume_submission *part)
{
    const struct gpume_submission *batch = parts->batch;
    while (parts->field < batch->field_count && batch->fields[parts->field]->hidden) {
        parts->field++;
    }
    bool field_left = parts->field < batch->field_count;
    bool frame_left = parts->frame < batch->frame_count;
    if (field_left && frame_left) {
        const uint64_t newest = newest_of(&batch->fields[parts->field]->task);
        frame_left = batch->frames[parts->frame]->sequence <= newest;
    }
    *part = (struct gpume_submission){0};
    if (frame_left) {
        part->frames[part->frame_count++] = batch->frames[parts->frame++];
    } else if (field_left) {
        part->fields[part->field_count++] = batch->fields[parts->field++];
    }
    return frame_left || field_left;
}

int gpume_checker_batch(struct gpume_checker *checker, const struct gpume_submission *batch)
{
    struct parts parts = {.batch = batch};
    struct gpume_submission part;
    int status = GPUME_OK;
    while (status == GPUME_OK && next_part(&parts, &part)) {
        status = check_part(checker, &part);
    }
    return status;
}

void gpume_checker_cancel(struct gpume_checker *checker)
{
    gpume_engine_cpu.cancel(checker->engine);
}

void gpume_checker_close(struct gpume_checker **out)
{
    struct gpume_checker *checker = *out;
    if (!checker) {
        return;
    }
    *out = NULL;
    gpume_engine_cpu.close(&checker->engine);
    free(checker);
}
