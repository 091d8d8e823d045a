/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model/partition: cases worked out by hand, and random prices compared with a search through every
 * way to cut a root.
 */
#include "harness.h"
#include "model/plan.h"
#include "plans.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 4096u

static struct gpume_params params_of(uint32_t width, uint32_t height, uint32_t lambda)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = width;
    params.height = height;
    params.partition = params.rate = true;
    params.lambda = lambda;
    return params;
}

static void add_shape(struct gpume_params *params, uint32_t width, uint32_t height)
{
    params->shapes[params->shape_count++] = (struct gpume_block_size){width, height};
}

static void choose(const struct gpume_plan *plan, const uint32_t *costs, const uint32_t *bits,
    uint32_t chosen[BLOCKS_MAX])
{
    struct gpume_partition partition = gpume_partition_of(plan);
    REQUIRE(plan->blocks <= BLOCKS_MAX);
    memset(chosen, 0, BLOCKS_MAX * sizeof(*chosen));
    uint32_t roots = plan->layers[partition.levels[0].whole].blocks;
    for (uint32_t root = 0; root < roots; root++) {
        gpume_partition_choose(plan, &partition, costs, bits, root, chosen);
    }
}

/* One root of 8x8 on 8x8 pixels, lambda 1, no bits: blocks are the whole, two 8x4, two 4x8 and four
 * 4x4. The price of dividing is 1 (whole), 3 or 1, in 1/256 of a cost. */
static void test_by_hand(void)
{
    static const struct {
        uint32_t costs[9];
        const char *chosen;
    } cases[] = {
        {{10, 5, 5, 5, 5, 3, 3, 2, 2}, "100000000"}, /* all equal but for P: 1 against 3, 3, 1 */
        {{10, 5, 5, 5, 5, 3, 2, 2, 2}, "000001111"}, /* quarters are one cheaper */
        {{10, 5, 4, 5, 4, 3, 3, 2, 2}, "011000000"}, /* halves tie: one above the other */
        {{10, 5, 5, 5, 4, 3, 3, 2, 2}, "000110000"}, /* side by side */
        {{10, 5, 4, 5, 4, 3, 2, 2, 2}, "000001111"}, /* quarters have the smaller P */
        {{10, 5, 4, 4, 4, 3, 2, 2, 2}, "000110000"}, /* a cost outweighs P */
    };
    struct gpume_params params = params_of(8, 8, 1);
    add_shape(&params, 8, 8);
    add_shape(&params, 8, 4);
    add_shape(&params, 4, 8);
    add_shape(&params, 4, 4);
    struct gpume_plan plan = plans_make(&params, UINT64_MAX);
    const uint32_t bits[9] = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t chosen[BLOCKS_MAX];
        choose(&plan, cases[i].costs, bits, chosen);
        for (uint32_t block = 0; block < 9; block++) {
            REQUIRE_EQUAL(chosen[block], cases[i].chosen[block] - '0');
        }
    }
}

/* J counts bits unrounded: at lambda 100/256 one bit rounds to a cost of 0. Four quarters of one
 * bit each have J = 400 + 100, the whole one without bits has 256 D + 100: it wins for D = 0 and 1.
 */
static void test_rounding(void)
{
    struct gpume_params params = params_of(8, 8, 100);
    add_shape(&params, 8, 8);
    add_shape(&params, 4, 4);
    struct gpume_plan plan = plans_make(&params, UINT64_MAX);
    const uint32_t bits[5] = {0, 1, 1, 1, 1};
    for (uint32_t difference = 0; difference < 4; difference++) {
        const uint32_t costs[5] = {difference, 0, 0, 0, 0};
        uint32_t chosen[BLOCKS_MAX];
        choose(&plan, costs, bits, chosen);
        REQUIRE_EQUAL(chosen[0], difference < 2);
        REQUIRE_EQUAL(chosen[1], difference >= 2);
    }
}

/* On 5x9 pixels, 16x16 has one block, 8x8 two (one above the other): the two on the right lie
 * outside and are free, but the square may still be divided. */
static void test_outside(void)
{
    struct gpume_params params = params_of(5, 9, 256);
    add_shape(&params, 8, 8);
    add_shape(&params, 16, 16);
    add_shape(&params, 8, 16);
    struct gpume_plan plan = plans_make(&params, UINT64_MAX);
    REQUIRE_EQUAL(plan.blocks, 4);
    const uint32_t bits[4] = {0};
    uint32_t chosen[BLOCKS_MAX];
    /* whole 20 + 1, halves 17 + 3, quarters 18 + 1 */
    choose(&plan, (const uint32_t[]){9, 9, 20, 17}, bits, chosen);
    REQUIRE(chosen[0] && chosen[1] && !chosen[2] && !chosen[3]);
    /* halves 15 + 3: the one half that exists */
    choose(&plan, (const uint32_t[]){9, 9, 20, 15}, bits, chosen);
    REQUIRE(!chosen[0] && !chosen[1] && !chosen[2] && chosen[3]);
}

/* --- every way to cut a root */

struct brute {
    const struct gpume_plan *plan;
    const uint32_t *costs, *bits;
    uint32_t smallest;
};

/* A way to cover a square: blocks as a set, and its J. */
struct cover {
    bool exists;
    uint64_t j;
    uint8_t has[BLOCKS_MAX];
};

