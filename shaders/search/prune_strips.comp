/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The full search by successive elimination (see prune_wide.comp) for small blocks: by the sums of
 * the block's four quarters alone, which exclude nearly all candidates of such blocks. (Where few
 * candidates are to be bounded, prune_small.comp is faster.)
 *
 * A workgroup takes LOCAL / TEAM neighbouring blocks in raster order, so that they share what the
 * caches hold of the reference's sums. TEAM invocations, a team, bound the candidates of one block.
 * 1. The zero vector is compared. A block that it matches exactly is done.
 * 2. The team bounds all candidates in strips: eight columns wide, STRIP rows high. An invocation
 *    goes down a strip; a row of sums that it has loaded serves as the upper quarters of a
 *    candidate and, HALF_H rows later, as the lower quarters of another. It keeps the least bound.
 * 3. The candidates with the least bounds in the SEEDS least strips are compared, so that the best
 *    cost is low.
 * 4. Strips that the best cost does not exclude become a list. From there on the workgroup shares
 *    all work, no matter whose block it is for: the candidates of these strips are bounded again,
 *    and those that are not excluded go on a second list, which is compared whenever it is full. A
 *    block with too many of them (noise) falls back to the search without pruning.
 *
 * A block that the picture's lower edge cuts is bounded by its upper quarters. If these are cut, or
 * the right edge cuts the block, it falls back at once.
 *
 * Grid: x = LOCAL / TEAM blocks in raster order, z = task. Reads padded frames and sums; writes
 * vectors, costs and fallback (by block, 1: search it in full; then a list of those blocks) and
 * adds to the task's counts.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef GPUME_HALF
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#include "common/shared.h"
#include "common/common.glsl"
#include "common/task.glsl"
#include "search/search.glsl"

layout(constant_id = GPUME_SPEC_QUARTER_SHIFT) const uint QUARTER_SHIFT = 0;
layout(constant_id = GPUME_SPEC_KEY_BITS) const uint KEY_BITS = 8;
layout(constant_id = GPUME_SPEC_GIVE_UP) const uint GIVE_UP = 64;
layout(constant_id = GPUME_SPEC_TEAM) const uint TEAM = 8;
layout(constant_id = GPUME_SPEC_PART) const uint STRIP = 8;
layout(constant_id = GPUME_SPEC_SEEDS) const uint SEEDS = 2;

layout(local_size_x_id = GPUME_SPEC_LOCAL) in;
layout(constant_id = GPUME_SPEC_LOCAL) const uint LOCAL = 64;

layout(std430, binding = 0) readonly buffer Padded { QUAD padded[]; };
layout(std430, binding = 1) readonly buffer Quarters { uvec2 quarters[]; }; /* fours of a row */
layout(std430, binding = 2) writeonly buffer Vectors { uint vectors[]; };
layout(std430, binding = 3) writeonly buffer Costs { uint costs[]; };
layout(std430, binding = 4) buffer Fallback { uint fallback[]; };
layout(std430, binding = 5) buffer Counts { uint counts[]; };
layout(push_constant) uniform Push { gpume_prune_small_push pc; };

#include "search/sum_bounds.glsl"
#include "search/prune_results.glsl"
#include "search/runs.glsl"

const uint NONE = 0xffffffffu;
const uint HALF_W = BLOCK_W / 2u, HALF_H = BLOCK_H / 2u; /* 2 to 8, HALF_W even */
const uint ROWS = uint(2 * WINDOW_Y + 1);
const uint EIGHTS = uint(PAD_X + WINDOW_X + 8) / 8u; /* of a row of candidates */
const uint STRIPS = EIGHTS * ((ROWS + STRIP - 1u) / STRIP);
const uint EACH = (STRIPS + TEAM - 1u) / TEAM; /* strips of an invocation, at most 32 */
const uint BLOCKS = LOCAL / TEAM;
const uint LIST = 2u * LOCAL;
const uint QUADS_X = BLOCK_W / 4u;
const uint SHARE = (BLOCK_W * BLOCK_H + 15u) / 16u; /* invocations that compare a candidate */

