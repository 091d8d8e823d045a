/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Curves of sizes: where they cross and which is the best, against values worked out by hand, and
 * against a search by brute force on random curves; and what encodes correct.
 */
#include "encode/ladder.h"
#include "harness.h"

#include <math.h>
#include <string.h>

enum { POINTS = 9, CURVES = 4 };

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b));
}

/* Straight in the logarithm of the bitrate: 2^0, 2^2 ... 2^16 bits per second. */
static void fill_straight(struct gpume_ladder_point points[POINTS], double at_one, double slope)
{
    for (int i = 0; i < POINTS; i++) {
        points[i] = (struct gpume_ladder_point){51 - 3 * i, exp2(2 * i), at_one + slope * 2 * i};
    }
}

static void test_straight(void)
{
    struct gpume_ladder_point steep[POINTS], flat[POINTS], point;
    fill_straight(steep, 20, 3); /* equal at 2^5, between two points */
    fill_straight(flat, 30, 1);
    const struct gpume_ladder_curve curves[] = {{steep, POINTS, 0}, {flat, POINTS, 0}};
    double bitrate;
    REQUIRE_EQUAL(gpume_ladder_meet(&curves[0], &curves[1], &bitrate), GPUME_LADDER_CROSS);
    REQUIRE(is_near(bitrate, 32));
    /* the other way round it is the flat one that is better at the top */
    REQUIRE_EQUAL(gpume_ladder_meet(&curves[1], &curves[0], &bitrate), GPUME_LADDER_SMALLER);
    REQUIRE(is_near(bitrate, 65536));

    REQUIRE(gpume_ladder_at(&curves[0], 8, &point));
    REQUIRE(is_near(point.psnr, 29) && is_near(point.crf, 51 - 4.5) && is_near(point.bitrate, 8));
    REQUIRE(gpume_ladder_at(&curves[0], 1, &point) && is_near(point.psnr, 20));
    REQUIRE(gpume_ladder_at(&curves[0], 65536, &point) && is_near(point.psnr, 68));
    REQUIRE(!gpume_ladder_at(&curves[0], 0.99, &point));
    REQUIRE(!gpume_ladder_at(&curves[0], 65537, &point));

    /* with an error by scaling: half way between two points, the geometric mean of what coding adds
     */
    const struct gpume_ladder_point two[] = {
        {30, 1000, gpume_ladder_psnr(10 + 16)}, {24, 4000, gpume_ladder_psnr(10 + 1)}};
    const struct gpume_ladder_curve scaled = {two, 2, 10};
    REQUIRE(gpume_ladder_at(&scaled, 2000, &point));
    REQUIRE(is_near(point.psnr, gpume_ladder_psnr(10 + 4)) && is_near(point.crf, 27));

    REQUIRE(is_near(gpume_ladder_bitrate_at(&curves[0], 51 - 4.5), 8));
    REQUIRE(is_near(gpume_ladder_bitrate_at(&curves[0], 60), 1));
    REQUIRE(is_near(gpume_ladder_bitrate_at(&curves[0], 2), 65536));

    struct gpume_ladder_stretch stretches[3];
    REQUIRE_EQUAL(gpume_ladder_stretches(curves, 2, stretches, 3), 2);
    REQUIRE_EQUAL(stretches[0].curve, 1);
    REQUIRE_EQUAL(stretches[1].curve, 0);
    REQUIRE(is_near(stretches[0].from, 1) && is_near(stretches[0].to, 32));
    REQUIRE(is_near(stretches[1].from, 32) && is_near(stretches[1].to, 65536));

    /* better everywhere, and nothing in common */
    struct gpume_ladder_point above[POINTS], short_one[2] = {{51, 1 << 20, 50}, {48, 1 << 21, 52}};
    fill_straight(above, 40, 3);
    const struct gpume_ladder_curve best = {above, POINTS, 0}, apart = {short_one, 2, 0},
                                    empty = {0};
    REQUIRE_EQUAL(gpume_ladder_meet(&best, &curves[1], &bitrate), GPUME_LADDER_LARGER);
    REQUIRE(is_near(bitrate, 1));
    REQUIRE_EQUAL(gpume_ladder_meet(&apart, &curves[1], &bitrate), GPUME_LADDER_APART);
    REQUIRE_EQUAL(gpume_ladder_meet(&empty, &curves[1], &bitrate), GPUME_LADDER_APART);
    const struct gpume_ladder_curve gap[] = {{flat, POINTS, 0}, {short_one, 2, 0}};
    REQUIRE_EQUAL(gpume_ladder_stretches(gap, 2, stretches, 3), 2);
    REQUIRE(stretches[0].to < 65537 && stretches[1].from > 65536 * 15);
    REQUIRE_EQUAL(gpume_ladder_best(gap, 2, 1 << 18), 2);
    for (size_t i = 0; i < 2; i++) { /* each stretch lies within its curve */
        REQUIRE(gpume_ladder_at(&gap[stretches[i].curve], stretches[i].from, &point));
        REQUIRE(gpume_ladder_at(&gap[stretches[i].curve], stretches[i].to, &point));
    }
    REQUIRE_EQUAL(gpume_ladder_stretches(&empty, 1, stretches, 3), 0);

    /* For more bits, 46 dB are no better than those at the end of `flat`, until it has more. */
    const struct gpume_ladder_point dear[] = {
        {51, 1 << 15, 40}, {48, 1 << 18, 43}, {45, 1 << 20, 47}};
    const struct gpume_ladder_curve late[] = {{flat, POINTS, 0}, {dear, 3, 0}};
    REQUIRE_EQUAL(gpume_ladder_stretches(late, 2, stretches, 3), 2);
    REQUIRE(is_near(stretches[0].to, 65536) && fabs(log2(stretches[1].from) - 19.5) < 1e-3);
    REQUIRE_EQUAL(gpume_ladder_best(late, 2, 1 << 18), 2);
}