static void add_block(const struct brute *brute, struct cover *cover, uint32_t width,
    uint32_t height, uint32_t x, uint32_t y)
{
    const struct gpume_params *p = &brute->plan->params;
    bool found = x >= p->width || y >= p->height;
    for (uint32_t i = 0; !found && i < brute->plan->layer_count; i++) {
        const struct gpume_shape *layer = &brute->plan->layers[i];
        if (layer->block_w == width && layer->block_h == height) {
            uint32_t block = layer->first + y / height * layer->blocks_x + x / width;
            uint64_t rate = (uint64_t)p->lambda * brute->bits[block];
            cover->j += 256 * (brute->costs[block] - ((rate + 128) / 256)) + rate;
            cover->has[block] = 1;
            found = true;
        }
    }
    cover->exists = cover->exists && found;
}

static void keep_cheaper(struct cover *best, const struct cover *other)
{
    if (other->exists && (!best->exists || other->j < best->j)) {
        *best = *other;
    }
}

static void cover_square(
    const struct brute *brute, uint32_t side, uint32_t x, uint32_t y, struct cover *best)
{
    uint64_t lambda = brute->plan->params.lambda;
    uint32_t half = side / 2;
    *best = (struct cover){.exists = true};
    add_block(brute, best, side, side, x, y);
    if (side == brute->smallest || x >= brute->plan->params.width ||
        y >= brute->plan->params.height) {
        return;
    }
    best->j += lambda;
    struct cover *other = calloc(2, sizeof(*other)), *quarter = other + 1;
    *other = (struct cover){.exists = true, .j = 3 * lambda};
    add_block(brute, other, side, half, x, y);
    add_block(brute, other, side, half, x, y + half);
    keep_cheaper(best, other);
    *other = (struct cover){.exists = true, .j = 3 * lambda};
    add_block(brute, other, half, side, x, y);
    add_block(brute, other, half, side, x + half, y);
    keep_cheaper(best, other);
    *other = (struct cover){.exists = true, .j = lambda};
    for (uint32_t i = 0; i < 4; i++) {
        cover_square(brute, half, x + i % 2 * half, y + i / 2 * half, quarter);
        other->j += quarter->j;
        for (uint32_t block = 0; block < BLOCKS_MAX; block++) {
            other->has[block] |= quarter->has[block];
        }
    }
    keep_cheaper(best, other);
    free(other);
}

/* Of all roots of `side`. */
static void compare(const struct brute *brute, uint32_t side, const uint32_t *chosen)
{
    const struct gpume_params *p = &brute->plan->params;
    uint8_t *all = calloc(BLOCKS_MAX, 1);
    struct cover *cover = malloc(sizeof(*cover));
    for (uint32_t y = 0; y < p->height; y += side) {
        for (uint32_t x = 0; x < p->width; x += side) {
            cover_square(brute, side, x, y, cover);
            for (uint32_t block = 0; block < BLOCKS_MAX; block++) {
                all[block] |= cover->has[block];
            }
        }
    }
    for (uint32_t block = 0; block < brute->plan->blocks; block++) {
        REQUIRE_EQUAL(chosen[block], all[block]);
    }
    free(cover);
    free(all);
}

static bool decide(uint64_t *state)
{
    return harness_random(state) % 2 == 0;
}

/* Shapes in random order. Returns the smallest side. */
static uint32_t add_random_shapes(struct gpume_params *params, uint32_t side, uint64_t *state)
{
    uint32_t levels = 2 + harness_random(state) % 4;
    bool above = decide(state), beside = decide(state);
    add_shape(params, side, side);
    while (--levels > 0 && side % 8 == 0) {
        if (above && !(harness_random(state) % 4 == 0)) {
            add_shape(params, side, side / 2);
        }
        if (beside && !(harness_random(state) % 4 == 0)) {
            add_shape(params, side / 2, side);
        }
        side /= 2;
        add_shape(params, side, side);
    }
    for (uint32_t i = params->shape_count - 1; i > 0; i--) {
        uint32_t other = harness_random(state) % (i + 1);
        struct gpume_block_size shape = params->shapes[i];
        params->shapes[i] = params->shapes[other];
        params->shapes[other] = shape;
    }
    return side;
}

static void test_random(void)
{
    uint64_t state = 5;
    for (uint32_t run = 0; run < 120; run++) {
        static const uint32_t sides[] = {8, 16, 24, 32, 64, 128};
        uint32_t side = sides[harness_random(&state) % 6];
        struct gpume_params params = params_of(1 + harness_random(&state) % (side + side / 2),
            1 + harness_random(&state) % (side + side / 2), 1 + harness_random(&state) % 3000);
        uint32_t smallest = add_random_shapes(&params, side, &state);
        struct gpume_plan plan = plans_make(&params, UINT64_MAX);
        uint32_t costs[BLOCKS_MAX], bits[BLOCKS_MAX], chosen[BLOCKS_MAX];
        uint32_t spread = 1 + harness_random(&state) % 40;
        for (uint32_t i = 0; i < plan.layer_count; i++) {
            const struct gpume_shape *layer = &plan.layers[i];
            uint32_t base = layer->block_w * layer->block_h;
            for (uint32_t j = layer->first; j < layer->first + layer->blocks; j++) {
                bits[j] = 2 + 2 * (harness_random(&state) % 20);
                costs[j] = base + harness_random(&state) % spread * base / 16 +
                           (uint32_t)(((uint64_t)params.lambda * bits[j] + 128) / 256);
            }
        }
        choose(&plan, costs, bits, chosen);
        compare(&(struct brute){&plan, costs, bits, smallest}, side, chosen);
    }
}

int main(void)
{
    test_by_hand();
    test_rounding();
    test_outside();
    test_random();
    return harness_verdict();
}