shared uint best[BLOCKS];    /* cost << KEY_BITS | order */
shared uint corners[BLOCKS]; /* of blocks, in blocks: x | y << 16 */
shared uvec2 own_sums[BLOCKS]; /* of their quarters, two to a word */
shared uint least_strips[BLOCKS * SEEDS]; /* least bound << 16 | strip */
shared uint least[BLOCKS * SEEDS];        /* in them: least bound << 16 | row * 8 + column */
shared uint seeds[BLOCKS * SEEDS]; /* candidates that were compared first, or NONE */
shared uint hits[BLOCKS];          /* candidates of the block that got onto the list */
/* The least bounds of strips, then strips to look at: team << 16 | strip. */
shared uint strips[EACH * LOCAL];
shared uint strip_count;
shared uint list[LIST]; /* team << 24 | row << 12 | column, see candidate_of; or NONE */
shared uint list_costs[LIST]; /* 0 between comparisons */
shared uint list_count; /* including those that did not fit */
shared uint passed;     /* candidates that were compared, or fell back */

uint z; /* task */
uint target_base, reference_base; /* quads to the frames */
uint sums_base;                   /* fours to the reference's sums */

/* About the block that an invocation works on, its own or another's. */
uint owner; /* its team */
uvec2 position, size; /* samples that the edge leaves */
PAIR target[4];       /* sums of quarters */
PAIR lower;           /* 1, or 0 where the lower quarters are cut */
uint sums_first; /* fours to that of the block at dx = -PAD_X, dy = -WINDOW_Y */
uint row_last;   /* the last row of sums below it that the block's candidates have */

#include "search/prune_eights.glsl"

uvec2 corner_of(uint team)
{
    return uvec2(corners[team] & 0xffffu, corners[team] >> 16) * BLOCK_SIZE;
}

/* A row of sums that eight neighbouring candidates look at, two to a word: the eight, and those
 * HALF_W columns to the right. */
#define SUMS uint[8]
SUMS sums_at(uint row, uint eight)
{
    const uint FOURS = (8u + HALF_W + 3u) / 4u;
    uint at = sums_first + min(row, row_last) * pc.sum_stride + 2u * eight;
    SUMS sums;
    [[unroll]] for (uint i = 0u; i < FOURS; i++) {
        uvec2 four = quarters[at + i];
        sums[2u * i] = four.x;
        sums[2u * i + 1u] = four.y;
    }
    return sums;
}

/* The bounds of eight neighbouring candidates, by rows of sums for the upper and lower quarters. */
PAIR[4] bounds_of(SUMS above, SUMS below)
{
    PAIR result[4];
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        uint right = i + HALF_W / 2u;
        PAIR sum = abs(pair_of(above[i]) - target[0]) + abs(pair_of(above[right]) - target[1]);
        PAIR under = abs(pair_of(below[i]) - target[2]) + abs(pair_of(below[right]) - target[3]);
        result[i] = sum + lower * under;
    }
    return result;
}

PAIR[4] bounds_at(uint row, uint eight)
{
    return bounds_of(sums_at(row, eight), sums_at(row + HALF_H, eight));
}

/* The SAD of eight samples: of two quads. to, from: the quads of the target and of the reference,
 * shift: and samples. */
uint pair_at(uvec2 to, uvec2 from, uint shift, uint up)
{
    return difference(words_of(padded[to.x], padded[to.y]),
        words_of(shifted(padded[from.x], padded[from.x + 1u], shift, up),
            shifted(padded[from.y], padded[from.y + 1u], shift, up)));
}

/* Pairs of quads of a block with this many rows, row by row. */
uint pairs_of(uint rows) { return (rows * QUADS_X + 1u) / 2u; }

/* Quads from the block's first to number `i`, row by row. */
uint line_of(uint i) { return i / QUADS_X * pc.frames.stride + i % QUADS_X; }

