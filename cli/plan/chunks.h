/* SPDX-License-Identifier: BSD-2-Clause */
/* Cuts a video into ranges of target frames. Pure functions. */
#ifndef GPUME_CLI_PLAN_CHUNKS_H
#define GPUME_CLI_PLAN_CHUNKS_H

#include "media/timeline.h"

#include <stddef.h>
#include <stdint.h>

/* Which frames a range needs besides its targets. */
struct gpume_chunk_shape {
    uint64_t nearest;  /* the first target of a run without --start */
    uint64_t farthest; /* frames before a target that it is searched in */
};

/* The first targets of at most `wanted` ranges that cover the video once, rising; the first is
 * shape->nearest. The first frame that any other range needs is a key frame, the one nearest to
 * where equal ranges would begin. Returns their number, 0 if there is no target. */
size_t gpume_chunks_make(const struct gpume_keyframes *keyframes,
    const struct gpume_chunk_shape *shape, size_t wanted, uint64_t *starts);

#endif
