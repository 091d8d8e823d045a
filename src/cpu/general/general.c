/* SPDX-License-Identifier: BSD-2-Clause */
/* The general search of a task, as steps: see cpu.h. */
#include "cpu/general/general.h"
#include "arrays/host_sort.h"
#include "base/base.h"
#include "cpu/cpu.h"
#include "model/cost.h"
#include "model/plan.h"

#include <string.h>

/* --- one block in one reference */

/* A sweep over the candidates of a block. */
struct sweep {
    const struct gpume_matcher *matcher;
    enum gpume_metric metric; /* of costs */
    const struct gpume_candidate
        *taken; /* earlier candidates, which the next one keeps away from */
    uint32_t taken_count;
    int32_t step;                /* units from one candidate to the next */
    int32_t low[2], high[2];     /* of dx and dy, in units */
    struct gpume_candidate best; /* cost GPUME_NONE: none yet */
    uint64_t tried, compared;
    uint32_t ties; /* candidates that cost as much as the best, without it */
};

struct gpume_matcher gpume_matcher_make(const struct gpume_plan *plan,
    const struct gpume_general_kernels *kernels, const struct gpume_shape *layer, uint32_t index,
    const void *target, const void *reference)
{
    struct gpume_matcher matcher = {.plan = plan, .kernels = kernels};
    matcher.x = index % layer->blocks_x * layer->block_w;
    matcher.y = index / layer->blocks_x * layer->block_h;
    size_t at = (size_t)(plan->pad_y + matcher.y) * plan->padded_stride + plan->pad_x + matcher.x;
    matcher.reference = (const uint8_t *)reference + at * plan->sample_bytes;
    matcher.target = (struct gpume_target){
        .samples = (const uint8_t *)target + at * plan->sample_bytes,
        .stride = (ptrdiff_t)plan->padded_stride,
        .width = gpume_min_u32(layer->block_w, plan->params.width - matcher.x),
        .height = gpume_min_u32(layer->block_h, plan->params.height - matcher.y),
        .tile = layer->block_w % 8 == 0 && layer->block_h % 8 == 0 ? 8 : 4,
    };
    return matcher;
}

/* Prepares to skip candidates by the sums of their boxes; those of both frames are of boxes of
 * gpume_bound_boxes(layer), or NULL. bound: outlives the matcher. Blocks that the picture's edge
 * cuts are not bounded. */
static void matcher_bound(struct gpume_matcher *matcher, const struct gpume_shape *layer,
    const void *target_sums, const void *reference_sums, struct gpume_bound *bound_axis)
{
    const struct gpume_plan *plan = matcher->plan;
    bool whole =
        matcher->target.width == layer->block_w && matcher->target.height == layer->block_h;
    if (!whole || !target_sums || !reference_sums) {
        return;
    }
    size_t at = (size_t)(plan->pad_y + matcher->y) * plan->padded_stride + plan->pad_x + matcher->x;
    bound_axis->box = 4u << gpume_bound_boxes(layer);
    bound_axis->across = layer->block_w / bound_axis->box;
    bound_axis->down = layer->block_h / bound_axis->box;
    bound_axis->stride = (ptrdiff_t)plan->padded_stride;
    for (uint32_t i = 0; i < bound_axis->across * bound_axis->down; i++) {
        size_t box = at + (size_t)(i / bound_axis->across * bound_axis->box) * plan->padded_stride +
                     i % bound_axis->across * bound_axis->box;
        bound_axis->target[i] = plan->sample_bytes == 2 ? ((const uint32_t *)target_sums)[box]
                                                        : ((const uint16_t *)target_sums)[box];
    }
    matcher->bound = bound_axis;
    matcher->sums = (const uint8_t *)reference_sums + 2 * at * plan->sample_bytes;
}

/* Of 1, 2 or 4 units, whole pixels; rounds down. A shift, since dividing takes longer. */
static int32_t whole(int32_t at, int32_t units)
{
    const int32_t shift = units / 2, above = 1 << 20; /* of any vector */
    return ((at + above) >> shift) - (above >> shift);
}

/* Bytes from the block's place in plane 0 to the match of a vector. */
static ptrdiff_t shift_of(const struct gpume_plan *plan, int32_t dx, int32_t dy)
{
    int32_t units = (int32_t)plan->units, fx = dx & (units - 1), fy = dy & (units - 1);
    ptrdiff_t at = (ptrdiff_t)whole(dy, units) * (ptrdiff_t)plan->padded_stride + whole(dx, units);
    return (fy * units + fx) * (ptrdiff_t)plan->padded_bytes + at * (ptrdiff_t)plan->sample_bytes;
}

const void *gpume_matcher_match(const struct gpume_matcher *matcher, int32_t dx, int32_t dy)
{
    return matcher->reference + shift_of(matcher->plan, dx, dy);
}

/* R of a vector; 0 without params.rate. */
static uint32_t matcher_bits(const struct gpume_matcher *matcher, int32_t dx, int32_t dy)
{
    return !matcher->plan->params.rate
               ? 0
               : gpume_rate_bits(dx, dy, matcher->predictor_x, matcher->predictor_y);
}

/* Along one axis, in units: the window, cut to where the match lies inside the picture if it must.
 * The pixels from floor to ceil of its place count, so whole pixels bound fractions too. */
