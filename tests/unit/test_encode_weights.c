/* SPDX-License-Identifier: BSD-2-Clause */
/* Weights for fades: the statistics they come from, the weight of a known fade, when one pays. */
#include "encode/costs.h"
#include "encode/weights.h"
#include "harness.h"

#include <stdlib.h>

#define BLOCKS_X 11u
#define BLOCKS_Y 7u
#define SAMPLES (BLOCKS_X * BLOCKS_Y * 64)
#define THREADS 3u

static uint64_t seed = 7;
static struct gpume_split split;

/* A smooth texture with some noise, from `low` to about low + range. */
static struct gpume_half texture(uint32_t low, uint32_t range)
{
    struct gpume_half half =
        gpume_half_at(calloc(1, gpume_half_bytes(BLOCKS_X, BLOCKS_Y)), BLOCKS_X, BLOCKS_Y);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const uint32_t x = i % half.width, y = i / half.width;
        const uint32_t wave = (x * x / 9 + y * x / 5 + y * 3) % 64;
        half.samples[y * half.stride + x] =
            (uint8_t)(low + (wave + harness_random(&seed) % 8) * range / 72);
    }
    gpume_half_extend(&half);
    return half;
}

static void texture_free(struct gpume_half *half)
{
    free(half->samples - GPUME_HALF_MARGIN * half->stride - GPUME_HALF_MARGIN);
}

static uint8_t *sample_of(const struct gpume_half *half, uint32_t i)
{
    return &half->samples[i / half->width * half->stride + i % half->width];
}

/* H.264's formula, with a division that rounds down. */
static uint8_t weigh(const struct gpume_weight *w, int32_t sample)
{
    const double unit = (double)(1 << w->denominator);
    const double scaled = (double)(sample * w->scale) / unit + (w->denominator > 0 ? 0.5 : 0);
    int32_t value = (int32_t)(scaled + 1024) - 1024 + w->offset;
    value = value < 0 ? 0 : value > 255 ? 255 : value;
    return (uint8_t)value;
}

static void weigh_all(
    const struct gpume_weight *w, const struct gpume_half *from, struct gpume_half *to)
{
    for (uint32_t i = 0; i < SAMPLES; i++) {
        *sample_of(to, i) = weigh(w, *sample_of(from, i));
    }
    gpume_half_extend(to);
}

/* In two parts. */
static struct gpume_luma_stats stats_of(const struct gpume_half *half)
{
    struct gpume_luma_sums sums = {0};
    gpume_luma_add(&sums, half, 3, half->height);
    gpume_luma_add(&sums, half, 0, 3);
    return gpume_luma_stats(&sums, half);
}

static void test_stats(void)
{
    struct gpume_half half = texture(16, 200);
    int64_t sum = 0, squares = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const int64_t sample = *sample_of(&half, i);
        sum += sample;
        squares += sample * sample;
    }
    const struct gpume_luma_stats stats = stats_of(&half);
    REQUIRE_EQUAL(stats.sum, sum);
    REQUIRE_EQUAL(stats.energy, (SAMPLES * squares - sum * sum + SAMPLES - 1) / SAMPLES);
    texture_free(&half);
}

static struct gpume_weight guess(const struct gpume_half *target, const struct gpume_half *from)
{
    const struct gpume_luma_stats t = stats_of(target), r = stats_of(from);
    return gpume_weight_guess(&t, &r, SAMPLES);
}

/* The weight with which a frame was made of another is found again. */
static void test_fades(void)
{
    static const struct gpume_weight fades[] = {{5, 57, -11}, {7, 105, 3}, {6, 35, -20}, {2, 3, 30},
        {0, 1, 9}, {0, 2, -60}, {7, 127, 1}, {0, 1, -20}};
    for (uint32_t i = 0; i < sizeof(fades) / sizeof(fades[0]); i++) {
        struct gpume_half from = texture(40, 80), to = texture(0, 1);
        weigh_all(&fades[i], &from, &to);
        const struct gpume_weight found = guess(&to, &from);
        const int32_t unit = 128 >> found.denominator;
        REQUIRE(abs(found.scale * unit - fades[i].scale * (128 >> fades[i].denominator)) <=
                (unit > 2 ? unit : 2));
        REQUIRE(abs(found.offset - fades[i].offset) <= 2);
        REQUIRE(found.denominator == 0 || found.scale % 2 != 0);
        REQUIRE(!gpume_weight_is_none(&found));
        texture_free(&from);
        texture_free(&to);
    }
}

static void test_limits(void)
{
    const struct gpume_luma_stats flat = {.sum = 100 * SAMPLES, .energy = 0},
                                  dark = {.sum = 0, .energy = 0},
                                  bright = {.sum = 255 * SAMPLES, .energy = 0},
                                  wild = {.sum = 128 * SAMPLES, .energy = SAMPLES * 16000ull},
                                  faint = {.sum = 100 * SAMPLES, .energy = 1};
    struct gpume_weight w = gpume_weight_guess(&flat, &flat, SAMPLES);
    REQUIRE(gpume_weight_is_none(&w));
    w = gpume_weight_guess(&bright, &dark, SAMPLES);
    REQUIRE(w.scale == 1 && w.denominator == 0 && w.offset == 127);
    w = gpume_weight_guess(&dark, &bright, SAMPLES);
    REQUIRE(w.scale == 1 && w.denominator == 0 && w.offset == -128);
    w = gpume_weight_guess(&wild, &faint, SAMPLES);
    REQUIRE(w.scale == 127 && w.denominator == 0 && w.offset == -128);
    w = gpume_weight_guess(&faint, &wild, SAMPLES); /* nothing of the reference would be left */
    REQUIRE(gpume_weight_is_none(&w));
}

