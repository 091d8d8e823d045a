/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The logarithm is interpolated between 129 values, and errs by less than 1/65536. The power, on
 * 0 <= x <= 1, is a chord plus x (1 - x) times a polynomial, which keeps both ends exact and
 * interpolates at Chebyshev nodes; it errs by 4.3e-7. Its coefficients and x are in 1/2^30.
 */
#include "encode/fixed.h"

#include "base/base.h"

#include <stddef.h>

#define ONE (INT64_C(1) << 30)
#define MIDDLE 218 /* rounds up more often than not, as chords lie below the curve */

static int64_t fixed_product(int64_t a, int64_t b)
{
    return gpume_fixed_shift(a * b, 30);
}

int32_t gpume_fixed_log2(uint64_t value)
{
    static const uint32_t logarithms[] = {/* of 1 + i / 128, in 1/2^24 */
        0, 188362, 375270, 560745, 744810, 927485, 1108793, 1288752, 1467383, 1644705, 1820738,
        1995500, 2169009, 2341283, 2512340, 2682196, 2850868, 3018374, 3184728, 3349946, 3514044,
        3677038, 3838941, 3999768, 4159533, 4318251, 4475935, 4632599, 4788255, 4942916, 5096595,
        5249305, 5401057, 5551864, 5701737, 5850688, 5998727, 6145867, 6292118, 6437490, 6581994,
        6725641, 6868440, 7010402, 7151536, 7291852, 7431359, 7570066, 7707984, 7845119, 7981483,
        8117082, 8251926, 8386022, 8519380, 8652008, 8783912, 8915102, 9045584, 9175366, 9304457,
        9432863, 9560591, 9687648, 9814042, 9939780, 10064867, 10189312, 10313120, 10436298,
        10558852, 10680789, 10802114, 10922835, 11042956, 11162484, 11281425, 11399784, 11517568,
        11634780, 11751428, 11867517, 11983051, 12098037, 12212479, 12326382, 12439752, 12552593,
        12664911, 12776710, 12887994, 12998770, 13109041, 13218811, 13328087, 13436871, 13545168,
        13652983, 13760320, 13867183, 13973576, 14079503, 14184969, 14289978, 14394532, 14498638,
        14602297, 14705514, 14808293, 14910637, 15012551, 15114037, 15215099, 15315742, 15415967,
        15515779, 15615181, 15714177, 15812769, 15910962, 16008758, 16106160, 16203172, 16299796,
        16396036, 16491896, 16587377, 16682482, 16777216};
    const uint32_t whole = gpume_bit_width(value) - 1;
    const uint32_t mantissa = (uint32_t)(value << (63 - whole) >> 40) & 0x7fffff; /* less 1 */
    const uint32_t below = logarithms[mantissa >> 16], above = logarithms[(mantissa >> 16) + 1];
    const uint64_t between = (uint64_t)(above - below) * (mantissa & 0xffff) >> 16;
    return (int32_t)(whole * 65536 + ((below + (uint32_t)between + MIDDLE) >> 8));
}

uint32_t gpume_fixed_exp2(int64_t exponent)
{
    static const int64_t coefficients[] = {/* of the highest power first */
        -2036310, -11667980, -71595235, -329478958};
    const int64_t whole = exponent >> 16;
    if (whole >= 16) {
        return UINT32_MAX;
    }
    if (whole < -17) {
        return 0;
    }
    const int64_t x = (exponent & 65535) << 14;
    int64_t sum = 0; /* P(x) */
    for (size_t i = 0; i < sizeof(coefficients) / sizeof(coefficients[0]); i++) {
        sum = fixed_product(sum, x) + coefficients[i];
    }
    const int64_t power = ONE + x + fixed_product(sum, fixed_product(x, ONE - x));
    const int64_t result =
        whole >= 14 ? power << (whole - 14) : gpume_fixed_shift(power, (uint32_t)(14 - whole));
    return result > UINT32_MAX ? UINT32_MAX : (uint32_t)result;
}

uint64_t gpume_fixed_root(uint64_t value)
{
    uint64_t result = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit > 0; bit >>= 1) {
        if ((result + bit) * (result + bit) <= value) {
            result += bit;
        }
    }
    return result;
}

int64_t gpume_fixed_from_double(double value)
{
    const double scaled = value * 65536.0;
    return (int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}
