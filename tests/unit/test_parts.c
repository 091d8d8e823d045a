/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of a partition from flags made by hand: their order, and their ranks against a count of
 * the costlier parts. A picture whose right and bottom edges cut squares and their halves.
 */
#include "harness.h"
#include "plans.h"
#include "run/lane.h"

#include <stdlib.h>
#include <string.h>

/* Layers: 32x32, 32x16, 16x32, 16x16, 16x8, 8x16, 8x8. */
static struct gpume_plan make_plan(void)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = 72; /* 3 squares of 32 across, 2 down */
    params.height = 44;
    for (uint32_t side = 32; side >= 8; side /= 2) {
        params.shapes[params.shape_count++] = (struct gpume_block_size){side, side};
        if (side > 8) {
            params.shapes[params.shape_count++] = (struct gpume_block_size){side, side / 2};
            params.shapes[params.shape_count++] = (struct gpume_block_size){side / 2, side};
        }
    }
    params.partition = params.rate = true;
    params.lambda = 256;
    return plans_make(&params, UINT64_MAX);
}

/* A block that is chosen: its place, and its layer as the index above. */
struct chosen {
    uint32_t x, y, layer;
};

/* In the order that is promised. */
static const struct chosen by_hand[] = {
    {0, 0, 0}, /* the square at (0,0): whole */
    /* the square at (32,0): a quarter whole, one in halves of either kind, one in quarters */
    {32, 0, 3},
    {48, 0, 4},
    {48, 8, 4},
    {32, 16, 5},
    {40, 16, 5},
    {48, 16, 6},
    {56, 16, 6},
    {48, 24, 6},
    {56, 24, 6},
    /* the square at (64,0), of which 8 columns are visible: halves one above the other */
    {64, 0, 1},
    {64, 16, 1},
    /* the square at (0,32), of which 12 rows are visible: halves side by side */
    {0, 32, 2},
    {16, 32, 2},
    /* the square at (32,32): halves one above the other, of which one exists */
    {32, 32, 1},
    /* the square at (64,32): quarters, of which one exists, side by side, of which one exists */
    {64, 32, 5},
};
#define PARTS (sizeof(by_hand) / sizeof(*by_hand))

static uint32_t index_of(const struct gpume_shape *layer, const struct chosen *at)
{
    return at->y / layer->block_h * layer->blocks_x + at->x / layer->block_w;
}

static void check_parts(const struct gpume_plan *plan, const struct gpume_field_box *box)
{
    const struct gpume_part *parts = box->field.parts;
    REQUIRE_EQUAL(box->field.part_count, PARTS);
    for (uint32_t i = 0; i < PARTS; i++) {
        const struct chosen *at = &by_hand[i];
        uint32_t before = 0;
        REQUIRE_EQUAL(parts[i].layer, at->layer);
        REQUIRE_EQUAL(parts[i].block, index_of(&plan->layers[at->layer], at));
        for (uint32_t j = 0; j < PARTS; j++) {
            const uint32_t a =
                box->results.costs[plan->layers[parts[i].layer].first + parts[i].block];
            const uint32_t b =
                box->results.costs[plan->layers[parts[j].layer].first + parts[j].block];
            before += b > a || (b == a && j < i);
        }
        REQUIRE_EQUAL(parts[i].rank, before);
    }
}

int main(void)
{
    const struct gpume_plan plan = make_plan();
    struct gpume_field_box box = {0};
    struct gpume_parts parts = {0};
    uint32_t *costs = calloc(plan.blocks, sizeof(*costs));
    uint64_t seed = 5;
    uint32_t *chosen = calloc(plan.blocks, sizeof(*chosen));
    REQUIRE(costs && chosen);
    REQUIRE_EQUAL(gpume_field_box_init(&box, &plan), GPUME_OK);
    REQUIRE_EQUAL(gpume_parts_init(&parts, &plan), GPUME_OK);
    for (uint32_t i = 0; i < PARTS; i++) {
        const struct gpume_shape *layer = &plan.layers[by_hand[i].layer];
        chosen[layer->first + index_of(layer, &by_hand[i])] = 1;
    }
    box.results = (struct gpume_results){.costs = costs, .chosen = chosen};
    for (uint32_t run = 0; run < 3; run++) { /* few different costs, then up to 32 bits */
        for (uint32_t i = 0; i < plan.blocks; i++) {
            costs[i] = run == 0 ? 7 : harness_random(&seed) >> (run == 1 ? 29 : 0);
        }
        gpume_parts_list(&parts, &box);
        check_parts(&plan, &box);
    }
    gpume_parts_finish(&parts);
    gpume_field_box_finish(&box);
    free(costs);
    free(chosen);
    return harness_verdict();
}
