/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SAD of eight neighbouring samples. Those of 8 bits are compared as pairs of half floats where
 * there is such arithmetic, as in match_tiles.comp: a sum that starts at 1024 takes in four
 * differences and stays below 2048, so that its low bits are the whole number. Include after
 * common.glsl, with half floats and unrolling enabled.
 */
/* Four samples from sample s of the first of two quads. up: what lifts the second's low samples to
 * their places, 2^(32 - 8 s), or 0 where none is needed. */
#ifdef GPUME_WIDE
QUAD shifted(QUAD left, QUAD right, uint s, uint up)
{
    uvec3 w = s >= 2u ? uvec3(left.y, right) : uvec3(left, right.x);
    return (w.xy >> 16 * (s & 1u)) + w.yz * up;
}
uint lift_of(uint s) { return (s & 1u) << 16; }
#else
QUAD shifted(QUAD left, QUAD right, uint s, uint up) { return (left >> 8u * s) + right * up; }
uint lift_of(uint s) { return s == 0u ? 0u : 1u << 32u - 8u * s; }
#endif

#if defined(GPUME_HALF) && !defined(GPUME_WIDE)
#define RUN_WORDS f16vec2[4]
RUN_WORDS words_of(QUAD first, QUAD second)
{
    const uint MASK = 0x00ff00ffu, BIAS = 0x64006400u; /* 1024 + s, see samples.glsl */
    return RUN_WORDS(unpackFloat2x16((first & MASK) | BIAS),
        unpackFloat2x16((first >> 8 & MASK) | BIAS), unpackFloat2x16((second & MASK) | BIAS),
        unpackFloat2x16((second >> 8 & MASK) | BIAS));
}

uint difference(RUN_WORDS a, RUN_WORDS b)
{
    f16vec2 sum = f16vec2(1024.0hf);
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        sum += abs(a[i] - b[i]);
    }
    uint bits = packFloat2x16(sum) - 0x64006400u;
    return (bits & 0xffffu) + (bits >> 16);
}
#else
#define RUN_WORDS ivec4[2]
RUN_WORDS words_of(QUAD first, QUAD second) { return RUN_WORDS(unpack(first), unpack(second)); }

uint difference(RUN_WORDS a, RUN_WORDS b)
{
    ivec4 sum = abs(a[0] - b[0]) + abs(a[1] - b[1]);
    return uint(sum.x + sum.y + sum.z + sum.w);
}
#endif
