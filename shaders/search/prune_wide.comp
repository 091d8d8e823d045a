/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The full search with successive elimination (Li and Salari 1995; by parts of the block: Gao,
 * Duanmu and Zou 2000). It is exact, because the sums of two squares of samples never differ by
 * more than the SAD of the squares. So the absolute differences between the sums of a block's four
 * quarters and those of a candidate's quarters add up to a lower bound of the candidate's SAD, and
 * those of the sixteen sixteenths to a tighter one. A candidate whose bound is above the best cost
 * so far cannot win and is not compared. Groups of 4 x 4 candidates are tested as a whole first:
 * the smallest and the largest sum of each quarter within a group bound all its candidates.
 *
 * One workgroup searches one block. "Nearest" means: with the least bound.
 * 1. It compares the zero vector, and bounds all groups of the window, or of one part of a large
 *    window.
 * 2. It divides the groups into SEEDS classes, and compares the nearest candidate of the nearest
 *    group of each class, so that the best cost is low from the start.
 * 3. It lists the groups that the best cost does not exclude, up to GROUP_LIST at a time, and
 *    bounds their candidates by quarters. A quad is four neighbouring candidates in a row. Quads
 *    in which a candidate passes go on a second list, of up to LIST quads.
 * 4. It bounds the quads of that list by sixteenths, compares the nearest candidate of each class,
 *    and then all candidates that are still not excluded.
 * If too many candidates pass, as in noise, the block falls back to the search without pruning.
 *
 * Sums and bounds are half floats: see sum_bounds.glsl.
 *
 * If the picture's lower edge cuts a block, only the complete parts of the block count towards its
 * bounds. If no quarter is complete, or the right edge cuts the block, it falls back at once.
 *
 * Grid: x = block, y = block row, z = task. Reads the frames' patches and sums; writes vectors,
 * costs and fallback (a flag for each block, 1: search it in full; then a list of those blocks),
 * and adds to the task's counts.
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
#include "search/patches.glsl"

layout(constant_id = GPUME_SPEC_QUARTER_SHIFT) const uint QUARTER_SHIFT = 0;
layout(constant_id = GPUME_SPEC_SIXTEENTH_SHIFT) const uint SIXTEENTH_SHIFT = 0;
layout(constant_id = GPUME_SPEC_PART) const uint PART = 17;
layout(constant_id = GPUME_SPEC_LIST) const uint LIST = 256;
layout(constant_id = GPUME_SPEC_GIVE_UP) const uint GIVE_UP = 64;

layout(local_size_x_id = GPUME_SPEC_LOCAL) in;
layout(constant_id = GPUME_SPEC_LOCAL) const uint LOCAL = 32;

layout(std430, binding = 0) readonly buffer Patches { OCTET patches[]; };
layout(std430, binding = 1) readonly buffer Quarters { uvec2 quarters[]; }; /* in 4 x 4 tiles */
layout(std430, binding = 2) readonly buffer Sixteenths { uvec2 sixteenths[]; };
layout(std430, binding = 3) readonly buffer Groups { uint groups[]; };
layout(std430, binding = 4) writeonly buffer Vectors { uint vectors[]; };
layout(std430, binding = 5) writeonly buffer Costs { uint costs[]; };
layout(std430, binding = 6) buffer Fallback { uint fallback[]; };
layout(std430, binding = 7) buffer Counts { uint counts[]; };
layout(push_constant) uniform Push { gpume_prune_wide_push pc; };

#include "search/sum_bounds.glsl"
#include "search/prune_results.glsl"
#include "search/runs.glsl"
#include "search/prune_compare.glsl"

/* Scalars: a vector of specialisation constants, divided, is invalid to the validation layer. */
const uint HALF_W = BLOCK_W / 2u, HALF_H = BLOCK_H / 2u;
const uint FOURTH_W = BLOCK_W / 4u, FOURTH_H = BLOCK_H / 4u;
const uint ROWS = uint(2 * WINDOW_Y + 1), CANDIDATES = ROWS * uint(2 * WINDOW_X + 1);