/* What member `member` of SHARE adds to the cost of a listed candidate. */
uint share_of(uint entry, uint member)
{
    uvec2 corner = corner_of(entry >> 24);
    uint row = row_of(entry), column = column_of(entry), stride = pc.frames.stride;
    uint to = target_base + (corner.y + uint(WINDOW_Y)) * stride + (corner.x + uint(PAD_X)) / 4u;
    uint from = reference_base + (corner.y + row) * stride + (corner.x + column) / 4u;
    uint shift = column % 4u, up = lift_of(shift), cost = 0u;
    uint quads = visible(corner).y * QUADS_X;
    [[unroll]] for (uint i = 0u; i < 2u; i++) {
        uint pair = 2u * (member + i * SHARE), first = line_of(pair);
        uint second = QUADS_X % 2u == 0u ? first + 1u : line_of(pair + 1u);
        if (pair + 1u < quads) {
            cost += pair_at(to + uvec2(first, second), from + uvec2(first, second), shift, up);
        }
    }
    return cost;
}

/* Makes the block of a team, which must have one, the current block. */
void select_block(uint team)
{
    owner = team;
    position = corner_of(team);
    size = visible(position);
    bool whole = size.y == BLOCK_H;
    uvec2 sums = own_sums[owner];
    target = PAIR[4](pair_of((sums.x & 0xffffu) * 0x10001u), pair_of((sums.x >> 16) * 0x10001u),
        pair_of((sums.y & 0xffffu) * 0x10001u), pair_of((sums.y >> 16) * 0x10001u));
    lower = PAIR(whole);
    row_last = ROWS - 1u + (whole ? HALF_H : 0u);
    sums_first = sums_base + position.y * pc.sum_stride + position.x / 4u;
}

uint limit() { return limit_of(best[owner] >> KEY_BITS, 4u, QUARTER_SHIFT); }

uint strip_row(uint strip) { return strip / EIGHTS * STRIP; }

/* The least bound of a strip. */
uint bound_strip(uint strip)
{
    uint row = strip_row(strip), eight = strip % EIGHTS;
    SUMS above[8];
    [[unroll]] for (uint i = 0u; i < HALF_H; i++) {
        above[i] = sums_at(row + i, eight);
    }
    PAIR nearest = PAIR(FAR);
    for (uint y = 0u; y < STRIP; y += HALF_H) {
        [[unroll]] for (uint i = 0u; i < HALF_H; i++) {
            SUMS below = sums_at(row + y + i + HALF_H, eight);
            PAIR bounds[4] = bounds_of(above[i], below);
            nearest = min(nearest, min(min(bounds[0], bounds[1]), min(bounds[2], bounds[3])));
            above[i] = below;
        }
    }
    uint both = bits_of(nearest);
    return min(both & 0xffffu, both >> 16);
}

/* Bounds the team's share of the strips and offers the least one. */
void bound_strips(uint member)
{
    uint nearest = NONE;
    for (uint i = 0u; i < EACH; i++) {
        uint strip = i * TEAM + member, bound = NOWHERE;
        if (strip < STRIPS) {
            bound = bound_strip(strip);
            nearest = min(nearest, bound << 16 | strip);
        }
        strips[i * LOCAL + gl_LocalInvocationIndex] = bound;
    }
    atomicMin(least_strips[owner * SEEDS + member % SEEDS], nearest);
}

/* Offers the nearest candidates of the team's seed strips, a row at a time. */
void find_seeds(uint member)
{
    for (uint i = member; i < SEEDS * STRIP; i += TEAM) {
        uint which = owner * SEEDS + i / STRIP, strip = least_strips[which] & 0xffffu;
        if (least_strips[which] == NONE) {
            continue;
        }
        uint row = strip_row(strip) + i % STRIP, eight = strip % EIGHTS, nearest = NONE;
        PAIR bounds[4] = bounds_at(row, eight);
        uint mask = row < ROWS ? allowed_of(row, eight * 8u) : 0u;
        [[unroll]] for (uint j = 0u; j < 8u; j++) {
            uint bit = j / 2u + 16u * (j % 2u), bound = bits_of(bounds[j / 2u]) >> 16u * (j % 2u);
            uint key = bound << 16 | i % STRIP * 8u + j;
            nearest = min(nearest, (mask >> bit & 1u) != 0u ? key : NONE);
        }
        atomicMin(least[which], nearest);
    }
}

/* The candidate that find_seeds has found in seed strip `which`, or NONE. */
uint seed_of(uint which)
{
    uint strip = least_strips[which] & 0xffffu, place = least[which] & 0xffffu;
    return least[which] == NONE
               ? NONE
               : candidate_of(strip_row(strip) + place / 8u, strip % EIGHTS * 8u + place % 8u);
}

