/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The full search by successive elimination (Li and Salari 1995; by parts of the block: Gao, Duanmu
 * and Zou 2000), exact: the sums of two boxes differ by no more than their SAD, so the differences
 * of the sums of a block's four quarters together are a lower bound of its SAD, and those of its
 * sixteen sixteenths a closer one. A candidate whose bound is above the best cost so far cannot win
 * and is not compared.
 *
 * A team of invocations shares one block, a workgroup TILE_X blocks side by side. The window is
 * taken in parts, as a rule in one. An invocation bounds a quad of neighbouring dx at CHAIN dy that
 * lie half a block apart, so that the lower quarters of one are the upper quarters of the next, and
 * keeps all bounds in registers. The zero vector and the candidate with the least bound are
 * compared in full. What their cost does not exclude goes through the sixteenths, in pairs, LIST at
 * a time, and what that does not exclude is compared in full, which lowers the best cost for the
 * next LIST. A block of which too much is left (noise) is given up to the search without
 * elimination.
 *
 * Sums and bounds are half floats: see bounds.glsl.
 *
 * A block that the picture's lower edge cuts is bounded by those of its parts that are whole; if no
 * quarter is, or the right edge cuts it, it is left over at once.
 *
 * Grid: x = TILE_X blocks, y = block row, z = field of the batch. Reads padded frames and sums;
 * writes vectors, costs, todo (by block, 1: left over; then a list of these) and adds to the
 * field's counts.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef GPUME_HALF
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#include "shared.h"
#include "common.glsl"
#include "pair.glsl"
#include "search.glsl"

layout(constant_id = GPUME_SPEC_TILE_X) const uint TILE_X = 2;
layout(constant_id = GPUME_SPEC_COLUMNS) const uint COLUMNS = 68;
layout(constant_id = GPUME_SPEC_CHAIN) const uint CHAIN = 9;
layout(constant_id = GPUME_SPEC_QUARTER_SHIFT) const uint QUARTER_SHIFT = 0;
layout(constant_id = GPUME_SPEC_SIXTEENTH_SHIFT) const uint SIXTEENTH_SHIFT = 0;
layout(constant_id = GPUME_SPEC_LIST) const uint LIST = 256;
layout(constant_id = GPUME_SPEC_GIVE_UP) const uint GIVE_UP = 64;

layout(local_size_x_id = GPUME_SPEC_LOCAL) in;
layout(constant_id = GPUME_SPEC_LOCAL) const uint LOCAL = 272; /* TILE_X * TEAM */

layout(std430, binding = 0) readonly buffer Padded { QUAD padded[]; };
layout(std430, binding = 1) readonly buffer Quarters { uvec2 quarters[]; };    /* by quad */
layout(std430, binding = 2) readonly buffer Sixteenths { uint sixteenths[]; }; /* by pair */
layout(std430, binding = 3) writeonly buffer Vectors { uint vectors[]; };
layout(std430, binding = 4) writeonly buffer Costs { uint costs[]; };
layout(std430, binding = 5) buffer Todo { uint todo[]; };
layout(std430, binding = 6) buffer Counts { uint counts[]; };
layout(push_constant) uniform Push { gpume_sieve_push pc; };

#include "bounds.glsl"

const uint NONE = 0xffffffffu;
const uint HALF = BLOCK / 2u, FOURTH = BLOCK / 4u;
const uint ROW_QUADS = uint(PAD_X + WINDOW_X + 4) / 4u; /* of candidates */
const uint ROWS = uint(2 * WINDOW_Y + 1), CANDIDATES = ROWS * uint(2 * WINDOW_X + 1);

/* A part of the window: its quads, and rows of candidates. */
const uint PART_QUADS = COLUMNS / 4u, PART_ROWS = CHAIN * HALF;
const uint PARTS_X = (ROW_QUADS + PART_QUADS - 1u) / PART_QUADS;
const uint PARTS_Y = (ROWS + PART_ROWS - 1u) / PART_ROWS;
const uint TEAM = PART_QUADS * HALF; /* invocations that share a block */

/* A candidate: its block of the tile, row (dy + WINDOW_Y, at most 1024) and column (dx + PAD_X, at
 * most 1027). */
