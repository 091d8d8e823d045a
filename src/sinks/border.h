/* SPDX-License-Identifier: BSD-2-Clause */
/* Vectors that touch the border of the search window: a wider one could find better matches. Pure
 * functions. */
#ifndef GPUME_SINKS_BORDER_H
#define GPUME_SINKS_BORDER_H

#include "gpume/gpume.h"

/* How many of the blocks that are shown have a vector with |dx| = window x > 0 or |dy| = window y >
 * 0. */
uint64_t gpume_border_count(const struct gpume_field *field, const struct gpume_params *params);

#define GPUME_BORDER_TEXT_BYTES 128

/* "17.6 % of vectors touch the window's border; try -w 16". */
void gpume_border_text(uint64_t count, uint64_t blocks, const struct gpume_params *params,
    char text[GPUME_BORDER_TEXT_BYTES]);

/* The wider window to try, such as "16" or "16x8", where more than a percent of the vectors touch
 * the border and a wider one exists; else "". */
void gpume_border_try(
    uint64_t count, uint64_t blocks, const struct gpume_params *params, char window[32]);

#endif