/* The invocation's strips that the best cost does not exclude, as bits. */
uint open_strips()
{
    uint open = 0u, most = limit() & 0xffffu;
    for (uint i = 0u; i < EACH; i++) {
        open |= uint(strips[i * LOCAL + gl_LocalInvocationIndex] <= most) << i;
    }
    return open;
}

void list_strips(uint open, uint member)
{
    for (; open != 0u; open &= open - 1u) {
        strips[atomicAdd(strip_count, 1u)] = owner << 16 | uint(findLSB(open)) * TEAM + member;
    }
}

/* Compares the first `count` of the list. All of the workgroup calls it. */
void compare_list(uint count)
{
    for (uint i = gl_LocalInvocationIndex; i < count * SHARE; i += LOCAL) {
        if (list[i / SHARE] != NONE) {
            atomicAdd(list_costs[i / SHARE], share_of(list[i / SHARE], i % SHARE));
        }
    }
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < count; i += LOCAL) {
        uint entry = list[i], cost = list_costs[i];
        list_costs[i] = 0u;
        if (entry != NONE) {
            int dx = int(column_of(entry)) - PAD_X, dy = int(row_of(entry)) - WINDOW_Y;
            atomicMin(best[entry >> 24], cost << KEY_BITS | order_of(dx, dy));
        }
    }
    barrier();
}

/* Where an invocation is in its share of the strips. */
uint first; /* the candidate that the eight begins with that it looks at */
uint found; /* and candidates of this that are not listed yet, see allowed_of */

/* Bounds row `item` of the listed strips. */
void find_more(uint item)
{
    uint entry = strips[item / STRIP], strip = entry & 0xffffu;
    select_block(entry >> 16);
    uint row = strip_row(strip) + item % STRIP, eight = strip % EIGHTS;
    first = candidate_of(row, 8u * eight);
    PAIR bounds[4] = bounds_at(row, eight);
    uint most = limit();
    found = 0u;
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        found |= within(bits_of(bounds[i]), most) >> (15u - i);
    }
    /* Others may add to the hits: any value will do. */
    if (found != 0u && row < ROWS && hits[owner] <= GIVE_UP) {
        found = without(found & allowed_of(row, 8u * eight), first, zero_candidate());
        [[unroll]] for (uint i = 0u; i < SEEDS; i++) {
            found = without(found, first, seeds[owner * SEEDS + i]);
        }
        atomicAdd(hits[owner], uint(bitCount(found)));
    } else {
        found = 0u;
    }
}

/* Lists the candidates found; false: there is no room for them. */
bool list_found()
{
    uint count = uint(bitCount(found)), place = atomicAdd(list_count, count);
    if (place + count > LIST) {
        for (; place < LIST; place++) {
            list[place] = NONE;
        }
        return false;
    }
    for (; found != 0u; found &= found - 1u) {
        uint bit = uint(findLSB(found));
        list[place++] = owner << 24 | first + bit % 16u * 2u + bit / 16u;
    }
    return true;
}

/* Goes through the listed strips, all invocations together. */
void search_strips(uint items)
{
    uint item = gl_LocalInvocationIndex;
    found = 0u;
    for (bool more = true; more;) { /* uniform: `listed` is read between barriers */
        if (gl_LocalInvocationIndex == 0u) {
            list_count = 0u;
        }
        barrier();
        for (bool room = true; room && (found != 0u || item < items);) {
            if (found == 0u) {
                find_more(item);
                item += LOCAL;
            }
            room = found == 0u || list_found();
        }
        barrier();
        uint listed = list_count;
        more = listed > LIST;
        compare_list(min(listed, LIST));
    }
}

/* The candidates that are compared first. */
void list_seeds(uint team, uint candidate, uint place)
{
    list[place] = candidate == NONE ? NONE : team << 24 | candidate;
}

