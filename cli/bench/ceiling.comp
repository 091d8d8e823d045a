/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Absolute differences and their sums on registers, and nothing else, with samples held as in the
 * variants of match_tiles.comp (samples.glsl). Only the time that it takes matters.
 *
 * Grid: x and y count workgroups, which all do the same work. In each of `iterations` iterations an
 * invocation compares each of GPUME_CEILING_FIXED words with each of GPUME_CEILING_MOVING others.
 * The others change from iteration to iteration, so that the compiler cannot reuse a difference.
 * iterations <= 256: the words stay within 8-bit samples.
 *
 * Shared memory: none. Access: writes nothing, which the compiler cannot know.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef GPUME_HALF
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#include "bench/ceiling_shape.h"
#include "common/common.glsl"

const uint BITS = 8u, UNIT = 8u;
#include "search/samples.glsl"

layout(local_size_x = GPUME_CEILING_LOCAL) in;
layout(std430, binding = 0) writeonly buffer Results { uint results[]; };
layout(push_constant) uniform Push { uint iterations, seed, impossible; } pc; /* impossible: 0 */

const uint SUMS = 8u; /* independent chains of additions */
const uint SAMPLES = WORD_SAMPLES == 2u ? 0x10001u : 1u; /* a one in each sample of a word */

WORD word_with(uint samples)
{
#if defined(GPUME_HALF)
    return unpackFloat2x16(BIAS | samples);
#elif defined(GPUME_FLOAT)
    return uintBitsToFloat(BIAS | samples);
#else
    return int(samples);
#endif
}

uint bits_of(WORD word)
{
#if defined(GPUME_HALF)
    return packFloat2x16(word);
#elif defined(GPUME_FLOAT)
    return floatBitsToUint(word);
#else
    return uint(word);
#endif
}

/* Values that the compiler cannot predict. */
uint samples_of(uint index)
{
    uint seed = gl_LocalInvocationIndex + pc.seed;
    return (seed * 0x9e3779b1u + index * 0x85ebca6bu) >> 7 & 0xffu * SAMPLES;
}

void main()
{
    WORD fixed_words[GPUME_CEILING_FIXED], sums[SUMS];
    uint moving[GPUME_CEILING_MOVING];
    [[unroll]] for (uint i = 0u; i < GPUME_CEILING_FIXED; i++) {
        fixed_words[i] = word_with(samples_of(i));
    }
    [[unroll]] for (uint i = 0u; i < GPUME_CEILING_MOVING; i++) {
        moving[i] = samples_of(GPUME_CEILING_FIXED + i);
    }
    [[unroll]] for (uint i = 0u; i < SUMS; i++) {
        sums[i] = word_with(0u);
    }
    [[dont_unroll]] for (uint turn = 0u; turn < pc.iterations; turn++) {
        uint change = turn * SAMPLES;
        [[unroll]] for (uint m = 0u; m < GPUME_CEILING_MOVING; m++) {
            WORD word = word_with(moving[m] ^ change);
            [[unroll]] for (uint i = 0u; i < GPUME_CEILING_FIXED; i++) {
                WORD difference = abs(fixed_words[i] - word);
#ifdef GPUME_HALF
                /* Nothing empties the sums as in match_tiles.comp. Subtracting half of the
                 * differences, which costs the same, keeps the sums from becoming infinite: the
                 * bits of an infinite sum no longer change, which takes less power. */
                difference = m % 2u == 1u ? -difference : difference;
#endif
                sums[i % SUMS] += difference;
            }
        }
    }
    uint all = 1u; /* never equal to pc.impossible */
    [[unroll]] for (uint i = 0u; i < SUMS; i++) {
        all |= bits_of(sums[i]);
    }
    if (all == pc.impossible) {
        results[gl_LocalInvocationIndex] = all;
    }
}
