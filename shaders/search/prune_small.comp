/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The full search by successive elimination (see prune_wide.comp) for small windows: an invocation
 * does for a block what a workgroup does there, by the sums of the block's four quarters alone.
 *
 * An invocation compares the zero vector, bounds all candidates of its block, eight neighbours of a
 * row at a time, and compares the one with the least bound. It keeps the least bound of every
 * strip, which is a few such eights. From there on the workgroup shares all work, no matter whose
 * block it is for: strips that the better of both costs does not exclude become a list; their
 * candidates are bounded again, and those that are not excluded go on a second list, which is
 * compared whenever it is full. A block with too many of them (noise) falls back to the search
 * without pruning.
 *
 * A block that the picture's lower edge cuts is bounded by its upper quarters. If these are cut, or
 * the right edge cuts the block, it falls back at once.
 *
 * Grid: x = LOCAL blocks in raster order, z = task. Shared memory: 18 words per invocation, as few
 * as possible: it limits the workgroups on a core. Reads padded frames and sums; writes vectors,
 * costs and fallback (by block, 1: search it in full; then a list of those blocks) and adds to the
 * task's counts.
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

layout(local_size_x_id = GPUME_SPEC_LOCAL) in;
layout(constant_id = GPUME_SPEC_LOCAL) const uint LOCAL = 64;

layout(std430, binding = 0) readonly buffer Padded { QUAD padded[]; };
layout(std430, binding = 1) readonly buffer Quarters { uvec4 quarters[]; }; /* eights of a row */
layout(std430, binding = 2) writeonly buffer Vectors { uint vectors[]; };
layout(std430, binding = 3) writeonly buffer Costs { uint costs[]; };
layout(std430, binding = 4) buffer Fallback { uint fallback[]; };
layout(std430, binding = 5) buffer Counts { uint counts[]; };
layout(push_constant) uniform Push { gpume_prune_small_push pc; };

#include "search/sum_bounds.glsl"
#include "search/prune_results.glsl"
#include "search/runs.glsl"

const uint NONE = 0xffffffffu;
const uint BLOCK = BLOCK_W; /* a square: gpume_prune_kind */
const uint HALF = BLOCK / 2u; /* 4 or 8 */
const uint ROWS = uint(2 * WINDOW_Y + 1);
const uint EIGHTS = uint(PAD_X + WINDOW_X + 8) / 8u; /* of a row of candidates */
const uint STRIPS_MAX = 16u;
const uint STRIP = (ROWS * EIGHTS + STRIPS_MAX - 1u) / STRIPS_MAX; /* eights */
const uint STRIPS = (ROWS * EIGHTS + STRIP - 1u) / STRIP;
const uint STRIP_LIST = STRIPS_MAX / 2u * LOCAL, LIST = 4u * LOCAL;

shared uint best[LOCAL];    /* cost << KEY_BITS | order */
shared uint corners[LOCAL]; /* of blocks, in blocks: x | y << 16 */
shared uvec2 own_sums[LOCAL]; /* of their quarters, two to a word */
shared uint seeds[LOCAL];   /* candidates that were compared first */
shared uint hits[LOCAL];    /* candidates of the block that got onto the list */
/* The least bounds of strips, two to a word; then strips to look at, invocation << 16 | strip. */
shared uint strips[STRIP_LIST];
shared uint strip_count;
shared uint list[LIST]; /* invocation << 24 | row << 12 | column, see candidate_of; or NONE */
shared uint list_count; /* including those that did not fit */
shared uint passed;     /* candidates that were compared, or fell back */

uint z; /* task */
uint target_base, reference_base; /* quads to the frames */
uint sums_base;                   /* eights to the reference's sums */

/* About the block that an invocation works on, its own or another's. */
uint owner;
uvec2 position, size; /* samples that the edge leaves */
PAIR target[4];       /* sums of quarters */
PAIR lower;           /* 1, or 0 where the lower quarters are cut */
uint sums_first;      /* eights to that of the block at dx = -PAD_X, dy = -WINDOW_Y, */
uint sums_below;      /* and from it to its lower quarters */

#include "search/prune_eights.glsl"