/* Groups have GROUP x GROUP candidates; a part of the window has PART rows of groups. */
const uint GROUP = 4u;
const uint GROUPS_X = uint(PAD_X + WINDOW_X + 4) / GROUP, GROUPS_Y = (ROWS + 3u) / GROUP;
const uint PARTS = (GROUPS_Y + PART - 1u) / PART;
const uint PART_GROUPS = PART * GROUPS_X;
const uint EACH = (PART_GROUPS + LOCAL - 1u) / LOCAL; /* groups per invocation */
const uint GROUP_LIST = 2u * LOCAL; /* more would cost shared memory and so occupancy */

shared uvec4 target_sums[5u]; /* of sixteenths and quarters, each twice in a word */
shared uint seeds[SEEDS];     /* by class: the least bound << 16 | what has that bound */
shared uint group_list[GROUP_LIST];
shared uint group_count;        /* including groups that did not fit */
shared uint list[LIST];         /* the first candidates of quads that passed the quarters */
shared uvec2 list_bounds[LIST]; /* the quads' bounds by sixteenths */
shared uint list_count;
shared uint passed; /* candidates that passed the quarters */

uvec4 range; /* see allowed_range */

#include "search/prune_bounds.glsl"

/* True if a candidate could still beat the best one so far. */
bool is_open() { return best_cost > 0u || best_order > 0u; }

/* Offers an invocation's nearest group or candidate to its class, unless the limit excludes it. */
void offer_seed(uint nearest, uint limit)
{
    if (nearest >> 16 <= (limit & 0xffffu)) {
        atomicMin(seeds[gl_LocalInvocationIndex % SEEDS], nearest);
    }
}

void clear_seeds()
{
    if (gl_LocalInvocationIndex < SEEDS) {
        seeds[gl_LocalInvocationIndex] = NONE;
    }
}

uint bounds[EACH]; /* of the invocation's groups in the current part */

/* Bounds the groups of the part whose first row of groups is `first`. */
void bound_groups(uint first)
{
    PAIR signs = PAIR(1.0, -1.0), between[4];
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        between[i] = target[i] * signs;
    }
    uint nearest = NONE, allowed = uint(GROUPS_Y - first) * GROUPS_X;
    [[unroll]] for (uint i = 0u; i < EACH; i++) {
        uint group = i * LOCAL + gl_LocalInvocationIndex;
        uint y = group / GROUPS_X, x = group % GROUPS_X;
        bounds[i] = NOWHERE;
        if (group < min(PART_GROUPS, allowed)) {
            uint row = GROUP * (first + y), column = GROUP * x;
            bool there = INSIDE == 0u || (row + 3u >= range.x && row <= range.y &&
                                             column + 3u >= range.z && column <= range.w);
            uint tile = tile_first + (first + y) * pc.frames.stride + x;
            bounds[i] = there ? bound_group(tile, between, tile_below, lower) : NOWHERE;
        }
        nearest = min(nearest, bounds[i] << 16 | group);
    }
    offer_seed(nearest, limit_of(best_cost, 4u, QUARTER_SHIFT));
}

/* The bounds of the quad in row `item` of a group, and the quad's first candidate. */
uvec2 bound_item(uint group, uint first, uint item, out uint candidate)
{
    uint y = first + group / GROUPS_X, x = group % GROUPS_X;
    candidate = candidate_of(GROUP * y + item, GROUP * x);
    return bound_quad(tile_first + y * pc.frames.stride + x, item, target, tile_below, lower);
}

/* The least of a quad's bounds << 16 | 4 * i + the place of that candidate in the quad. */
uint least_of(uvec2 both, uint i)
{
    uvec4 keys = uvec4(both.x << 16, both.x & 0xffff0000u, both.y << 16, both.y & 0xffff0000u);
    keys |= 4u * i + uvec4(0u, 1u, 2u, 3u);
    return min(min(keys.x, keys.y), min(keys.z, keys.w));
}

