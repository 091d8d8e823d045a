/* SPDX-License-Identifier: BSD-2-Clause */
/* src/filter: the loops of every instruction set give what plain arithmetic on 64 bits gives, at
 * the largest values, too; and the noise is that of blocks put in order. tests/cli/test_filter.sh
 * compares whole pictures with an independent program. */
#include "filter/loops.h"
#include "filter/noise.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define COUNT 67u /* no multiple of a vector */
#define REACH GPUME_LOOPS_REACH

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % below);
}

static void fill(uint16_t *samples, uint32_t peak)
{
    for (uint32_t x = 0; x < COUNT; x++) {
        samples[x] = (uint16_t)(draw(4) == 0 ? draw(2) * peak : draw(peak + 1));
    }
}

static int64_t squared(uint16_t a, uint16_t b, uint32_t shift)
{
    const int64_t e = (int64_t)(a >> shift) - (b >> shift);
    return e * e;
}

static void check_slide(const struct gpume_loops *loops, uint32_t bits)
{
    uint16_t rows[4][COUNT];
    int32_t columns[COUNT], before[COUNT];
    const uint32_t shift = bits > 10 ? bits - 10 : 0;
    for (uint32_t i = 0; i < 4; i++) {
        fill(rows[i], (1u << bits) - 1);
    }
    for (uint32_t x = 0; x < COUNT; x++) {
        columns[x] = before[x] = (int32_t)draw(5 * 1023 * 1023);
    }
    loops->slide(columns, rows[0], rows[1], rows[2], rows[3], COUNT, shift);
    for (uint32_t x = 0; x < COUNT; x++) {
        REQUIRE(columns[x] == before[x] + squared(rows[0][x], rows[1][x], shift) -
                                  squared(rows[2][x], rows[3][x], shift));
    }
}

static void check_weigh(const struct gpume_loops *loops, int64_t variance)
{
    int32_t columns[COUNT + 2 * REACH];
    uint16_t prediction[COUNT], gains[COUNT], means[COUNT];
    uint32_t sums[COUNT], weights[COUNT];
    const int64_t lo = 75 * variance >> 9, hi = 375 * variance >> 9;
    const struct gpume_loops_curve curve = {
        (int32_t)lo, (int32_t)hi, (int32_t)((1 << 24) / (hi - lo))};
    fill(prediction, 65535);
    for (uint32_t x = 0; x < COUNT + 2 * REACH; x++) {
        const uint32_t most = draw(3) == 0 ? 5 * 1023 * 1023 : (uint32_t)hi / 3 + 1;
        columns[x] = (int32_t)draw(most < 5 * 1023 * 1023 ? most : 5 * 1023 * 1023);
    }
    for (uint32_t x = 0; x < COUNT; x++) {
        gains[x] = (uint16_t)(draw(4) == 0 ? 0 : draw(65));
        sums[x] = GPUME_LOOPS_OWN * 65535;
        weights[x] = GPUME_LOOPS_OWN;
    }
    for (uint32_t i = 0; i < 8; i++) { /* as many as there are references */
        loops->weigh(columns, prediction, gains, COUNT, &curve, sums, weights);
    }
    loops->divide(sums, weights, means, COUNT);
    for (uint32_t x = 0; x < COUNT; x++) {
        int64_t d = 0;
        for (uint32_t i = 0; i <= 2 * REACH; i++) {
            d += columns[x + i];
        }
        const int64_t f = d <= lo ? 256 : d >= hi ? 0 : ((hi - d) * ((1 << 24) / (hi - lo))) >> 16;
        const int64_t w = 8 * ((f * f) >> 10) * gains[x];
        const int64_t sum = INT64_C(4096) * 65535 + w * prediction[x], all = 4096 + w;
        REQUIRE(sums[x] == sum && weights[x] == all);
        REQUIRE(means[x] == (sum + all / 2) / all);
    }
}

