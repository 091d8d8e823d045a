/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BILATERAL: a mean of the samples around, 961 at most, each weighted by its place and its likeness
 * to the one in the middle. No shared memory.
 *
 * Weights of places come to 2^16 at most, a likeness to 2^15: a product is 2^31 at most, and all
 * of them, 8 bits less, come to A <= 2^23; the middle's alone is not 0. High and low bytes of
 * samples are added up apart, each sum at most 255 A < 2^31. Then (256 high + low + A/2) / A is
 * 256 (high / A) + (256 (high % A) + low + A/2) / A, where 256 A + 255 A + A/2 < 2^32.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/shared.h"
#include "common/common.glsl"
#include "surfaces/prefilter.glsl"

uvec4 likeness_of(ivec4 apart)
{
    ivec4 i = apart >> pc.shift;
    return uvec4(likeness[i.x], likeness[i.y], likeness[i.z], likeness[i.w]);
}

void main()
{
    int x = 4 * int(gl_GlobalInvocationID.x), y = row_of_invocation(), next = 0;
    if (x >= int(pc.width)) {
        return;
    }
    ivec4 middle = samples_at(line_at(y), x);
    uvec4 all = uvec4(0u), low = uvec4(0u), high = uvec4(0u);
    for (int j = -RADIUS_Y; j <= RADIUS_Y; j++) {
        uint line = line_at(y + j);
        ivec4 samples = samples_at(line, x - RADIUS_X);
        for (int i = -RADIUS_X; i <= RADIUS_X; i++) {
            uvec4 weight = uint(weights[next++]) * likeness_of(abs(samples - middle));
            weight >>= GPUME_FILTER_PRODUCT_SHIFT;
            all += weight;
            low += weight * uvec4(samples & 255);
            high += weight * uvec4(samples >> 8);
            samples = moved(samples, line, x + i);
        }
    }
    uvec4 rest = high % all;
    store(x, ivec4(256u * (high / all) + (256u * rest + low + all / 2u) / all));
}
