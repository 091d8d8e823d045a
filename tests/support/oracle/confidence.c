/* SPDX-License-Identifier: BSD-2-Clause */
/* How much a vector can be trusted (section 12). */
#include "oracle.h"

#include <stdlib.h>

uint64_t texture_of(const struct picture *target, const struct place *place)
{
    uint64_t sum = 0;
    for (int y = place->y; y < place->y + place->h; y++) {
        for (int x = place->x; x < place->x + place->w; x++) {
            const uint16_t *sample = &target->samples[y * target->width + x];
            if (x + 1 < place->x + place->w) {
                sum += (uint64_t)abs(sample[1] - sample[0]);
            }
            if (y + 1 < place->y + place->h) {
                sum += (uint64_t)abs(sample[target->width] - sample[0]);
            }
        }
    }
    return sum;
}

/* floor(start + size / 2 + displacement / subpel), clamped to the picture. */
static int centre(int start, int size, int displacement, int subpel, int limit)
{
    const int numerator = subpel * (2 * start + size) + 2 * displacement;
    const int denominator = 2 * subpel;
    if (numerator < 0) {
        return 0;
    }
    const int pixel = numerator / denominator;
    return pixel < limit ? pixel : limit - 1;
}

static const struct block *block_with(const struct list *list, int x, int y)
{
    for (int i = 0; i < list->count; i++) {
        const struct place *place = &list->blocks[i].place;
        if (x >= place->x && x < place->x + place->w && y >= place->y && y < place->y + place->h) {
            return &list->blocks[i];
        }
    }
    abort();
}

/* The reverse pair's vectors are its own, also where each block keeps the best of several
 * references; with --partition its own chosen blocks. */
int return_of(struct run *run, int target, const struct block *block)
{
    const int subpel = run->options->subpel;
    const struct place *place = &block->place;
    const struct vector forward = block->matches[0].vector;
    const struct field *reverse = search_pair(run, block->ref, target);
    const struct list list =
        run->options->partition ? chosen_blocks(run, reverse) : shape_blocks(reverse, place->shape);
    const struct block *there =
        block_with(&list, centre(place->x, place->w, forward.dx, subpel, run->clip->width),
            centre(place->y, place->h, forward.dy, subpel, run->clip->height));
    const struct vector backward = there->matches[0].vector;
    if (run->options->partition) {
        free(list.blocks);
    }
    const int x = abs(forward.dx + backward.dx);
    const int y = abs(forward.dy + backward.dy);
    return x > y ? x : y;
}
