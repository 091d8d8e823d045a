/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * On 0 <= x <= 1 both functions are a chord plus x (1 - x) times a polynomial, which keeps both
 * ends exact. The polynomials interpolate at Chebyshev nodes; they err by 1.1e-6 (logarithm)
 * and 4.3e-7 (power). Coefficients and x are in 1/2^30.
 */
#include "encode/fixed.h"

#include "base/grid.h"

#define ONE (INT64_C(1) << 30)

static int64_t product(int64_t a, int64_t b)
{
    return gpume_fixed_shift(a * b, 30);
}

/* x (1 - x) P(x); coefficients of the highest power first. */
static int64_t bend(int64_t x, const int64_t *coefficients, uint32_t count)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum = product(sum, x) + coefficients[i];
    }
    return product(sum, product(x, ONE - x));
}

int32_t gpume_fixed_log2(uint64_t value)
{
    static const int64_t coefficients[] = {
        -16240825, 68797795, -141139647, 211163144, -298716772, 475333537};
    const uint32_t whole = gpume_bit_width(value) - 1;
    const uint64_t mantissa = value << (63 - whole); /* 1 is 1 << 63 */
    const int64_t x = (int64_t)((mantissa & INT64_MAX) >> 33);
    const int64_t fraction =
        x + bend(x, coefficients, sizeof(coefficients) / sizeof(coefficients[0]));
    return (int32_t)((int64_t)whole * 65536 + gpume_fixed_shift(fraction, 14));
}

uint32_t gpume_fixed_exp2(int64_t exponent)
{
    static const int64_t coefficients[] = {-2036310, -11667980, -71595235, -329478958};
    const int64_t whole = exponent >> 16;
    if (whole >= 16) {
        return UINT32_MAX;
    }
    if (whole < -17) {
        return 0;
    }
    const int64_t x = (exponent & 65535) << 14;
    const int64_t power =
        ONE + x + bend(x, coefficients, sizeof(coefficients) / sizeof(coefficients[0]));
    const int64_t result =
        whole >= 14 ? power << (whole - 14) : gpume_fixed_shift(power, (uint32_t)(14 - whole));
    return result > UINT32_MAX ? UINT32_MAX : (uint32_t)result;
}

int64_t gpume_fixed_from_double(double value)
{
    const double scaled = value * 65536.0;
    return (int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}