static void bound_axis(const struct gpume_plan *plan, uint32_t window, uint32_t before,
    uint32_t after, int32_t *low, int32_t *high)
{
    bool inside = plan->params.edge == GPUME_EDGE_INSIDE;
    *low = -(int32_t)(gpume_plan_reach(window, before, inside) * plan->units);
    *high = (int32_t)(gpume_plan_reach(window, after, inside) * plan->units);
}

static struct sweep sweep_of(const struct gpume_matcher *matcher)
{
    const struct gpume_plan *plan = matcher->plan;
    const struct gpume_params *p = &plan->params;
    struct sweep sweep = {
        .matcher = matcher, .metric = p->metric, .step = 1, .best = {.cost = GPUME_NONE}};
    if (p->subpel_search == GPUME_SUBPEL_REFINE) {
        sweep.step = (int32_t)plan->units;
    }
    bound_axis(plan, p->window_x, matcher->x, p->width - matcher->x - matcher->target.width,
        &sweep.low[0], &sweep.high[0]);
    bound_axis(plan, p->window_y, matcher->y, p->height - matcher->y - matcher->target.height,
        &sweep.low[1], &sweep.high[1]);
    return sweep;
}

/* Whether a vector is two pixels away, in x or y, from all earlier candidates. */
static bool is_apart(const struct sweep *sweep, int32_t dx, int32_t dy)
{
    int32_t apart = 2 * (int32_t)sweep->matcher->plan->units;
    for (uint32_t i = 0; i < sweep->taken_count; i++) {
        int32_t x = dx - sweep->taken[i].dx, y = dy - sweep->taken[i].dy;
        if (x < apart && x > -apart && y < apart && y > -apart) {
            return false;
        }
    }
    return true;
}

uint32_t gpume_matcher_distortion(const struct gpume_matcher *matcher, enum gpume_metric metric,
    const void *match, uint32_t limit)
{
    bool wide = matcher->plan->sample_bytes == 2;
    return matcher->kernels->distortions[metric][wide](&matcher->target, match, limit);
}

static uint32_t rate_of(const struct gpume_matcher *matcher, int32_t dx, int32_t dy)
{
    uint32_t bits = matcher->more_bits + matcher_bits(matcher, dx, dy);
    return gpume_rate_cost(matcher->plan->params.lambda, bits);
}

/* The cost of a vector; where it is more than limit, any value above limit. */
static uint32_t cost_of(const struct sweep *sweep, int32_t dx, int32_t dy, uint32_t limit)
{
    const struct gpume_matcher *matcher = sweep->matcher;
    uint32_t rate = rate_of(matcher, dx, dy);
    if (rate > limit) {
        return rate;
    }
    const void *match = gpume_matcher_match(matcher, dx, dy);
    return rate + gpume_matcher_distortion(matcher, sweep->metric, match, limit - rate);
}

static void offer(struct sweep *sweep, int32_t dx, int32_t dy, uint32_t limit)
{
    struct gpume_candidate candidate = {.dx = dx, .dy = dy};
    candidate.cost = cost_of(sweep, dx, dy, limit);
    if (candidate.cost < sweep->best.cost) {
        sweep->best = candidate;
        sweep->ties = 0;
    } else if (candidate.cost == sweep->best.cost && candidate.cost <= limit) {
        sweep->ties++;
        sweep->best = gpume_candidate_wins(candidate, sweep->best) ? candidate : sweep->best;
    }
}

/* What some candidate costs: the best costs no more. */
static uint32_t first_limit(
    const struct sweep *sweep, const struct gpume_vector *seeds, uint32_t seed_count)
{
    uint32_t limit = GPUME_NONE;
    for (uint32_t i = 0; i < seed_count; i++) {
        int32_t dx = seeds[i].dx - seeds[i].dx % sweep->step;
        int32_t dy = seeds[i].dy - seeds[i].dy % sweep->step;
        if (dx >= sweep->low[0] && dx <= sweep->high[0] && dy >= sweep->low[1] &&
            dy <= sweep->high[1] && is_apart(sweep, dx, dy)) {
            limit = gpume_min_u32(limit, cost_of(sweep, dx, dy, limit));
        }
    }
    return limit;
}

/* Candidates side by side in one plane: `count` of them, whole pixels apart. */
struct candidate_row {
    int32_t dx, dy; /* of the first */
    uint32_t count;
};

/* Offers those that the bounds, which are of D alone, do not exclude. NULL: all. */
static void offer_row(
    struct sweep *sweep, const struct candidate_row *row, const uint32_t *bounds, uint32_t limit)
{
    int32_t units = (int32_t)sweep->matcher->plan->units;
    for (uint32_t i = 0; i < row->count; i++) {
        int32_t dx = row->dx + (int32_t)i * units;
        uint32_t least = gpume_min_u32(limit, sweep->best.cost);
        if (bounds && bounds[i] > least) {
            continue;
        }
        sweep->compared++;
        if (sweep->taken_count == 0 || is_apart(sweep, dx, row->dy)) {
            offer(sweep, dx, row->dy, least);
        }
    }
}

#define ROW_PART 128u /* candidates that are bounded at a time */

