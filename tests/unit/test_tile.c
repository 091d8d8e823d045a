/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpu/tile: shapes respect every limit, and the chosen ones are the fastest measured or close to
 * them. `test_tile --print` prints the choices.
 */
#include "common/shared.h"
#include "gpu/tune/choice.h"
#include "harness.h"
#include "plans.h"

#include <string.h>

static const struct gpume_tile_limits large = {
    .shared_bytes = 49152, .invocations = 1024, .blocks = GPUME_TILE_BLOCKS_MAX};
static const struct gpume_tile_limits usual = {
    .shared_bytes = 32768, .invocations = 1024, .blocks = GPUME_TILE_BLOCKS_MAX};
static const struct gpume_tile_limits least = {
    .shared_bytes = 16384, .invocations = 128, .blocks = GPUME_TILE_BLOCKS_MAX};

static const char *const names[] = {"half", "float", "int"};

static struct gpume_plan plan_of(
    uint32_t width, uint32_t height, uint32_t bits, uint32_t block, uint32_t window)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = width;
    params.height = height;
    params.bits = bits;
    params.block = block;
    params.window_x = params.window_y = window;
    return plans_make(&params, UINT64_MAX);
}

static void print(const struct gpume_plan *plan, enum gpume_tile_words words,
    const struct gpume_tile_limits *limits)
{
    const struct gpume_params *p = &plan->params;
    struct gpume_tile t;
    printf("%4ux%-4u %2u bits block %3u window %3u %5u: %-5s ", p->width, p->height, p->bits,
        p->block, p->window_x, limits->shared_bytes, names[words]);
    if (!gpume_tile_choose(plan, &plan->layers[0], words, limits, 1, 1, &t)) {
        printf("none\n");
        return;
    }
    printf("chunk %2u tile %ux%u band %2u columns %3u local %3u: %5.2f KiB, %u iterations, "
           "score %.3f\n",
        t.chunk, t.tile_x, t.tile_y, t.band, t.columns, t.local, (double)t.shared_bytes / 1024,
        (unsigned)t.iterations, t.score);
}

static void print_all(void)
{
    static const uint32_t shapes[][2] = {{4, 7}, {8, 7}, {8, 16}, {8, 32}, {12, 7}, {16, 7},
        {16, 16}, {16, 32}, {32, 16}, {32, 32}, {32, 64}, {64, 32}, {64, 64}, {128, 64}, {16, 512}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        for (uint32_t bits = 8; bits <= 16; bits = bits == 8 ? 10 : bits + 6) {
            struct gpume_plan plan = plan_of(1920, 1080, bits, shapes[i][0], shapes[i][1]);
            for (int words = bits > 10 ? 1 : 0; words < 3; words++) {
                print(&plan, (enum gpume_tile_words)words, &large);
                print(&plan, (enum gpume_tile_words)words, &usual);
            }
        }
    }
}

/* Every choice respects the limits and covers the window. */
static void check(const struct gpume_plan *plan, enum gpume_tile_words words,
    const struct gpume_tile_limits *limits)
{
    struct gpume_tile t, again;
    if (!gpume_tile_choose(plan, &plan->layers[0], words, limits, 1, 1, &t)) {
        return;
    }
    uint32_t span = 2 * plan->params.window_x + 1;
    REQUIRE(t.shared_bytes <= limits->shared_bytes);
    REQUIRE(t.local <= limits->invocations);
    REQUIRE(t.iterations <= GPUME_ITERATIONS_MAX);
    REQUIRE(t.columns == span || (t.columns < span && t.columns % 4 == 0));
    REQUIRE(t.key_bits > 0 || t.local % (t.tile_x * t.tile_y) == 0);
    REQUIRE(words != GPUME_TILE_HALF || plan->params.bits <= 10);
    REQUIRE(t.score > 0);
    again = t;
    REQUIRE(gpume_tile_complete(plan, &plan->layers[0], words, limits, &again));
    REQUIRE(memcmp(&again, &t, sizeof(t)) == 0);
}

static void test_limits(void)
{
    static const uint32_t windows[] = {0, 1, 7, 16, 33, 128, 512};
    const struct gpume_tile_limits *const limits[] = {&large, &usual, &least};
    for (uint32_t block = 4; block <= 128; block += block < 32 ? 4 : 32) {
        for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
            for (uint32_t bits = 8; bits <= 16; bits += 2) {
                struct gpume_plan plan = plan_of(640, 360, bits, block, windows[i]);
                for (int words = 0; words < 3; words++) {
                    check(&plan, (enum gpume_tile_words)words, limits[(block / 4 + i) % 3]);
                }
            }
        }
    }
}

