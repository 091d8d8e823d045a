/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/plan.h"

#include "base/base.h"
#include "model/cost.h"

#define BITS_WHOLE 1u
#define BITS_HALVES 3u
#define BITS_QUARTERS 1u

/* Squares of all levels but the smallest: 1 + 4 + 16 + 64 + 256. */
#define NODES 341u

enum split { SPLIT_WHOLE, SPLIT_ABOVE, SPLIT_BESIDE, SPLIT_QUARTERS };

/* A root's tree. The quarters of node n are the nodes 4 n + 1 to 4 n + 4, from left to right, then
 * down. */
struct tree {
    const struct gpume_plan *plan;
    const struct gpume_partition *partition;
    const uint32_t *costs, *bits;
    uint8_t splits[NODES]; /* enum split */
};

struct square {
    uint32_t level, node, x, y;
};

static uint32_t find_layer(const struct gpume_plan *plan, uint32_t width, uint32_t height)
{
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        if (plan->layers[i].block_w == width && plan->layers[i].block_h == height) {
            return i;
        }
    }
    return GPUME_NONE;
}

struct gpume_partition gpume_partition_of(const struct gpume_plan *plan)
{
    struct gpume_partition partition = {0};
    uint32_t largest = 0;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        largest = gpume_max_u32(largest, plan->layers[i].block_w);
    }
    for (uint32_t side = largest; find_layer(plan, side, side) != GPUME_NONE; side /= 2) {
        partition.levels[partition.level_count++] = (struct gpume_partition_level){
            .side = side,
            .whole = find_layer(plan, side, side),
            .above = find_layer(plan, side, side / 2),
            .beside = find_layer(plan, side / 2, side),
        };
    }
    return partition;
}

/* The block of a layer at (x,y); GPUME_NONE: there is none, it would lie outside the picture. */
static uint32_t block_at(const struct tree *tree, uint32_t layer, uint32_t x, uint32_t y)
{
    const struct gpume_params *p = &tree->plan->params;
    const struct gpume_shape *shape = &tree->plan->layers[layer];
    if (x >= p->width || y >= p->height) {
        return GPUME_NONE;
    }
    return shape->first + y / shape->block_h * shape->blocks_x + x / shape->block_w;
}

/* 256 D + lambda R; D of a root is below 2^32 however it is cut, so that every J is below 2^41. */
static uint64_t price(const struct tree *tree, uint32_t layer, uint32_t x, uint32_t y)
{
    uint32_t lambda = tree->plan->params.lambda, block = block_at(tree, layer, x, y);
    if (block == GPUME_NONE) {
        return 0;
    }
    uint32_t bits = tree->bits[block];
    uint32_t difference = tree->costs[block] - gpume_rate_cost(lambda, bits);
    return 256ull * difference + (uint64_t)lambda * bits;
}

static struct square quarter_of(const struct tree *tree, const struct square *square, uint32_t i)
{
    uint32_t half = tree->partition->levels[square->level].side / 2;
    return (struct square){
        .level = square->level + 1,
        .node = 4 * square->node + 1 + i,
        .x = square->x + i % 2 * half,
        .y = square->y + i / 2 * half,
    };
}

static bool is_smallest(const struct tree *tree, const struct square *square)
{
    return square->level + 1 == tree->partition->level_count;
}

static uint64_t least(struct tree *tree, const struct square *square);

static uint64_t price_quarters(struct tree *tree, const struct square *square)
{
    uint64_t sum = (uint64_t)tree->plan->params.lambda * BITS_QUARTERS;
    for (uint32_t i = 0; i < 4; i++) {
        struct square quarter = quarter_of(tree, square, i);
        sum += least(tree, &quarter);
    }
    return sum;
}

/* J of two halves, of which the second begins `right` and `down` of the first. */
static uint64_t price_halves(const struct tree *tree, const struct square *square, uint32_t layer,
    uint32_t right, uint32_t down)
{
    if (layer == GPUME_NONE) {
        return UINT64_MAX;
    }
    return price(tree, layer, square->x, square->y) +
           price(tree, layer, square->x + right, square->y + down) +
           (uint64_t)tree->plan->params.lambda * BITS_HALVES;
}

/* The least J of a square, and how it is reached: in splits. */
static uint64_t least(struct tree *tree, const struct square *square)
{
    const struct gpume_partition_level *level = &tree->partition->levels[square->level];
    uint32_t half = level->side / 2;
    uint64_t whole = price(tree, level->whole, square->x, square->y);
    if (is_smallest(tree, square) ||
        block_at(tree, level->whole, square->x, square->y) == GPUME_NONE) {
        return whole;
    }
    const uint64_t prices[] = {
        [SPLIT_WHOLE] = whole + (uint64_t)tree->plan->params.lambda * BITS_WHOLE,
        [SPLIT_ABOVE] = price_halves(tree, square, level->above, 0, half),
        [SPLIT_BESIDE] = price_halves(tree, square, level->beside, half, 0),
        [SPLIT_QUARTERS] = price_quarters(tree, square),
    };
    uint8_t best = SPLIT_WHOLE;
    for (uint8_t split = SPLIT_ABOVE; split <= SPLIT_QUARTERS; split++) {
        best = prices[split] < prices[best] ? split : best;
    }
    tree->splits[square->node] = best;
    return prices[best];
}

static void mark_block(
    const struct tree *tree, uint32_t layer, uint32_t x, uint32_t y, uint32_t *chosen)
{
    uint32_t block = block_at(tree, layer, x, y);
    if (block != GPUME_NONE) {
        chosen[block] = 1;
    }
}

static void mark(const struct tree *tree, const struct square *square, uint32_t *chosen)
{
    const struct gpume_partition_level *level = &tree->partition->levels[square->level];
    uint32_t half = level->side / 2;
    switch (is_smallest(tree, square) ? SPLIT_WHOLE : tree->splits[square->node]) {
    case SPLIT_WHOLE:
        mark_block(tree, level->whole, square->x, square->y, chosen);
        break;
    case SPLIT_ABOVE:
        mark_block(tree, level->above, square->x, square->y, chosen);
        mark_block(tree, level->above, square->x, square->y + half, chosen);
        break;
    case SPLIT_BESIDE:
        mark_block(tree, level->beside, square->x, square->y, chosen);
        mark_block(tree, level->beside, square->x + half, square->y, chosen);
        break;
    default:
        for (uint32_t i = 0; i < 4; i++) {
            struct square quarter = quarter_of(tree, square, i);
            mark(tree, &quarter, chosen);
        }
    }
}

void gpume_partition_choose(const struct gpume_plan *plan, const struct gpume_partition *partition,
    const uint32_t *costs, const uint32_t *bits, uint32_t root, uint32_t *chosen)
{
    const struct gpume_shape *roots = &plan->layers[partition->levels[0].whole];
    const struct square square = {
        .x = root % roots->blocks_x * roots->block_w,
        .y = root / roots->blocks_x * roots->block_h,
    };
    struct tree tree = {.plan = plan, .partition = partition, .costs = costs, .bits = bits};
    least(&tree, &square);
    mark(&tree, &square, chosen);
}