static void bound_row(struct sweep *sweep, const struct candidate_row *row, uint32_t limit)
{
    const struct gpume_matcher *matcher = sweep->matcher;
    const struct gpume_plan *plan = matcher->plan;
    int32_t units = (int32_t)plan->units;
    uint32_t bounds[ROW_PART];
    for (uint32_t i = 0; i < row->count; i += ROW_PART) {
        struct candidate_row part = {row->dx + (int32_t)i * units, row->dy, row->count - i};
        part.count = part.count < ROW_PART ? part.count : ROW_PART;
        if (!matcher->bound) {
            offer_row(sweep, &part, NULL, limit);
            continue;
        }
        /* A sum has twice the bytes of a sample. */
        const uint8_t *sums = matcher->sums + 2 * shift_of(plan, part.dx, part.dy);
        matcher->kernels->bounds[sweep->metric][plan->sample_bytes == 2](
            matcher->bound, sums, part.count, bounds);
        offer_row(sweep, &part, bounds, limit);
    }
}

static void sweep_window(struct sweep *sweep, const struct gpume_vector *seeds, uint32_t seed_count)
{
    uint32_t limit = first_limit(sweep, seeds, seed_count);
    int32_t units = (int32_t)sweep->matcher->plan->units;
    for (int32_t dy = sweep->low[1]; dy <= sweep->high[1]; dy += sweep->step) {
        for (int32_t first = 0; first < units; first += sweep->step) {
            struct candidate_row row = {.dx = sweep->low[0] + first, .dy = dy};
            int32_t last = sweep->high[0] - row.dx; /* the window is whole pixels wide */
            row.count = last < 0 ? 0 : (uint32_t)(last / units) + 1;
            bound_row(sweep, &row, limit);
            sweep->tried += row.count;
        }
    }
}

#define NEIGHBOURS 8u

/* The neighbours of a vector `step` units away that are candidates. Returns how many. */
static uint32_t neighbours_of(const struct sweep *sweep, const struct gpume_candidate *centre,
    int32_t step, struct gpume_candidate near[NEIGHBOURS])
{
    uint32_t count = 0;
    for (int32_t dy = centre->dy - step; dy <= centre->dy + step; dy += step) {
        for (int32_t dx = centre->dx - step; dx <= centre->dx + step; dx += step) {
            bool allowed = dx >= sweep->low[0] && dx <= sweep->high[0] && dy >= sweep->low[1] &&
                           dy <= sweep->high[1] && (dx != centre->dx || dy != centre->dy);
            if (allowed) {
                near[count++] = (struct gpume_candidate){.dx = dx, .dy = dy};
            }
        }
    }
    return count;
}

/* Into the caches. address: that may be outside of any array. */
static inline void fetch(uintptr_t address)
{
    __builtin_prefetch((const void *)address);
}

static void compare_matches(const struct sweep *sweep, const void *const *matches, uint32_t count,
    uint32_t limit, uint32_t *d)
{
    const struct gpume_matcher *matcher = sweep->matcher;
    const gpume_distortions_fn several = matcher->kernels->several_satd8;
    if (several && sweep->metric == GPUME_METRIC_SATD && matcher->plan->sample_bytes == 1) {
        several(&matcher->target, matches, count, limit, d);
        return;
    }
    const size_t row_bytes = matcher->plan->padded_stride * matcher->plan->sample_bytes;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t y = 0; y < matcher->target.height && i + 1 < count; y++) {
            fetch((uintptr_t)matches[i + 1] + y * row_bytes); /* it may be in another plane */
        }
        d[i] = gpume_matcher_distortion(matcher, sweep->metric, matches[i], limit);
    }
}

/* The best of a vector and its neighbours. */
static struct gpume_candidate best_near(
    const struct sweep *sweep, struct gpume_candidate best, int32_t step)
{
    const struct gpume_matcher *matcher = sweep->matcher;
    struct gpume_candidate near[NEIGHBOURS];
    const void *matches[NEIGHBOURS];
    uint32_t d[NEIGHBOURS], count = neighbours_of(sweep, &best, step, near);
    for (uint32_t i = 0; i < count; i++) {
        matches[i] = gpume_matcher_match(matcher, near[i].dx, near[i].dy);
    }
    compare_matches(sweep, matches, count, best.cost, d);
    for (uint32_t i = 0; i < count; i++) {
        near[i].cost = d[i] + rate_of(matcher, near[i].dx, near[i].dy);
        best = gpume_candidate_wins(near[i], best) ? near[i] : best;
    }
    return best;
}

/* A whole-pixel vector at the fraction that costs least by the metric of results. */
static struct gpume_candidate refine_best(
    const struct sweep *whole_pixels, struct gpume_candidate best)
{
    const struct gpume_plan *plan = whole_pixels->matcher->plan;
    struct sweep sweep = *whole_pixels;
    sweep.metric = gpume_cost_metric(&plan->params);
    if (sweep.metric != whole_pixels->metric) {
        best.cost = cost_of(&sweep, best.dx, best.dy, GPUME_NONE);
    }
    for (int32_t step = (int32_t)plan->units / 2; step > 0; step /= 2) {
        best = best_near(&sweep, best, step);
    }
    return best;
}

