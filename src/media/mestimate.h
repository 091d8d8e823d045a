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

/* Searches one field in the planes' largest upper left part whose sides are multiples of the block;
 * writes its blocks' vectors in raster order and adds the time that it took to *ns. Failures are
 * logged. */
int gpume_mestimate_search(const struct gpume_params *params, const struct gpume_plane *target,
    const struct gpume_plane *reference, struct gpume_vector *vectors, uint64_t *ns);

#endif
