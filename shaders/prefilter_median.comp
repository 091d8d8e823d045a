/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MEDIAN of 3x3 or 5x5 samples. More than half of them are kept at first. Neither the least nor the
 * greatest of those can be the median, as each has more than half of all on one side: both go, the
 * next sample comes in, and of the last three the middle one is it. No shared memory.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared.h"
#include "common.glsl"
#include "prefilter.glsl"

const int SIDE = 2 * RADIUS_X + 1;
const int FIRST = SIDE * SIDE / 2 + 2; /* 6 or 14 */

ivec4 kept[14];

/* The smaller ones to a, the others to b. */
void sort_two(int a, int b)
{
    ivec4 low = min(kept[a], kept[b]);
    kept[b] = max(kept[a], kept[b]);
    kept[a] = low;
}

/* The least of the first `count` to the front, the greatest to the end. */
void part(int count)
{
    for (int k = 0; k < count / 2; k++) {
        sort_two(k, count - 1 - k);
    }
    for (int k = 1; k < (count + 1) / 2; k++) {
        sort_two(0, k);
    }
    for (int k = count / 2; k < count - 1; k++) {
        sort_two(k, count - 1);
    }
}

void main()
{
    int x = 4 * int(gl_GlobalInvocationID.x), y = row_of_invocation(), count = 0;
    if (x >= int(pc.width)) {
        return;
    }
    for (int j = -RADIUS_Y; j <= RADIUS_Y; j++) {
        uint line = line_at(y + j);
        ivec4 samples = samples_at(line, x - RADIUS_X);
        for (int i = -RADIUS_X; i <= RADIUS_X; i++) {
            int seen = (j + RADIUS_Y) * SIDE + i + RADIUS_X;
            if (seen < FIRST) {
                kept[seen] = samples;
            } else {
                part(2 * FIRST - seen); /* those that are left of the first */
                kept[0] = samples;
            }
            samples = moved(samples, line, x + i);
        }
    }
    part(3);
    store(x, kept[1]);
}
