/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures of what searches found in one frame pair: their vectors, and what these lose. Main
 * thread only. */
#ifndef GPUME_CLI_METHODS_PICTURES_H
#define GPUME_CLI_METHODS_PICTURES_H

#include "files/out.h"
#include "methods/worst.h"

struct gpume_methods_pictures {
    const struct gpume_worst *worst;
    uint32_t scale; /* side of the square that shows a pixel */
    bool coloured;  /* vectors are colours, not arrows: there are too many blocks */
    struct gpume_overlay *motion, *heat;
    struct gpume_still *still;
    struct gpume_plane rgb;  /* the target frame */
    uint32_t *costs, *least; /* SAD of every block, by a search and by the exact one */
    const char *label;       /* the page, for messages */
};

/* Failures are logged. To be closed in either case. */
int gpume_methods_pictures_open(struct gpume_methods_pictures *pictures,
    const struct gpume_worst *worst, uint32_t window, const char *label);
void gpume_methods_pictures_close(struct gpume_methods_pictures *pictures);

/* Each writes an element img. Of the exact search, number 0, the second one shows the whole cost of
 * every block, and of others what they cost beyond it. */
int gpume_methods_picture_vectors(
    struct gpume_methods_pictures *pictures, size_t search, struct gpume_out *out);
int gpume_methods_picture_loss(
    struct gpume_methods_pictures *pictures, size_t search, struct gpume_out *out);

#endif