static void test_small_changes(void)
{
    const uint64_t energy = 10000 * 128 * 128;
    const struct gpume_luma_stats from = {.sum = 100 * SAMPLES, .energy = energy};
    struct gpume_luma_stats to = {.sum = 100 * SAMPLES + SAMPLES / 2 - 1, .energy = energy};
    to.energy = 10000 * 127 * 127;
    struct gpume_weight w = gpume_weight_guess(&to, &from, SAMPLES);
    REQUIRE(gpume_weight_is_none(&w));
    to.sum++;
    w = gpume_weight_guess(&to, &from, SAMPLES);
    REQUIRE(w.denominator == 7 && w.scale == 127 && w.offset == 1);
    to.sum = from.sum;
    to.energy = 10000 * 126 * 126;
    w = gpume_weight_guess(&to, &from, SAMPLES);
    REQUIRE(w.denominator == 6 && w.scale == 63 && w.offset == 2);
}

static void test_apply(void)
{
    static const struct gpume_weight weights[] = {
        {5, 57, -11}, {7, 127, 127}, {0, 127, -128}, {0, 0, 100}, {1, 1, 0}, {3, 9, -128}};
    struct gpume_half from = texture(0, 0), to = texture(0, 0);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        *sample_of(&from, i) = (uint8_t)i;
    }
    for (uint32_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
        gpume_weight_apply(&split, &weights[i], &from, &to);
        for (uint32_t j = 0; j < SAMPLES; j++) {
            REQUIRE_EQUAL(*sample_of(&to, j), weigh(&weights[i], *sample_of(&from, j)));
        }
    }
    texture_free(&from);
    texture_free(&to);
}

/* With the same vector everywhere. */
static bool pays(const struct gpume_half *target, const struct gpume_half *from, int16_t dx)
{
    struct gpume_vector vectors[BLOCKS_X * BLOCKS_Y];
    uint16_t intra[BLOCKS_X * BLOCKS_Y], matches[BLOCKS_X * BLOCKS_Y],
        costs[2 * BLOCKS_X * BLOCKS_Y];
    struct gpume_half weighted = texture(0, 0);
    const struct gpume_weight weight = guess(target, from);
    for (uint32_t i = 0; i < BLOCKS_X * BLOCKS_Y; i++) {
        vectors[i] = (struct gpume_vector){dx, 0};
    }
    for (uint32_t y = 0; y < BLOCKS_Y; y++) {
        const struct gpume_matches plain = {from, vectors};
        gpume_intra_costs(target, y, intra + y * BLOCKS_X);
        gpume_match_costs(target, y, &plain, matches + y * BLOCKS_X);
    }
    gpume_weight_apply(&split, &weight, from, &weighted);
    const struct gpume_plain_costs plain = {intra, matches, vectors};
    const bool result = gpume_weight_pays(&split, target, &plain, &weighted, costs);
    texture_free(&weighted);
    return result;
}

static void test_pays(void)
{
    static const struct gpume_weight fade = {5, 57, -11};
    struct gpume_half from = texture(40, 80), to = texture(0, 0), again = texture(40, 80);
    REQUIRE(!pays(&from, &from, 0));
    REQUIRE(!pays(&again, &from, 0)); /* other noise, of the same mean and variance */
    weigh_all(&fade, &from, &to);
    REQUIRE(pays(&to, &from, 0));
    REQUIRE(pays(&to, &from, 37)); /* a search in the plain reference was misled */
    texture_free(&from);
    texture_free(&to);
    texture_free(&again);
}

/* More than 1/128 brighter a frame. */
static void test_coding_cost(void)
{
    static const struct {
        struct gpume_weight weight;
        uint64_t distance, cost;
    } cases[] = {
        {{0, 1, 0}, 1, 1000},
        {{0, 1, 30}, 1, 1000}, /* an offset alone */
        {{6, 65, 0}, 1, 1250},
        {{6, 65, 0}, 2, 1000},
        {{5, 33, -3}, 3, 1250},
        {{5, 33, -3}, 4, 1000},
        {{5, 127, 0}, 17, 1250},
        {{5, 31, 3}, 1, 1000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        REQUIRE_EQUAL(
            gpume_weight_coding_cost(&cases[i].weight, cases[i].distance, 1000), cases[i].cost);
    }
}

int main(void)
{
    REQUIRE_EQUAL(gpume_split_init(&split, BLOCKS_Y, THREADS, &(struct gpume_log){0}), GPUME_OK);
    test_stats();
    test_fades();
    test_limits();
    test_small_changes();
    test_apply();
    test_pays();
    test_coding_cost();
    gpume_split_finish(&split);
    return harness_verdict();
}
