/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What gpume bench relies on: frames alternate forwards and backwards, work is counted as by hand,
 * and an answer with one wrong vector or cost is detected before anything is measured.
 */
#include "bench/timing.h"
#include "console.h"
#include "harness.h"

#include <stdlib.h>

#define BLOCKS 24 /* of 48x32 pixels */

static struct gpume_params params_of(uint32_t width, uint32_t height)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = width;
    params.height = height;
    params.backend = GPUME_BACKEND_CPU;
    params.log = gpume_console_log;
    return params;
}

static void test_clip(void)
{
    struct gpume_bench_clip clip = {0};
    REQUIRE_EQUAL(gpume_bench_clip_make(&clip, GPUME_BENCH_NOISE, 20, 10, 10, 3), GPUME_OK);
    REQUIRE_EQUAL(gpume_bench_cycle(&clip), 4);
    static const uint32_t shown[] = {0, 1, 2, 1, 0, 1, 2, 1, 0};
    for (uint32_t i = 0; i < 9; i++) {
        REQUIRE(gpume_bench_frame(&clip, i) == &clip.planes[shown[i]]);
    }
    for (uint32_t i = 0; i < 200; i++) {
        REQUIRE(((const uint16_t *)clip.planes[1].data)[i] < 1024);
    }
    gpume_bench_clip_free(&clip);
}

/* Candidates counted one by one. */
static double count_differences(const struct gpume_params *p)
{
    double sum = 0;
    int width = (int)p->width, height = (int)p->height;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            int left = x / (int)p->block * (int)p->block, top = y / (int)p->block * (int)p->block;
            int right = left + (int)p->block < width ? left + (int)p->block : width;
            int bottom = top + (int)p->block < height ? top + (int)p->block : height;
            for (int dy = -(int)p->window_y; dy <= (int)p->window_y; dy++) {
                for (int dx = -(int)p->window_x; dx <= (int)p->window_x; dx++) {
                    sum +=
                        p->edge == GPUME_EDGE_EXTEND || (left + dx >= 0 && right + dx <= width &&
                                                            top + dy >= 0 && bottom + dy <= height);
                }
            }
        }
    }
    return sum;
}

static void test_work(void)
{
    static const uint32_t cases[][5] = {
        {48, 32, 8, 7, 7}, {50, 33, 16, 3, 9}, {5, 3, 8, 4, 4}, {70, 40, 12, 30, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct gpume_params params = params_of(cases[i][0], cases[i][1]);
        params.block = cases[i][2];
        params.window_x = cases[i][3];
        params.window_y = cases[i][4];
        for (int edge = 0; edge < 2; edge++) {
            params.edge = edge ? GPUME_EDGE_INSIDE : GPUME_EDGE_EXTEND;
            REQUIRE_EQUAL(gpume_bench_differences(&params), count_differences(&params));
        }
    }
    double odd[] = {5, 1, 9}, even[] = {4, 1, 9, 2};
    REQUIRE_EQUAL(gpume_bench_median(odd, 3), 5);
    REQUIRE_EQUAL(gpume_bench_median(even, 4), 3);
}

/* Both kinds of run detect it: the comparison alone, and the measurement. */
static void find_wrong(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    const struct gpume_bench_answers *answers, int expected)
{
    struct gpume_bench_time time = {0};
    REQUIRE_EQUAL(gpume_bench_compare(clip, params, answers), expected);
    REQUIRE_EQUAL(gpume_bench_measure(clip, params, answers, 1000000, &time), expected);
    REQUIRE((time.wall_ns > 0) == (expected == GPUME_OK));
}

static void test_disagreement(void)
{
    struct gpume_bench_clip clip = {0};
    struct gpume_bench_answers answers;
    struct gpume_params params = params_of(48, 32);
    REQUIRE_EQUAL(gpume_bench_clip_make(&clip, GPUME_BENCH_MOTION, 48, 40, 8, 3), GPUME_OK);
    REQUIRE_EQUAL(gpume_bench_solve(&clip, &params, &answers), GPUME_OK);
    REQUIRE_EQUAL(answers.blocks, BLOCKS);
    find_wrong(&clip, &params, &answers, GPUME_OK);
    params.search = "plain";
    find_wrong(&clip, &params, &answers, GPUME_OK);
    for (uint32_t index = 0; index < 4; index++) {
        struct gpume_vector *vector = &answers.vectors[index * BLOCKS + 5 * index];
        vector->dx++;
        find_wrong(&clip, &params, &answers, GPUME_FORMAT);
        vector->dx--;
        answers.costs[index * BLOCKS + BLOCKS - 1]++;
        find_wrong(&clip, &params, &answers, GPUME_FORMAT);
        answers.costs[index * BLOCKS + BLOCKS - 1]--;
        const struct gpume_vector *vectors = answers.vectors + (size_t)index * BLOCKS;
        const uint32_t *costs = answers.costs + (size_t)index * BLOCKS;
        REQUIRE_EQUAL(gpume_bench_difference(&answers, index, vectors, costs), UINT32_MAX);
        REQUIRE(gpume_bench_difference(&answers, (index + 1) % 4, vectors, NULL) < BLOCKS);
    }
    gpume_bench_answers_finish(&answers);
    gpume_bench_clip_free(&clip);
}

/* The costs, which mestimate does not return. */
static void test_cost(void)
{
    struct gpume_bench_clip clip = {0};
    struct gpume_bench_answers answers;
    struct gpume_params params = params_of(48, 40);
    params.edge = GPUME_EDGE_INSIDE;
    REQUIRE_EQUAL(gpume_bench_clip_make(&clip, GPUME_BENCH_NOISE, 48, 40, 8, 2), GPUME_OK);
    REQUIRE_EQUAL(gpume_bench_solve(&clip, &params, &answers), GPUME_OK);
    for (uint32_t i = 0; i < answers.blocks; i++) {
        REQUIRE_EQUAL(gpume_bench_cost(&clip.planes[1], &clip.planes[0], 8, i,
                          answers.vectors[answers.blocks + i]),
            answers.costs[answers.blocks + i]);
    }
    gpume_bench_answers_finish(&answers);
    gpume_bench_clip_free(&clip);
}

int main(void)
{
    test_clip();
    test_work();
    test_disagreement();
    test_cost();
    return harness_verdict();
}
