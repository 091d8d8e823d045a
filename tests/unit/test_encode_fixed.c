/* SPDX-License-Identifier: BSD-2-Clause */
/* Fixed-point logarithms and powers against libm, and adaptive quantization against its formulas.
 */
#include "encode/aq.h"
#include "encode/encoder.h"
#include "encode/fixed.h"
#include "harness.h"

#include <math.h>
#include <stdlib.h>

static void check_root(void)
{
    static const uint64_t roots[] = {0, 1, 2, 3, 255, 65535, 65536, 3037000500, UINT32_MAX};
    for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
        const uint64_t square = roots[i] * roots[i];
        REQUIRE_EQUAL(gpume_fixed_root(square), roots[i]);
        REQUIRE_EQUAL(gpume_fixed_root(square + 2 * roots[i]), roots[i]);
        REQUIRE(roots[i] == 0 || gpume_fixed_root(square - 1) == roots[i] - 1);
    }
}

static void check_log2(void)
{
    for (uint32_t bit = 0; bit < 64; bit++) {
        REQUIRE_EQUAL(gpume_fixed_log2(UINT64_C(1) << bit), bit * 65536);
    }
    uint64_t random = 7;
    double worst = 0;
    for (uint32_t i = 0; i < 200000; i++) {
        const uint64_t wide = (uint64_t)harness_random(&random) << 32 | harness_random(&random);
        const uint64_t value = i < 100000 ? i + 1 : (wide | 1) >> (i % 60);
        if (value != 0) {
            worst = fmax(worst, fabs(gpume_fixed_log2(value) - 65536 * log2((double)value)));
        }
    }
    REQUIRE(worst < 1);
    REQUIRE_EQUAL(gpume_fixed_log2(UINT64_MAX), 64 * 65536);
}

static void check_exp2(void)
{
    for (int32_t bit = -16; bit < 16; bit++) {
        REQUIRE_EQUAL(gpume_fixed_exp2((int64_t)bit * 65536), UINT32_C(1) << (bit + 16));
    }
    double worst = 0;
    for (int32_t exponent = -20 * 65536; exponent < 16 * 65536; exponent += 97) {
        const double exact = 65536 * exp2(exponent / 65536.0);
        const double error = fabs(gpume_fixed_exp2(exponent) - exact);
        worst = fmax(worst, error / fmax(1, exact / (1 << 20)));
    }
    REQUIRE(worst < 1);
    REQUIRE_EQUAL(gpume_fixed_exp2(16 * 65536), UINT32_MAX);
    REQUIRE_EQUAL(gpume_fixed_exp2(INT32_MAX), UINT32_MAX);
    REQUIRE_EQUAL(gpume_fixed_exp2(INT32_MIN), 0);
    REQUIRE_EQUAL(gpume_fixed_scale_of_offset(6 * 256), 32768);
    REQUIRE_EQUAL(gpume_fixed_scale_of_offset(-12 * 256), 4 * 65536);
}

static void check_rounding(void)
{
    REQUIRE_EQUAL(gpume_fixed_shift(3, 1), 2);
    REQUIRE_EQUAL(gpume_fixed_shift(-3, 1), -1);
    REQUIRE_EQUAL(gpume_fixed_shift(-5, 2), -1);
    REQUIRE_EQUAL(gpume_fixed_from_double(-1.5), -98304);
    REQUIRE_EQUAL(gpume_fixed_from_double(0.1), 6554);
}

enum { ENERGIES = 500 };

static void make_energies(uint32_t *energies)
{
    uint64_t random = 11;
    for (uint32_t i = 0; i < ENERGIES; i++) {
        energies[i] = harness_random(&random) >> (8 + harness_random(&random) % 24);
    }
    energies[0] = 0;
    energies[1] = 256 * 128 * 128; /* the most that 8-bit samples can have */
}

/* The formulas of aq.h in doubles, in QP. */
static void expect_offsets(
    const struct gpume_encode_options *options, const uint32_t *energies, double *expected)
{
    const bool x264 = options->encoder == gpume_encoder_find("x264");
    const double centre = x264 ? 14 : 11, power = x264 ? 0.125 : 0.1;
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < ENERGIES; i++) {
        const double q = pow(energies[i] + 1.0, power);
        mean += q / ENERGIES;
        squares += q * q / ENERGIES;
    }
    for (uint32_t i = 0; i < ENERGIES; i++) {
        const double q = pow(energies[i] + 1.0, power);
        const double flat = options->aq_mode == 3 ? 1 - centre / (q * q) : 0;
        const double automatic = mean * (q - mean + (squares - centre) / (2 * mean)) + flat;
        const double by_variance = 1.0397 * (log2(fmax(energies[i], 1)) - 14.427);
        expected[i] = options->aq_strength * (options->aq_mode == 1 ? by_variance : automatic);
    }
}

static void check_aq(const struct gpume_encoder *encoder, uint32_t mode, double strength)
{
    const struct gpume_encode_options options = {
        .encoder = encoder, .aq_mode = mode, .aq_strength = strength};
    uint32_t energies[ENERGIES], scratch[ENERGIES];
    int16_t offsets[ENERGIES];
    double expected[ENERGIES];
    make_energies(energies);
    REQUIRE(gpume_aq_is_on(&options));
    gpume_aq_offsets(&options, energies, ENERGIES, scratch, offsets);
    expect_offsets(&options, energies, expected);
    for (uint32_t i = 0; i < ENERGIES; i++) {
        REQUIRE(fabs(offsets[i] - 256 * expected[i]) <= 1);
    }
}

/* Offsets end where their type does. */
static void check_aq_limits(void)
{
    const struct gpume_encode_options options = {
        .encoder = gpume_encoder_find("x264"), .aq_mode = 1, .aq_strength = 20};
    const uint32_t energies[2] = {0, UINT32_MAX}; /* -300 and 365 QP */
    uint32_t scratch[2];
    int16_t offsets[2];
    gpume_aq_offsets(&options, energies, 2, scratch, offsets);
    REQUIRE(offsets[0] == INT16_MIN && offsets[1] == INT16_MAX);
}

static void check_aq_off(void)
{
    struct gpume_encode_options options = {.encoder = gpume_encoder_find("x264"), .aq_strength = 1};
    REQUIRE(!gpume_aq_is_on(&options));
    options.aq_mode = 1;
    options.aq_strength = 0;
    REQUIRE(!gpume_aq_is_on(&options));
}

int main(void)
{
    check_root();
    check_log2();
    check_exp2();
    check_rounding();
    for (uint32_t mode = 1; mode <= 3; mode++) {
        check_aq(gpume_encoder_find("x264"), mode, 1.0);
        check_aq(gpume_encoder_find("x265"), mode, 1.0);
        check_aq(gpume_encoder_find("x264"), mode, 0.6);
    }
    check_aq_limits();
    check_aq_off();
    return harness_verdict();
}
