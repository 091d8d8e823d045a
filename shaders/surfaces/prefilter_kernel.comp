/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * KERNEL: a weighted sum of the samples around, 961 at most. No shared memory. Sums stay within 31
 * bits and a sign: src/model/plan.c chooses the weights so.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/shared.h"
#include "common/common.glsl"
#include "surfaces/prefilter.glsl"

void main()
{
    int x = 4 * int(gl_GlobalInvocationID.x), y = row_of_invocation(), next = 0;
    if (x >= int(pc.width)) {
        return;
    }
    ivec4 sum = ivec4(int(pc.divisor / 2u));
    for (int j = -RADIUS_Y; j <= RADIUS_Y; j++) {
        uint line = line_at(y + j);
        ivec4 samples = samples_at(line, x - RADIUS_X);
        for (int i = -RADIUS_X; i <= RADIUS_X; i++) {
            sum += weights[next++] * samples;
            samples = moved(samples, line, x + i);
        }
    }
    store(x, ivec4(min(uvec4(max(sum, ivec4(0))) / pc.divisor, uvec4(PEAK))));
}