uint candidate_of(uint b, uint row, uint column) { return b << 22 | row << 11 | column; }
uint block_of(uint candidate) { return candidate >> 22; }
uint row_of(uint candidate) { return (candidate >> 11) & 0x7ffu; }
uint column_of(uint candidate) { return candidate & 0x7ffu; }
uint zero_of(uint b) { return candidate_of(b, uint(WINDOW_Y), uint(PAD_X)); }
uint order_at(uint candidate)
{
    return order_of(int(column_of(candidate)) - PAD_X, int(row_of(candidate)) - WINDOW_Y);
}

/* By block of the tile. */
shared uint best_cost[TILE_X];
shared uint best_order[TILE_X];
shared uint nearest[TILE_X];  /* the least bound */
shared uint passed[TILE_X];   /* candidates past the quarters, */
shared uint compared[TILE_X]; /* and past the sixteenths */
shared uint target_sums[TILE_X * 20u]; /* of sixteenths and quarters, each as a pair of itself */

shared uint list[LIST]; /* pairs past the quarters, by their left candidate */
shared uint list_count;
shared uint short_list[2u * LIST]; /* candidates past the sixteenths, */
shared uint short_cost[2u * LIST]; /* and their costs */
shared uint short_count;
shared uint past_quarters, past_sixteenths; /* of the whole tile; at most 16 * 1025^2 */

uint z;
uint reference_quads, target_quads; /* to the frames */
uint bounds[2u * CHAIN]; /* of the invocation's pairs */

uvec2 position_of(uint b)
{
    return uvec2(gl_WorkGroupID.x * TILE_X + b, pc.row_first + gl_WorkGroupID.y) * BLOCK;
}

/* Past the last block of the row there is none. */
bool is_there(uint b) { return position_of(b).x < pc.width; }

/* Of the block's samples those that the picture's edge leaves. */
uvec2 size_of(uint b)
{
    uvec2 picture = uvec2(pc.width, pc.height);
    return min(uvec2(BLOCK), picture - min(position_of(b), picture));
}

/* Quads from the frame's start to the block at dx = -PAD_X, dy = -WINDOW_Y. */
uint quad_of(uint b)
{
    uvec2 at = position_of(b);
    return at.y * pc.pair.stride + at.x / 4u;
}

/* The first and the last row, the first and the last column that the edge mode allows. */
uvec4 allowed_range(uint b)
{
    ivec2 at = ivec2(position_of(b)), size = ivec2(size_of(b));
    ivec2 window = ivec2(WINDOW_X, WINDOW_Y), before = window, after = window;
    if (INSIDE != 0u) {
        before = min(window, at);
        after = min(window, ivec2(pc.width, pc.height) - at - size);
    }
    return uvec4(WINDOW_Y - before.y, WINDOW_Y + after.y, PAD_X - before.x, PAD_X + after.x);
}

/* Is there anything better than the best so far? */
bool is_open(uint b) { return best_cost[b] > 0u || best_order[b] > 0u; }

/* Fills `bounds` from an invocation's first quad on; returns the least. target: the
 * sums of the block's quarters, the first for each pair: FAR where a column is not allowed. lower:
 * 1, or 0 if the lower quarters are cut. rows: the first and the last allowed and the last that has
 * sums, seen from the first quad's. */
uint bound_chain(uint line, PAIR first[2], PAIR target[4], PAIR lower, ivec3 rows)
{
    PAIR least = PAIR(FAR);
    uint step = HALF * pc.pair.stride;
    uvec2 left = quarters[line], right = quarters[line + HALF / 4u];
    [[unroll]] for (uint k = 0u; k < CHAIN; k++) {
        int row = int(k * HALF);
        bool sure = INSIDE == 0u && PARTS_Y == 1u && (k + 1u) * HALF <= ROWS;
        bool there = sure || (row >= rows.x && row <= rows.y);
        line += row + int(HALF) <= rows.z ? step : 0u;
        uvec2 left_below = quarters[line], right_below = quarters[line + HALF / 4u];
        [[unroll]] for (uint i = 0u; i < 2u; i++) {
            PAIR sum = abs(pair_of(left[i]) - first[i]) + abs(pair_of(right[i]) - target[1]);
            sum += lower * (abs(pair_of(left_below[i]) - target[2]) +
                               abs(pair_of(right_below[i]) - target[3]));
            sum = there ? sum : PAIR(FAR);
            bounds[2u * k + i] = bits_of(sum);
            least = min(least, sum);
        }
        left = left_below;
        right = right_below;
    }
    uint both = bits_of(least);
    return min(both & 0xffffu, both >> 16);
}