/* Finds `count` candidates, of which those that do not exist have cost GPUME_NONE, and how many
 * other candidates cost as much as the first, before refinement. seeds: vectors that are likely to
 * be good; they affect speed only. Adds to counts. */
static uint32_t matcher_search(const struct gpume_matcher *matcher,
    const struct gpume_vector *seeds, uint32_t seed_count, struct gpume_candidate *found,
    uint32_t count, struct gpume_matcher_counts *counts)
{
    const struct gpume_plan *plan = matcher->plan;
    const struct sweep empty = sweep_of(matcher);
    uint32_t ties = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct sweep sweep = empty;
        sweep.taken = found;
        sweep.taken_count = i;
        sweep_window(&sweep, seeds, seed_count);
        found[i] = sweep.best;
        ties = i == 0 ? sweep.ties : ties;
        counts->tried += sweep.tried;
        counts->compared += sweep.compared;
    }
    for (uint32_t i = 0; plan->params.subpel_search == GPUME_SUBPEL_REFINE && i < count; i++) {
        found[i] = found[i].cost == GPUME_NONE ? found[i] : refine_best(&empty, found[i]);
    }
    return ties;
}

/* --- predictors */

static int16_t median_of_three(int16_t a, int16_t b, int16_t c)
{
    int16_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* vectors: of the layer. */
static struct gpume_vector predictor_of(
    const struct gpume_shape *layer, uint32_t x, uint32_t y, const struct gpume_vector *vectors)
{
    const struct gpume_vector *at = vectors + (size_t)y * layer->blocks_x + x;
    const struct gpume_vector none = {0, 0};
    struct gpume_vector left = x > 0 ? at[-1] : none;
    if (y == 0) {
        return left;
    }
    const struct gpume_vector *above = at - layer->blocks_x;
    if (layer->blocks_x == 1) {
        return *above;
    }
    struct gpume_vector corner = x + 1 < layer->blocks_x ? above[1] : above[-1];
    return (struct gpume_vector){median_of_three(left.dx, above->dx, corner.dx),
        median_of_three(left.dy, above->dy, corner.dy)};
}

/* --- what a task says about a block, once all of its frame pairs have been searched */

/* One side of a mean. */
struct mean_side {
    struct gpume_matcher matcher;
    struct gpume_candidate at; /* its cost is that of the mean */
    uint32_t pair;
};

static struct gpume_matcher matcher_of(const struct gpume_general *general,
    const struct gpume_shape *layer, uint32_t index, const struct gpume_pair *pair)
{
    struct gpume_matcher matcher = gpume_matcher_make(
        general->plan, general->kernels->general, layer, index, general->searched, pair->searched);
    const struct gpume_vector predictor = pair->predictors[layer->first + index];
    matcher.predictor_x = predictor.dx;
    matcher.predictor_y = predictor.dy;
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

static void keep_pair(
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
            general->bits[place] = matcher_bits(&matcher, vector.dx, vector.dy);
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
static bool search_anew(struct mean_side *side, const struct mean_side *fixed)
{
    struct gpume_matcher matcher = side->matcher;
    struct gpume_candidate found;
    struct gpume_matcher_counts counts = {0};
    matcher.target.other = gpume_matcher_match(&fixed->matcher, fixed->at.dx, fixed->at.dy);
    matcher.more_bits = matcher_bits(&fixed->matcher, fixed->at.dx, fixed->at.dy);
    const struct gpume_vector seed = {(int16_t)side->at.dx, (int16_t)side->at.dy};
    (void)matcher_search(&matcher, &seed, 1, &found, 1, &counts);
    if (found.cost >= side->at.cost) {
        return false;
    }
    side->at = found;
    return true;
}

static void start_mean(struct mean_side *past, struct mean_side *future)
{
    struct gpume_matcher matcher = past->matcher;
    matcher.target.other = gpume_matcher_match(&future->matcher, future->at.dx, future->at.dy);
    uint32_t bits = matcher_bits(&past->matcher, past->at.dx, past->at.dy) +
                    matcher_bits(&future->matcher, future->at.dx, future->at.dy);
    const struct gpume_params *p = &matcher.plan->params;
    past->at.cost = gpume_rate_cost(p->lambda, bits) +
                    gpume_matcher_distortion(&matcher, gpume_cost_metric(p),
                        gpume_matcher_match(&matcher, past->at.dx, past->at.dy), UINT32_MAX);
    future->at.cost = past->at.cost;
}

static void search_in_turns(struct mean_side *past, struct mean_side *future)
{
    bool fell = true;
    for (uint32_t i = 0; fell && i < GPUME_MEAN_ROUNDS; i++) {
        fell = search_anew(past, future);
        future->at.cost = past->at.cost;
        fell = search_anew(future, past) || fell;
        past->at.cost = future->at.cost;
    }
}

static struct mean_side side_of(const struct gpume_general *general,
    const struct gpume_shape *layer, uint32_t index, uint32_t pair)
{
    const struct gpume_vector vector = general->pairs[pair].vectors[layer->first + index];
    return (struct mean_side){.matcher = matcher_of(general, layer, index, &general->pairs[pair]),
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
    struct mean_side past = side_of(general, layer, index, pair);
    struct mean_side future = side_of(general, layer, index, other);
    start_mean(&past, &future);
    search_in_turns(&past, &future);
    if (past.at.cost >= general->costs[at]) {
        return;
    }
    general->costs[at] = past.at.cost;
    general->vectors[at] = (struct gpume_vector){(int16_t)past.at.dx, (int16_t)past.at.dy};
    general->vectors2[at] = (struct gpume_vector){(int16_t)future.at.dx, (int16_t)future.at.dy};
    general->refs[at] = past.pair;
    general->refs2[at] = future.pair;
    if (general->bits) {
        general->bits[at] = matcher_bits(&past.matcher, past.at.dx, past.at.dy) +
                            matcher_bits(&future.matcher, future.at.dx, future.at.dy);
    }
}

/* --- texture */

static uint32_t sample_at(const struct gpume_plan *plan, const void *plane, size_t index)
{
    return plan->sample_bytes == 2 ? ((const uint16_t *)plane)[index]
                                   : ((const uint8_t *)plane)[index];
}

static uint32_t difference_of(uint32_t a, uint32_t b)
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
            sum += x > 0 ? difference_of(here, sample_at(plan, target->samples, at - 1)) : 0;
            sum += y > 0 ? difference_of(
                               here, sample_at(plan, target->samples, at - plan->padded_stride))
                         : 0;
        }
    }
    return sum;
}

/* Fills in all results of block `index` of the layer, but for rank and partition: the pair of least
 * cost, or the mean of a past and a future match where that costs less. */
static void choose_block(
    struct gpume_general *general, const struct gpume_shape *layer, uint32_t index)
{
    keep_pair(general, layer, index, best_pair(general, layer->first + index, true, false));
    if (general->refs2) {
        try_mean(general, layer, index);
    }
    if (general->texture) {
        general->texture[layer->first + index] = texture_of(general, layer, index);
    }
}

/* --- the prediction by the blocks of the first layer, or by the chosen ones, and its sums */

#define CELL 4u
#define RUN 512u /* samples of a row measured at a time */
_Static_assert(RUN <= GPUME_DIFFERENCES_MAX && RUN % CELL == 0, "whole cells");

/* Cells of 4x4 pixels that cover a row of the picture. */
static uint32_t cells_x(const struct gpume_plan *plan)
{
    return (uint32_t)gpume_div_up(plan->params.width, CELL);
}

static uint32_t cell_rows(const struct gpume_plan *plan)
{
    return (uint32_t)gpume_div_up(plan->params.height, CELL);
}

static void map_block(
    struct gpume_general *general, const struct gpume_shape *layer, uint32_t index)
{
    const struct gpume_plan *plan = general->plan;
    uint32_t across = cells_x(plan);
    uint32_t left = index % layer->blocks_x * layer->block_w / CELL;
    uint32_t top = index / layer->blocks_x * layer->block_h / CELL;
    uint32_t right = gpume_min_u32(left + layer->block_w / CELL, across);
    uint32_t bottom = gpume_min_u32(top + layer->block_h / CELL, cell_rows(plan));
    for (uint32_t y = top; y < bottom; y++) {
        for (uint32_t x = left; x < right; x++) {
            general->cells[(size_t)y * across + x] = layer->first + index;
        }
    }
}

/* Notes for the cells of each chosen block among these of a layer that the block predicts them. */
static void map_chosen(
    struct gpume_general *general, const struct gpume_shape *layer, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        if (general->chosen[layer->first + i]) {
            map_block(general, layer, i);
        }
    }
}

