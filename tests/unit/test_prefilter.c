/* SPDX-License-Identifier: BSD-2-Clause */
/* The integer weights of filters: exact sums, symmetry, bounds, and refusals. */
#include "harness.h"
#include "logged.h"
#include "model/plan.h"

#include <math.h>
#include <stdlib.h>

static struct gpume_prefilter_tables tables;

static int make(const struct gpume_prefilter *filter, uint32_t bits)
{
    static const struct gpume_log log = {.fn = logged_line};
    logged.last[0] = '\0';
    return gpume_prefilter_make(filter, bits, &log, &tables);
}

/* Requires the weights of a bell curve: symmetric, and decreasing from the centre, which absorbs
 * rounding errors. Returns their sum. */
static int64_t check_bell(uint32_t columns, uint32_t rows, int32_t slack)
{
    int64_t sum = 0;
    for (uint32_t k = 0; k < columns * rows; k++) {
        uint32_t x = k % columns, y = k / columns, middle = columns * rows / 2;
        int32_t weight = tables.weights[k];
        sum += weight;
        REQUIRE(weight >= 0 && weight < 65536);
        REQUIRE(k == middle || weight <= tables.weights[middle] + slack);
        REQUIRE_EQUAL(weight, tables.weights[y * columns + columns - 1 - x]);
        REQUIRE_EQUAL(weight, tables.weights[(rows - 1 - y) * columns + x]);
        if (x > 0 && x < columns / 2 && y == rows / 2) {
            REQUIRE(tables.weights[k - 1] <= weight);
        }
    }
    return sum;
}

static void check_gauss(void)
{
    for (int hundredths = 30; hundredths <= 1600; hundredths++) {
        double sigma = hundredths / 100.0;
        struct gpume_prefilter filter = {.kind = GPUME_PREFILTER_GAUSS, .sigma = sigma};
        REQUIRE_EQUAL(make(&filter, 8 + (uint32_t)hundredths % 9), GPUME_OK);
        REQUIRE_EQUAL(tables.radius_x, (uint32_t)ceil(3 * sigma));
        REQUIRE_EQUAL(tables.radius_y, tables.radius_x);
        REQUIRE(tables.radius_x <= GPUME_PREFILTER_RADIUS_MAX);
        REQUIRE_EQUAL(check_bell(2 * tables.radius_x + 1, 1, (int32_t)tables.radius_x), 65536);
    }
    struct gpume_prefilter one = {.kind = GPUME_PREFILTER_GAUSS, .sigma = 1};
    static const int32_t known[] = {291, 3539, 15862, 26152, 15862, 3539, 291};
    REQUIRE_EQUAL(make(&one, 10), GPUME_OK);
    for (uint32_t i = 0; i < 7; i++) {
        REQUIRE_EQUAL(tables.weights[i], known[i]);
    }
    REQUIRE_EQUAL(tables.shift, 10);
    REQUIRE_EQUAL(tables.divisor, 1u << 22);
}

static void check_bilateral(void)
{
    for (int hundredths = 30; hundredths <= 500; hundredths += 5) {
        double sigma = hundredths / 100.0;
        struct gpume_prefilter filter = {
            .kind = GPUME_PREFILTER_BILATERAL, .sigma = sigma, .range = sigma};
        uint32_t bits = 8 + (uint32_t)hundredths / 5 % 9;
        REQUIRE_EQUAL(make(&filter, bits), GPUME_OK);
        int64_t sum = check_bell(2 * tables.radius_x + 1, 2 * tables.radius_y + 1, 0);
        REQUIRE(sum <= 65536 && sum > 65536 - 961);
        REQUIRE(tables.weights[2 * tables.radius_x * (tables.radius_x + 1)] > 400);
        REQUIRE_EQUAL(tables.likeness[0], 32768);
        uint32_t steps = tables.peak >> tables.shift;
        REQUIRE(steps < GPUME_PREFILTER_STEPS);
        for (uint32_t i = 1; i <= steps; i++) {
            REQUIRE(tables.likeness[i] >= 0 && tables.likeness[i] <= tables.likeness[i - 1]);
        }
    }
}

static void make_kernel(uint32_t width, uint32_t height, const double *weights, uint32_t bits)
{
    struct gpume_prefilter filter = {
        .kind = GPUME_PREFILTER_KERNEL, .width = width, .height = height, .weights = weights};
    REQUIRE_EQUAL(make(&filter, bits), GPUME_OK);
    int64_t magnitudes = 0;
    for (uint32_t i = 0; i < width * height; i++) {
        magnitudes += llabs((long long)tables.weights[i]);
    }
    REQUIRE(magnitudes * tables.peak + tables.divisor / 2 < INT64_C(1) << 31);
    REQUIRE(tables.divisor > 0);
}