/* Compares the nearest candidate of the nearest group of each class. */
void seed(uint first)
{
    uint lane = gl_LocalInvocationIndex, nearest = NONE, candidate;
    uint kind = lane / GROUP, its = NONE;
    if (kind < SEEDS) {
        its = seeds[kind];
    }
    barrier();
    clear_seeds();
    barrier();
    if (its != NONE) {
        uvec2 both = bound_item(its & 0xffffu, first, lane % GROUP, candidate);
        both = masked(both, row_of(candidate), column_of(candidate));
        nearest = least_of(both, lane % GROUP);
        uint limit = limit_of(best_cost, 4u, QUARTER_SHIFT) & 0xffffu;
        if (nearest >> 16 <= limit) {
            atomicMin(seeds[kind], nearest);
        }
    }
    barrier();
    if (lane < SEEDS) {
        short_list[lane] = NONE;
    }
    barrier();
    /* `its` is the nearest group of the class that this invocation has examined. */
    if (kind < SEEDS && lane % GROUP == 0u && seeds[kind] != NONE) {
        uint k = seeds[kind] & 15u, group = its & 0xffffu;
        short_list[kind] = candidate_of(GROUP * (first + group / GROUPS_X) + k / 4u,
            GROUP * (group % GROUPS_X) + k % 4u);
    }
    barrier();
    compare(SEEDS);
}

/* Lists groups that the best cost does not exclude, as many as fit. Clears the bounds of those that
 * it lists, so that no group is listed twice. */
void list_groups()
{
    uint limit = limit_of(best_cost, 4u, QUARTER_SHIFT) & 0xffffu;
    [[unroll]] for (uint i = 0u; i < EACH; i++) {
        uint place = bounds[i] <= limit ? atomicAdd(group_count, 1u) : GROUP_LIST;
        if (place < GROUP_LIST) {
            group_list[place] = i * LOCAL + gl_LocalInvocationIndex;
            bounds[i] = NOWHERE;
        }
    }
    barrier();
}

/* Of the listed groups `from` to `end`, lists the quads that the quarters do not exclude. */
void list_quads(uint from, uint end, uint first, uint limit)
{
    uint at = from + gl_LocalInvocationIndex / GROUP, candidate;
    if (at < end) {
        uint item = gl_LocalInvocationIndex % GROUP;
        uvec2 both = bound_item(group_list[at], first, item, candidate);
        if ((within(both.x, limit) | within(both.y, limit)) != 0u) {
            both = masked(both, row_of(candidate), column_of(candidate));
            uint hits = bitCount(within(both.x, limit)) + bitCount(within(both.y, limit));
            if (hits > 0u) {
                list[atomicAdd(list_count, 1u)] = candidate;
                atomicAdd(passed, hits);
            }
        }
    }
    barrier();
}

/* Removes candidate `which` from quad i of the list, and returns it. */
uint take(uint i, uint which)
{
    list_bounds[i][which / 2u] |= which % 2u == 0u ? NOWHERE : NOWHERE << 16;
    return list[i] + which;
}

/* Bounds the list's quads by sixteenths and compares the nearest candidate of each class. */
void bound_list(uint count)
{
    uint limit = limit_of(best_cost, 16u, SIXTEENTH_SHIFT), nearest = NONE;
    clear_seeds();
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < count; i += LOCAL) {
        uvec2 both = bound_closely(list[i]);
        list_bounds[i] = both;
        nearest = min(nearest, least_of(both, i));
    }
    offer_seed(nearest, limit);
    barrier();
    if (gl_LocalInvocationIndex < SEEDS) {
        uint key = seeds[gl_LocalInvocationIndex] & 0xffffu;
        bool there = seeds[gl_LocalInvocationIndex] != NONE;
        short_list[gl_LocalInvocationIndex] = there ? take(key / 4u, key % 4u) : NONE;
        atomicAdd(compared, uint(there));
    }
    barrier();
    compare(SEEDS);
}

/* Compares the listed candidates whose bounds by sixteenths do not exclude them, lowering the limit
 * as better costs are found. */
void compare_list(uint count)
{
    for (bool more = true; more;) { /* uniform: `found` and `compared` are read between barriers */
        uint limit = limit_of(best_cost, 16u, SIXTEENTH_SHIFT);
        for (uint i = gl_LocalInvocationIndex; i < count; i += LOCAL) {
            uvec2 both = list_bounds[i];
            uint hits = within(both.x, limit) | within(both.y, limit) >> 1;
            for (; hits != 0u; hits &= hits - 1u) { /* bits 15, 31, 14, 30: candidates 0 to 3 */
                uint bit = uint(findLSB(hits)), j = bit / 16u + (bit % 16u == 14u ? 2u : 0u);
                uint order = order_at(list[i] + j);
                bool may = order != best_order && (best_cost > 0u || order < best_order);
                uint place = may ? atomicAdd(short_count, 1u) : SHORT;
                if (place < SHORT) {
                    short_list[place] = take(i, j);
                }
            }
        }
        barrier();
        uint found = short_count;
        barrier();
        if (gl_LocalInvocationIndex == 0u) {
            short_count = 0u;
            compared += min(found, SHORT);
        }
        if (found > 0u) { /* uniform: read between barriers */
            compare(min(found, SHORT));
        }
        more = found > SHORT && compared <= GIVE_UP;
    }
}

