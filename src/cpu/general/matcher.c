/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/general/matcher.h"

#include "base/grid.h"
#include "model/rate.h"

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

void gpume_matcher_bound(struct gpume_matcher *matcher, const struct gpume_shape *layer,
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

uint32_t gpume_matcher_bits(const struct gpume_matcher *matcher, int32_t dx, int32_t dy)
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
    uint32_t bits = matcher->more_bits + gpume_matcher_bits(matcher, dx, dy);
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

static void compare_matches(const struct sweep *sweep, const void *const *matches, uint32_t count,
    uint32_t limit, uint32_t *d)
{
    const struct gpume_matcher *matcher = sweep->matcher;
    const gpume_distortions_fn several = matcher->kernels->several_satd8;
    if (several && sweep->metric == GPUME_METRIC_SATD && matcher->plan->sample_bytes == 1) {
        several(&matcher->target, matches, count, limit, d);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
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

uint32_t gpume_matcher_search(const struct gpume_matcher *matcher, const struct gpume_vector *seeds,
    uint32_t seed_count, struct gpume_candidate *found, uint32_t count,
    struct gpume_matcher_counts *counts)
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

struct gpume_candidate gpume_matcher_refine(
    const struct gpume_matcher *matcher, struct gpume_candidate whole)
{
    const struct sweep empty = sweep_of(matcher);
    return refine_best(&empty, whole);
}