/* All of the workgroup calls it; live: the team has a block to search. */
void search(uint team, uint member, bool live)
{
    uint lane = gl_LocalInvocationIndex;
    if (member == 0u) {
        list_seeds(team, live ? zero_candidate() : NONE, team);
    }
    barrier();
    compare_list(BLOCKS);
    live = live && best[team] != 0u;
    if (live) {
        select_block(team);
        bound_strips(member);
    }
    barrier();
    if (live) {
        find_seeds(member);
    }
    barrier();
    if (lane < BLOCKS * SEEDS) {
        seeds[lane] = seed_of(lane);
        list_seeds(lane / SEEDS, seeds[lane], lane);
    }
    barrier();
    compare_list(BLOCKS * SEEDS);
    uint open = live && best[team] != 0u ? open_strips() : 0u;
    barrier();
    list_strips(open, member);
    barrier();
    if (strip_count > 0u) { /* uniform: final since the barrier */
        search_strips(strip_count * STRIP);
    }
}

/* The sums of the quarters of the team's block. */
void sum_up(uint team, uvec2 block)
{
    uvec2 at = block + uvec2(PAD_X, WINDOW_Y);
    uint frame = target_place(z) * pc.sum_places;
    bool whole = block.y + BLOCK_H <= pc.layer.height;
    uint sums[4];
    [[unroll]] for (uint i = 0u; i < 4u; i++) { /* in even columns */
        uvec2 to = at + uvec2(i % 2u * HALF_W, whole ? i / 2u * HALF_H : 0u);
        sums[i] = quarters[frame + to.y * pc.sum_stride + to.x / 4u][to.x / 2u % 2u] & 0xffffu;
    }
    own_sums[team] = uvec2(sums[0] | sums[1] << 16, sums[2] | sums[3] << 16);
}

/* How many of the block's candidates were compared. */
uint compared_of(uint team)
{
    uint count = hits[team] + 1u;
    for (uint i = 0u; i < SEEDS; i++) {
        uint seed = seeds[team * SEEDS + i];
        count += uint(seed != NONE && seed != zero_candidate());
    }
    return count;
}

/* The block's result, or its entry among those that fall back. */
void finish(uint team, uint block, bool gave_up)
{
    uint index = z * pc.layer.blocks + block;
    fallback[index] = uint(gave_up);
    if (gave_up) {
        uvec2 corner = corner_of(team);
        fall_back(index);
        atomicAdd(passed, candidates_in(allowed_range(corner, visible(corner))));
    } else {
        uint at = result_index(pc.layer, z, block);
        vectors[at] = vector_of(best[team] & ((1u << KEY_BITS) - 1u));
        costs[at] = best[team] >> KEY_BITS;
        atomicAdd(passed, compared_of(team));
    }
}

/* Clears what the workgroup shares. */
void start(uint team, uvec2 grid)
{
    uint lane = gl_LocalInvocationIndex;
    best[team] = NONE;
    corners[team] = grid.x | grid.y << 16;
    hits[team] = 0u;
    for (uint i = lane; i < LIST; i += LOCAL) {
        list_costs[i] = 0u;
    }
    if (lane < BLOCKS * SEEDS) {
        least_strips[lane] = least[lane] = seeds[lane] = NONE;
    }
    if (lane == 0u) {
        strip_count = passed = 0u;
    }
}

void main()
{
    uint lane = gl_LocalInvocationIndex, team = lane / TEAM, member = lane % TEAM;
    uint block = pc.block_first + gl_WorkGroupID.x * BLOCKS + team;
    uvec2 grid = uvec2(block % pc.layer.blocks_x, block / pc.layer.blocks_x);
    bool there = block < pc.layer.blocks, gave_up = false;
    z = gl_WorkGroupID.z;
    target_base = target_of(pc.frames, z);
    reference_base = reference_of(pc.frames, z);
    sums_base = reference_place(z) * pc.sum_places;
    start(team, grid);
    if (there) {
        uvec2 size = visible(grid * BLOCK_SIZE);
        gave_up = size.x < BLOCK_W || size.y < HALF_H || size.y * QUADS_X % 2u != 0u;
        if (!gave_up && member == 0u) {
            sum_up(team, grid * BLOCK_SIZE);
        }
    }
    search(team, member, there && !gave_up);
    if (there && member == 0u) {
        finish(team, block, gave_up || hits[team] > GIVE_UP);
    }
    barrier();
    if (lane == 0u) {
        count_up(z, GPUME_COUNT_PAST_BLOCKS, passed);
        count_up(z, GPUME_COUNT_PAST_PARTS, passed);
    }
}