/* Eight sums HALF columns to the right of others. */
uvec4 right_of(uint at, uvec4 these)
{
    uvec4 next = quarters[at + 1u];
    return HALF == 8u ? next : uvec4(these.zw, next.xy);
}

/* The bounds of eight neighbouring candidates. */
PAIR[4] bounds_at(uint eight)
{
    uint at = sums_first + eight / EIGHTS * pc.sum_stride + eight % EIGHTS;
    uvec4 a = quarters[at], b = right_of(at, a);
    uvec4 c = quarters[at + sums_below], d = right_of(at + sums_below, c);
    PAIR result[4];
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        PAIR sum = abs(pair_of(a[i]) - target[0]) + abs(pair_of(b[i]) - target[1]);
        sum += lower * (abs(pair_of(c[i]) - target[2]) + abs(pair_of(d[i]) - target[3]));
        result[i] = sum;
    }
    return result;
}

/* The SAD of eight samples of a row. to, from: quads to them, shift: and samples. */
uint run_at(uint to, uint from, uint shift, uint up)
{
    QUAD middle = padded[from + 1u];
    return difference(words_of(padded[to], padded[to + 1u]),
        words_of(shifted(padded[from], middle, shift, up),
            shifted(middle, padded[from + 2u], shift, up)));
}

/* The key of a candidate of a block at `corner`. */
uint key_at(uvec2 corner, uint rows, uint candidate)
{
    uint row = row_of(candidate), column = column_of(candidate), stride = pc.frames.stride;
    uint to = target_base + (corner.y + uint(WINDOW_Y)) * stride + (corner.x + uint(PAD_X)) / 4u;
    uint from = reference_base + (corner.y + row) * stride + (corner.x + column) / 4u;
    uint shift = column % 4u, up = lift_of(shift), cost = 0u;
    if (rows == BLOCK) { /* no branches, so that many loads are in flight at once */
        for (uint i = 0u; i < BLOCK * BLOCK / 64u; i++) {
            uint line = i / (BLOCK / 8u) * 8u * stride + i % (BLOCK / 8u) * 2u;
            [[unroll]] for (uint y = 0u; y < 8u; y++, line += stride) {
                cost += run_at(to + line, from + line, shift, up);
            }
        }
    } else {
        for (uint i = 0u; i < rows * (BLOCK / 8u); i++) {
            uint line = i / (BLOCK / 8u) * stride + i % (BLOCK / 8u) * 2u;
            cost += run_at(to + line, from + line, shift, up);
        }
    }
    return cost << KEY_BITS | order_of(int(column) - PAD_X, int(row) - WINDOW_Y);
}

uint candidate_in(uint eight, uint bit)
{
    return candidate_of(eight / EIGHTS, eight % EIGHTS * 8u + bit % 16u * 2u + bit / 16u);
}

/* Makes the block of an invocation, which must have one, the current block. */
void select_block(uint invocation)
{
    owner = invocation;
    position = uvec2(corners[owner] & 0xffffu, corners[owner] >> 16) * BLOCK;
    size = visible(position);
    bool whole = size.y == BLOCK;
    uvec2 sums = own_sums[owner];
    target = PAIR[4](pair_of((sums.x & 0xffffu) * 0x10001u), pair_of((sums.x >> 16) * 0x10001u),
        pair_of((sums.y & 0xffffu) * 0x10001u), pair_of((sums.y >> 16) * 0x10001u));
    lower = PAIR(whole);
    sums_below = whole ? HALF * pc.sum_stride : 0u;
    sums_first = sums_base + position.y * pc.sum_stride + position.x / 8u;
}

uint limit() { return limit_of(best[owner] >> KEY_BITS, 4u, QUARTER_SHIFT); }

/* The least bound of a strip in the high half, the eight that has it in the low half. */
uint bound_strip(uint strip)
{
    uint nearest = NONE;
    for (uint i = 0u; i < STRIP; i++) {
        uint eight = min(strip * STRIP + i, ROWS * EIGHTS - 1u);
        PAIR bounds[4] = bounds_at(eight);
        uint both = bits_of(min(min(bounds[0], bounds[1]), min(bounds[2], bounds[3])));
        nearest = min(nearest, min(both << 16, both & 0xffff0000u) | eight);
    }
    return nearest;
}

