/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A submission in parts of one frame or one field, for an engine that takes no more at a time and
 * keeps few frames: each frame comes just before the first field that looks at it.
 */
#ifndef GPUME_RUN_PARTS_H
#define GPUME_RUN_PARTS_H

#include "frame/engine.h"

struct gpume_parts {
    const struct gpume_batch *batch;
    uint32_t frame, field; /* that come next; zero at first */
};

/* False: none is left. */
bool gpume_parts_next(struct gpume_parts *parts, struct gpume_batch *part);

#endif