static void check_kernel(void)
{
    static const double sharpen[] = {0, -1, 0, -1, 5, -1, 0, -1, 0};
    static const double laplace[] = {1e-3, -2e-3, 1e-3}, inverted[] = {-3, 1, -3};
    static double many[31 * 31];
    uint64_t state = 7;
    for (uint32_t bits = 8; bits <= 16; bits++) {
        make_kernel(3, 3, sharpen, bits);
        REQUIRE_EQUAL(tables.weights[4], 5 * tables.divisor);
        REQUIRE_EQUAL(tables.weights[1], -(int64_t)tables.divisor);
        make_kernel(3, 1, laplace, bits);
        REQUIRE_EQUAL(tables.divisor, 1u << (31 - bits)); /* not divided by their sum */
        make_kernel(1, 3, inverted, bits);
        REQUIRE_EQUAL(tables.weights[0] * 5, 3 * (int64_t)tables.divisor);
        for (uint32_t scale = 0; scale < 15; scale++) {
            for (uint32_t i = 0; i < 31 * 31; i++) {
                many[i] = ((double)harness_random(&state) - 2e9) / 2.3e9 * pow(10, scale - 6.0);
                many[i] = fabs(many[i]) < 1e-9 ? 0 : many[i];
            }
            make_kernel(31, 31, many, bits);
        }
    }
}

static void check_refused(void)
{
    static const double good[] = {1, 1, 1}, none[] = {0, 0, 0}, odd[] = {1, NAN, 1};
    static const double huge[] = {1, 2e9, 1}, tiny[] = {1, 1e-10, 1}, steep[] = {1e8, -1e8, 0};
    const struct gpume_prefilter bad[] = {
        {.kind = GPUME_PREFILTER_GAUSS},
        {.kind = GPUME_PREFILTER_GAUSS, .sigma = 0.29},
        {.kind = GPUME_PREFILTER_GAUSS, .sigma = 16.1},
        {.kind = GPUME_PREFILTER_GAUSS, .sigma = -1},
        {.kind = GPUME_PREFILTER_GAUSS, .sigma = NAN},
        {.kind = GPUME_PREFILTER_BOX, .width = 4, .height = 4},
        {.kind = GPUME_PREFILTER_BOX, .width = 1, .height = 1},
        {.kind = GPUME_PREFILTER_BOX, .width = 33, .height = 33},
        {.kind = GPUME_PREFILTER_BOX, .width = 3, .height = 5},
        {.kind = GPUME_PREFILTER_MEDIAN, .width = 7, .height = 7},
        {.kind = GPUME_PREFILTER_MEDIAN, .width = 3, .height = 5},
        {.kind = GPUME_PREFILTER_BILATERAL, .sigma = 5.1, .range = 1},
        {.kind = GPUME_PREFILTER_BILATERAL, .sigma = 1, .range = 0.01},
        {.kind = GPUME_PREFILTER_BILATERAL, .sigma = 1, .range = INFINITY},
        {.kind = GPUME_PREFILTER_KERNEL, .width = 3, .height = 1},
        {.kind = GPUME_PREFILTER_KERNEL, .width = 2, .height = 1, .weights = good},
        {.kind = GPUME_PREFILTER_KERNEL, .width = 33, .height = 1, .weights = good},
        {.kind = GPUME_PREFILTER_KERNEL, .width = 3, .height = 0, .weights = good},
        {.kind = GPUME_PREFILTER_KERNEL, .width = 3, .height = 1, .weights = none},
        {.kind = GPUME_PREFILTER_KERNEL, .width = 3, .height = 1, .weights = odd},
        {.kind = GPUME_PREFILTER_KERNEL, .width = 3, .height = 1, .weights = huge},
        {.kind = GPUME_PREFILTER_KERNEL, .width = 3, .height = 1, .weights = tiny},
        {.kind = GPUME_PREFILTER_KERNEL, .width = 3, .height = 1, .weights = steep},
        {.kind = (enum gpume_prefilter_kind)5},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        REQUIRE_EQUAL(make(&bad[i], 8), GPUME_INVALID);
        REQUIRE(logged.last[0] != '\0');
    }
    struct gpume_prefilter filter = {
        .kind = GPUME_PREFILTER_KERNEL, .width = 1, .height = 3, .weights = good};
    REQUIRE_EQUAL(make(&filter, 16), GPUME_OK);
}

int main(void)
{
    check_gauss();
    check_bilateral();
    check_kernel();
    check_refused();
    return harness_verdict();
}
