/* SPDX-License-Identifier: BSD-2-Clause */
/* The past vectors of a coded frame on a grid of squares, as searches have it: each square has the
 * vector of the block that covers its middle, and (0,0) where there is none. */
#ifndef GPUME_CLI_CODED_CODED_GRID_H
#define GPUME_CLI_CODED_CODED_GRID_H

#include "coded/coded.h"

struct gpume_coded_grid {
    uint32_t side, width, height; /* pixels; of a square, and of the picture */
    size_t count;
    struct gpume_vectors_block *blocks;
};

/* side, width and height are set. GPUME_NOMEM, logged. */
int gpume_coded_grid_init(struct gpume_coded_grid *grid);

/* All squares refer to the nearest past reference of the frame. */
void gpume_coded_grid_fill(struct gpume_coded_grid *grid, const struct gpume_coded *coded,
    const struct gpume_coded_frame *frame);

void gpume_coded_grid_finish(struct gpume_coded_grid *grid);

#endif
