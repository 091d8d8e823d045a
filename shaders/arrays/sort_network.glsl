/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bitonic sorting network (Batcher 1968) over (key, place in its segment): all differ, so that the
 * network, which is not stable by itself, has one possible result.
 */
bool precedes(uvec2 a, uvec2 b)
{
    return a.x < b.x || (a.x == b.x && a.y < b.y);
}

/* The lower partner of comparison number i and its upper one. With `flip` they mirror each other
 * within groups of 2 * reach, without they lie reach apart: every comparison puts the smaller key
 * below, so positions past the end act as infinite and never move. reach: a power of 2. */
uvec2 partners(uint i, uint reach, bool flip)
{
    uint within = i & (reach - 1u), base = (i - within) * 2u;
    uint upper = flip ? 2u * reach - 1u - within : within + reach;
    return uvec2(base + within, base + upper);
}
