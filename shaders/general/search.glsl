/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search of one block by a workgroup, for the least (cost, order). The invocations take turns
 * at the places. A place whose bound (bound.glsl) is above the least cost so far cannot win or tie;
 * the others wait in a list. Once it is long enough, the workgroup compares the places of the list:
 * several invocations share one, where there are few. To have a low cost early, the places with the
 * least bounds on a coarse grid are compared first.
 *
 * Bounding four neighbouring places in one invocation, from sums loaded together, and comparing the
 * places around the best seed early took 735 instead of 1254 us on an H200 for every quarter pixel
 * by SAD (1080p, 16x16, window 16), but 420 instead of 308 us for whole pixels by SATD.
 *
 * Shared memory: 13 words per invocation. Include after cost.glsl, places.glsl and bound.glsl, and
 * after push constants pc.
 */
layout(constant_id = GPUME_SPEC_LOCAL) const uint LOCAL = 64;

const uint AT_ONCE = 4u;  /* places that an invocation looks at before the list is */
const uint LIST = LOCAL * (AT_ONCE + 1u);
const uint SEEDS = (LOCAL + 7u) / 8u;
const uint PARTS_MAX = 8u;

/* Cost, order, and how many other places have that cost. */
shared uvec3 bests[LOCAL];
shared uint list[LIST], sums[LIST]; /* places, and their D as far as it is summed up */
shared uint list_count;
shared uint limit; /* no cost above it counts */

uvec3 better(uvec3 a, uvec3 b)
{
    if (a.x == b.x && a.x != NONE) {
        return uvec3(a.x, min(a.y, b.y), a.z + b.z + 1u);
    }
    return a.x <= b.x ? a : b;
}

/* Of the block: */
Comparison comparison;
uvec2 boxes; /* of the reference */
uint predictor;
uint compared = 0u; /* places, seeds apart: at most pc.end - pc.first < 2^29; for all invocations */

/* Does this place count? */
bool is_candidate(ivec2 v);

uint bound_of(ivec2 v, uint most)
{
    return bound(comparison, boxes, pc.box_words, v, most) + price_of(comparison, v, predictor);
}

void put(uint place)
{
    uint at = atomicAdd(list_count, 1u);
    list[at] = place;
    sums[at] = 0u;
}

/* Compares the places of the list and empties it; the limit falls to the least cost. All of the
 * workgroup calls it, after a barrier. */
uvec3 compare_listed(uvec3 best, uint lane)
{
    uint count = list_count, parts = 1u, most = limit;
    while (parts < PARTS_MAX && 2u * parts * count <= LOCAL) {
        parts *= 2u;
    }
    for (uint i = lane; i < count * parts; i += LOCAL) {
        uint k = i % count;
        atomicAdd(sums[k],
            difference_part(METRIC, comparison, place_of(list[k]), i / count, parts, most));
    }
    barrier();
    for (uint k = lane; k < count; k += LOCAL) {
        ivec2 v = place_of(list[k]);
        uint cost = sums[k] + price_of(comparison, v, predictor);
        best = better(best, uvec3(cost, order_of(v), 0u));
        atomicMin(limit, cost);
    }
    barrier();
    if (lane == 0u) {
        list_count = 0u;
    }
    barrier();
    return best;
}

/* Lists the places with the least bounds on the coarse grid. */
void put_seeds(uint lane)
{
    int coarse = int(pc.coarse);
    ivec2 grid = ivec2(REACH_X / coarse, REACH_Y / coarse); /* from (0,0) on */
    uint across = uint(2 * grid.x + 1), count = across * uint(2 * grid.y + 1);
    uvec2 least = uvec2(NONE);
    for (uint i = lane; i < count; i += LOCAL) {
        ivec2 at = (ivec2(i % across, i / across) - grid) * coarse, v = at * STEP;
        if (is_candidate(v)) {
            uint place = uint(at.y + REACH_Y) * SPAN + uint(at.x + REACH_X);
            uvec2 other = uvec2(bound_of(v, least.x), place);
            least = other.x < least.x ? other : least;
        }
    }
    bests[lane] = uvec3(least, 0u);
    for (uint half_count = LOCAL / 2u; half_count >= SEEDS; half_count /= 2u) {
        barrier();
        if (lane < half_count && bests[lane + half_count].x < bests[lane].x) {
            bests[lane] = bests[lane + half_count];
        }
    }
    barrier();
    if (lane < SEEDS && bests[lane].x != NONE) {
        put(bests[lane].y);
    }
}

/* Lists those of the places that can still win. */
void put_places(uint first, uint end, uint lane)
{
    uint most = limit;
    for (uint i = first + lane; i < end; i += LOCAL) {
        ivec2 v = place_of(i);
        if (is_candidate(v) && (pc.pruned == 0u || bound_of(v, most) <= most)) {
            put(i);
        }
    }
}

/* The invocation's best. */
uvec3 search(uint lane)
{
    const uvec3 none = uvec3(NONE, NONE, 0u);
    uvec3 best = none;
    bool seeding = pc.pruned != 0u && pc.first == 0u;
    uint first = pc.first;
    while (seeding || first < pc.end) {
        uint end = min(first + AT_ONCE * LOCAL, pc.end);
        if (seeding) {
            put_seeds(lane);
        } else {
            put_places(first, end, lane);
            first = end;
        }
        barrier();
        bool is_full = seeding || list_count >= LOCAL || end == pc.end;
        barrier();
        if (is_full) {
            compared += seeding ? 0u : list_count;
            best = compare_listed(best, lane);
        }
        best = seeding ? none : best; /* the seeds come again, with the others */
        seeding = false;
    }
    return best;
}

/* The workgroup's best, for all of it; none that costs more than `most`. Target sums are loaded
 * before. */
uvec3 search_block(uint most, uint lane)
{
    if (lane == 0u) {
        list_count = 0u;
        limit = most;
    }
    barrier();
    bests[lane] = search(lane);
    for (uint half_count = LOCAL / 2u; half_count > 0u; half_count /= 2u) {
        barrier();
        if (lane < half_count) {
            bests[lane] = better(bests[lane], bests[lane + half_count]);
        }
    }
    barrier();
    return bests[0];
}
