/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/satd.h"

#include <stdlib.h>

static void transform(int32_t *at, ptrdiff_t step)
{
    for (ptrdiff_t half = 1; half < 8; half *= 2) {
        for (ptrdiff_t i = 0; i < 8; i++) {
            if ((i & half) == 0) {
                const int32_t a = at[i * step], b = at[(i + half) * step];
                at[i * step] = a + b;
                at[(i + half) * step] = a - b;
            }
        }
    }
}

uint32_t gpume_satd(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride)
{
    int32_t d[64];
    uint32_t sum = 2;
    for (ptrdiff_t i = 0; i < 64; i++) {
        d[i] = a[i / 8 * a_stride + i % 8] - b[i / 8 * b_stride + i % 8];
    }
    for (ptrdiff_t i = 0; i < 8; i++) {
        transform(d + 8 * i, 1);
    }
    for (ptrdiff_t i = 0; i < 8; i++) {
        transform(d + i, 8);
    }
    for (ptrdiff_t i = 0; i < 64; i++) {
        sum += (uint32_t)abs(d[i]);
    }
    return sum >> 2;
}
