/* SPDX-License-Identifier: BSD-2-Clause */
/* The mean of a past and a future match (section 11). */
#include "oracle.h"

/* One of the two vectors, and all that its search needs. */
struct side {
    struct search search;
    struct vector vector;
};

static struct side make_side(struct run *run, const struct block *block, int target)
{
    return (struct side){
        .search = {.options = run->options,
            .target = &run->clip->pictures[target],
            .reference = &run->clip->pictures[block->ref],
            .place = block->place,
            .predictor = block->predictor},
        .vector = block->matches[0].vector,
    };
}

static void fix(struct side *moving, const struct side *fixed, uint16_t *samples)
{
    predict(fixed->search.options, fixed->search.reference, &fixed->search.place, fixed->vector,
        samples);
    moving->search.other = samples;
    moving->search.other_bits = vector_bits(fixed->vector, fixed->search.predictor);
}

/* Searches one vector anew while the other stays; returns whether the cost fell. */
static bool turn(struct side *moving, const struct side *fixed, struct match *both)
{
    uint16_t samples[MAX_SIDE * MAX_SIDE];
    struct match found;
    int ties = 0;
    fix(moving, fixed, samples);
    search_block(&moving->search, 1, &found, &ties);
    if (found.cost >= both->cost) {
        return false;
    }
    *both = found;
    moving->vector = found.vector;
    return true;
}

void try_mean(struct run *run, const struct block *past, const struct block *future, int target,
    struct block *best)
{
    enum { ROUNDS = 4 };
    uint16_t samples[MAX_SIDE * MAX_SIDE];
    struct side a = make_side(run, past, target);
    struct side b = make_side(run, future, target);
    fix(&a, &b, samples);
    struct match both = evaluate(&a.search, run->options->refine_metric, a.vector);
    for (int round = 0; round < ROUNDS; round++) {
        const bool past_fell = turn(&a, &b, &both);
        const bool future_fell = turn(&b, &a, &both);
        if (!past_fell && !future_fell) {
            break;
        }
    }
    if (both.cost >= best->matches[0].cost) {
        return;
    }
    both.vector = a.vector;
    *best = (struct block){.place = best->place,
        .ref = past->ref,
        .matches = {both},
        .match_count = 1,
        .mean = true,
        .ref2 = future->ref,
        .vector2 = b.vector};
}