static const int32_t h[8][8] = {{8, 8, 8, 8, 8, 8, 8, 8}, {10, 9, 6, 2, -2, -6, -9, -10},
    {10, 4, -4, -10, -10, -4, 4, 10}, {9, -2, -10, -6, 6, 10, 2, -9}, {8, -8, -8, 8, 8, -8, -8, 8},
    {6, -10, 2, 9, -9, -2, 10, -6}, {4, -10, 10, -4, -4, 10, -10, 4},
    {2, -6, 9, -10, 10, -9, 6, -2}};

/* value / 2^by, rounded down. */
static int64_t down(int64_t value, int64_t divisor)
{
    return value / divisor - (value % divisor < 0);
}

static int64_t levelled(uint32_t k, int64_t value)
{
    return value + (k % 4 == 0 ? 0 : down((k % 2 == 0 ? 53 : 81) * value, 512));
}

/* Up to `most` in magnitude, often that. */
static int32_t draw_signed(uint32_t most)
{
    const int32_t size = (int32_t)(draw(2) == 0 ? most : draw(most + 1));
    return draw(2) == 0 ? size : -size;
}

/* Columns of windows, each value as large as it may be by gpume-filter(1) where a row of H asks for
 * that. */
static void check_columns(const struct gpume_loops *loops)
{
    int16_t samples[8][COUNT];
    int32_t columns[8][COUNT], made[8][COUNT], rows[8][COUNT];
    const int16_t *in[8];
    int32_t *out[8], *to[8];
    const int32_t *from[8];
    for (uint32_t i = 0; i < 8; i++) {
        in[i] = samples[i];
        out[i] = columns[i];
        from[i] = made[i];
        to[i] = rows[i];
        for (uint32_t x = 0; x < COUNT; x++) {
            samples[i][x] =
                (int16_t)(x < 8 ? (h[x][i] < 0 ? 32767 : -32768) : (int32_t)draw(65536) - 32768);
            made[i][x] = x < 8 ? (h[i][x] < 0 ? -57 : 57) * (1 << 25) : draw_signed(57u << 25);
            rows[i][x] = draw_signed(1 << 20);
        }
    }
    loops->analyse_columns(in, COUNT, out);
    for (uint32_t i = 0; i < 8 * COUNT; i++) {
        int64_t sum = 8;
        for (uint32_t j = 0; j < 8; j++) {
            sum += h[i / COUNT][j] * samples[j][i % COUNT];
        }
        REQUIRE(columns[i / COUNT][i % COUNT] == down(sum, 16));
    }
    memcpy(columns, rows, sizeof(rows));
    loops->make_columns(from, COUNT, to);
    for (uint32_t i = 0; i < 8 * COUNT; i++) {
        int64_t sum = 1;
        for (uint32_t j = 0; j < 8; j++) {
            sum += h[j][i / COUNT] * levelled(j, down(made[j][i % COUNT] + INT64_C(64), 128));
        }
        REQUIRE(rows[i / COUNT][i % COUNT] == columns[i / COUNT][i % COUNT] + down(sum, 2));
    }
}