/* How many blocks that predict have vectors of zero alone. */
static uint64_t count_zero(const struct gpume_general *general)
{
    const struct gpume_plan *plan = general->plan;
    uint32_t count = general->chosen ? plan->blocks : plan->layers[0].blocks;
    uint64_t zero = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool predicts = !general->chosen || general->chosen[i];
        bool mean = general->refs2 && general->refs2[i] != GPUME_NONE;
        zero += predicts && general->vectors[i].dx == 0 && general->vectors[i].dy == 0 &&
                (!mean || (general->vectors2[i].dx == 0 && general->vectors2[i].dy == 0));
    }
    return zero;
}

static const uint8_t *match_of(const struct gpume_general *general, const struct gpume_pair *pair,
    uint32_t x, uint32_t y, struct gpume_vector vector)
{
    const struct gpume_plan *plan = general->plan;
    size_t at = (size_t)(plan->pad_y + y) * plan->padded_stride + plan->pad_x + x;
    const struct gpume_matcher matcher = {
        .plan = plan, .reference = (const uint8_t *)pair->measured + at * plan->sample_bytes};
    return gpume_matcher_match(&matcher, vector.dx, vector.dy);
}

/* to = (a + b + 1) >> 1 */
static void average(uint8_t *to, const uint8_t *a, const uint8_t *b, uint32_t count, bool wide)
{
    for (uint32_t i = 0; i < count; i++) {
        if (wide) {
            uint32_t sum = (uint32_t)((const uint16_t *)(const void *)a)[i] +
                           ((const uint16_t *)(const void *)b)[i];
            ((uint16_t *)(void *)to)[i] = (uint16_t)((sum + 1) >> 1);
        } else {
            to[i] = (uint8_t)((a[i] + b[i] + 1) >> 1);
        }
    }
}

