/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/derived.h"

#include "arrays/host_sort.h"
#include "base/base.h"

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
