/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GAUSS and BOX: weighted sums of columns, then of rows. A workgroup makes the columns' sums of its
 * quads of one row and of those beside them, and each invocation adds up those around its quad.
 *
 * Shared memory: 4 (64 + 24) words. The bounds of the sums are proven in
 * src/cpu/steps.c: columns' sums fit 16 bits (GAUSS) or 21 (BOX), rows' sums 32.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/shared.h"
#include "common/common.glsl"
#include "surfaces/prefilter.glsl"

const int BESIDE = (RADIUS_X + 3) / 4; /* quads on either side; 12 at most */
const int QUADS = GPUME_FILTER_LOCAL + 2 * 12;

/* Sample x of the tile at [x % 4][x / 4], so that neighbours read neighbouring words. */
shared uint columns[4][QUADS];

uvec4 column_sums(int x, int y)
{
    uvec4 sum = uvec4(0u);
    bool inside = x >= 0 && x + 3 < int(pc.width);
    for (int j = -RADIUS_Y; j <= RADIUS_Y; j++) {
        uint line = line_at(y + j);
        ivec4 samples = inside ? min(unpack(frame[line + uint(x) / 4u]), ivec4(PEAK))
                               : samples_at(line, x);
        sum += uint(weights[j + RADIUS_Y]) * uvec4(samples);
    }
    return (sum + ((1u << pc.shift) >> 1)) >> pc.shift;
}

uint column_at(int x)
{
    return columns[x & 3][x >> 2];
}

void main()
{
    int lane = int(gl_LocalInvocationIndex), y = row_of_invocation();
    int first = int(gl_WorkGroupID.x) * GPUME_FILTER_LOCAL - BESIDE;
    for (int quad = lane; quad < GPUME_FILTER_LOCAL + 2 * BESIDE; quad += GPUME_FILTER_LOCAL) {
        uvec4 sums = column_sums(4 * (first + quad), y);
        for (int i = 0; i < 4; i++) {
            columns[i][quad] = sums[i];
        }
    }
    barrier();
    int x = 4 * int(gl_GlobalInvocationID.x);
    if (x >= int(pc.width)) {
        return;
    }
    int from = 4 * (lane + BESIDE) - RADIUS_X;
    uvec4 sum = uvec4(pc.divisor / 2u);
    uvec4 values =
        uvec4(column_at(from), column_at(from + 1), column_at(from + 2), column_at(from + 3));
    for (int i = 0; i <= 2 * RADIUS_X; i++) {
        sum += uint(weights[i]) * values;
        values = uvec4(values.yzw, column_at(min(from + i + 4, 4 * QUADS - 1)));
    }
    store(x, ivec4(sum / pc.divisor));
}
