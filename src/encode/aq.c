/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/aq.h"

#include "encode/encoder.h"
#include "encode/fixed.h"

#include <assert.h>

enum { AQ_NONE, AQ_VARIANCE, AQ_AUTO_VARIANCE, AQ_AUTO_VARIANCE_BIASED };

#define ONE 65536 /* all numbers here are in 1/65536 */

bool gpume_aq_is_on(const struct gpume_encode_options *options)
{
    return options->aq_mode != AQ_NONE && options->aq_strength > 0;
}

static int64_t aq_product(int64_t a, int64_t b)
{
    return gpume_fixed_shift(a * b, 16);
}

static int16_t stored_offset(int64_t offset)
{
    const int64_t rounded = gpume_fixed_shift(offset, 8);
    return (int16_t)(rounded > INT16_MAX ? INT16_MAX : rounded < INT16_MIN ? INT16_MIN : rounded);
}

static void offset_by_variance(
    int64_t strength, const uint32_t *energies, uint32_t count, int16_t *offsets)
{
    const int64_t factor = aq_product(strength, 68138); /* 1.0397 */
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t energy = energies[i] ? energies[i] : 1;
        offsets[i] =
            stored_offset(aq_product(factor, gpume_fixed_log2(energy) - 945488)); /* 14.427 */
    }
}

static void offset_by_auto_variance(const struct gpume_encode_options *options, int64_t strength,
    const uint32_t *energies, uint32_t count, uint32_t *roots, int16_t *offsets)
{
    const int64_t centre = (int64_t)options->encoder->aq.centre * ONE;
    const int64_t root = options->encoder->aq.root;
    const int64_t bias = options->aq_mode == AQ_AUTO_VARIANCE_BIASED ? strength : 0;
    int64_t sum = 0, sum_of_squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t logarithm = gpume_fixed_log2((uint64_t)energies[i] + 1);
        const int64_t q = roots[i] = gpume_fixed_exp2(logarithm / root); /* below 2^20 */
        sum += q;
        sum_of_squares += aq_product(q, q);
    }
    const int64_t mean = sum / count;
    const int64_t middle = mean - (sum_of_squares / count - centre) * ONE / (2 * mean);
    const int64_t factor = aq_product(strength, mean);
    for (uint32_t i = 0; i < count; i++) {
        const int64_t q = roots[i];
        offsets[i] = stored_offset(aq_product(factor, q - middle) +
                                   aq_product(bias, ONE - centre * ONE / aq_product(q, q)));
    }
}

void gpume_aq_offsets(const struct gpume_encode_options *options, const uint32_t *energies,
    uint32_t count, uint32_t *scratch, int16_t *offsets)
{
    const int64_t strength = gpume_fixed_from_double(options->aq_strength);
    assert(gpume_aq_is_on(options));
    if (options->aq_mode == AQ_VARIANCE) {
        offset_by_variance(strength, energies, count, offsets);
    } else {
        offset_by_auto_variance(options, strength, energies, count, scratch, offsets);
    }
}