static double random_in(uint64_t *state, double from, double to)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return from + (to - from) * (double)(*state >> 33) / (double)(UINT64_C(1) << 31);
}

/* PSNR by going through all points; -1: the curve does not go there. */
static double slow_psnr(const struct gpume_ladder_curve *curve, double bitrate)
{
    for (size_t i = 0; i + 1 < curve->count; i++) {
        const struct gpume_ladder_point *a = &curve->points[i], *b = a + 1;
        if (bitrate >= a->bitrate && bitrate <= b->bitrate) {
            const double t = (log(bitrate) - log(a->bitrate)) / (log(b->bitrate) - log(a->bitrate));
            return (1 - t) * a->psnr + t * b->psnr;
        }
    }
    return -1;
}

/* CURVES: none, or one that ends before is better. */
static int slow_best(const struct gpume_ladder_curve curves[CURVES], double bitrate)
{
    double most = -1;
    int best = CURVES;
    for (int c = 0; c < CURVES; c++) {
        const struct gpume_ladder_point *end = &curves[c].points[curves[c].count - 1];
        const bool has_ended = end->bitrate < bitrate;
        const double psnr = has_ended ? end->psnr : slow_psnr(&curves[c], bitrate);
        best = psnr > most ? has_ended ? CURVES : c : best;
        most = fmax(most, psnr);
    }
    return best;
}

static void test_random(void)
{
    uint64_t state = 46;
    for (int run = 0; run < 200; run++) {
        struct gpume_ladder_point points[CURVES][POINTS];
        struct gpume_ladder_curve curves[CURVES];
        for (int c = 0; c < CURVES; c++) {
            double octaves = random_in(&state, 10, 13), psnr = random_in(&state, 25, 30);
            for (int i = 0; i < POINTS; i++) {
                points[c][i] = (struct gpume_ladder_point){51 - 3 * i, exp2(octaves), psnr};
                octaves += random_in(&state, 0.1, 1);
                psnr += random_in(&state, 0.1, 3);
            }
            curves[c] = (struct gpume_ladder_curve){points[c], POINTS, 0};
        }
        struct gpume_ladder_stretch stretches[64];
        const size_t count = gpume_ladder_stretches(curves, CURVES, stretches, 64);
        REQUIRE(count >= 1 && count <= 64);
        for (size_t i = 0; i < count; i++) {
            struct gpume_ladder_point point;
            REQUIRE(stretches[i].from <= stretches[i].to);
            REQUIRE(gpume_ladder_at(&curves[stretches[i].curve], stretches[i].from, &point));
            REQUIRE(gpume_ladder_at(&curves[stretches[i].curve], stretches[i].to, &point));
            /* away from the ends, whose changes may be closer than the steps */
            const double middle = sqrt(stretches[i].from * stretches[i].to);
            REQUIRE_EQUAL(slow_best(curves, middle), stretches[i].curve);
            if (i > 0 && stretches[i].from / stretches[i - 1].to > 1.001) {
                const double apart = sqrt(stretches[i].from * stretches[i - 1].to);
                REQUIRE_EQUAL(slow_best(curves, apart), CURVES);
            }
            REQUIRE(i == 0 || stretches[i].from > stretches[i - 1].to * 0.999);
        }
        double bitrate;
        const enum gpume_ladder_meeting meeting =
            gpume_ladder_meet(&curves[0], &curves[1], &bitrate);
        const double low = fmax(points[0][0].bitrate, points[1][0].bitrate);
        const double high = fmin(points[0][POINTS - 1].bitrate, points[1][POINTS - 1].bitrate);
        double crossing = 0; /* the highest step below which the second is better */
        for (int i = 0; i < 4000 && low < high; i++) {
            const double at = low * pow(high / low, i / 4000.0);
            crossing = slow_psnr(&curves[0], at) < slow_psnr(&curves[1], at) ? at : crossing;
        }
        if (meeting == GPUME_LADDER_CROSS) {
            REQUIRE(fabs(log2(bitrate / crossing)) < 0.01);
        } else if (meeting == GPUME_LADDER_LARGER) {
            REQUIRE(crossing == 0);
        } else if (meeting == GPUME_LADDER_SMALLER) {
            REQUIRE(crossing > high * 0.99);
        } else {
            REQUIRE(low > high);
        }
    }
}

