/* SPDX-License-Identifier: BSD-2-Clause */
/* The macroblock tree on a few blocks, against sums made by hand. */
#include "encode/quality.h"
#include "harness.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 4, ROWS = 3, BLOCKS = COLUMNS * ROWS };

static const struct gpume_tree_size size = {COLUMNS, ROWS};

/* A frame whose blocks cost a quarter of their intra cost and match where `vector` leads. */
struct picture {
    uint16_t intra_costs[BLOCKS], costs[BLOCKS];
    uint8_t kinds[BLOCKS];
    struct gpume_vector past[BLOCKS], future[BLOCKS];
    int16_t aq_offsets[BLOCKS];
    uint32_t information[BLOCKS], received[BLOCKS], past_sums[BLOCKS], future_sums[BLOCKS];
};

static struct picture make_picture(enum gpume_source_kind kind, struct gpume_vector vector)
{
    struct picture picture;
    memset(&picture, 0, sizeof(picture));
    for (uint32_t i = 0; i < BLOCKS; i++) {
        picture.intra_costs[i] = 1000;
        picture.costs[i] = 250;
        picture.kinds[i] = (uint8_t)kind;
        picture.past[i] = picture.future[i] = vector;
    }
    return picture;
}

static void propagate(struct picture *picture, uint32_t past_share)
{
    const struct gpume_tree_step step = {picture->intra_costs, picture->costs, picture->kinds,
        picture->past, picture->future, picture->information, past_share, 8, picture->received};
    gpume_tree_information(BLOCKS, picture->intra_costs, picture->aq_offsets, picture->information);
    gpume_tree_propagate(&size, &step, picture->past_sums, picture->future_sums);
}

static uint64_t sum_of(const uint32_t *sums)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        sum += sums[i];
    }
    return sum;
}

static void check_amounts(void)
{
    struct picture picture = make_picture(GPUME_FROM_PAST, (struct gpume_vector){0, 0});
    picture.received[5] = 16 * 600;
    picture.kinds[6] = GPUME_FROM_SELF;
    picture.costs[7] = 1000;       /* as much as intra */
    picture.costs[8] = 1400;       /* more */
    picture.intra_costs[9] = 0;    /* nothing to tell */
    picture.aq_offsets[10] = 1536; /* 6 QP: half the quality */
    picture.aq_offsets[11] = -1536;
    propagate(&picture, 32);
    REQUIRE_EQUAL(picture.past_sums[0], 16 * 750);
    REQUIRE_EQUAL(picture.past_sums[5], 16 * (1000 + 600) * 3 / 4);
    REQUIRE_EQUAL(picture.past_sums[6], 0);
    REQUIRE_EQUAL(picture.past_sums[7], 0);
    REQUIRE_EQUAL(picture.past_sums[8], 0);
    REQUIRE_EQUAL(picture.past_sums[9], 0);
    REQUIRE_EQUAL(picture.past_sums[10], 16 * 375);
    REQUIRE_EQUAL(picture.past_sums[11], 16 * 1500);
    REQUIRE_EQUAL(sum_of(picture.future_sums), 0);
    picture = make_picture(GPUME_FROM_PAST, (struct gpume_vector){0, 0});
    picture.intra_costs[9] = picture.costs[9] = 0;
    propagate(&picture, 32);
    REQUIRE_EQUAL(picture.past_sums[9], 0);
}

/* An encoder that itself finds half the intra cost has half of it to save by prediction. */
static void check_eighths(void)
{
    struct picture picture = make_picture(GPUME_FROM_PAST, (struct gpume_vector){0, 0});
    const struct gpume_tree_step step = {picture.intra_costs, picture.costs, picture.kinds,
        picture.past, picture.future, picture.information, 32, 4, NULL};
    gpume_tree_information(BLOCKS, picture.intra_costs, picture.aq_offsets, picture.information);
    gpume_tree_propagate(&size, &step, picture.past_sums, picture.future_sums);
    REQUIRE_EQUAL(picture.past_sums[5], 16 * 1000 * (500 - 250) / 500);
}

static void check_areas(void)
{
    struct picture picture = make_picture(GPUME_FROM_SELF, (struct gpume_vector){0, 0});
    picture.kinds[5] = GPUME_FROM_FUTURE;              /* column 1, row 1 */
    picture.future[5] = (struct gpume_vector){8, -24}; /* 1/4 block right, 3/4 up */
    propagate(&picture, 32);
    REQUIRE_EQUAL(picture.future_sums[1], 16 * 750 * 9 / 16);
    REQUIRE_EQUAL(picture.future_sums[2], 16 * 750 * 3 / 16);
    REQUIRE_EQUAL(picture.future_sums[5], 16 * 750 * 3 / 16);
    REQUIRE_EQUAL(picture.future_sums[6], 16 * 750 * 1 / 16);
    REQUIRE_EQUAL(sum_of(picture.future_sums), 16 * 750);
    REQUIRE_EQUAL(sum_of(picture.past_sums), 0);
    picture = make_picture(GPUME_FROM_SELF, (struct gpume_vector){0, 0});
    picture.kinds[5] = GPUME_FROM_PAST;
    picture.costs[5] = 999;                        /* 16 of 16000 */
    picture.past[5] = (struct gpume_vector){5, 0}; /* 5 of 32 quarters: 13.5 and 2.5 */
    propagate(&picture, 32);
    REQUIRE_EQUAL(picture.past_sums[5], 14);
    REQUIRE_EQUAL(picture.past_sums[6], 3);
}

