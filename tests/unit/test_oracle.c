/* SPDX-License-Identifier: BSD-2-Clause */
/* The oracle of tests/support/oracle against answers that were worked out by hand. */
#include "harness.h"
#include "oracle/oracle.h"

#include <string.h>

enum { SIDE = 8 };

static const struct shape square = {SIDE, SIDE};

static struct picture make_picture(int bits, uint16_t *samples)
{
    return (struct picture){.width = SIDE, .height = SIDE, .bits = bits, .samples = samples};
}

static uint64_t metric_of(enum metric metric, struct shape shape, const uint16_t *a, int w, int h)
{
    const uint16_t zero[MAX_SIDE] = {0};
    return distortion(metric, shape, a, zero, w, h);
}

static void test_metrics(void)
{
    const uint16_t delta[64] = {5};
    uint16_t flat[96];
    uint16_t ones[15];
    for (int i = 0; i < 96; i++) {
        flat[i] = 3;
    }
    for (int i = 0; i < 15; i++) {
        ones[i] = 1;
    }
    REQUIRE_EQUAL(metric_of(METRIC_SAD, square, flat, 8, 8), 192);
    REQUIRE_EQUAL(metric_of(METRIC_SSD, square, flat, 8, 8), 576);
    /* One sample: every coefficient is +-5; (16 * 5 + 1) >> 1 and (64 * 5 + 2) >> 2. */
    REQUIRE_EQUAL(metric_of(METRIC_SATD, (struct shape){4, 4}, delta, 4, 4), 40);
    REQUIRE_EQUAL(metric_of(METRIC_SATD, square, delta, 8, 8), 80);
    /* Flat: the DC coefficient alone, 16 * 3 and 64 * 3. */
    REQUIRE_EQUAL(metric_of(METRIC_SATD, (struct shape){4, 4}, flat, 4, 4), 24);
    REQUIRE_EQUAL(metric_of(METRIC_SATD, square, flat, 8, 8), 48);
    /* 12 is no multiple of 8: six tiles of 4x4. */
    REQUIRE_EQUAL(metric_of(METRIC_SATD, (struct shape){12, 8}, flat, 12, 8), 6 * 24);
    /* 5x3 ones in 8x8: along x the coefficients are 5, 3 and six of +-1, sum 14; along y twice 3,
     * 1, 1 and -1, sum 12; (14 * 12 + 2) >> 2. */
    REQUIRE_EQUAL(metric_of(METRIC_SATD, square, ones, 5, 3), 42);
}

static void test_rate(void)
{
    /* v:       0  1  -1  2  -2  3  -3  4
     * k + 1:   1  2   3  4   5  6   7  8 */
    const int values[] = {0, 1, -1, 2, -2, 3, -3, 4};
    const int bits[] = {1, 3, 3, 5, 5, 5, 5, 7};
    for (int i = 0; i < 8; i++) {
        REQUIRE_EQUAL(
            vector_bits((struct vector){values[i], 0}, (struct vector){0, 0}), bits[i] + 1);
        REQUIRE_EQUAL(
            vector_bits((struct vector){7, values[i] - 3}, (struct vector){7, -3}), bits[i] + 1);
    }
    REQUIRE_EQUAL(lambda_of(1.5), 384);
    REQUIRE_EQUAL(lambda_of(0.001), 0);
    REQUIRE_EQUAL(total_cost(10, 384, 3), 15); /* (1152 + 128) >> 8 = 5 */
    REQUIRE_EQUAL(total_cost(10, 128, 1), 11); /* halves round up */
    char *words[] = {"oracle", "clip", "--qp", "15"};
    struct options options;
    parse_options(&options, 4, words);
    REQUIRE_EQUAL(options.lambda, 362); /* 256 * 2^0.5 = 362.04 */
}