/* Which of `bounds` are no larger than a limit: pair i at bits 15 - i % 16 and 31 - i % 16 of word
 * i / 16. */
uvec2 hits_within(uint limit)
{
    uvec2 hits = uvec2(0u);
    [[unroll]] for (uint i = 0u; i < 2u * CHAIN; i++) {
        hits[i / 16u] |= within(bounds[i], limit) >> (i % 16u);
    }
    return hits;
}

/* From an invocation's first candidate to that of a bit of the hits. */
uint step_to(uint word, uint bit)
{
    uint pair = 16u * word + 15u - bit % 16u;
    return candidate_of(0u, pair / 2u * HALF, pair % 2u * 2u + bit / 16u);
}

/* The bounds by sixteenths of a candidate in an even column and its right neighbour. */
uint bound_pair(uint candidate)
{
    uint b = block_of(candidate);
    uint from = 2u * (reference_quads + quad_of(b) + row_of(candidate) * pc.pair.stride) +
                column_of(candidate) / 2u;
    uint there = size_of(b).y / FOURTH; /* rows of sixteenths that are not cut */
    PAIR sum = PAIR(0.0);
    [[unroll]] for (uint y = 0u; y < 4u; y++) {
        if (y >= there) {
            break;
        }
        [[unroll]] for (uint x = 0u; x < 4u; x++) {
            uint its = sixteenths[from + y * FOURTH * 2u * pc.pair.stride + x * (FOURTH / 2u)];
            sum += abs(pair_of(its) - pair_of(target_sums[20u * b + 4u * y + x]));
        }
    }
    return bits_of(sum);
}

/* Four samples from sample s of the first of two quads. */
QUAD shifted(QUAD left, QUAD right, uint s)
{
#ifdef GPUME_WIDE
    uvec3 w = s >= 2u ? uvec3(left.y, right) : uvec3(left, right.x);
    return (s & 1u) != 0u ? (w.xy >> 16) | (w.yz << 16) : w.xy;
#else
    return s == 0u ? left : (left >> (8u * s)) | (right << (32u - 8u * s));
#endif
}

/* What a row of the block adds to a candidate's cost. The loop's end is a constant, so that many
 * reads are under way at a time. */
uint sad_row(uint candidate, uint row)
{
    uint quad = quad_of(block_of(candidate)), x = column_of(candidate) & 3u;
    uint to = target_quads + quad + (uint(WINDOW_Y) + row) * pc.pair.stride + uint(PAD_X) / 4u;
    uint from = reference_quads + quad + (row_of(candidate) + row) * pc.pair.stride +
                column_of(candidate) / 4u;
    ivec4 sum = ivec4(0);
    QUAD left = padded[from];
    for (uint i = 0u; i < BLOCK / 4u; i++) {
        QUAD right = padded[from + i + 1u];
        sum += abs(unpack(padded[to + i]) - unpack(shifted(left, right, x)));
        left = right;
    }
    return uint(sum.x + sum.y + sum.z + sum.w);
}

/* The costs of the short list. */
void compare(uint count)
{
    for (uint job = gl_LocalInvocationIndex; job < count * BLOCK; job += LOCAL) {
        uint candidate = short_list[job / BLOCK];
        uvec2 size = size_of(block_of(candidate));
        if (size.x == BLOCK && job % BLOCK < size.y) {
            atomicAdd(short_cost[job / BLOCK], sad_row(candidate, job % BLOCK));
        }
    }
    barrier();
}

/* Compares one candidate or two of every block, at b and TILE_X + b of the short list. */
void compare_few(uint each)
{
    compare(each * TILE_X);
    uint b = gl_LocalInvocationIndex;
    for (uint i = b; b < TILE_X && i < each * TILE_X; i += TILE_X) {
        uint order = order_at(short_list[i]);
        if (wins(short_cost[i], order, best_cost[b], best_order[b])) {
            best_cost[b] = short_cost[i];
            best_order[b] = order;
        }
    }
    barrier();
}

