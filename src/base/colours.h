/* SPDX-License-Identifier: BSD-2-Clause */
/* What a video says of its colours. Zeroed: nothing. */
#ifndef GPUME_BASE_COLOURS_H
#define GPUME_BASE_COLOURS_H

#include <stdbool.h>
#include <stdint.h>

/* A code that tells nothing, as 0 does. */
#define GPUME_COLOUR_UNKNOWN 2u

/* Whole numbers of such parts; of luminance: of cd/m2. */
#define GPUME_CHROMATICITY_ONE 50000u
#define GPUME_LUMINANCE_ONE 10000u

enum gpume_display_point {
    GPUME_DISPLAY_GREEN,
    GPUME_DISPLAY_BLUE,
    GPUME_DISPLAY_RED,
    GPUME_DISPLAY_WHITE,
    GPUME_DISPLAY_POINTS
};

struct gpume_colours {
    uint32_t primaries, transfer, matrix; /* codes of ITU-T H.273 */
    bool limited;                         /* luma has a limited range, such as 16..235 */
    /* HDR10: the display of mastering (SMPTE ST 2086) and light levels (CTA-861.3, in cd/m2). */
    bool has_display, has_light;
    struct {
        uint32_t x, y;
    } display[GPUME_DISPLAY_POINTS];
    uint32_t brightest, darkest;
    uint32_t light_most, light_average; /* of a pixel, and of a frame's mean */
};

#endif