/* Samples 0 in columns 0 to 3, 100 in columns 4 to 7. */
static void test_edge_samples(void)
{
    uint16_t samples[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        samples[i] = i % SIDE < 4 ? 0 : 100;
    }
    const struct picture picture = make_picture(8, samples);
    const struct {
        enum interpolation how;
        int x, fx, fy, sample;
    } cases[] = {
        {INTERPOLATION_H264, 3, 2, 0, 50},  /* b = (2000 - 500 + 100 + 16) >> 5 */
        {INTERPOLATION_H264, 4, 2, 0, 113}, /* b = (3600 + 16) >> 5 */
        {INTERPOLATION_H264, 2, 2, 0, 0},   /* b = (-400 + 16) >> 5, clipped */
        {INTERPOLATION_H264, 3, 1, 0, 25},  /* a = (G + b + 1) >> 1 */
        {INTERPOLATION_H264, 3, 3, 0, 75},  /* c = (b + H + 1) >> 1 */
        {INTERPOLATION_H264, 3, 0, 2, 0},   /* h: columns are constant */
        {INTERPOLATION_H264, 3, 2, 2, 50},  /* j = (32 * 1600 + 512) >> 10 */
        {INTERPOLATION_H264, 3, 1, 1, 25},  /* e = (b + h + 1) >> 1 */
        {INTERPOLATION_H264, 3, 3, 1, 75},  /* g = (b + m + 1) >> 1 */
        {INTERPOLATION_H264, 9, 2, 2, 100}, /* outside, every tap is the edge sample */
        {INTERPOLATION_HEVC, 3, 2, 0, 50},  /* ((40 - 11 + 4 - 1) * 100 + 32) >> 6 */
        {INTERPOLATION_HEVC, 3, 1, 0, 20},  /* ((17 - 5 + 1) * 100 + 32) >> 6 */
        {INTERPOLATION_HEVC, 3, 3, 0, 80},  /* ((58 - 10 + 4 - 1) * 100 + 32) >> 6 */
        {INTERPOLATION_HEVC, 4, 2, 0, 113}, /* ((40 + 40 - 11 + 4 - 1) * 100 + 32) >> 6 */
        {INTERPOLATION_HEVC, -9, 1, 3, 0},
        {INTERPOLATION_BILINEAR, 3, 1, 3, 25},
        {INTERPOLATION_BILINEAR, 3, 2, 0, 50},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        REQUIRE_EQUAL(interpolate(&picture, cases[i].how, cases[i].x, 4, cases[i].fx, cases[i].fy),
            cases[i].sample);
    }
}

/* One sample of `peak` at (3,3), 0 elsewhere. */
static int impulse(enum interpolation how, int bits, int x, int y, int fx, int fy)
{
    uint16_t samples[SIDE * SIDE] = {0};
    samples[3 * SIDE + 3] = (uint16_t)((1 << bits) - 1);
    const struct picture picture = make_picture(bits, samples);
    return interpolate(&picture, how, x, y, fx, fy);
}

static void test_impulse(void)
{
    const enum interpolation h264 = INTERPOLATION_H264;
    const enum interpolation hevc = INTERPOLATION_HEVC;
    REQUIRE_EQUAL(impulse(h264, 8, 3, 3, 2, 2), 100); /* j = (20 * 20 * 255 + 512) >> 10 */
    REQUIRE_EQUAL(impulse(h264, 8, 4, 3, 2, 2), 0);   /* j = -5 * 20 * 255, clipped */
    REQUIRE_EQUAL(impulse(h264, 8, 3, 3, 0, 2), 159); /* h = (20 * 255 + 16) >> 5 */
    REQUIRE_EQUAL(impulse(h264, 8, 3, 3, 2, 1), 130); /* f = (b + j + 1) >> 1, b = 159 */
    REQUIRE_EQUAL(impulse(h264, 8, 3, 3, 1, 2), 130); /* i = (h + j + 1) >> 1 */
    REQUIRE_EQUAL(impulse(h264, 8, 3, 3, 3, 2), 50);  /* k = (j + m + 1) >> 1, m = 0 */
    REQUIRE_EQUAL(impulse(h264, 8, 3, 3, 2, 3), 50);  /* q = (j + s + 1) >> 1, s = 0 */
    REQUIRE_EQUAL(impulse(h264, 8, 3, 3, 1, 3), 80);  /* p = (h + s + 1) >> 1 */
    REQUIRE_EQUAL(impulse(h264, 8, 3, 3, 3, 3), 0);   /* r = (m + s + 1) >> 1 */
    REQUIRE_EQUAL(impulse(h264, 8, 3, 3, 0, 1), 207); /* d = (G + h + 1) >> 1 */
    REQUIRE_EQUAL(impulse(h264, 8, 3, 3, 0, 3), 80);  /* n = (h + M + 1) >> 1 */
    /* (40 * 40 * 255 >> 6) = 6375; (6375 + 32) >> 6. */
    REQUIRE_EQUAL(impulse(hevc, 8, 3, 3, 2, 2), 100);
    /* 40 * 1023 >> 2 = 10230; 40 * 10230 >> 6 = 6393; (6393 + 8) >> 4. */
    REQUIRE_EQUAL(impulse(hevc, 10, 3, 3, 2, 2), 400);
}