/* Compares the short list, whatever blocks it is of. */
void compare_many(uint count)
{
    uint lane = gl_LocalInvocationIndex, before = lane < TILE_X ? best_cost[lane] : 0u;
    compare(count);
    for (uint i = lane; i < count; i += LOCAL) {
        atomicMin(best_cost[block_of(short_list[i])], short_cost[i]);
    }
    barrier();
    if (lane < TILE_X && best_cost[lane] < before) {
        best_order[lane] = NONE;
    }
    barrier();
    for (uint i = lane; i < count; i += LOCAL) {
        uint b = block_of(short_list[i]);
        if (short_cost[i] == best_cost[b]) {
            atomicMin(best_order[b], order_at(short_list[i]));
        }
    }
    barrier();
}

/* A place of the short list. */
void put(uint place, uint candidate)
{
    short_list[place] = candidate;
    short_cost[place] = 0u;
}

/* Moves hits to the list, as pairs, as far as it has room. first: the invocation's candidate. */
void list_hits(uint first, inout uvec2 hits)
{
    uvec2 pairs = (hits | hits >> 16) & 0xffffu;
    uint count = uint(bitCount(pairs.x) + bitCount(pairs.y));
    uint place = count > 0u ? atomicAdd(list_count, count) : LIST;
    for (; place < LIST && (pairs.x | pairs.y) != 0u; place++) {
        uint word = uint(pairs.x == 0u), bit = uint(findLSB(pairs[word]));
        list[place] = first + step_to(word, bit);
        pairs[word] &= pairs[word] - 1u;
    }
    hits = pairs;
}

/* Puts on the short list what of the list the sixteenths do not exclude. */
void shorten(uint count)
{
    for (uint i = gl_LocalInvocationIndex; i < count; i += LOCAL) {
        uint b = block_of(list[i]), cost = best_cost[b], column = column_of(list[i]);
        uint both = within(bound_pair(list[i]), limit_of(cost, 16u, SIXTEENTH_SHIFT));
        uvec4 range = allowed_range(b);
        for (uint j = 0u; both != 0u && j < 2u; j++) {
            bool may = column + j >= range.z && column + j <= range.w &&
                       (cost > 0u || order_at(list[i] + j) < best_order[b]);
            if (may && (both >> (16u * j + 15u) & 1u) != 0u) {
                put(atomicAdd(short_count, 1u), list[i] + j);
                atomicAdd(compared[b], 1u);
            }
        }
    }
    barrier();
}

/* 64-bit counts a field: candidates past the quarters and past the sixteenths. */
void count_up(uint which, uint value)
{
    uint at = (z * GPUME_COUNTS + which) * 2u;
    uint before = value > 0u ? atomicAdd(counts[at], value) : 0u;
    if (before + value < before) {
        atomicAdd(counts[at + 1u], 1u);
    }
}

/* The block's result, or its place among those left over. */
void finish(uint b, bool left)
{
    uvec2 grid = position_of(b) / BLOCK;
    uint index = z * pc.blocks + grid.y * pc.blocks_x + grid.x;
    uvec4 range = allowed_range(b);
    uint all = (range.y - range.x + 1u) * (range.w - range.z + 1u);
    todo[index] = uint(left);
    if (left) {
        todo[pc.left_list + 1u + atomicAdd(todo[pc.left_list], 1u)] = index;
    } else {
        vectors[index] = vector_of(best_order[b]);
        costs[index] = best_cost[b];
    }
    atomicAdd(past_quarters, left ? all : passed[b]);
    atomicAdd(past_sixteenths, left ? all : compared[b]);
}

void start(uint b, uint member, bool live)
{
    uint here = quad_of(b) + uint(WINDOW_Y) * pc.pair.stride + uint(PAD_X) / 4u;
    for (uint i = member; live && i < 20u; i += TEAM) {
        uint side = i < 16u ? FOURTH : HALF, each = i < 16u ? 4u : 2u, k = i % 16u;
        uint at = target_quads + here + k / each * side * pc.pair.stride, x = k % each * side;
        uint sum = 0u;
        if (k / each * side + side <= size_of(b).y) {
            sum = i < 16u ? sixteenths[2u * at + x / 2u] : quarters[at + x / 4u].x;
        }
        target_sums[20u * b + i] = (sum & 0xffffu) * 0x10001u;
    }
    if (member == 0u) {
        best_cost[b] = best_order[b] = NONE;
        passed[b] = compared[b] = 0u;
    }
    if (gl_LocalInvocationIndex == 0u) {
        past_quarters = past_sixteenths = 0u;
    }
}

/* The bounds of an invocation's candidates, whose first are at a row and a quad of the window;
 * returns the least. */
