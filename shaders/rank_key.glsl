/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranking keys: unique, and rising in rank order (falling cost, then rising block). One word
 * where cost and block fit into 32 bits together, two (GPUME_TWO_WORDS) where not.
 */
#ifdef GPUME_TWO_WORDS
#define KEY uvec2
#else
#define KEY uint
#endif

bool precedes(KEY a, KEY b)
{
#ifdef GPUME_TWO_WORDS
    return a.x < b.x || (a.x == b.x && a.y < b.y);
#else
    return a < b;
#endif
}

KEY key_of(uint cost, uint block, uint index_bits)
{
#ifdef GPUME_TWO_WORDS
    return uvec2(~cost, block);
#else
    return (~cost << index_bits) | block;
#endif
}

uint block_of(KEY key, uint index_bits)
{
#ifdef GPUME_TWO_WORDS
    return key.y;
#else
    return bitfieldExtract(key, 0, int(index_bits));
#endif
}

/* The lower partner of comparison number i and its upper one. With `flip` they mirror each other
 * within groups of 2 * reach, without they lie reach apart: every comparison puts the smaller key
 * below, so positions past the end act as infinite and never move. */
uvec2 partners(uint i, uint reach, uint flip)
{
    uint within = i % reach, base = (i / reach) * 2u * reach;
    uint upper = flip != 0u ? 2u * reach - 1u - within : within + reach;
    return uvec2(base + within, base + upper);
}
