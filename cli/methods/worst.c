/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/worst.h"

#include <stdlib.h>
#include <string.h>

bool gpume_worst_init(
    struct gpume_worst *worst, const struct gpume_plane *frame, uint32_t block, size_t searches)
{
    const size_t pixels = (size_t)frame->width * frame->height;
    bool done = true;
    *worst = (struct gpume_worst){
        .count = searches, .blocks = (size_t)(frame->width / block) * (frame->height / block)};
    for (size_t i = 0; i < 2; i++) {
        worst->planes[i] = *frame;
        worst->planes[i].stride = frame->width;
        worst->planes[i].data = malloc(pixels);
        done = done && worst->planes[i].data;
    }
    worst->searches = calloc(searches, sizeof(*worst->searches));
    done = done && worst->searches;
    for (size_t i = 0; i < searches && done; i++) {
        worst->searches[i] = calloc(worst->blocks, sizeof(**worst->searches));
        done = worst->searches[i] != NULL;
    }
    worst->pair = (struct gpume_tally_pair){
        .target = &worst->planes[0], .reference = &worst->planes[1], .block = block};
    return done;
}

void gpume_worst_finish(struct gpume_worst *worst)
{
    for (size_t i = 0; worst->searches && i < worst->count; i++) {
        free(worst->searches[i]);
    }
    free(worst->searches);
    free(worst->planes[0].data);
    free(worst->planes[1].data);
}

bool gpume_worst_is_worse(const struct gpume_worst *worst, uint64_t loss)
{
    return !worst->found || loss > worst->loss;
}

static void copy(const struct gpume_plane *to, const struct gpume_plane *from)
{
    for (uint32_t y = 0; y < to->height; y++) {
        memcpy((uint8_t *)to->data + (ptrdiff_t)y * to->stride,
            (const uint8_t *)from->data + (ptrdiff_t)y * from->stride, to->width);
    }
}

void gpume_worst_take(struct gpume_worst *worst, const struct gpume_tally_pair *pair,
    uint64_t target, uint64_t reference, uint64_t loss)
{
    copy(&worst->planes[0], pair->target);
    copy(&worst->planes[1], pair->reference);
    worst->found = true;
    worst->target = target;
    worst->reference = reference;
    worst->loss = loss;
}

void gpume_worst_vectors(
    struct gpume_worst *worst, size_t search, const struct gpume_vector *vectors)
{
    memcpy(worst->searches[search], vectors, worst->blocks * sizeof(*vectors));
}

struct gpume_tally_pair gpume_worst_pair(const struct gpume_worst *worst, size_t search)
{
    struct gpume_tally_pair pair = worst->pair;
    pair.vectors = worst->searches[search];
    pair.exact = worst->searches[0];
    return pair;
}