uint bound_item(uint b, uint row, uint quad)
{
    PAIR target[4];
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        target[i] = pair_of(target_sums[20u * b + 16u + i]);
    }
    PAIR ends[2] = PAIR[2](target[0], target[0]);
    uvec4 range = allowed_range(b), columns = 4u * quad + uvec4(0u, 1u, 2u, 3u);
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        if (columns[i] < range.z || columns[i] > range.w) {
            ends[i / 2u][i % 2u] = PAIR(FAR).x;
        }
    }
    uint line = reference_quads + quad_of(b) + row * pc.pair.stride + quad;
    uint last = pc.height + uint(2 * WINDOW_Y) - HALF - position_of(b).y;
    return bound_chain(line, ends, target, PAIR(size_of(b).y == BLOCK),
        ivec3(range.xy, last) - int(row));
}

/* Compares the candidate of the part with the least bound, and the zero vector, too. */
void seed(uint b, uint member, uint first, uint least, bool zero)
{
    if (least < NOWHERE && least == nearest[b]) {
        uvec2 hits = hits_within(least * 0x10001u);
        uint word = uint(hits.x == 0u);
        atomicMin(short_list[b], first + step_to(word, uint(findLSB(hits[word]))));
    }
    if (member == 0u && nearest[b] == NOWHERE) {
        atomicMin(short_list[b], zero_of(b));
    }
    barrier();
    compare_few(zero ? 2u : 1u);
}

/* Compares what the best cost and then the sixteenths do not exclude. */
void sift(uint b, uint first, uvec2 hits, inout bool left)
{
    for (bool more = true; more;) {
        barrier();
        left = left || passed[b] > CANDIDATES / 2u || compared[b] > GIVE_UP;
        hits = left ? uvec2(0u) : hits;
        list_hits(first, hits);
        barrier();
        uint count = min(list_count, LIST);
        more = list_count > LIST;
        if (count > 0u) {
            shorten(count);
            uint found = short_count;
            compare_many(found);
            if (gl_LocalInvocationIndex == 0u) {
                list_count = short_count = 0u;
            }
        }
    }
    left = left || compared[b] > GIVE_UP;
}

/* A part of the window, from a row and a quad on. */
void search_part(uint b, uint member, uint row, uint quad, bool is_first, inout bool left)
{
    if (member == 0u) {
        nearest[b] = NOWHERE;
        put(b, NONE);
        put(TILE_X + b, zero_of(b));
    }
    if (gl_LocalInvocationIndex == 0u) {
        list_count = short_count = 0u;
    }
    barrier();

    row += member / PART_QUADS;
    quad += member % PART_QUADS;
    uint first = candidate_of(b, row, 4u * quad), least = NOWHERE;
    if (!left && quad < ROW_QUADS && row < ROWS && is_open(b)) {
        least = bound_item(b, row, quad);
        atomicMin(nearest[b], least);
    }
    barrier();
    seed(b, member, first, least, is_first);

    uvec2 hits = uvec2(0u);
    uint limit = limit_of(best_cost[b], 4u, QUARTER_SHIFT);
    if (least <= (limit & 0xffffu) && is_open(b)) {
        hits = hits_within(limit);
        atomicAdd(passed[b], uint(bitCount(hits.x) + bitCount(hits.y)));
    }
    sift(b, first, hits, left);
}

void main()
{
    uint lane = gl_LocalInvocationIndex, b = lane / TEAM, member = lane % TEAM;
    z = gl_WorkGroupID.z;
    target_quads = target_of(pc.pair, z);
    reference_quads = reference_of(pc.pair, z);
    uvec2 size = size_of(b);
    bool left = size.x < BLOCK || size.y < HALF;
    start(b, member, !left);

    for (uint i = 0u; i < PARTS_X * PARTS_Y; i++) {
        uint part = (i + PARTS_X * PARTS_Y / 2u) % (PARTS_X * PARTS_Y);
        search_part(
            b, member, part / PARTS_X * PART_ROWS, part % PARTS_X * PART_QUADS, i == 0u, left);
    }

    if (is_there(b) && member == 0u) {
        finish(b, left);
    }
    barrier();
    if (lane == 0u) {
        count_up(GPUME_COUNT_PAST_BLOCKS, past_quarters);
        count_up(GPUME_COUNT_PAST_PARTS, past_sixteenths);
    }
}
