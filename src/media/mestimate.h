/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FFmpeg's own exhaustive search, the filter mestimate=method=esa, as something to compare with. It
 * has the tie rule of gpume.h and searches what GPUME_EDGE_INSIDE does in a picture whose sides are
 * multiples of the block. One thread.
 */
#ifndef GPUME_MEDIA_MESTIMATE_H
#define GPUME_MEDIA_MESTIMATE_H

#include "base/log.h"

#include <stdint.h>

/* NULL if the filter can do this search, else why not. Looks at bits, block, windows, width and
 * height. */
const char *gpume_mestimate_obstacle(const struct gpume_params *params);

/* Searches the second of three frames, of one size, in the first and in the third, in their largest
 * upper left part whose sides are multiples of the block. Writes the vectors of its blocks in
 * raster order, all into the past and then all into the future, and adds the time that both took to
 * *ns. Failures are logged. */
int gpume_mestimate_search(const struct gpume_params *params, const struct gpume_plane frames[3],
    struct gpume_vector *vectors, uint64_t *ns);

#endif