static void check_shares(void)
{
    struct picture picture = make_picture(GPUME_FROM_BOTH, (struct gpume_vector){0, 0});
    propagate(&picture, 48);
    REQUIRE_EQUAL(picture.past_sums[3], 16 * 750 * 3 / 4);
    REQUIRE_EQUAL(picture.future_sums[3], 16 * 750 / 4);
    picture = make_picture(GPUME_FROM_STILL, (struct gpume_vector){77, 77}); /* not followed */
    propagate(&picture, 16);
    REQUIRE_EQUAL(picture.past_sums[3], 16 * 750 / 4);
    REQUIRE_EQUAL(picture.future_sums[3], 16 * 750 * 3 / 4);
}

/* Nothing is written outside the picture, and what lies inside arrives. */
static void check_edges(void)
{
    struct picture picture = make_picture(GPUME_FROM_PAST, (struct gpume_vector){-16, 0});
    propagate(&picture, 32);
    REQUIRE_EQUAL(picture.past_sums[0], 16 * 750); /* halves of blocks 0 and 1 */
    REQUIRE_EQUAL(picture.past_sums[3], 16 * 375); /* half of block 3 alone */
    REQUIRE_EQUAL(sum_of(picture.past_sums), ROWS * 16 * (750 * COLUMNS - 375));
    const struct gpume_vector far[] = {{-32768, 0}, {32767, 0}, {0, -32768}, {0, 32767}};
    for (uint32_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
        picture = make_picture(GPUME_FROM_PAST, far[i]);
        propagate(&picture, 32);
        REQUIRE_EQUAL(sum_of(picture.past_sums), 0);
    }
}

static void check_limits(void)
{
    struct picture picture = make_picture(GPUME_FROM_PAST, (struct gpume_vector){0, 0});
    int16_t offsets[BLOCKS];
    for (uint32_t i = 0; i < BLOCKS; i++) {
        picture.intra_costs[i] = 65535;
        picture.costs[i] = 0;
        picture.received[i] = UINT32_MAX;
    }
    picture.aq_offsets[1] = INT16_MIN;
    picture.aq_offsets[2] = INT16_MAX;
    propagate(&picture, 32);
    REQUIRE_EQUAL(picture.information[0], 16 * 65535);
    REQUIRE_EQUAL(picture.information[1], UINT32_MAX);
    REQUIRE_EQUAL(picture.past_sums[0], UINT32_MAX);
    REQUIRE_EQUAL(picture.past_sums[1], UINT32_MAX);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        picture.received[i] = UINT32_MAX;
        picture.information[i] = i == 11 ? 1 : 0; /* far from block 1 */
    }
    gpume_tree_offsets(&size, picture.information, picture.aq_offsets, picture.received,
        INT64_C(25) * 65536, offsets);
    REQUIRE_EQUAL(offsets[0], 0); /* nothing to compare with */
    REQUIRE_EQUAL(offsets[1], INT16_MIN);
    REQUIRE_EQUAL(offsets[2], INT16_MAX);
    REQUIRE_EQUAL(offsets[11], INT16_MIN); /* -25 * 33 QP: as far as it goes */
}

/* Of a picture with a block, where nothing is smoothed. */
static int16_t offset_of(uint16_t intra_cost, int16_t aq_offset, uint32_t received)
{
    static const struct gpume_tree_size one = {1, 1};
    uint32_t information = 0;
    int16_t offset = 0;
    gpume_tree_information(1, &intra_cost, &aq_offset, &information);
    gpume_tree_offsets(&one, &information, &aq_offset, &received, 2 * 65536, &offset);
    return offset;
}

static void check_offsets(void)
{
    REQUIRE_EQUAL(offset_of(100, 0, 16 * 100), -512); /* log2((100 + 100) / 100) = 1 */
    REQUIRE_EQUAL(offset_of(100, 300, 0), 300);
    REQUIRE_EQUAL(offset_of(100, -1536, 16 * 600), -1536 - 1024); /* log2((200 + 600) / 200) = 2 */
    REQUIRE_EQUAL(offset_of(0, 77, 1234), 77);
}

/* Values about block (x, y), weighted 1, 4, 1 along both axes. */
static double smoothed(const uint32_t *values, int x, int y)
{
    double sum = 0;
    for (int v = y - 1; v <= y + 1; v++) {
        for (int h = x - 1; h <= x + 1; h++) {
            const bool inside = v >= 0 && v < ROWS && h >= 0 && h < COLUMNS;
            sum +=
                inside ? (v == y ? 4 : 1) * (h == x ? 4 : 1) * (double)values[v * COLUMNS + h] : 0;
        }
    }
    return sum;
}

static void check_smoothing(void)
{
    const int16_t aq_offsets[BLOCKS] = {5, -7};
    uint32_t information[BLOCKS], received[BLOCKS];
    int16_t offsets[BLOCKS];
    for (uint32_t i = 0; i < BLOCKS; i++) {
        information[i] = 16 * (1 + i * i * 7919 % 1000);
        received[i] = 16 * (i * i * 104729 % 5000);
    }
    gpume_tree_offsets(&size, information, aq_offsets, received, 2 * 65536, offsets);
    for (int i = 0; i < BLOCKS; i++) {
        const double own = smoothed(information, i % COLUMNS, i / COLUMNS);
        const double more = smoothed(received, i % COLUMNS, i / COLUMNS);
        REQUIRE(fabs(aq_offsets[i] - 512 * log2((own + more) / own) - offsets[i]) < 1);
    }
}

int main(void)
{
    check_amounts();
    check_eighths();
    check_areas();
    check_shares();
    check_edges();
    check_limits();
    check_offsets();
    check_smoothing();
    return harness_verdict();
}
