/* SPDX-License-Identifier: BSD-2-Clause */
/* Which references a target has, and which of them each block keeps (section 11). */
#include "oracle.h"

int references_of(const struct run *run, int target, int *refs)
{
    const struct options *options = run->options;
    int count = 0;
    for (int i = 0; i < options->distance_count; i++) {
        const int distance = options->distances[i];
        if (options->past && target - distance >= 0) {
            refs[count++] = target - distance;
        }
        if (options->future && target + distance < run->clip->count) {
            refs[count++] = target + distance;
        }
    }
    return count;
}

/* The cheapest of one block's results; among equals the first, which is the nearer, then the past.
 * With `sign`, only references on that side of the target: -1 past, 1 future, 0 all. */
static const struct block *cheapest(
    struct run *run, int target, const int *refs, int count, int shape, int index, int sign)
{
    const struct block *best = NULL;
    for (int i = 0; i < count; i++) {
        const struct block *block = &search_pair(run, target, refs[i])->grids[shape].blocks[index];
        const bool counts = sign == 0 || (refs[i] - target) * sign > 0;
        if (counts && (!best || block->matches[0].cost < best->matches[0].cost)) {
            best = block;
        }
    }
    return best;
}

struct field *best_of(struct run *run, int target, const int *refs, int count)
{
    struct field *field = allocate(1, sizeof(*field));
    make_grids(run, target, field);
    for (int shape = 0; shape < run->options->shape_count; shape++) {
        struct grid *grid = &field->grids[shape];
        for (int i = 0; i < grid->columns * grid->rows; i++) {
            grid->blocks[i] = *cheapest(run, target, refs, count, shape, i, 0);
            const struct block *past = cheapest(run, target, refs, count, shape, i, -1);
            const struct block *future = cheapest(run, target, refs, count, shape, i, 1);
            if (run->options->bidirectional && past && future) {
                try_mean(run, past, future, target, &grid->blocks[i]);
            }
        }
    }
    return field;
}
