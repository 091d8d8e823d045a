/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the variants of match_tiles.comp hold samples and sums. A word is what a register or a place
 * in shared memory holds: two neighbouring samples (GPUME_HALF) or one. All sums are exact:
 *
 *   half   sample s is 1024 + s, the bits 0x6400 | s, for s < 2^BITS <= 1024. Differences are
 *          exact whole numbers. A sum that starts at 1024 and stays under 2048 has the whole number
 *          in its low bits: FLUSH differences of at most 2^BITS - 1 keep it there, as 4 * 255,
 *          2 * 511 and 1023 are below 1024. Then the pair's bits are added to a sum of integers, 16
 *          bits each, which begins at minus all the 0x6400 that will come in.
 *   float  sample s is 2^23 + s, whose bits are 0x4b000000 | s. Differences are exact, and so are
 *          sums below 2^24.
 *   int    32 bits hold any block: 128 * 128 * 65535 < 2^30.
 *
 * RUN_SAMPLES: samples of the target that one sum takes in before it is carried out:
 *   half   each 16-bit half gets half of them: 256 * 255, 128 * 511, 64 * 1023 are below 65536
 *   float  2^(24 - BITS) * (2^BITS - 1) < 2^24
 */
#if defined(GPUME_HALF)
#define WORD f16vec2
#define SUM uint
#define FOUR_WORDS uvec4 /* their bits */
const uint WORD_SAMPLES = 2u;
const uint RUN_SAMPLES = 512u >> (BITS - 8u);
const uint FLUSH = 4u >> (BITS - 8u);
const uint BIAS = 0x64006400u;
#elif defined(GPUME_FLOAT)
#define WORD float
#define SUM float
#define FOUR_WORDS vec4
const uint WORD_SAMPLES = 1u;
const uint RUN_SAMPLES = 1u << (24u - BITS);
const uint BIAS = 0x4b000000u;
#else
#define WORD int
#define SUM int
#define FOUR_WORDS ivec4
const uint WORD_SAMPLES = 1u;
const uint RUN_SAMPLES = 128u * 128u;
#endif

const uint WORDS = UNIT / WORD_SAMPLES; /* a row of a unit */

/* Those that begin at the four samples of a quad; half needs the sample after them, too. */
void words_from(QUAD quad, QUAD next, out WORD words[4])
{
#if defined(GPUME_HALF)
    uvec4 s = uvec4(unpack(quad));
    uvec4 pairs = BIAS | s | uvec4(s.yzw, unpack(next).x) << 16;
    words[0] = unpackFloat2x16(pairs.x);
    words[1] = unpackFloat2x16(pairs.y);
    words[2] = unpackFloat2x16(pairs.z);
    words[3] = unpackFloat2x16(pairs.w);
#else
#if defined(GPUME_FLOAT)
    vec4 s = uintBitsToFloat(BIAS | uvec4(unpack(quad)));
#else
    ivec4 s = unpack(quad);
#endif
    words[0] = s.x;
    words[1] = s.y;
    words[2] = s.z;
    words[3] = s.w;
#endif
}

/* Four words one after the other: those of one quad, or (half) of two. */
FOUR_WORDS four_words(QUAD quad, QUAD next)
{
#if defined(GPUME_HALF)
    uvec4 s = uvec4(unpack(quad)), t = uvec4(unpack(next));
    return BIAS | uvec4(s.xz | s.yw << 16, t.xz | t.yw << 16);
#elif defined(GPUME_FLOAT)
    return uintBitsToFloat(BIAS | uvec4(unpack(quad)));
#else
    return unpack(quad);
#endif
}

#if defined(GPUME_HALF)
WORD word_of(uint bits)
{
    return unpackFloat2x16(bits);
}
#else
WORD word_of(WORD word)
{
    return word;
}
#endif

/* A sum that will take in this many rows of a unit. */
SUM sum_start(uint rows)
{
#if defined(GPUME_HALF)
    return 0u - rows * ((WORDS + FLUSH - 1u) / FLUSH) * BIAS;
#else
    return SUM(0);
#endif
}

uint sum_total(SUM sum)
{
#if defined(GPUME_HALF)
    return (sum & 0xffffu) + (sum >> 16);
#else
    return uint(sum);
#endif
}
