/* SPDX-License-Identifier: BSD-2-Clause */
#include "brute.h"

#include "brute_filter.h"
#include "synth.h"

#include <stdlib.h>

static int64_t clamp(int64_t value, int64_t high)
{
    return value < 0 ? 0 : value > high ? high : value;
}

static int64_t sample(const struct gpume_plane *plane, int64_t x, int64_t y)
{
    return synth_sample(
        plane, clamp(x, (int64_t)plane->width - 1), clamp(y, (int64_t)plane->height - 1));
}

struct region {
    int64_t x0, y0, x1, y1;
};

static uint64_t cost_at(const struct gpume_plane *target, const struct gpume_plane *reference,
    const struct region *r, int64_t dx, int64_t dy)
{
    uint64_t cost = 0;
    for (int64_t y = r->y0; y < r->y1; y++) {
        for (int64_t x = r->x0; x < r->x1; x++) {
            cost += (uint64_t)llabs(sample(target, x, y) - sample(reference, x + dx, y + dy));
        }
    }
    return cost;
}

static void search(const struct gpume_params *params, const struct gpume_plane *target,
    const struct gpume_plane *reference, const struct region *r, struct brute *out, uint32_t block)
{
    int64_t wx = params->window_x, wy = params->window_y;
    uint64_t best = cost_at(target, reference, r, 0, 0); /* (0,0) wins every tie */
    int64_t best_dx = 0, best_dy = 0;
    for (int64_t dy = -wy; dy <= wy; dy++) { /* then the first in this order */
        for (int64_t dx = -wx; dx <= wx; dx++) {
            bool inside = r->x0 + dx >= 0 && r->y0 + dy >= 0 &&
                          r->x1 + dx <= (int64_t)params->width &&
                          r->y1 + dy <= (int64_t)params->height;
            if (params->edge == GPUME_EDGE_INSIDE && !inside) {
                continue;
            }
            out->candidates++;
            uint64_t cost = cost_at(target, reference, r, dx, dy);
            if (cost < best) {
                best = cost;
                best_dx = dx;
                best_dy = dy;
            }
        }
    }
    out->dx[block] = (int32_t)best_dx;
    out->dy[block] = (int32_t)best_dy;
    out->costs[block] = best;
    out->zero += best_dx == 0 && best_dy == 0;
}

static void measure(const struct gpume_plane *target, const struct gpume_plane *reference,
    const struct region *r, struct brute *out, uint32_t block)
{
    for (int64_t y = r->y0; y < r->y1; y++) {
        for (int64_t x = r->x0; x < r->x1; x++) {
            int64_t c = sample(target, x, y);
            int64_t before = c - sample(reference, x, y);
            int64_t after = c - sample(reference, x + out->dx[block], y + out->dy[block]);
            out->sad_before += (uint64_t)llabs(before);
            out->sad_after += (uint64_t)llabs(after);
            out->sse_before += (uint64_t)(before * before);
            out->sse_after += (uint64_t)(after * after);
        }
    }
}

/* rank = how many blocks come before: costlier ones, and equal ones earlier in raster order. */
static void rank_all(struct brute *out)
{
    for (uint32_t i = 0; i < out->blocks; i++) {
        for (uint32_t j = 0; j < out->blocks; j++) {
            out->ranks[i] +=
                out->costs[j] > out->costs[i] || (out->costs[j] == out->costs[i] && j < i);
        }
    }
}

struct brute brute_field(const struct gpume_params *params, const struct gpume_plane *target,
    const struct gpume_plane *reference)
{
    int64_t side = params->block;
    int64_t across = (params->width + side - 1) / side, down = (params->height + side - 1) / side;
    struct brute out = {.blocks = (uint32_t)(across * down)};
    out.dx = calloc(out.blocks, sizeof(*out.dx));
    out.dy = calloc(out.blocks, sizeof(*out.dy));
    out.costs = calloc(out.blocks, sizeof(*out.costs));
    out.ranks = calloc(out.blocks, sizeof(*out.ranks));
    struct gpume_plane now = *target, past = *reference; /* what is searched */
    if (params->prefilter) {
        now = brute_filter(params->prefilter, target);
        past = brute_filter(params->prefilter, reference);
    }
    for (uint32_t block = 0; block < out.blocks; block++) {
        struct region r = {.x0 = block % across * side, .y0 = block / across * side};
        r.x1 = r.x0 + side > params->width ? params->width : r.x0 + side;
        r.y1 = r.y0 + side > params->height ? params->height : r.y0 + side;
        search(params, &now, &past, &r, &out, block);
        measure(target, reference, &r, &out, block);
    }
    if (params->prefilter) {
        free(now.data);
        free(past.data);
    }
    rank_all(&out);
    return out;
}

void brute_free(struct brute *brute)
{
    free(brute->dx);
    free(brute->dy);
    free(brute->costs);
    free(brute->ranks);
}