/* Bounds all candidates, strip by strip, and gives the eight that has the nearest. */
uint bound_all()
{
    uint nearest = NONE;
    for (uint i = 0u; i < (STRIPS + 1u) / 2u; i++) {
        uint one = bound_strip(2u * i), other = bound_strip(min(2u * i + 1u, STRIPS - 1u));
        strips[i * LOCAL + gl_LocalInvocationIndex] = one >> 16 | (other & 0xffff0000u);
        nearest = min(nearest, min(one, other));
    }
    return nearest & 0xffffu;
}

/* The candidate of an eight that has the least bound, or NONE. */
uint nearest_of(uint eight)
{
    PAIR bounds[4] = bounds_at(eight);
    uint nearest = NONE, mask = allowed_of(eight / EIGHTS, eight % EIGHTS * 8u);
    [[unroll]] for (uint i = 0u; i < 8u; i++) {
        uint bit = i / 2u + 16u * (i % 2u), bound = bits_of(bounds[i / 2u]) >> 16u * (i % 2u);
        nearest = min(nearest, (mask >> bit & 1u) != 0u ? bound << 16 | bit : NONE);
    }
    return nearest == NONE ? NONE : candidate_in(eight, nearest & 0xffffu);
}

/* The strips that the best cost does not exclude, as bits. */
uint open_strips()
{
    uint open = 0u, most = limit();
    for (uint i = 0u; i < (STRIPS + 1u) / 2u; i++) {
        uint bits = within(strips[i * LOCAL + gl_LocalInvocationIndex], most);
        open |= (bits >> 15 & 1u | bits >> 30) << 2u * i;
    }
    return open & (1u << STRIPS) - 1u;
}

/* Compares the zero vector of the invocation's block and the candidate with the least bound; gives
 * the strips that the better one leaves. */
uint begin()
{
    uint lane = gl_LocalInvocationIndex;
    seeds[lane] = NONE;
    best[lane] = key_at(position, size.y, zero_candidate());
    if (best[lane] == 0u) {
        return 0u;
    }
    seeds[lane] = nearest_of(bound_all());
    if (seeds[lane] != NONE) {
        best[lane] = min(best[lane], key_at(position, size.y, seeds[lane]));
    }
    return best[lane] == 0u ? 0u : open_strips();
}

/* Lists strips as long as there is room; gives those that did not fit. */
uint list_strips(uint open)
{
    for (; open != 0u; open &= open - 1u) {
        uint place = atomicAdd(strip_count, 1u);
        if (place >= STRIP_LIST) {
            return open;
        }
        strips[place] = gl_LocalInvocationIndex << 16 | uint(findLSB(open));
    }
    return 0u;
}

/* Where an invocation is in its share of the strips. */
uint mine;  /* the place of the strip that it looks at, */
uint next;  /* its next eight, */
uint eight; /* the one before, */
uint found; /* and candidates of this that are not listed yet, see allowed_of */

/* Bounds one more eight. */
void find_more()
{
    uint strip = strips[mine] & 0xffffu;
    if (next == 0u) {
        select_block(strips[mine] >> 16);
    }
    eight = strip * STRIP + next++;
    if (next == STRIP || eight + 1u == ROWS * EIGHTS) {
        next = 0u;
        mine += LOCAL;
    }
    PAIR bounds[4] = bounds_at(eight);
    uint most = limit();
    found = 0u;
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        found |= within(bits_of(bounds[i]), most) >> (15u - i);
    }
    if (found != 0u && hits[owner] <= GIVE_UP) { /* others may add to it: any value will do */
        uint first = candidate_in(eight, 0u);
        found &= allowed_of(row_of(first), column_of(first));
        found = without(without(found, first, seeds[owner]), first, zero_candidate());
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
        list[place++] = owner << 24 | candidate_in(eight, uint(findLSB(found)));
    }
    return true;
}

void compare_list(uint count)
{
    for (uint i = gl_LocalInvocationIndex; i < count; i += LOCAL) {
        uint entry = list[i], of = entry >> 24;
        if (entry != NONE) {
            uvec2 corner = uvec2(corners[of] & 0xffffu, corners[of] >> 16) * BLOCK;
            atomicMin(best[of], key_at(corner, visible(corner).y, entry));
        }
    }
}