/* Predicts `columns` samples of row y, all by the block of the first. */
static void predict_columns(
    const struct gpume_general *general, uint32_t x, uint32_t y, uint32_t columns, uint8_t *to)
{
    const struct gpume_shape *first = &general->plan->layers[0];
    const uint32_t bytes = general->plan->sample_bytes;
    const uint32_t block =
        general->cells ? general->cells[y / CELL * (size_t)cells_x(general->plan) + x / CELL]
                       : y / first->block_h * first->blocks_x + x / first->block_w;
    const struct gpume_pair *pair = &general->pairs[general->refs ? general->refs[block] : 0];
    const uint8_t *match = match_of(general, pair, x, y, general->vectors[block]);
    if (general->refs2 && general->refs2[block] != GPUME_NONE) {
        const struct gpume_pair *other = &general->pairs[general->refs2[block]];
        const uint8_t *second = match_of(general, other, x, y, general->vectors2[block]);
        average(to, match, second, columns, bytes == 2);
    } else {
        /* The next item of this thread is below; each block's match is in another plane. */
        fetch((uintptr_t)match + CELL * general->plan->padded_stride * bytes);
        memcpy(to, match, (size_t)columns * bytes);
    }
}

static void measure_row_part(
    struct gpume_general *general, uint32_t x, uint32_t y, uint32_t count, struct gpume_sums *sums)
{
    const struct gpume_plan *plan = general->plan;
    uint16_t own[RUN];
    uint8_t *to = (uint8_t *)own;
    uint32_t bytes = plan->sample_bytes;
    size_t at = ((size_t)(plan->pad_y + y) * plan->padded_stride + plan->pad_x + x) * bytes;
    if (general->predicted) {
        to = (uint8_t *)general->predicted + (size_t)y * plan->plane_stride + (size_t)x * bytes;
    }
    const uint32_t block_w = general->cells ? CELL : plan->layers[0].block_w;
    for (uint32_t i = 0, columns; i < count; i += columns) { /* all by the same block */
        columns = gpume_min_u32(block_w - (x + i) % block_w, count - i);
        predict_columns(general, x + i, y, columns, to + (size_t)i * bytes);
    }
    gpume_measure_run(general->kernels, bytes, (const uint8_t *)general->measured + at,
        (const uint8_t *)general->pairs[0].measured + at, to, count, sums);
}

/* The sums of a row of cells, but for `zero`; writes the prediction if it is wanted. */
static void measure_cells(void *opaque, uint32_t item)
{
    struct gpume_general *general = opaque;
    const struct gpume_params *p = &general->plan->params;
    struct gpume_sums sums = {0};
    uint32_t end = gpume_min_u32((item + 1) * CELL, p->height);
    for (uint32_t y = item * CELL; y < end; y++) {
        for (uint32_t x = 0; x < p->width; x += RUN) {
            uint32_t count = p->width - x < RUN ? p->width - x : RUN;
            measure_row_part(general, x, y, count, &sums);
        }
    }
    general->sums[item] = sums;
}

/* --- items: block rows of all layers, of one pair after the other */

static uint32_t rows_of(const struct gpume_plan *plan)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        rows += plan->layers[i].blocks_y;
    }
    return rows;
}

/* The layer that holds row `row` of them all, which becomes one of the layer. */
static const struct gpume_shape *find_row(const struct gpume_plan *plan, uint32_t *row)
{
    const struct gpume_shape *layer = plan->layers;
    while (*row >= layer->blocks_y) {
        *row -= layer->blocks_y;
        layer++;
    }
    return layer;
}

/* --- steps */

static void predict_rows(void *opaque, uint32_t item)
{
    struct gpume_general *general = opaque;
    uint32_t rows = rows_of(general->plan), row = item % rows;
    const struct gpume_shape *layer = find_row(general->plan, &row);
    struct gpume_pair *pair = &general->pairs[item / rows];
    for (uint32_t x = 0; x < layer->blocks_x; x++) {
        pair->predictors[layer->first + row * layer->blocks_x + x] =
            predictor_of(layer, x, row, pair->vectors + layer->first);
    }
}

/* Whether the results of a block are needed. */
static bool is_wanted(const struct gpume_general *general, uint32_t block)
{
    return !general->wanted || general->wanted[block];
}

/* count: candidates of each block. */
static void search_row(struct gpume_general *general, uint32_t item, uint32_t count)
{
    const struct gpume_plan *plan = general->plan;
    const uint32_t rows = rows_of(plan);
    uint32_t row = item % rows;
    const struct gpume_shape *layer = find_row(plan, &row);
    const struct gpume_pair *pair = &general->pairs[item / rows];
    struct gpume_vector left = {0, 0};
    struct gpume_bound bound;
    struct gpume_matcher_counts counts = {0};
    uint32_t boxes = gpume_bound_boxes(layer);
    for (uint32_t x = 0; x < layer->blocks_x && !gpume_is_cancelled(general->cancelled); x++) {
        uint32_t index = row * layer->blocks_x + x, at = layer->first + index;
        if (!is_wanted(general, at)) {
            continue;
        }
        struct gpume_candidate found[GPUME_CANDIDATES_MAX];
        struct gpume_matcher matcher = matcher_of(general, layer, index, pair);
        matcher_bound(&matcher, layer, general->box_sums[boxes], pair->box_sums[boxes], &bound);
        const struct gpume_vector seeds[] = {{0, 0}, left, pair->predictors[at], pair->vectors[at]};
        pair->ties[at] =
            matcher_search(&matcher, seeds, sizeof(seeds) / sizeof(*seeds), found, count, &counts);
        for (uint32_t i = 0; i < count; i++) {
            size_t place = (size_t)i * plan->blocks + at;
            pair->vectors[place] =
                (struct gpume_vector){(int16_t)found[i].dx, (int16_t)found[i].dy};
            pair->costs[place] = found[i].cost;
        }
        left = pair->vectors[at];
    }
    atomic_fetch_add(&general->tried, counts.tried);
    atomic_fetch_add(&general->compared, counts.compared);
}

