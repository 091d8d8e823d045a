/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples in quads, for 8-bit (one word) and 16-bit (two words) frames, and in octets, two quads
 * together; and 64-bit sums without 64-bit integers. Define GPUME_WIDE for 16-bit samples.
 */
#ifdef GPUME_WIDE
#define QUAD uvec2
#define OCTET uvec4
#else
#define QUAD uint
#define OCTET uvec2
#endif

/* Row-major samples of a quad, left to right. */
ivec4 unpack(QUAD quad)
{
#ifdef GPUME_WIDE
    return ivec4(quad.x & 0xffffu, quad.x >> 16, quad.y & 0xffffu, quad.y >> 16);
#else
    return ivec4(quad & 0xffu, (quad >> 8) & 0xffu, (quad >> 16) & 0xffu, quad >> 24);
#endif
}

QUAD pack(ivec4 samples)
{
    uvec4 s = uvec4(samples);
#ifdef GPUME_WIDE
    return uvec2(s.x | s.y << 16, s.z | s.w << 16);
#else
    return s.x | s.y << 8 | s.z << 16 | s.w << 24;
#endif
}

/* Four samples from number `first` of two neighbouring quads on. */
ivec4 from_quads(ivec4 a, ivec4 b, uint first)
{
    switch (first) {
    case 1u:
        return ivec4(a.yzw, b.x);
    case 2u:
        return ivec4(a.zw, b.xy);
    case 3u:
        return ivec4(a.w, b.xyz);
    default:
        return a;
    }
}

/* 64-bit sums as low and high word. */
void add_word(inout uvec2 sum, uint value)
{
    uint carry;
    sum.x = uaddCarry(sum.x, value, carry);
    sum.y += carry;
}

void add_sum(inout uvec2 sum, uvec2 value)
{
    uint carry;
    sum.x = uaddCarry(sum.x, value.x, carry);
    sum.y += value.y + carry;
}
