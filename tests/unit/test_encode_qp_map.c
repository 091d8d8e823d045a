/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps of QP offsets, by hand. */
#include "encode/qp_map.h"
#include "harness.h"

#include <string.h>

static void check_means(void)
{
    /* 5 x 3 blocks: squares of 2 blocks, those at the right and bottom cut. */
    static const int16_t blocks[15] = {10, 20, 1, 1, -7, 30, 40, 1, 2, -8, 5, 6, -3, -4, 100};
    const struct gpume_decision decision = {.blocks_x = 5, .blocks_y = 3, .offsets = blocks};
    int16_t offsets[7] = {0, 0, 0, 0, 0, 0, 77};
    static const int16_t expected[7] = {25, 1, -8, 6, -4, 100, 77};
    REQUIRE_EQUAL(gpume_qp_map_squares(5, 2), 3);
    REQUIRE_EQUAL(gpume_qp_map_squares(4, 4), 1);
    gpume_qp_map_make(&decision, 2, offsets);
    REQUIRE(memcmp(offsets, expected, sizeof(expected)) == 0);
}

static uint32_t count_levels(const int16_t *values, size_t count)
{
    uint32_t levels = 0;
    for (size_t i = 0; i < count; i++) {
        size_t first = 0;
        while (values[first] != values[i]) {
            first++;
        }
        levels += first == i;
    }
    return levels;
}

static void check_levels(void)
{
    int16_t values[200];
    for (int range = 0; range < 400; range++) { /* also those that 7 steps do not divide */
        for (int i = 0; i < 200; i++) {
            values[i] = (int16_t)(i * range / 199 - 255);
        }
        int16_t limited[200];
        memcpy(limited, values, sizeof(values));
        gpume_qp_map_limit(limited, 200, 8);
        REQUIRE(count_levels(limited, 200) <= 8);
        for (int i = 0; i < 200; i++) {
            REQUIRE(limited[i] >= values[0] && limited[i] <= values[199]);
            const int off = limited[i] - values[i];
            REQUIRE(off <= range / 14 + 1 && off >= -range / 14 - 1);
        }
        REQUIRE(limited[0] == values[0]);
    }
    int16_t few[3] = {-3, 0, 4};
    gpume_qp_map_limit(few, 3, 8);
    REQUIRE(few[0] == -3 && few[1] == 0 && few[2] == 4);
    gpume_qp_map_limit(few, 0, 8);
    /* Steps of 2 from 0 would reach 10. */
    int16_t odd[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    gpume_qp_map_limit(odd, 10, 8);
    REQUIRE(odd[0] == 0 && odd[8] == 8 && odd[9] == 9);
    /* The whole range of the type. */
    int16_t far[3] = {INT16_MIN, 0, INT16_MAX};
    gpume_qp_map_limit(far, 3, 2);
    REQUIRE(far[0] == INT16_MIN && far[2] == INT16_MAX);
    REQUIRE(far[1] == INT16_MIN || far[1] == INT16_MAX);
}

/* By hand: squares of 2 blocks, of which the last column and row cover 1. */
static void check_centre(void)
{
    int16_t values[7] = {-70, -10, 7, 0, 3, -5, 77};
    /* (4 * -70 + 4 * -10 + 2 * 7 + 2 * 0 + 2 * 3 + 1 * -5) / 15 is -20.3 */
    static const int16_t expected[7] = {-50, 10, 27, 20, 23, 15, 77};
    gpume_qp_map_centre(values, 5, 3, 2);
    REQUIRE(memcmp(values, expected, sizeof(expected)) == 0);
    int16_t one[1] = {-255};
    gpume_qp_map_centre(one, 3, 3, 4);
    REQUIRE_EQUAL(one[0], 0);
}

int main(void)
{
    check_means();
    check_centre();
    check_levels();
    return harness_verdict();
}
