/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lower bounds of a SAD by block sums, for prune_wide.comp and prune_small.comp.
 *
 * Sums are cut to 11 bits and held as half floats, which block_sums.comp makes: those of two
 * positions go through one operation where there is such arithmetic (GPUME_HALF). Differences are
 * exact, and so are bounds up to 2048; larger ones may be off by a share that limit_of allows for.
 */
/* Two half floats as they lie in a word. */
#ifdef GPUME_HALF
#define PAIR f16vec2
PAIR pair_of(uint bits) { return unpackFloat2x16(bits); }
uint bits_of(PAIR pair) { return packFloat2x16(pair); }
#else
#define PAIR vec2
PAIR pair_of(uint bits) { return unpackHalf2x16(bits); }
uint bits_of(PAIR pair) { return packHalf2x16(pair); }
#endif

const float FAR = 60000.0; /* a half float above all bounds and limits */
const uint NOWHERE = 0x7a00u; /* bits of one above all but these */

/* The largest bound of a candidate that costs no more than `cost`, twice in a word. Of sums cut by
 * `shift` bits, differences d > 0 stand for (d - 1 << shift) + 1 and more. */
uint limit_of(uint cost, uint sums, uint shift)
{
    uint sure = min(cost, sums), limit = min(sure + ((cost - sure) >> shift), 40000u);
    limit += limit > 2048u ? limit / 32u : 0u; /* fifteen roundings of half floats */
    return packHalf2x16(vec2(limit));
}

/* Bit 15 and bit 31: bounds of a pair that are no larger than those of a limit. All are half floats
 * without sign, which compare as whole numbers. */
uint within(uint pair, uint limit) { return ((limit | 0x80008000u) - pair) & 0x80008000u; }