static void test_bilinear(void)
{
    uint16_t samples[SIDE * SIDE] = {10, 20};
    samples[SIDE] = 30;
    samples[SIDE + 1] = 41;
    const struct picture picture = make_picture(8, samples);
    /* (6 * 10 + 2 * 20 + 6 * 30 + 2 * 41 + 8) >> 4 */
    REQUIRE_EQUAL(interpolate(&picture, INTERPOLATION_BILINEAR, 0, 0, 1, 2), 23);
}

static struct options small_options(void)
{
    return (struct options){.shapes = {square},
        .shape_count = 1,
        .window_x = 2,
        .window_y = 2,
        .subpel = 1,
        .full = true,
        .candidates = 1};
}

/* A flat picture: all costs are equal, so that the tie rule alone decides. */
static void test_ties(void)
{
    uint16_t samples[SIDE * SIDE] = {0};
    struct picture picture = make_picture(8, samples);
    struct options options = small_options();
    struct search search = {.options = &options,
        .target = &picture,
        .reference = &picture,
        .place = {0, 0, SIDE, SIDE, 0}};
    struct match matches[MAX_CANDIDATES];
    int ties = 0;
    REQUIRE_EQUAL(search_block(&search, 3, matches, &ties), 3);
    REQUIRE_EQUAL(ties, 24);
    REQUIRE_EQUAL(matches[0].vector.dx, 0);
    REQUIRE_EQUAL(matches[0].vector.dy, 0);
    REQUIRE_EQUAL(matches[1].vector.dx, -2);
    REQUIRE_EQUAL(matches[1].vector.dy, -2);
    REQUIRE_EQUAL(matches[2].vector.dx, 0);
    REQUIRE_EQUAL(matches[2].vector.dy, -2);
    options.inside = true; /* the block fills the picture */
    REQUIRE_EQUAL(search_block(&search, 3, matches, &ties), 1);
    REQUIRE_EQUAL(ties, 0);
    /* Rate draws the vector to its predictor. */
    options.inside = false;
    options.rate = true;
    options.lambda = 256;
    search.predictor = (struct vector){1, -2};
    search_block(&search, 1, matches, &ties);
    REQUIRE_EQUAL(matches[0].vector.dx, 1);
    REQUIRE_EQUAL(matches[0].vector.dy, -2);
    REQUIRE_EQUAL(matches[0].cost, 2);
}

/* Flat again: rate alone decides, in half pixels with a window of one pixel, which is two units. Of
 * the whole pixels dy = 2 is best for a predictor of dy = 4: 5 bits. dy = 1 costs 5 bits, too, so
 * it replaces the centre. */
static void test_refinement(void)
{
    uint16_t samples[SIDE * SIDE] = {0};
    struct picture picture = make_picture(8, samples);
    struct options options = small_options();
    options.window_x = options.window_y = 1;
    options.subpel = 2;
    options.full = false;
    options.rate = true;
    options.lambda = 256;
    struct search search = {.options = &options,
        .target = &picture,
        .reference = &picture,
        .place = {0, 0, SIDE, SIDE, 0},
        .predictor = {0, 4}};
    struct match match;
    int ties = 0;
    search_block(&search, 1, &match, &ties);
    REQUIRE_EQUAL(match.vector.dx, 0);
    REQUIRE_EQUAL(match.vector.dy, 1);
    REQUIRE_EQUAL(match.cost, 1 + 5);
    REQUIRE_EQUAL(ties, 0);
    search.predictor = (struct vector){1, 0}; /* (0,0) and (2,0) are equal, and (1,0) is better */
    search_block(&search, 1, &match, &ties);
    REQUIRE_EQUAL(match.vector.dx, 1);
    REQUIRE_EQUAL(match.cost, 2);
    REQUIRE_EQUAL(ties, 1);
}

