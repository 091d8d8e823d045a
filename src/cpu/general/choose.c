/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/general/choose.h"

#include "model/rate.h"

/* One side of a mean. */
struct side {
    struct gpume_matcher matcher;
    struct gpume_candidate at; /* its cost is that of the mean */
    uint32_t pair;
};

static struct gpume_matcher matcher_of(const struct gpume_general *general,
    const struct gpume_shape *layer, uint32_t index, const struct gpume_pair *pair)
{
    struct gpume_matcher matcher = gpume_matcher_make(
        general->plan, general->kernels->general, layer, index, general->searched, pair->searched);
    gpume_matcher_predict(&matcher, pair->predictors[layer->first + index]);
    return matcher;
}

/* The pair where the block costs least, the first of equals; only pairs on one side, or (any) all.
 * GPUME_NONE: there is none. */
static uint32_t best_pair(const struct gpume_general *general, uint32_t at, bool any, bool future)
{
    uint32_t best = GPUME_NONE;
    for (uint32_t i = 0; i < general->pair_count; i++) {
        const struct gpume_pair *pair = &general->pairs[i];
        if ((any || pair->future == future) &&
            (best == GPUME_NONE || pair->costs[at] < general->pairs[best].costs[at])) {
            best = i;
        }
    }
    return best;
}

static void take_pair(
    struct gpume_general *general, const struct gpume_shape *layer, uint32_t index, uint32_t chosen)
{
    const struct gpume_plan *plan = general->plan;
    const struct gpume_pair *pair = &general->pairs[chosen];
    const struct gpume_matcher matcher = matcher_of(general, layer, index, pair);
    uint32_t at = layer->first + index;
    for (uint32_t i = 0; i < plan->kept; i++) {
        size_t place = (size_t)i * plan->blocks + at;
        const struct gpume_vector vector = pair->vectors[place];
        general->vectors[place] = vector;
        general->costs[place] = pair->costs[place];
        if (general->bits) {
            general->bits[place] = gpume_matcher_bits(&matcher, vector.dx, vector.dy);
        }
    }
    if (general->refs) {
        general->refs[at] = chosen;
    }
    if (general->ties) {
        general->ties[at] = pair->ties[at];
    }
}

/* --- the mean of two matches */

/* Searches one side anew with the other fixed. True: the cost has fallen. */
static bool search_anew(struct side *side, const struct side *fixed)
{
    struct gpume_matcher matcher = side->matcher;
    struct gpume_candidate found;
    struct gpume_matcher_counts counts = {0};
    matcher.target.other = gpume_matcher_match(&fixed->matcher, fixed->at.dx, fixed->at.dy);
    matcher.more_bits = gpume_matcher_bits(&fixed->matcher, fixed->at.dx, fixed->at.dy);
    const struct gpume_vector seed = {(int16_t)side->at.dx, (int16_t)side->at.dy};
    (void)gpume_matcher_search(&matcher, &seed, 1, &found, 1, &counts);
    if (found.cost >= side->at.cost) {
        return false;
    }
    side->at = found;
    return true;
}

static void start_mean(struct side *past, struct side *future)
{
    struct gpume_matcher matcher = past->matcher;
    matcher.target.other = gpume_matcher_match(&future->matcher, future->at.dx, future->at.dy);
    uint32_t bits = gpume_matcher_bits(&past->matcher, past->at.dx, past->at.dy) +
                    gpume_matcher_bits(&future->matcher, future->at.dx, future->at.dy);
    const struct gpume_params *p = &matcher.plan->params;
    past->at.cost = gpume_rate_cost(p->lambda, bits) +
                    gpume_matcher_distortion(&matcher, gpume_cost_metric(p),
                        gpume_matcher_match(&matcher, past->at.dx, past->at.dy), UINT32_MAX);
    future->at.cost = past->at.cost;
}

static void settle(struct side *past, struct side *future)
{
    bool fell = true;
    for (uint32_t i = 0; fell && i < GPUME_MEAN_ROUNDS; i++) {
        fell = search_anew(past, future);
        future->at.cost = past->at.cost;
        fell = search_anew(future, past) || fell;
        past->at.cost = future->at.cost;
    }
}

static struct side side_of(const struct gpume_general *general, const struct gpume_shape *layer,
    uint32_t index, uint32_t pair)
{
    const struct gpume_vector vector = general->pairs[pair].vectors[layer->first + index];
    return (struct side){.matcher = matcher_of(general, layer, index, &general->pairs[pair]),
        .at = {.dx = vector.dx, .dy = vector.dy},
        .pair = pair};
}

static void try_mean(struct gpume_general *general, const struct gpume_shape *layer, uint32_t index)
{
    uint32_t at = layer->first + index;
    uint32_t pair = best_pair(general, at, false, false);
    uint32_t other = best_pair(general, at, false, true);
    general->refs2[at] = GPUME_NONE;
    general->vectors2[at] = (struct gpume_vector){0, 0};
    if (pair == GPUME_NONE || other == GPUME_NONE) {
        return;
    }
    struct side past = side_of(general, layer, index, pair);
    struct side future = side_of(general, layer, index, other);
    start_mean(&past, &future);
    settle(&past, &future);
    if (past.at.cost >= general->costs[at]) {
        return;
    }
    general->costs[at] = past.at.cost;
    general->vectors[at] = (struct gpume_vector){(int16_t)past.at.dx, (int16_t)past.at.dy};
    general->vectors2[at] = (struct gpume_vector){(int16_t)future.at.dx, (int16_t)future.at.dy};
    general->refs[at] = past.pair;
    general->refs2[at] = future.pair;
    if (general->bits) {
        general->bits[at] = gpume_matcher_bits(&past.matcher, past.at.dx, past.at.dy) +
                            gpume_matcher_bits(&future.matcher, future.at.dx, future.at.dy);
    }
}

/* --- texture */

static uint32_t sample_at(const struct gpume_plan *plan, const void *plane, size_t index)
{
    return plan->sample_bytes == 2 ? ((const uint16_t *)plane)[index]
                                   : ((const uint8_t *)plane)[index];
}

static uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* At most 2 * 128 * 128 * 65535 < 2^32. */
static uint32_t texture_of(
    const struct gpume_general *general, const struct gpume_shape *layer, uint32_t index)
{
    const struct gpume_plan *plan = general->plan;
    const struct gpume_matcher matcher = gpume_matcher_make(
        plan, general->kernels->general, layer, index, general->measured, general->measured);
    const struct gpume_target *target = &matcher.target;
    uint32_t sum = 0;
    for (uint32_t y = 0; y < target->height; y++) {
        for (uint32_t x = 0; x < target->width; x++) {
            size_t at = (size_t)y * plan->padded_stride + x;
            uint32_t here = sample_at(plan, target->samples, at);
            sum += x > 0 ? apart(here, sample_at(plan, target->samples, at - 1)) : 0;
            sum +=
                y > 0 ? apart(here, sample_at(plan, target->samples, at - plan->padded_stride)) : 0;
        }
    }
    return sum;
}

void gpume_choose_block(
    struct gpume_general *general, const struct gpume_shape *layer, uint32_t index)
{
    take_pair(general, layer, index, best_pair(general, layer->first + index, true, false));
    if (general->refs2) {
        try_mean(general, layer, index);
    }
    if (general->texture) {
        general->texture[layer->first + index] = texture_of(general, layer, index);
    }
}