/* A pass before the last: the next one needs the best vectors alone, to predict and to begin with.
 */
static void search_best(void *opaque, uint32_t item)
{
    search_row(opaque, item, 1);
}

static void search_kept(void *opaque, uint32_t item)
{
    struct gpume_general *general = opaque;
    search_row(general, item, general->plan->kept);
}

static void refine_item(void *opaque, uint32_t item)
{
    struct gpume_general *general = opaque;
    const struct gpume_pair *pair = &general->pairs[0];
    const int32_t units = (int32_t)general->plan->units;
    uint32_t row = item;
    const struct gpume_shape *layer = find_row(general->plan, &row);
    for (uint32_t x = 0; x < layer->blocks_x && !gpume_is_cancelled(general->cancelled); x++) {
        uint32_t index = row * layer->blocks_x + x, at = layer->first + index;
        if (!is_wanted(general, at)) {
            continue;
        }
        const struct gpume_vector whole = general->whole_vectors[at];
        const struct gpume_matcher matcher = gpume_matcher_make(general->plan,
            general->kernels->general, layer, index, general->searched, pair->searched);
        const struct sweep empty = sweep_of(&matcher);
        struct gpume_candidate best = refine_best(&empty,
            (struct gpume_candidate){general->whole_costs[at], whole.dx * units, whole.dy * units});
        pair->vectors[at] = (struct gpume_vector){(int16_t)best.dx, (int16_t)best.dy};
        pair->costs[at] = best.cost;
    }
}

static void choose_item(void *opaque, uint32_t item)
{
    struct gpume_general *general = opaque;
    uint32_t row = item;
    const struct gpume_shape *layer = find_row(general->plan, &row);
    for (uint32_t x = 0; x < layer->blocks_x && !gpume_is_cancelled(general->cancelled); x++) {
        const uint32_t index = row * layer->blocks_x + x;
        if (is_wanted(general, layer->first + index)) {
            choose_block(general, layer, index);
        }
    }
}

/* One row of the largest squares. */
static void partition_item(void *opaque, uint32_t item)
{
    struct gpume_general *general = opaque;
    const struct gpume_plan *plan = general->plan;
    const struct gpume_partition partition = gpume_partition_of(plan);
    const struct gpume_shape *root = &plan->layers[partition.levels[0].whole];
    uint32_t first[GPUME_LAYERS_MAX],
        end[GPUME_LAYERS_MAX]; /* blocks of each layer inside the row */
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        const struct gpume_shape *layer = &plan->layers[i];
        const uint64_t rows = root->block_h / layer->block_h;
        first[i] = (uint32_t)gpume_min_u64(item * rows, layer->blocks_y) * layer->blocks_x;
        end[i] = (uint32_t)gpume_min_u64((item + 1) * rows, layer->blocks_y) * layer->blocks_x;
        memset(general->chosen + layer->first + first[i], 0,
            (end[i] - first[i]) * sizeof(*general->chosen));
    }
    for (uint32_t i = item * root->blocks_x; i < (item + 1) * root->blocks_x; i++) {
        gpume_partition_choose(plan, &partition, general->costs, general->bits, i, general->chosen);
    }
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        map_chosen(general, &plan->layers[i], first[i], end[i]);
    }
}

static void rank_layers(void *opaque, uint32_t item)
{
    struct gpume_general *general = opaque;
    (void)item;
    for (uint32_t i = 0; i < general->plan->layer_count; i++) {
        const struct gpume_shape *layer = &general->plan->layers[i];
        gpume_host_rank(general->costs + layer->first, layer->blocks, 32,
            general->ranks + layer->first, general->scratch);
    }
}

/* stage: the row of its time in the statistics. */
static void add_step(
    struct gpume_general *general, const char *stage, gpume_work_fn fn, uint32_t count)
{
    const uint32_t index = general->step_count++;
    general->stages[index] = stage;
    general->steps[index] = (struct gpume_step){
        .fn = fn, .opaque = general, .pace = &general->paces[index], .count = count};
}

