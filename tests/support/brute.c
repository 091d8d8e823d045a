/* SPDX-License-Identifier: BSD-2-Clause */
#include "brute.h"

#include "brute_filter.h"
#include "synth.h"

#include <stdlib.h>

static int64_t clamp(int64_t value, int64_t high)
{
    return value < 0 ? 0 : value > high ? high : value;
}

/* Reads a plane's samples row by row into elements of one size, whatever its depth. */
struct samples {
    int64_t width, height;
    uint16_t *values;
};

static struct samples samples_of(const struct gpume_plane *plane)
{
    struct samples all = {plane->width, plane->height,
        calloc((size_t)plane->width * plane->height, sizeof(uint16_t))};
    for (int64_t y = 0; y < all.height; y++) {
        for (int64_t x = 0; x < all.width; x++) {
            all.values[y * all.width + x] = (uint16_t)synth_sample(plane, x, y);
        }
    }
    return all;
}

static struct samples filtered(
    const struct gpume_prefilter *prefilter, const struct gpume_plane *plane)
{
    struct gpume_plane made = brute_filter(prefilter, plane);
    struct samples all = samples_of(&made);
    free(made.data);
    return all;
}

static const uint16_t *row_at(const struct samples *all, int64_t y)
{
    return all->values + clamp(y, all->height - 1) * all->width;
}

static int64_t sample(const struct samples *all, int64_t x, int64_t y)
{
    return row_at(all, y)[clamp(x, all->width - 1)];
}

struct region {
    int64_t x0, y0, x1, y1;
};

static uint64_t cost_at(const struct samples *target, const struct samples *reference,
    const struct region *r, int64_t dx, int64_t dy)
{
    bool inside = r->x0 + dx >= 0 && r->x1 + dx <= reference->width;
    uint64_t cost = 0;
    for (int64_t y = r->y0; y < r->y1; y++) {
        const uint16_t *t = row_at(target, y), *from = row_at(reference, y + dy);
        uint32_t row = 0; /* 128 * 65535 at most */
        for (int64_t x = r->x0; x < r->x1; x++) {
            int64_t at = inside ? x + dx : clamp(x + dx, reference->width - 1);
            row += (uint32_t)abs(t[x] - from[at]);
        }
        cost += row;
    }
    return cost;
}

static void search(const struct gpume_params *params, const struct samples *target,
    const struct samples *reference, const struct region *r, struct brute *out, uint32_t block)
{
    int64_t wx = params->window_x, wy = params->window_y;
    uint64_t best = cost_at(target, reference, r, 0, 0); /* (0,0) first: it wins every tie */
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

static void measure(const struct samples *target, const struct samples *reference,
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

struct costly {
    uint64_t cost;
    uint32_t block;
};

static int costlier_first(const void *a, const void *b)
{
    const struct costly *x = a, *y = b;
    if (x->cost != y->cost) {
        return x->cost > y->cost ? -1 : 1;
    }
    return x->block < y->block ? -1 : x->block > y->block;
}

/* rank = number of blocks before this one: those with a higher cost, and those with the same cost
 * that come earlier in raster order. */
static void rank_all(struct brute *out)
{
    struct costly *order = calloc(out->blocks, sizeof(*order));
    for (uint32_t i = 0; i < out->blocks; i++) {
        order[i] = (struct costly){out->costs[i], i};
    }
    qsort(order, out->blocks, sizeof(*order), costlier_first);
    for (uint32_t rank = 0; rank < out->blocks; rank++) {
        out->ranks[order[rank].block] = rank;
    }
    free(order);
}

struct brute brute_layer(const struct gpume_params *params, uint32_t block_w, uint32_t block_h,
    const struct gpume_plane *target, const struct gpume_plane *reference)
{
    int64_t across = (params->width + block_w - 1) / block_w;
    int64_t down = (params->height + block_h - 1) / block_h;
    struct brute out = {.blocks = (uint32_t)(across * down)};
    out.dx = calloc(out.blocks, sizeof(*out.dx));
    out.dy = calloc(out.blocks, sizeof(*out.dy));
    out.costs = calloc(out.blocks, sizeof(*out.costs));
    out.ranks = calloc(out.blocks, sizeof(*out.ranks));
    const struct samples planes[2] = {samples_of(target), samples_of(reference)};
    struct samples searched[2] = {planes[0], planes[1]};
    if (params->prefilter) {
        searched[0] = filtered(params->prefilter, target);
        searched[1] = filtered(params->prefilter, reference);
    }
    for (uint32_t block = 0; block < out.blocks; block++) {
        struct region r = {.x0 = block % across * block_w, .y0 = block / across * block_h};
        r.x1 = r.x0 + block_w > params->width ? params->width : r.x0 + block_w;
        r.y1 = r.y0 + block_h > params->height ? params->height : r.y0 + block_h;
        search(params, &searched[0], &searched[1], &r, &out, block);
        measure(&planes[0], &planes[1], &r, &out, block);
    }
    for (uint32_t i = 0; i < 2; i++) {
        free(planes[i].values);
        if (params->prefilter) {
            free(searched[i].values);
        }
    }
    rank_all(&out);
    return out;
}

struct brute brute_field(const struct gpume_params *params, const struct gpume_plane *target,
    const struct gpume_plane *reference)
{
    return brute_layer(params, params->block, params->block, target, reference);
}

void brute_free(struct brute *brute)
{
    free(brute->dx);
    free(brute->dy);
    free(brute->costs);
    free(brute->ranks);
}