/* Three flat pictures; `middle` is the target. */
static struct block two_sided(uint16_t past, uint16_t middle, uint16_t future)
{
    static uint16_t samples[3][SIDE * SIDE];
    const uint16_t values[3] = {past, middle, future};
    struct picture pictures[3];
    struct field *pairs[9] = {NULL};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < SIDE * SIDE; j++) {
            samples[i][j] = values[i];
        }
        pictures[i] = make_picture(8, samples[i]);
    }
    struct options options = small_options();
    const struct clip clip = {
        .width = SIDE, .height = SIDE, .bits = 8, .count = 3, .pictures = pictures};
    struct run run = {&options, &clip, pairs};
    options.distance_count = 1;
    options.distances[0] = 1;
    options.past = options.future = options.best_reference = options.bidirectional = true;
    int refs[2];
    REQUIRE_EQUAL(references_of(&run, 1, refs), 2);
    return best_of(&run, 1, refs, 2)->grids[0].blocks[0];
}

static void test_mean(void)
{
    struct block block = two_sided(10, 15, 19); /* (10 + 19 + 1) >> 1 is exact */
    REQUIRE(block.mean);
    REQUIRE_EQUAL(block.ref, 0);
    REQUIRE_EQUAL(block.ref2, 2);
    REQUIRE_EQUAL(block.matches[0].cost, 0);
    REQUIRE_EQUAL(block.matches[0].bits, 4);
    block = two_sided(10, 10, 12); /* the mean costs more */
    REQUIRE(!block.mean);
    REQUIRE_EQUAL(block.ref, 0);
    block = two_sided(12, 12, 12); /* no cheaper than the past one */
    REQUIRE(!block.mean);
    REQUIRE_EQUAL(block.ref, 0);
    block = two_sided(10, 20, 20);
    REQUIRE(!block.mean);
    REQUIRE_EQUAL(block.ref, 2);
}

/* 16x8 pixels in two blocks. The left one moves to the right by 5, or by 3, which takes its centre
 * from x = 4 to x = 9, in the right block, or to x = 7, in the left one. */
static void test_return(void)
{
    struct options options = small_options();
    struct field reverse;
    struct field *pairs[4] = {NULL, NULL, &reverse, NULL};
    const struct clip clip = {.width = 16, .height = 8, .count = 2};
    struct run run = {&options, &clip, pairs};
    make_grids(&run, 1, &reverse);
    reverse.grids[0].blocks[0].matches[0].vector = (struct vector){-3, 1};
    reverse.grids[0].blocks[1].matches[0].vector = (struct vector){-6, -5};
    struct block block = {.place = {0, 0, 8, 8, 0}, .ref = 1, .matches = {{.vector = {5, 1}}}};
    REQUIRE_EQUAL(return_of(&run, 0, &block), 4); /* (-1,-4) */
    block.matches[0].vector = (struct vector){3, 1};
    REQUIRE_EQUAL(return_of(&run, 0, &block), 2); /* (0,2) */
    options.subpel = 4;
    block.matches[0].vector = (struct vector){16, 0}; /* four pixels: x = 8 */
    REQUIRE_EQUAL(return_of(&run, 0, &block), 10);
    block.matches[0].vector = (struct vector){15, 0}; /* 4 + 3.75, whose floor is 7 */
    REQUIRE_EQUAL(return_of(&run, 0, &block), 12);
}

static void test_median(void)
{
    struct block blocks[6] = {0};
    const int dx[6] = {1, 5, 3, 8, 2, 9};
    for (int i = 0; i < 6; i++) {
        blocks[i].matches[0].vector = (struct vector){dx[i], -dx[i]};
    }
    /* 1 5 3
     * 8 2 9 */
    const struct grid grid = {3, 2, blocks};
    const int expected[6] = {
        0, /* none */
        1, /* only left */
        5, /* only left */
        1, /* 0 for left, 1 above, 5 above-right */
        5, /* 8 left, 5 above, 3 above-right */
        3, /* 2 left, 3 above, 5 above-left */
    };
    for (int i = 0; i < 6; i++) {
        const struct vector median = median_predictor(&grid, i % 3, i / 3);
        REQUIRE_EQUAL(median.dx, expected[i]);
        REQUIRE_EQUAL(median.dy, -expected[i]);
    }
    const struct grid column = {1, 6, blocks};
    REQUIRE_EQUAL(median_predictor(&column, 0, 2).dx, 5); /* only above */
}

/* The blocks that cover a picture of 8 x `height` where the whole block costs 100 and each of its
 * parts `part`, two bits of rate each, at lambda 1: as text, such as "8x4 8x4 ". */