static void add_steps(struct gpume_general *general)
{
    const struct gpume_plan *plan = general->plan;
    uint32_t rows = rows_of(plan);
    general->step_count = 0;
    if (plan->fast_pixels) {
        add_step(general, "match", refine_item, rows);
    }
    for (uint32_t i = 0; !plan->fast_pixels && i < plan->passes; i++) {
        if (i > 0) {
            add_step(general, "match", predict_rows, general->pair_count * rows);
        }
        add_step(general, "match", i + 1 < plan->passes ? search_best : search_kept,
            general->pair_count * rows);
    }
    add_step(general, "match", choose_item, rows);
    if (plan->params.partition) {
        const struct gpume_partition partition = gpume_partition_of(plan);
        add_step(
            general, "reduce", partition_item, plan->layers[partition.levels[0].whole].blocks_y);
    }
    add_step(general, "rank", rank_layers, 1);
    add_step(general, "reduce", measure_cells, cell_rows(plan));
}

/* --- memory */

static void *allocate_wanted(
    struct gpume_allocations *memory, bool wanted, uint64_t count, size_t size)
{
    return wanted ? gpume_allocate(memory, count, size) : NULL;
}

void gpume_general_init(
    struct gpume_general *g, const struct gpume_plan *plan, struct gpume_allocations *memory)
{
    const struct gpume_params *p = &plan->params;
    const uint64_t blocks = plan->blocks, kept = blocks * plan->kept;
    const uint64_t cells = (uint64_t)cells_x(plan) * cell_rows(plan);
    const size_t word = sizeof(uint32_t), vector = sizeof(struct gpume_vector);
    g->plan = plan;
    for (uint32_t i = 0; i < plan->references; i++) {
        struct gpume_pair *pair = &g->pairs[i];
        pair->predictors = gpume_allocate(memory, blocks, vector);
        pair->vectors = gpume_allocate(memory, kept, vector);
        pair->costs = gpume_allocate(memory, kept, word);
        pair->ties = gpume_allocate(memory, blocks, word);
    }
    g->vectors = gpume_allocate(memory, kept, vector);
    g->vectors2 = allocate_wanted(memory, p->bidirectional, blocks, vector);
    g->sums = gpume_allocate(memory, cell_rows(plan), sizeof(*g->sums));
    g->predicted = allocate_wanted(memory, p->want_predicted, plan->plane_bytes, 1);
    g->costs = gpume_allocate(memory, kept, word);
    g->ranks = gpume_allocate(memory, blocks, word);
    g->bits = allocate_wanted(memory, p->rate, kept, word);
    g->refs = allocate_wanted(memory, p->best_reference, blocks, word);
    g->refs2 = allocate_wanted(memory, p->bidirectional, blocks, word);
    g->ties = allocate_wanted(memory, p->confidence, blocks, word);
    g->texture = allocate_wanted(memory, p->confidence, blocks, word);
    g->chosen = allocate_wanted(memory, p->partition, blocks, word);
    g->cells = allocate_wanted(memory, p->partition, cells, word);
}

/* --- a task */

static void start_pair(struct gpume_general *g, const struct gpume_rings *rings, uint32_t index,
    const struct gpume_task *task)
{
    const struct gpume_plan *plan = g->plan;
    struct gpume_pair *pair = &g->pairs[index];
    uint64_t reference = index == 0 ? task->reference : task->more[index - 1];
    pair->searched = gpume_rings_at(rings, plan->searched, reference);
    pair->measured = gpume_rings_at(rings, plan->measured, reference);
    pair->future = reference > task->target;
    for (uint32_t i = 0; i < GPUME_RING_BOXES; i++) {
        pair->box_sums[i] = gpume_rings_sums(rings, i, reference);
    }
    for (uint32_t i = 0; i < plan->blocks; i++) {
        pair->predictors[i] =
            g->given ? g->given[(size_t)index * plan->blocks + i] : (struct gpume_vector){0, 0};
    }
}

void gpume_general_start(struct gpume_general *general, const struct gpume_rings *rings,
    const struct gpume_field_box *box)
{
    const struct gpume_plan *plan = general->plan;
    general->searched = gpume_rings_at(rings, plan->searched, box->task.target);
    general->measured = gpume_rings_at(rings, plan->measured, box->task.target);
    general->given = box->predictors;
    general->wanted = box->task.wanted;
    general->tried = general->compared = 0;
    for (uint32_t i = 0; i < GPUME_RING_BOXES; i++) {
        general->box_sums[i] = gpume_rings_sums(rings, i, box->task.target);
    }
    general->pair_count = 1 + box->task.more_count;
    for (uint32_t i = 0; i < general->pair_count; i++) {
        start_pair(general, rings, i, &box->task);
    }
    add_steps(general);
}

void gpume_general_complete(struct gpume_general *g, struct gpume_field_box *box)
{
    const struct gpume_plan *plan = g->plan;
    struct gpume_field *field = &box->field;
    box->results = (struct gpume_results){.vectors = g->vectors,
        .costs = g->costs,
        .ranks = g->ranks,
        .bits = g->bits,
        .refs = g->refs,
        .refs2 = g->refs2,
        .vectors2 = g->vectors2,
        .ties = g->ties,
        .texture = g->texture,
        .chosen = g->chosen};
    field->sums = (struct gpume_sums){.zero = count_zero(g)};
    for (uint32_t i = 0; i < cell_rows(plan); i++) {
        gpume_measure_add(&field->sums, &g->sums[i]);
    }
    field->predicted = gpume_plan_plane(plan, g->predicted);
}