/* Cases that every device must handle without match_quads.comp. */
static void test_usual_sizes(void)
{
    static const uint32_t shapes[][2] = {{4, 7}, {8, 7}, {8, 16}, {8, 64}, {16, 7}, {16, 16},
        {16, 32}, {16, 64}, {32, 16}, {32, 64}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        for (uint32_t bits = 8; bits <= 10; bits++) {
            struct gpume_plan plan = plan_of(1920, 1080, bits, shapes[i][0], shapes[i][1]);
            struct gpume_tile t;
            REQUIRE(gpume_tile_choose(&plan, &plan.layers[0], GPUME_TILE_HALF, &usual, 1, 1, &t));
            REQUIRE(gpume_tile_choose(&plan, &plan.layers[0], GPUME_TILE_FLOAT, &usual, 1, 1, &t));
        }
    }
}

/* Measured on an NVIDIA H200: these shapes were the fastest, or within a few per cent. They must be
 * among those tried. */
static void test_measured(void)
{
    static const uint32_t shapes[][4] = {{8, 7, 15, 16}, {16, 16, 11, 6}, {16, 32, 13, 6}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        struct gpume_plan plan = plan_of(1920, 1080, 8, shapes[i][0], shapes[i][1]);
        struct gpume_tile t[9];
        uint32_t count =
                     gpume_tile_choose(&plan, &plan.layers[0], GPUME_TILE_HALF, &large, 3, 3, t),
                 found = 0;
        for (uint32_t j = 0; j < count; j++) {
            REQUIRE(j == 0 || t[j].chunk != t[j - 1].chunk || t[j].score >= t[j - 1].score);
            found += t[j].chunk == shapes[i][2] && t[j].tile_x * t[j].tile_y == shapes[i][3];
        }
        REQUIRE_EQUAL(count, 9);
        REQUIRE_EQUAL(found, 1);
    }
}

static void test_refusals(void)
{
    struct gpume_plan plan = plan_of(64, 48, 16, 16, 16);
    struct gpume_tile t = {
        .chunk = 11, .tile_x = 1, .tile_y = 1, .band = 3, .columns = 33, .local = 128};
    REQUIRE(
        !gpume_tile_complete(&plan, &plan.layers[0], GPUME_TILE_HALF, &large, &t)); /* too deep */
    REQUIRE(gpume_tile_complete(&plan, &plan.layers[0], GPUME_TILE_FLOAT, &large, &t));
    REQUIRE_EQUAL(t.key_bits, 0); /* 16 * 16 * 65535 and 1089 candidates */
    t.tile_x = 2;
    REQUIRE(gpume_tile_complete(&plan, &plan.layers[0], GPUME_TILE_FLOAT, &large, &t));
    t.tile_x = 3; /* two words: an invocation belongs to one block */
    REQUIRE(!gpume_tile_complete(&plan, &plan.layers[0], GPUME_TILE_FLOAT, &large, &t));
    t.tile_x = 1;
    t.columns = 30;
    REQUIRE(!gpume_tile_complete(&plan, &plan.layers[0], GPUME_TILE_FLOAT, &large, &t));
    t.columns = 36;
    REQUIRE(!gpume_tile_complete(&plan, &plan.layers[0], GPUME_TILE_FLOAT, &large, &t));
    t.columns = 32;
    REQUIRE(gpume_tile_complete(&plan, &plan.layers[0], GPUME_TILE_FLOAT, &large, &t));
    t.local = 160;
    REQUIRE(!gpume_tile_complete(&plan, &plan.layers[0], GPUME_TILE_FLOAT, &least, &t));
    REQUIRE(!gpume_tile_leaves(1920, 16, 8));
    REQUIRE(!gpume_tile_leaves(1080, 16, 8)); /* 8 rows */
    REQUIRE(gpume_tile_leaves(1082, 16, 8));
    REQUIRE(gpume_tile_leaves(1080 + 4, 8, 8));
    REQUIRE(!gpume_tile_leaves(1080 + 4, 12, 4));
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--print") == 0) {
        print_all();
        return 0;
    }
    test_limits();
    test_usual_sizes();
    test_measured();
    test_refusals();
    return harness_verdict();
}