static const char *chosen(const char *shapes, int height, uint64_t part)
{
    static char text[256];
    struct options options = small_options();
    struct clip clip = {.width = SIDE, .height = height};
    struct run run = {&options, &clip, NULL};
    struct field field;
    options.lambda = 256;
    parse_shapes(&options, shapes);
    make_grids(&run, 0, &field);
    for (int i = 0; i < options.shape_count; i++) {
        const struct list all = shape_blocks(&field, i);
        for (int j = 0; j < all.count; j++) {
            all.blocks[j].matches[0].distortion = i == 0 ? 100 : part;
            all.blocks[j].matches[0].bits = 2;
        }
    }
    const struct list list = chosen_blocks(&run, &field);
    text[0] = '\0';
    for (int i = 0; i < list.count; i++) {
        const struct shape shape = options.shapes[list.blocks[i].place.shape];
        sprintf(text + strlen(text), "%dx%d ", shape.width, shape.height);
    }
    return text;
}

static void test_partition(void)
{
    /* Whole: 100 + 2 + 1 = 103. Quarters: 4 * 23 + 8 + 1 = 101, 4 * 24 + 8 + 1 = 105. */
    REQUIRE(strcmp(chosen("8..4", 8, 23), "4x4 4x4 4x4 4x4 ") == 0);
    REQUIRE(strcmp(chosen("8..4", 8, 24), "8x8 ") == 0);
    /* Halves: 2 * 48 + 4 + 3 = 103 is no less than whole; 2 * 47 + 4 + 3 = 101, either way. */
    REQUIRE(strcmp(chosen("8..4+rect", 8, 48), "8x8 ") == 0);
    REQUIRE(strcmp(chosen("8..4+rect", 8, 47), "8x4 8x4 ") == 0);
    REQUIRE(strcmp(chosen("8,4x8,4", 8, 47), "4x8 4x8 ") == 0);
    /* Halves 2 * 1 + 4 + 3 = 9, quarters 4 * 1 + 8 + 1 = 13; without distortion 7 and 9. */
    REQUIRE(strcmp(chosen("8..4+rect", 8, 1), "8x4 8x4 ") == 0);
    /* Only the upper half is visible. Quarters: 2 * 49 + 4 + 1 = 103; 2 * 48 + 4 + 1 = 101. */
    REQUIRE(strcmp(chosen("8..4", 4, 49), "8x8 ") == 0);
    REQUIRE(strcmp(chosen("8..4", 4, 48), "4x4 4x4 ") == 0);
    /* The upper half alone: 97 + 2 + 3 = 102. */
    REQUIRE(strcmp(chosen("8,8x4,4", 4, 97), "8x4 ") == 0);
}

static void test_shapes(void)
{
    const struct shape expected[] = {{32, 32}, {32, 16}, {16, 32}, {16, 16}, {12, 4}};
    struct options options;
    parse_shapes(&options, "32..16+rect,12x4");
    REQUIRE_EQUAL(options.shape_count, 5);
    REQUIRE(memcmp(options.shapes, expected, sizeof(expected)) == 0);
}

static void test_texture(void)
{
    uint16_t samples[SIDE * SIDE] = {1, 4, 9};
    samples[SIDE] = 7;
    const struct picture picture = make_picture(8, samples);
    /* Rows 1 4 and 7 0: 3 + 7 across, 6 + 4 down; the 9 lies outside. */
    const struct place place = {0, 0, 2, 2, 0};
    REQUIRE_EQUAL(texture_of(&picture, &place), 20);
}

static void test_decimals(void)
{
    const struct {
        int units, subpel;
        const char *text;
    } cases[] = {{-1, 4, "-0.25"}, {-8, 4, "-2"}, {10, 4, "2.5"}, {3, 2, "1.5"}, {-3, 1, "-3"},
        {0, 4, "0"}, {-11, 4, "-2.75"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[32] = "";
        FILE *file = fmemopen(text, sizeof(text), "w");
        print_pixels(file, cases[i].units, cases[i].subpel);
        fclose(file);
        REQUIRE(strcmp(text, cases[i].text) == 0);
    }
}

int main(void)
{
    test_metrics();
    test_rate();
    test_edge_samples();
    test_impulse();
    test_bilinear();
    test_ties();
    test_refinement();
    test_mean();
    test_return();
    test_median();
    test_partition();
    test_shapes();
    test_texture();
    test_decimals();
    return harness_verdict();
}
