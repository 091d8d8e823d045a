/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of complexity, by hand. */
#include "encode/complexity.h"
#include "harness.h"

int main(void)
{
    const struct gpume_scene_frame easy = {.blocks = 10,
        .intra_blocks = 1,
        .intra_cost = 4000,
        .inter_cost = 100,
        .intra = {.blocks = 10, .sampled = 10, .details = {[10] = 300}},
        .inter = {.blocks = 10, .sampled = 10, .details = {[10] = 30}},
        .luma = 20};
    const struct gpume_scene_frame hard = {.frame = 1,
        .blocks = 10,
        .intra_blocks = 4,
        .intra_cost = 8000,
        .inter_cost = 4000,
        .intra = {.blocks = 10, .sampled = 10, .details = {[12] = 300}},
        .inter = {.blocks = 10, .sampled = 10, .details = {[12] = 200}},
        .luma = 40,
        .spatial = 3,
        .temporal = 1};
    struct gpume_complexity sum = {0}, one = {0}, two = {0}, key = {0};
    gpume_complexity_add(&sum, &easy, false);
    gpume_complexity_add(&sum, &hard, false);
    REQUIRE_EQUAL(sum.frames, 2);
    REQUIRE(sum.luma == 30 && sum.spatial == 1.5 && sum.temporal == 0.5);
    REQUIRE(sum.intra_cost == 600 && sum.inter_cost == 205 && sum.intra_share == 0.25);
    gpume_complexity_add(&one, &easy, false);
    gpume_complexity_add(&two, &hard, false);
    gpume_complexity_add(&key, &hard, true);
    for (uint32_t i = 0; i < GPUME_COMPLEXITY_QPS; i++) {
        REQUIRE_EQUAL(sum.bits[i], one.bits[i] + two.bits[i]);
        REQUIRE(two.bits[i] > one.bits[i]);
        REQUIRE(key.bits[i] != two.bits[i]);
        REQUIRE(i == 0 || two.bits[i] < two.bits[i - 1]);
    }
    const struct gpume_scene_frame still = {.frame = 1, .blocks = 10, .inter_cost = 100};
    struct gpume_complexity nothing = {0};
    gpume_complexity_add(&nothing, &still, false);
    REQUIRE_EQUAL(nothing.bits[0], 128); /* a header */
    return harness_verdict();
}