/* Searches the first `count` listed groups. Returns false if there is too much to compare. */
bool search_groups(uint first, uint count)
{
    for (uint from = 0u; from < count; from += LOCAL / GROUP) { /* uniform: so is count */
        list_quads(from, count, first, limit_of(best_cost, 4u, QUARTER_SHIFT));
        uint listed = list_count;
        /* uniform: read between barriers */
        if (listed > LIST - LOCAL || (listed > 0u && from + LOCAL / GROUP >= count)) {
            bound_list(listed);
            compare_list(listed);
            if (gl_LocalInvocationIndex == 0u) {
                list_count = 0u;
            }
            /* uniform: both wait for the next barrier */
            if (passed > CANDIDATES / 2u || compared > GIVE_UP) {
                return false;
            }
        }
        barrier();
    }
    return true;
}

/* Searches a part of the window. Returns false if there is too much to compare. */
bool search_part(uint first)
{
    barrier();
    clear_seeds();
    if (gl_LocalInvocationIndex == 0u) {
        list_count = 0u;
    }
    barrier();
    bound_groups(first);
    barrier();
    seed(first);
    /* uniform: `found` and the best are read between barriers */
    for (bool more = is_open(); more;) {
        barrier();
        if (gl_LocalInvocationIndex == 0u) {
            group_count = 0u;
        }
        barrier();
        list_groups();
        uint found = group_count;
        if (!search_groups(first, min(found, GROUP_LIST))) { /* uniform: so is what it returns */
            return false;
        }
        more = found > GROUP_LIST && is_open();
    }
    return true;
}

/* Stores the block's result, or enters the block in the list of those that fall back. */
void finish(bool gave_up)
{
    uvec2 grid = position / BLOCK_SIZE;
    uint block = grid.y * pc.layer.blocks_x + grid.x, at = result_index(pc.layer, z, block);
    uint index = z * pc.layer.blocks + block;
    uint all = candidates_in(range);
    fallback[index] = uint(gave_up);
    if (gave_up) {
        fall_back(index);
    } else {
        vectors[at] = vector_of(best_order);
        costs[at] = best_cost;
    }
    count_up(z, GPUME_COUNT_PAST_BLOCKS, gave_up ? all : passed);
    count_up(z, GPUME_COUNT_PAST_PARTS, gave_up ? all : compared);
}

void start()
{
    uint lane = gl_LocalInvocationIndex;
    for (uint i = lane; i < 20u; i += LOCAL) {
        target_sums[i / 4u][i % 4u] = target_sum(i);
    }
    if (lane < SHORT) {
        costs_found[lane] = 0u;
    }
    if (SHARE == RUNS) {
        load_run(lane % SHARE);
    }
    if (lane == 0u) {
        best_cost = best_order = NONE;
        passed = compared = short_count = 0u;
        short_list[0] = zero_candidate();
    }
    barrier();
    compare(1u);
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        target[i] = pair_of(target_sums[4][i]);
    }
    bool whole = size.y == BLOCK_H;
    lower = PAIR(whole);
    tile_below = whole ? HALF_H / 4u * pc.frames.stride : 0u;
    tile_first = reference_sums / 4u + position.y / 4u * pc.frames.stride + position.x / 4u;
}

void main()
{
    place();
    range = allowed_range(position, size);
    bool gave_up = size.x < BLOCK_W || size.y < HALF_H;
    if (!gave_up) { /* uniform: the workgroup's block */
        start();
        /* uniform: so is what search_part returns */
        for (uint i = 0u; i < PARTS && is_open() && !gave_up; i++) {
            uint part = (i + PARTS / 2u) % PARTS;
            gave_up = !search_part(part * PART);
        }
    }
    barrier();
    if (gl_LocalInvocationIndex == 0u) {
        finish(gave_up);
    }
}
