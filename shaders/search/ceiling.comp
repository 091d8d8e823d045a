/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a device could do if it did nothing but compare samples: absolute differences and sums on
 * registers, of words as the variants of tile.comp hold them (samples.glsl). Its time is all that
 * counts.
 *
 * Grid: x and y count workgroups, which all do the same. An invocation compares each of
 * GPUME_CEILING_FIXED words with each of GPUME_CEILING_MOVING others, `iterations` times over; the
 * others change every time, so that no difference can be kept. iterations <= 256: words then stay
 * those of 8-bit samples.
 *
 * Shared memory: none. Access: writes nothing, but only the host knows that.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef GPUME_HALF
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#include "common/shared.h"
#include "common/common.glsl"

const uint BITS = 8u, UNIT = 8u;
#include "search/samples.glsl"

layout(local_size_x = GPUME_CEILING_LOCAL) in;
layout(std430, binding = 0) writeonly buffer Results { uint results[]; };
layout(push_constant) uniform Push { gpume_ceiling_push pc; };

const uint SUMS = 8u; /* chains of additions that do not wait for each other */
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

/* Unlike any other's, for all the compiler knows. */
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
                /* Without tile.comp's carrying out half the differences are taken away again, at
                 * the same price: otherwise sums would soon be infinite, and nothing switch. */
                difference = m % 2u == 1u ? -difference : difference;
#endif
                sums[i % SUMS] += difference;
            }
        }
    }
    uint all = 1u; /* never 0, which pc.impossible is */
    [[unroll]] for (uint i = 0u; i < SUMS; i++) {
        all |= bits_of(sums[i]);
    }
    if (all == pc.impossible) {
        results[gl_LocalInvocationIndex] = all;
    }
}