/* Goes through the listed strips, all invocations together. */
void search_strips(uint count)
{
    mine = gl_LocalInvocationIndex;
    next = found = 0u;
    for (bool more = true; more;) { /* uniform: `listed` is read between barriers */
        if (gl_LocalInvocationIndex == 0u) {
            list_count = 0u;
        }
        barrier();
        for (bool room = true; room && (found != 0u || mine < count);) {
            if (found == 0u) {
                find_more();
            }
            room = found == 0u || list_found();
        }
        barrier();
        uint listed = list_count;
        more = listed > LIST;
        compare_list(min(listed, LIST));
        barrier();
    }
}

/* All of the workgroup calls it; live: the invocation has a block to search. */
void search(bool live)
{
    uint open = 0u;
    if (live) {
        select_block(gl_LocalInvocationIndex);
        open = begin();
    }
    for (bool more = true; more;) { /* uniform: `count` is read between barriers */
        barrier();
        if (gl_LocalInvocationIndex == 0u) {
            strip_count = 0u;
        }
        barrier();
        open = list_strips(open);
        barrier();
        uint count = strip_count;
        more = count > STRIP_LIST;
        search_strips(min(count, STRIP_LIST));
    }
}

/* The sums of the quarters of the invocation's block. */
void sum_up(uvec2 block)
{
    uint lane = gl_LocalInvocationIndex;
    uvec2 at = block + uvec2(PAD_X, WINDOW_Y);
    uint frame = target_place(z) * pc.sum_places;
    bool whole = block.y + BLOCK <= pc.layer.height;
    uint sums[4];
    [[unroll]] for (uint i = 0u; i < 4u; i++) { /* in even columns */
        uvec2 to = at + uvec2(i % 2u, whole ? i / 2u : 0u) * HALF;
        sums[i] = quarters[frame + to.y * pc.sum_stride + to.x / 8u][to.x / 2u % 4u] & 0xffffu;
    }
    own_sums[lane] = uvec2(sums[0] | sums[1] << 16, sums[2] | sums[3] << 16);
}

/* How many of the block's candidates were compared. */
uint compared_of(uint lane)
{
    bool seeded = seeds[lane] != NONE && seeds[lane] != zero_candidate();
    return hits[lane] + 1u + uint(seeded);
}

/* The block's result, or its entry among those that fall back. */
void finish(uint block, bool gave_up)
{
    uint lane = gl_LocalInvocationIndex, index = z * pc.layer.blocks + block;
    fallback[index] = uint(gave_up);
    if (gave_up) {
        uvec2 corner = uvec2(corners[lane] & 0xffffu, corners[lane] >> 16) * BLOCK;
        fall_back(index);
        atomicAdd(passed, candidates_in(allowed_range(corner, visible(corner))));
    } else {
        uint at = result_index(pc.layer, z, block);
        vectors[at] = vector_of(best[lane] & ((1u << KEY_BITS) - 1u));
        costs[at] = best[lane] >> KEY_BITS;
        atomicAdd(passed, compared_of(lane));
    }
}

void main()
{
    uint lane = gl_LocalInvocationIndex, block = pc.block_first + gl_WorkGroupID.x * LOCAL + lane;
    uvec2 corner = uvec2(block % pc.layer.blocks_x, block / pc.layer.blocks_x);
    bool there = block < pc.layer.blocks, gave_up = false;
    z = gl_WorkGroupID.z;
    target_base = target_of(pc.frames, z);
    reference_base = reference_of(pc.frames, z);
    sums_base = reference_place(z) * pc.sum_places;
    corners[lane] = corner.x | corner.y << 16;
    hits[lane] = 0u;
    if (lane == 0u) {
        passed = 0u;
    }
    if (there) {
        uvec2 size = visible(corner * BLOCK);
        gave_up = size.x < BLOCK || size.y < HALF;
    }
    if (there && !gave_up) {
        sum_up(corner * BLOCK);
    }
    search(there && !gave_up);
    if (there) {
        finish(block, gave_up || hits[lane] > GIVE_UP);
    }
    barrier();
    if (lane == 0u) {
        count_up(z, GPUME_COUNT_PAST_BLOCKS, passed);
        count_up(z, GPUME_COUNT_PAST_PARTS, passed);
    }
}
