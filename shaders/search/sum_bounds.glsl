/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lower bounds of a SAD by block sums, for prune_wide.comp and prune_small.comp.
 *
 * block_sums.comp reduces sums to 11 bits and stores them as half floats. With half float
 * arithmetic (GPUME_HALF) one operation handles the sums of two positions. Differences are exact,
 * and so are bounds up to 2048; limit_of allows for the rounding errors of larger ones.
 */
/* Two half floats that share a word. */
#ifdef GPUME_HALF
#define PAIR f16vec2
PAIR pair_of(uint bits) { return unpackFloat2x16(bits); }
uint bits_of(PAIR pair) { return packFloat2x16(pair); }
#else
#define PAIR vec2
PAIR pair_of(uint bits) { return unpackHalf2x16(bits); }
uint bits_of(PAIR pair) { return packHalf2x16(pair); }
#endif

const float FAR = 60000.0; /* a half float larger than any bound or limit */
const uint NOWHERE = 0x7a00u; /* bits of a half float that only FAR exceeds */

/* The largest bound that a candidate with a cost of at most `cost` can have, twice in a word. Where
 * sums were shifted right by `shift` bits, a difference d > 0 stands for at least
 * (d - 1 << shift) + 1. */
uint limit_of(uint cost, uint sums, uint shift)
{
    uint sure = min(cost, sums), limit = min(sure + ((cost - sure) >> shift), 40000u);
    limit += limit > 2048u ? limit / 32u : 0u; /* fifteen roundings of half floats */
    return packHalf2x16(vec2(limit));
}

/* Bits 15 and 31 are set where the bound of a pair is no larger than that of the limit. All are
 * half floats without a sign, whose bits compare like integers. */
uint within(uint pair, uint limit) { return ((limit | 0x80008000u) - pair) & 0x80008000u; }
