/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MEDIAN of GPUME_SIDE x GPUME_SIDE samples, 3 or 5. More than half of them are kept at first.
 * Neither the least nor the greatest of those can be the median, as each has more than half of all
 * on one side: both go, the next sample comes in, and of the last three the middle one is it. No
 * shared memory, and no loops: with constant indices what is kept lies in registers.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/shared.h"
#include "common/common.glsl"
#include "surfaces/prefilter.glsl"

ivec4 kept[GPUME_SIDE * GPUME_SIDE / 2 + 2], low;

/* The smaller ones to a, the others to b. */
#define S(a, b) low = min(kept[a], kept[b]); kept[b] = max(kept[a], kept[b]); kept[a] = low;

/* The least of the first N to the front, the greatest to their end: first the smaller of each pair
 * to the lower half. */
#define PART3 S(0, 2) S(0, 1) S(1, 2)
#define PART4 S(0, 3) S(1, 2) S(0, 1) S(2, 3)
#define PART5 S(0, 4) S(1, 3) S(0, 1) S(0, 2) S(2, 4) S(3, 4)
#define PART6 S(0, 5) S(1, 4) S(2, 3) S(0, 1) S(0, 2) S(3, 5) S(4, 5)
#define PART7 S(0, 6) S(1, 5) S(2, 4) S(0, 1) S(0, 2) S(0, 3) S(3, 6) S(4, 6) S(5, 6)
#define PART8 S(0, 7) S(1, 6) S(2, 5) S(3, 4) S(0, 1) S(0, 2) S(0, 3) S(4, 7) S(5, 7) S(6, 7)
#define PART9 S(0, 8) S(1, 7) S(2, 6) S(3, 5) S(0, 1) S(0, 2) S(0, 3) S(0, 4) S(4, 8) S(5, 8) \
    S(6, 8) S(7, 8)
#define PART10 S(0, 9) S(1, 8) S(2, 7) S(3, 6) S(4, 5) S(0, 1) S(0, 2) S(0, 3) S(0, 4) S(5, 9) \
    S(6, 9) S(7, 9) S(8, 9)
#define PART11 S(0, 10) S(1, 9) S(2, 8) S(3, 7) S(4, 6) S(0, 1) S(0, 2) S(0, 3) S(0, 4) S(0, 5) \
    S(5, 10) S(6, 10) S(7, 10) S(8, 10) S(9, 10)
#define PART12 S(0, 11) S(1, 10) S(2, 9) S(3, 8) S(4, 7) S(5, 6) S(0, 1) S(0, 2) S(0, 3) \
    S(0, 4) S(0, 5) S(6, 11) S(7, 11) S(8, 11) S(9, 11) S(10, 11)
#define PART13 S(0, 12) S(1, 11) S(2, 10) S(3, 9) S(4, 8) S(5, 7) S(0, 1) S(0, 2) S(0, 3) \
    S(0, 4) S(0, 5) S(0, 6) S(6, 12) S(7, 12) S(8, 12) S(9, 12) S(10, 12) S(11, 12)
#define PART14 S(0, 13) S(1, 12) S(2, 11) S(3, 10) S(4, 9) S(5, 8) S(6, 7) S(0, 1) S(0, 2) \
    S(0, 3) S(0, 4) S(0, 5) S(0, 6) S(7, 13) S(8, 13) S(9, 13) S(10, 13) S(11, 13) S(12, 13)

int x, y;
uint line;
ivec4 samples;

/* The four of their squares in raster order, one after the other. */
ivec4 take(int place)
{
    int left = x - GPUME_SIDE / 2;
    if (place % GPUME_SIDE == 0) {
        line = line_at(y + place / GPUME_SIDE - GPUME_SIDE / 2);
        samples = samples_at(line, left);
    } else {
        samples = moved(samples, line, left + place % GPUME_SIDE - 1);
    }
    return samples;
}

#define FILL(place) kept[place] = take(place);
#define NEXT(part, place) part kept[0] = take(place);

void main()
{
    x = 4 * int(gl_GlobalInvocationID.x);
    y = row_of_invocation();
    if (x >= int(pc.width)) {
        return;
    }
    FILL(0) FILL(1) FILL(2) FILL(3) FILL(4) FILL(5)
#if GPUME_SIDE == 3
    NEXT(PART6, 6) NEXT(PART5, 7) NEXT(PART4, 8)
#else
    FILL(6) FILL(7) FILL(8) FILL(9) FILL(10) FILL(11) FILL(12) FILL(13)
    NEXT(PART14, 14) NEXT(PART13, 15) NEXT(PART12, 16) NEXT(PART11, 17) NEXT(PART10, 18)
    NEXT(PART9, 19) NEXT(PART8, 20) NEXT(PART7, 21) NEXT(PART6, 22) NEXT(PART5, 23) NEXT(PART4, 24)
#endif
    PART3
    store(x, kept[1]);
}