static void test_fill(void)
{
    /* CRFs of 20, 30, 40: 10 dB and two octaves each */
    const struct gpume_ladder_encode expected[] = {{20, 16000, 2}, {30, 4000, 20}, {35, 2000, 63}};
    struct gpume_ladder_facts facts = {.expected = expected, .expected_count = 3};
    struct gpume_ladder_point points[3];
    REQUIRE_EQUAL(gpume_ladder_fill(&facts, points), 3);
    REQUIRE(is_near(points[2].crf, 20) && is_near(points[2].bitrate, 16000));
    REQUIRE(is_near(points[2].psnr, 10 * log10(255 * 255 / 2.0)));
    REQUIRE(is_near(points[1].psnr, 10 * log10(255 * 255 / 20.0)));

    /* one encode of twice the bitrate and half the coding error moves all points by that */
    const struct gpume_ladder_encode one = {25, 16000, sqrt(40) / 2 + 7};
    facts.scaling = 7;
    facts.encodes = &one;
    facts.encode_count = 1;
    REQUIRE_EQUAL(gpume_ladder_fill(&facts, points), 3);
    REQUIRE(is_near(points[2].bitrate, 32000) && is_near(points[1].bitrate, 8000));
    REQUIRE(is_near(points[2].psnr, 10 * log10(255 * 255 / 8.0)));
    REQUIRE(is_near(points[1].psnr, 10 * log10(255 * 255 / 17.0)));

    /* two of them: the curve goes through both, and is moved by a part of either between them */
    const struct gpume_ladder_encode two[] = {{20, 32000, 2 + 7}, {30, 2000, 80 + 7}};
    facts.encodes = two;
    facts.encode_count = 2;
    REQUIRE_EQUAL(gpume_ladder_fill(&facts, points), 3);
    REQUIRE(is_near(points[2].bitrate, 32000) && is_near(points[1].bitrate, 2000));
    REQUIRE(is_near(points[0].bitrate, 1000));
    REQUIRE(is_near(points[1].psnr, 10 * log10(255 * 255 / 87.0)));
    const struct gpume_ladder_encode dense[] = {{20, 16000, 2}, {25, 8000, 6}, {30, 4000, 20}};
    facts.expected = dense;
    REQUIRE_EQUAL(gpume_ladder_fill(&facts, points), 3);
    REQUIRE(is_near(points[1].bitrate, 8000)); /* half way from twice to half */
    REQUIRE(is_near(points[1].psnr, 10 * log10(255 * 255 / (7 + 6 * 2.0))));

    /* an encode that is better than scaling alone leaves some coding error */
    const struct gpume_ladder_encode lucky = {30, 4000, 6};
    facts.encodes = &lucky;
    facts.encode_count = 1;
    REQUIRE_EQUAL(gpume_ladder_fill(&facts, points), 3);
    REQUIRE(points[0].psnr < 10 * log10(255 * 255 / 7.0) && points[0].psnr > 39);

    /* bitrates that do not rise are left out */
    const struct gpume_ladder_encode flat[] = {{20, 5000, 2}, {30, 4000, 20}, {35, 4000, 63}};
    facts = (struct gpume_ladder_facts){.expected = flat, .expected_count = 3};
    REQUIRE_EQUAL(gpume_ladder_fill(&facts, points), 2);
    REQUIRE(is_near(points[0].crf, 35) && is_near(points[1].crf, 20));

    /* what an encoder's numbers change: at CRF 35, two octaves smaller */
    const struct gpume_ladder_model model = {.rate = 0.1,
        .rate_rise = 0.01,
        .rate_own = 0.02,
        .error = 1,
        .error_smaller = 0.5,
        .error_rise = 0.01,
        .error_level = 0.25,
        .carried = 0.05};
    facts = (struct gpume_ladder_facts){
        .model = &model, .expected = expected, .expected_count = 3, .octaves = 2, .scaling = 50};
    REQUIRE_EQUAL(gpume_ladder_fill(&facts, points), 3);
    REQUIRE(is_near(points[0].bitrate, 2000 * exp2(0.02 * 7 - (0.1 + 0.01 * 7) * 2)));
    REQUIRE(is_near(points[2].bitrate, 16000 * exp2(-0.2)));
    const double decibels = 1 + 0.5 * 2 + 0.01 * 49 * 0.5;
    REQUIRE(
        is_near(points[0].psnr, 10 * log10(255 * 255 / (50 + 63 * pow(10, decibels / 10) * 1.1))));
    REQUIRE(is_near(gpume_ladder_psnr(0), 10 * log10(255 * 255 / 1e-4)));
}

int main(void)
{
    test_straight();
    test_random();
    test_fill();
    return harness_verdict();
}
