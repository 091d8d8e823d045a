/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search of one block by a workgroup, for the least (cost, order). The invocations take turns
 * at the groups of places (places.glsl). A group whose bound (bound.glsl) is above the least cost
 * so far has no place that can win or tie; of the other groups each place gets its own bound.
 * Places that remain wait in a list. Once it is long enough, the workgroup compares the places of
 * the list. Where no cost is known to begin with, places with the least bounds, in the groups with
 * the least bounds, are compared first, so that there is a low one.
 *
 * Shared memory: 17 words per invocation at most. Include after cost.glsl, places.glsl and
 * bound.glsl, and after push constants pc.
 */
layout(constant_id = GPUME_SPEC_LOCAL) const uint LOCAL = 64;

/* Groups, then places, that an invocation looks at in a turn: measured. */
const uint AT_ONCE = METRIC == GPUME_SPEC_METRIC_SATD ? 4u : 2u;
const uint GROUPS_AT_ONCE = AT_ONCE * LOCAL / GROUP; /* whose places these are */
const uint LIST = LOCAL * (AT_ONCE + 1u);
const uint SEEDS = (LOCAL + 7u) / 8u;

/* Cost, order, and how many other places have that cost. */
shared uvec3 bests[LOCAL];
shared uint list[LIST], sums[LIST]; /* places, and their D as far as it is summed up */
shared uint list_count;
shared uint groups[LOCAL * AT_ONCE]; /* those whose places are to be looked at */
shared uint group_count;
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
uvec2 boxes, ranges; /* of the reference */
uint predictor;
uint compared = 0u; /* places, seeds apart: at most pc.end - pc.first < 2^29; for all invocations */

/* Whether this place counts. */
bool is_candidate(ivec2 v);

/* Not more than the cost of v, and of any place of a group. */
uint bound_of(ivec2 v, uint most)
{
    return bound_of_place(comparison, boxes, pc.box_words, v, most) +
           price_of(comparison, v, predictor);
}

uint group_bound(uint group, uint most)
{
    ivec2 first = group_of(group), last = first + (SIDE - 1) * STEP;
    return bound_of_group(comparison, ranges, first, most) +
           price_of(comparison, clamp(unpack_vector(predictor), first, last), predictor);
}

void put(uint place)
{
    uint at = atomicAdd(list_count, 1u);
    list[at] = place;
    sums[at] = 0u;
}

/* Compares the places of the list and empties it; the limit falls to the least cost. All of the
 * workgroup calls it, after a barrier. Neighbouring invocations compare neighbouring cells of a
 * place, first the upper ones of all places: what passes the limit by these is not compared
 * further. Other invocations may add to a sum while it is read, but sums only grow. */
uvec3 compare_listed(uvec3 best, uint lane)
{
    uvec2 cells = cells_of(METRIC);
    uint count = list_count, row = count * cells.x, most = limit;
    for (uint i = lane; i < row * cells.y; i += LOCAL) {
        uint k = i % row / cells.x;
        if (sums[k] <= most) {
            uvec2 cell = uvec2(i % cells.x, i / row);
            atomicAdd(sums[k], cell_sum(METRIC, comparison, place_of(list[k]), cell));
        }
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

/* What an invocation looks at next. There is one place in the code for each of its parts: the
 * kernel takes twice the time where it does not fit the device's cache for instructions. */
const uint SEED_GROUPS = 0u; /* all groups, for the least bounds */
const uint SEED_PLACES = 1u; /* the places of these, in the same way */
const uint SEARCH = 2u;      /* groups, then the places of those that can still win */

uvec2 least; /* of the invocation: bound, and whose it is */

/* Of `step` groups the first, from `first` on. While seeding it notes the least bound, then it
 * puts what can still win into `groups`. */
void look_at_groups(uint first, uint end, uint step, bool seeding, uint lane)
{
    uint most = limit;
    for (uint i = first + lane * step; i < end; i += LOCAL * step) {
        uint other = pc.pruned != 0u ? group_bound(i, seeding ? least.x : most) : 0u;
        if (seeding) {
            least = other < least.x ? uvec2(other, i) : least;
        } else if (other <= most) {
            groups[atomicAdd(group_count, 1u)] = i;
        }
    }
}

/* The same with the places of some of `groups`; what can still win is listed. */
void look_at_places(uint first, uint end, bool seeding, uint lane)
{
    uint most = limit;
    for (uint i = first * GROUP + lane; i < end * GROUP; i += LOCAL) {
        uint place = groups[i / GROUP] * GROUP + i % GROUP;
        ivec2 v = place_of(place);
        if (!is_candidate(v)) {
            continue;
        }
        uint other = pc.pruned != 0u ? bound_of(v, seeding ? least.x : most) : 0u;
        if (seeding) {
            least = other < least.x ? uvec2(other, place) : least;
        } else if (other <= most) {
            put(place);
        }
    }
}

/* Of the least bounds of the invocations, makes the least ones the groups to look at, or lists
 * those places. */
void keep_least(bool of_groups, uint lane)
{
    bests[lane] = uvec3(least, 0u);
    for (uint half_count = LOCAL / 2u; half_count >= SEEDS; half_count /= 2u) {
        barrier();
        if (lane < half_count && bests[lane + half_count].x < bests[lane].x) {
            bests[lane] = bests[lane + half_count];
        }
    }
    barrier();
    if (lane < SEEDS) {
        uvec2 best = bests[lane].xy;
        if (of_groups) {
            groups[lane] = best.x == NONE ? bests[0].y : best.y;
        } else if (best.x != NONE) {
            put(best.y);
        }
    }
}

/* The invocation's best. */
uvec3 search(uint lane)
{
    const uvec3 none = uvec3(NONE, NONE, 0u);
    uvec3 best = none;
    uint phase = pc.pruned != 0u && limit == NONE ? SEED_GROUPS : SEARCH;
    uint next = pc.first / GROUP, end = pc.end / GROUP; /* groups */
    uint at = 0u, count = 0u;                           /* in the list of groups */
    /* uniform: counts are read between barriers */
    while (phase != SEARCH || at < count || next < end) {
        bool seeding = phase != SEARCH, of_groups = at >= count;
        least = uvec2(NONE);
        if (of_groups) { /* uniform: so is count */
            if (lane == 0u) {
                group_count = seeding ? SEEDS : 0u;
            }
            uint first = seeding ? 0u : next;
            uint last = seeding ? GROUPS_X * GROUPS_Y : min(next + AT_ONCE * LOCAL, end);
            barrier();
            look_at_groups(first, last, seeding ? pc.coarse : 1u, seeding, lane);
            next = seeding ? next : last;
        } else {
            look_at_places(at, min(at + GROUPS_AT_ONCE, count), seeding, lane);
            at += GROUPS_AT_ONCE;
        }
        if (seeding) { /* uniform: as phase is */
            keep_least(of_groups, lane);
        }
        barrier();
        if (of_groups) {
            at = 0u;
            count = group_count;
        }
        bool is_full = phase == SEED_PLACES || list_count >= LOCAL || (at >= count && next >= end);
        barrier();
        if (is_full) { /* uniform: counted between barriers */
            compared += seeding ? 0u : list_count;
            best = compare_listed(best, lane);
        }
        if (seeding) {
            best = none; /* the seeds come again, with the others */
            phase++;
        }
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