/* count: of windows. */
static void check_windows(const struct gpume_loops *loops, uint32_t count)
{
    enum { SPAN = GPUME_LOOPS_SPAN, COLUMNS = 2 * SPAN + 6 };
    int32_t columns[COLUMNS], halves[2][COLUMNS / 2], sums[2][COLUMNS / 2];
    int32_t first[SPAN], limits[SPAN], kept[SPAN] = {0}, weights[SPAN], coefficients[8][SPAN];
    int64_t wanted[COLUMNS] = {0}, number = 0;
    for (uint32_t i = 0; i < COLUMNS; i++) {
        const int32_t sign = i < 64 && h[i / 8][i % 8] < 0 ? -1 : 1;
        columns[i] = i < 64 ? sign * (1 << 17) : draw_signed(1 << 17);
        halves[i % 2][i / 2] = columns[i];
        sums[i % 2][i / 2] = 0;
    }
    for (uint32_t i = 0; i < SPAN; i++) {
        first[i] = draw(2) == 0 ? -1 : (int32_t)draw(1 << 21);
        limits[i] = (int32_t)draw(1u << draw(22));
        weights[i] = 1 << draw(7);
    }
    loops->analyse_windows(halves[0], halves[1], first, limits, count, &coefficients[0][0], kept);
    for (uint32_t i = 0; i < 8 * count; i++) {
        const uint32_t l = i % 8, w = i / 8;
        int64_t sum = 0;
        for (uint32_t j = 0; j < 8; j++) {
            sum += h[l][j] * (int64_t)columns[2 * w + j];
        }
        const bool keeps = llabs(sum) > (l == 0 ? first : limits)[w];
        number = keeps + (l == 0 ? 0 : number);
        REQUIRE(coefficients[l][w] == (keeps ? levelled(l, sum) : 0));
        REQUIRE(l < 7 || kept[w] == number);
        coefficients[l][w] =
            w % 3 == 0 ? (h[l][w % 8] < 0 ? -1 : 1) * (1 << 23) : coefficients[l][w];
    }
    loops->make_windows(&coefficients[0][0], weights, count, sums[0], sums[1]);
    for (uint32_t i = 0; i < 8 * count; i++) {
        int64_t sum = 32;
        for (uint32_t l = 0; l < 8; l++) {
            sum += h[l][i % 8] * (int64_t)coefficients[l][i / 8];
        }
        wanted[2 * (i / 8) + i % 8] += weights[i / 8] * down(sum, 64);
    }
    for (uint32_t i = 0; i < COLUMNS; i++) {
        REQUIRE(sums[i % 2][i / 2] == wanted[i]);
    }
}

