/* SPDX-License-Identifier: BSD-2-Clause */
/* ITU-T H.265, 8.5.3.3.3.2: how chroma is predicted, by eighths of a sample. */
#ifndef GPUME_FILTER_CHROMA_TAPS_H
#define GPUME_FILTER_CHROMA_TAPS_H

#include <stdint.h>

#define GPUME_CHROMA_TAPS 4

static const int32_t gpume_chroma_taps[8][GPUME_CHROMA_TAPS] = {
    {0, 64, 0, 0},
    {-2, 58, 10, -2},
    {-4, 54, 16, -2},
    {-6, 46, 28, -4},
    {-4, 36, 36, -4},
    {-4, 28, 46, -6},
    {-2, 16, 54, -4},
    {-2, 10, 58, -2},
};

#endif
