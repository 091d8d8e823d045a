/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs FFmpeg's own searches, the filter mestimate, for comparison. Its exhaustive one, method=esa,
 * has the tie rule of gpume.h, and searches the candidates of GPUME_EDGE_INSIDE in a picture whose
 * sides are multiples of the block. One thread.
 */
#ifndef GPUME_MEDIA_MESTIMATE_H
#define GPUME_MEDIA_MESTIMATE_H

#include "gpume/gpume.h"

#include <stdint.h>

/* NULL if the filter supports these parameters (bits, block, windows, width, height), else why
 * not. */
const char *gpume_mestimate_obstacle(const struct gpume_params *params);

/* Searches the second of three frames in the first and in the third; all are cropped at the right
 * and bottom to multiples of the block. Writes the blocks' vectors in raster order, all into the
 * past and then all into the future, and adds the time of both searches to *ns. Failures are
 * logged. */
int gpume_mestimate_search(const struct gpume_params *params, const struct gpume_plane frames[3],
    struct gpume_vector *vectors, uint64_t *ns);

struct gpume_mestimate;

/* method: as the filter names it. params: gpume_mestimate_obstacle is NULL; kept. */
int gpume_mestimate_open(
    struct gpume_mestimate **filter, const struct gpume_params *params, const char *method);

/* Takes the next frame. From the third one on writes the vectors of the frame before, as above, and
 * adds the time of both searches to *ns. Failures are logged. */
int gpume_mestimate_next(struct gpume_mestimate *filter, const struct gpume_plane *frame,
    struct gpume_vector *vectors, uint64_t *ns);

/* Sets *filter to NULL. NULL is fine. */
void gpume_mestimate_close(struct gpume_mestimate **filter);

#endif
