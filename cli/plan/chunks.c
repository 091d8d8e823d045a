/* SPDX-License-Identifier: BSD-2-Clause */
#include "plan/chunks.h"

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* The target nearest to `ideal`, after `last`, whose farthest reference is a key frame, or 0.
 * *next: the first key frame to look at, which rises with `ideal`. */
static uint64_t nearest_start(const struct gpume_keyframes *keyframes, uint64_t farthest,
    uint64_t last, uint64_t ideal, size_t *next)
{
    uint64_t best = 0;
    for (size_t i = *next; i < keyframes->count; i++) {
        const uint64_t start = keyframes->at[i] + farthest;
        if (start >= keyframes->frames || (best > 0 && apart(start, ideal) > apart(best, ideal))) {
            break;
        }
        if (start > last && keyframes->at[i] > 0) {
            best = start;
            *next = i;
        }
    }
    return best;
}

size_t gpume_chunks_make(const struct gpume_keyframes *keyframes,
    const struct gpume_chunk_shape *shape, size_t wanted, uint64_t *starts)
{
    const uint64_t targets =
        keyframes->frames > shape->nearest ? keyframes->frames - shape->nearest : 0;
    size_t count = 0, next = 0;
    if (targets == 0) {
        return 0;
    }
    starts[count++] = shape->nearest;
    for (size_t i = 1; i < wanted; i++) {
        /* Without the product, which could overflow. */
        const uint64_t ideal =
            shape->nearest + targets / wanted * i + targets % wanted * i / wanted;
        const uint64_t start =
            nearest_start(keyframes, shape->farthest, starts[count - 1], ideal, &next);
        if (start > 0) {
            starts[count++] = start;
        }
    }
    return count;
}