static int rising(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* values: of which many are the same. */
static void check_noise(uint32_t count, uint32_t values)
{
    uint64_t textures[300], cells[300], residuals[300], sorted[3][300];
    for (uint32_t i = 0; i < count; i++) {
        sorted[0][i] = textures[i] = 1 + draw(values) * 200000 / values;
        sorted[1][i] = residuals[i] = draw(values) * 10000 / values;
        sorted[2][i] = cells[i] = draw(values) * 50000 / values;
    }
    qsort(sorted[0], count, sizeof(uint64_t), rising);
    qsort(sorted[1], count, sizeof(uint64_t), rising);
    qsort(sorted[2], count, sizeof(uint64_t), rising);
    struct gpume_noise_values noise = {textures, cells, residuals, count, draw(count + 1)};
    const int64_t t = (int64_t)sorted[0][count / 12], v = (int64_t)sorted[1][count / 8];
    const int64_t q = (int64_t)sorted[2][count / 12], u = v < q ? v : q,
                  above = u - t / 32 < 0 ? 0 : u - t / 32;
    const int64_t variance = 2 * above - 21;
    REQUIRE(gpume_noise_variance(&noise, 10) == (uint64_t)(variance < 0 ? 0 : variance));
    noise.flat = count + 1;
    REQUIRE(gpume_noise_variance(&noise, 10) == 0);
}

/* The values of blocks of 16 bits at their largest, and where a plane has nothing else. */
static void check_blocks(void)
{
    uint16_t plane[256], prediction[256];
    const struct gpume_patch patch = {plane, 16, 16, 0, 0, 16, 16, 6};
    for (uint32_t i = 0; i < 256; i++) {
        plane[i] = i % 2 == 0 ? 65535 : 0;
        prediction[i] = i % 2 == 0 ? 0 : 65535;
    }
    REQUIRE(gpume_noise_texture(&patch) ==
            UINT64_C(256) * 128 * 1023 * 1023 - UINT64_C(128) * 128 * 1023 * 1023);
    REQUIRE(gpume_noise_cell(&patch) == UINT64_C(64) * 1023 * 1023);
    REQUIRE(gpume_noise_residual(&patch, prediction) == UINT64_C(128) * 1023 * 1023);
    REQUIRE(gpume_noise_residual(&patch, plane) == 0);
    for (uint32_t y = 0; y < 8; y++) { /* one cell is even */
        memset(&plane[16 * (y + 8) + 8], 0xff, 8 * sizeof(*plane));
    }
    REQUIRE(gpume_noise_cell(&patch) == 0 && gpume_noise_texture(&patch) > 0);
    memset(plane, 0xff, sizeof(plane));
    REQUIRE(gpume_noise_texture(&patch) == 0);
}

/* bar: of its darkest sample, the others are up to 2 steps brighter. */
static void check_area(uint32_t bits, uint32_t bar, bool is_bar)
{
    enum { WIDTH = 40, HEIGHT = 24, LEFT = 3, TOP = 9, RIGHT = 37, BOTTOM = 23 };
    uint16_t plane[WIDTH * HEIGHT];
    const uint32_t shift = bits > 10 ? bits - 10 : 0, step = 1u << (bits - 8);
    const struct gpume_patch luma = {plane, WIDTH, HEIGHT, 0, 0, WIDTH, HEIGHT, shift};
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        plane[i] = (uint16_t)((bar + i % 3) * step);
    }
    plane[0] = (uint16_t)(bar * step); /* the other corner is 2 steps brighter */
    plane[WIDTH * HEIGHT - 1] = (uint16_t)((bar + 2) * step);
    plane[TOP * WIDTH + 20] = plane[12 * WIDTH + LEFT] = plane[13 * WIDTH + RIGHT - 1] =
        plane[(BOTTOM - 1) * WIDTH + 8] = (uint16_t)((bar + 3) * step);
    const struct gpume_noise_area area = gpume_noise_find_area(&luma, bits);
    REQUIRE(area.left == (is_bar ? LEFT : 0) && area.right == (is_bar ? RIGHT : WIDTH));
    REQUIRE(area.top == (is_bar ? TOP : 0) && area.bottom == (is_bar ? BOTTOM : HEIGHT));
    plane[TOP * WIDTH + 20] = plane[12 * WIDTH + LEFT] = plane[13 * WIDTH + RIGHT - 1] =
        plane[(BOTTOM - 1) * WIDTH + 8] = (uint16_t)((bar + 2) * step);
    const struct gpume_noise_area none = gpume_noise_find_area(&luma, bits);
    REQUIRE(is_bar == (none.right <= none.left && none.bottom <= none.top));
}

int main(void)
{
    const struct gpume_loops *loops;
    for (uint32_t i = 0; (loops = gpume_loops_at(i)); i++) {
        for (uint32_t bits = 8; bits <= 16 && loops->available(); bits++) {
            check_slide(loops, bits);
        }
        for (int64_t variance = 4; variance <= 10240000 && loops->available(); variance *= 3) {
            check_weigh(loops, variance);
        }
        if (loops->available()) {
            check_weigh(loops, 10240000);
            check_columns(loops);
        }
        for (uint32_t count = 1; count <= GPUME_LOOPS_SPAN && loops->available(); count += 9) {
            check_windows(loops, count);
        }
    }
    REQUIRE(gpume_loops()->available());
    check_blocks();
    for (uint32_t bits = 8; bits <= 16; bits++) {
        check_area(bits, 0, true);
        check_area(bits, 16, true);
        check_area(bits, 20, true);
        check_area(bits, 21, false);
    }
    for (uint32_t count = 1; count <= 300; count++) {
        check_noise(count, 1 + draw(2 * count));
    }
    REQUIRE(
        gpume_noise_of_sigma(5000, 10) == 10240000 && gpume_noise_of_sigma(5000, 16) == 10240000);
    REQUIRE(gpume_noise_of_sigma(100, 8) == 256 && gpume_noise_of_sigma(50, 8) == 64);
    return harness_verdict();
}
