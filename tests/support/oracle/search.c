/* SPDX-License-Identifier: BSD-2-Clause */
/* The exhaustive search of one block (sections 3, 8 and 12). */
#include "oracle.h"

#include <stdlib.h>

void block_samples(const struct picture *picture, const struct place *place, uint16_t *samples)
{
    for (int y = 0; y < place->h; y++) {
        for (int x = 0; x < place->w; x++) {
            samples[y * place->w + x] =
                picture->samples[(place->y + y) * picture->width + place->x + x];
        }
    }
}

void average(uint16_t *samples, const uint16_t *other, int count)
{
    for (int i = 0; i < count; i++) {
        samples[i] = (uint16_t)((samples[i] + other[i] + 1) >> 1);
    }
}

/* Whether the block, from floor to ceil of its displaced place, lies in the picture; taps do not
 * count. Edges are whole pixels, so the exact place may stand for its floor and its ceil. */
static bool fits(int place, int size, int displacement, int subpel, int limit)
{
    const int first = place * subpel + displacement; /* units */
    const int end = first + size * subpel;
    return first >= 0 && end <= limit * subpel;
}

bool is_candidate(const struct search *search, struct vector vector)
{
    const struct options *options = search->options;
    const struct place *place = &search->place;
    const int subpel = options->subpel;
    if (abs(vector.dx) > options->window_x * subpel ||
        abs(vector.dy) > options->window_y * subpel) {
        return false;
    }
    return !options->inside ||
           (fits(place->x, place->w, vector.dx, subpel, search->reference->width) &&
               fits(place->y, place->h, vector.dy, subpel, search->reference->height));
}

struct match evaluate(const struct search *search, enum metric metric, struct vector vector)
{
    const struct options *options = search->options;
    const struct place *place = &search->place;
    uint16_t target[MAX_SIDE * MAX_SIDE];
    uint16_t prediction[MAX_SIDE * MAX_SIDE];
    block_samples(search->target, place, target);
    predict(options, search->reference, place, vector, prediction);
    if (search->other) {
        average(prediction, search->other, place->w * place->h);
    }
    struct match match = {.vector = vector};
    match.distortion =
        distortion(metric, options->shapes[place->shape], target, prediction, place->w, place->h);
    match.bits = vector_bits(vector, search->predictor) + search->other_bits;
    match.cost = total_cost(match.distortion, options->rate ? options->lambda : 0, match.bits);
    return match;
}

static bool is_zero(struct vector vector)
{
    return vector.dx == 0 && vector.dy == 0;
}

/* The tie rule: the smallest cost; (0,0); the smallest dy; the smallest dx. */
static bool is_better(const struct match *a, const struct match *b)
{
    if (a->cost != b->cost) {
        return a->cost < b->cost;
    }
    if (is_zero(a->vector) != is_zero(b->vector)) {
        return is_zero(a->vector);
    }
    if (a->vector.dy != b->vector.dy) {
        return a->vector.dy < b->vector.dy;
    }
    return a->vector.dx < b->vector.dx;
}

/* The better of a match and its eight neighbours, at half a pixel and then at a quarter. */
static struct match refine(const struct search *search, struct vector vector)
{
    const enum metric metric = search->options->refine_metric;
    struct match best = evaluate(search, metric, vector);
    for (int step = search->options->subpel / 2; step >= 1; step /= 2) {
        const struct vector centre = best.vector;
        for (int y = -step; y <= step; y += step) {
            for (int x = -step; x <= step; x += step) {
                const struct vector near = {centre.dx + x, centre.dy + y};
                if ((x == 0 && y == 0) || !is_candidate(search, near)) {
                    continue;
                }
                const struct match match = evaluate(search, metric, near);
                if (is_better(&match, &best)) {
                    best = match;
                }
            }
        }
    }
    return best;
}

static bool is_apart(struct vector a, struct vector b, int units)
{
    return abs(a.dx - b.dx) >= units || abs(a.dy - b.dy) >= units;
}

static bool is_apart_from_all(
    struct vector vector, const struct match *picked, int count, int units)
{
    for (int i = 0; i < count; i++) {
        if (!is_apart(vector, picked[i].vector, units)) {
            return false;
        }
    }
    return true;
}

/* All candidates of the search, in no particular order. */
static struct match *evaluate_all(const struct search *search, int step, int *count)
{
    const struct options *options = search->options;
    const int limit_x = options->window_x * options->subpel;
    const int limit_y = options->window_y * options->subpel;
    const int columns = 2 * limit_x / step + 1;
    const int rows = 2 * limit_y / step + 1;
    struct match *all = allocate((size_t)columns * (size_t)rows, sizeof(*all));
    *count = 0;
    for (int dy = -limit_y; dy <= limit_y; dy += step) {
        for (int dx = -limit_x; dx <= limit_x; dx += step) {
            if (is_candidate(search, (struct vector){dx, dy})) {
                all[(*count)++] = evaluate(search, options->metric, (struct vector){dx, dy});
            }
        }
    }
    return all;
}

/* The best `wanted` candidates, of which each is at least two pixels from all before it; returns
 * how many there are. With refinement they are picked among whole pixels, and then each is refined.
 * Ambiguous: whether, with refinement, ties are counted at the cost of the best whole-pixel
 * candidate, as here, or at the refined cost. */
int search_block(const struct search *search, int wanted, struct match *matches, int *ties)
{
    const struct options *options = search->options;
    int count = 0;
    struct match *all = evaluate_all(search, options->full ? 1 : options->subpel, &count);
    int picked = 0;
    while (picked < wanted) {
        const struct match *best = NULL;
        for (int i = 0; i < count; i++) {
            if (is_apart_from_all(all[i].vector, matches, picked, 2 * options->subpel) &&
                (!best || is_better(&all[i], best))) {
                best = &all[i];
            }
        }
        if (!best) {
            break;
        }
        matches[picked++] = *best;
    }
    *ties = -1; /* the best itself */
    for (int i = 0; i < count; i++) {
        *ties += all[i].cost == matches[0].cost;
    }
    free(all);
    for (int i = 0; i < picked && !options->full; i++) {
        matches[i] = refine(search, matches[i].vector);
    }
    return picked;
}
