/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The full search by successive elimination (Li and Salari 1995; by parts of the block: Gao, Duanmu
 * and Zou 2000), exact: the sums of two blocks differ by no more than their SAD, and so do the sums
 * of their four quarters together. A candidate whose sums differ by more than the best cost so far
 * (or by as much, and it is later in the tie rule) cannot win and is not compared.
 *
 * A team of TEAM invocations shares one block, a workgroup TILE_X blocks side by side. The zero
 * vector and three candidates with near sums give a first best cost. Then, in rounds: every team
 * scans the block sums of its candidates and puts those that pass into a common list; the whole
 * workgroup takes that list through the sums of the quarters into a shorter one, and compares what
 * is left in full, PARTS invocations a candidate, which lowers the best costs of the next round.
 * When a list is full its writers stop and go on in the next round. A block that has had GIVE_UP
 * candidates compared (noise, flat blocks) is left to the search without elimination.
 *
 * Sums are cut to 16 bits: two numbers whose upper bits differ by d differ by more than
 * (d - 1) << shift, which is what counts where shift > 0. Blocks that the picture's edge cuts have
 * no sums and are left over at once.
 *
 * Grid: x = TILE_X blocks, y = block row, z = field of the batch. Reads padded frames and sums;
 * writes vectors, costs, todo (by block, 1: left over; then a list of these) and adds to the
 * field's counts.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "shared.h"
#include "common.glsl"
#include "search.glsl"

layout(constant_id = GPUME_SPEC_TEAM) const uint TEAM = 32;
layout(constant_id = GPUME_SPEC_TILE_X) const uint TILE_X = 4;
layout(constant_id = GPUME_SPEC_BOX_SHIFT) const uint BOX_SHIFT = 0;
layout(constant_id = GPUME_SPEC_PART_SHIFT) const uint PART_SHIFT = 0;
layout(constant_id = GPUME_SPEC_LIST) const uint LIST = 384;
layout(constant_id = GPUME_SPEC_SHORT_LIST) const uint SHORT_LIST = 96;
layout(constant_id = GPUME_SPEC_GIVE_UP) const uint GIVE_UP = 64;
layout(constant_id = GPUME_SPEC_SEED_STEP) const uint SEED_STEP = 4;

layout(local_size_x_id = GPUME_SPEC_LOCAL) in;
layout(constant_id = GPUME_SPEC_LOCAL) const uint LOCAL = 128; /* TILE_X * TEAM */

layout(std430, binding = 0) readonly buffer Padded { QUAD padded[]; };
layout(std430, binding = 1) readonly buffer Sums { uvec2 sums[]; };         /* four positions */
layout(std430, binding = 2) readonly buffer PartSums { uint part_sums[]; }; /* two positions */
layout(std430, binding = 3) writeonly buffer Vectors { uint vectors[]; };
layout(std430, binding = 4) writeonly buffer Costs { uint costs[]; };
layout(std430, binding = 5) buffer Todo { uint todo[]; };
layout(std430, binding = 6) buffer Counts { uint counts[]; };
layout(push_constant) uniform Push { gpume_sieve_push pc; };

const uint NONE = 0xffffffffu;
const uint ROW_QUADS = uint(PAD_X + WINDOW_X + 4) / 4u; /* of candidates */
const uint ROWS = uint(2 * WINDOW_Y + 1);
const uint QUADS = ROW_QUADS * ROWS;
const uint PARTS = BLOCK / 2u;
const uint SEEDS = 4u;
const uint GROUP = 8u; /* quads that are scanned before hits are listed: 32 candidates */

/* A candidate: its block of the tile, row (dy + WINDOW_Y, at most 1024) and column (dx + PAD_X, at
 * most 1027). */
uint candidate_of(uint b, uint row, uint column) { return b << 22 | row << 11 | column; }
uint block_of(uint candidate) { return candidate >> 22; }
uint row_of(uint candidate) { return (candidate >> 11) & 0x7ffu; }
uint column_of(uint candidate) { return candidate & 0x7ffu; }
int dx_of(uint candidate) { return int(column_of(candidate)) - PAD_X; }
int dy_of(uint candidate) { return int(row_of(candidate)) - WINDOW_Y; }

/* By block of the tile. */
shared uint best_cost[TILE_X];
shared uint best_order[TILE_X];
shared uint passed[TILE_X];   /* candidates past the first level, */
shared uint compared[TILE_X]; /* and past the second */
shared uvec4 target_parts[TILE_X];
shared uint seed_key[TILE_X * SEEDS];

shared uint list[LIST]; /* candidates past the first level, NONE where one is done with */
shared uint list_count;
shared uint short_list[SHORT_LIST]; /* past the second level, */
shared uint short_cost[SHORT_LIST]; /* and their costs */
shared uint short_count;
shared bool list_full, short_list_full;
shared uint past_blocks, past_parts; /* of the whole tile; at most 16 * 1025^2 */

uint z;
uint reference_quads, target_quads; /* to the frames */

uvec2 position_of(uint b)
{
    return uvec2(gl_WorkGroupID.x * TILE_X + b, pc.row_first + gl_WorkGroupID.y) * BLOCK;
}

/* Past the last block of the row there is none. */
bool is_there(uint b) { return position_of(b).x < pc.width; }

bool is_whole(uint b)
{
    return all(lessThanEqual(position_of(b) + BLOCK, uvec2(pc.width, pc.height)));
}

/* Samples from the frame's start to the candidate (the block at dx = -PAD_X, dy = -WINDOW_Y). */
uint sample_of(uint b)
{
    uvec2 at = position_of(b);
    return 4u * at.y * pc.pair.stride + at.x;
}

uint part_sum(uint sample_index)
{
    return bitfieldExtract(part_sums[sample_index / 2u], 16 * int(sample_index & 1u), 16);
}

/* Sums of the quarters of the block at a sample of a frame. */
uvec4 parts_at(uint quads, uint sample_index)
{
    uint at = 4u * quads + sample_index, below = at + 4u * pc.pair.stride * (BLOCK / 2u);
    return uvec4(
        part_sum(at), part_sum(at + BLOCK / 2u), part_sum(below), part_sum(below + BLOCK / 2u));
}

/* A lower bound of the SAD. */
uint bound_at(uint candidate)
{
    const uint SLACK = uint(PART_SHIFT > 0u);
    uint b = block_of(candidate);
    uint from = sample_of(b) + 4u * row_of(candidate) * pc.pair.stride + column_of(candidate);
    uvec4 mine = target_parts[b], its = parts_at(reference_quads, from);
    uvec4 d = max(max(mine, its) - min(mine, its), uvec4(SLACK)) - SLACK;
    return (d.x + d.y + d.z + d.w) << PART_SHIFT;
}

bool is_allowed(uint candidate)
{
    uint b = block_of(candidate);
    return allowed(ivec2(position_of(b)), ivec2(BLOCK), ivec2(pc.width, pc.height),
        dx_of(candidate), dy_of(candidate));
}

uint order_at(uint candidate) { return order_of(dx_of(candidate), dy_of(candidate)); }

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

/* What rows part, part + PARTS ... of the block add to a candidate's cost. The loops' ends are
 * constants, so that many reads are under way at a time. */
uint sad_part(uint candidate, uint part)
{
    uint quad = sample_of(block_of(candidate)) / 4u, x = column_of(candidate) & 3u;
    uint to = target_quads + quad + (uint(WINDOW_Y) + part) * pc.pair.stride + uint(PAD_X) / 4u;
    uint from = reference_quads + quad + (row_of(candidate) + part) * pc.pair.stride +
                column_of(candidate) / 4u;
    ivec4 sum = ivec4(0);
    for (uint row = 0u; row < BLOCK; row += PARTS) {
        uint skip = row * pc.pair.stride;
        QUAD left = padded[from + skip];
        for (uint i = 0u; i < BLOCK / 4u; i++) {
            QUAD right = padded[from + skip + i + 1u];
            sum += abs(unpack(padded[to + skip + i]) - unpack(shifted(left, right, x)));
            left = right;
        }
    }
    return uint(sum.x + sum.y + sum.z + sum.w);
}

/* Of the candidates that this invocation looks at, rows SEED_STEP apart, the one whose block sum is
 * nearest. */
uint nearest_candidate(uint b, uint member, uint target_sum)
{
    uint start = reference_quads + sample_of(b) / 4u;
    uint nearest = candidate_of(b, uint(WINDOW_Y), uint(PAD_X)), least = NONE;
    uint step_rows = (ROWS + SEED_STEP - 1u) / SEED_STEP;
    uint row = member / ROW_QUADS, quad = member % ROW_QUADS;
    while (row < step_rows) {
        uvec2 pairs = sums[start + row * SEED_STEP * pc.pair.stride + quad];
        ivec4 four = ivec4(pairs.x & 0xffffu, pairs.x >> 16, pairs.y & 0xffffu, pairs.y >> 16);
        ivec4 d = abs(four - int(target_sum));
        uint m = uint(min(min(d.x, d.y), min(d.z, d.w)));
        if (m < least) {
            ivec4 at = ivec4(equal(uvec4(d), uvec4(m)));
            uint k = at.x != 0 ? 0u : at.y != 0 ? 1u : at.z != 0 ? 2u : 3u;
            least = m;
            nearest = candidate_of(b, row * SEED_STEP, 4u * quad + k);
        }
        row += TEAM / ROW_QUADS;
        quad += TEAM % ROW_QUADS;
        if (quad >= ROW_QUADS) {
            quad -= ROW_QUADS;
            row++;
        }
    }
    return nearest;
}

/* Puts SEEDS candidates of every block on the short list: the zero vector, and for each third of
 * the team the nearest by its quarters. */
void seed(uint b, uint member, uint target_sum, bool live)
{
    uint zero = candidate_of(b, uint(WINDOW_Y), uint(PAD_X));
    uint mine = live ? nearest_candidate(b, member, target_sum) : zero;
    uint place = b * SEEDS + 1u + member * (SEEDS - 1u) / TEAM;
    for (uint i = gl_LocalInvocationIndex; i < TILE_X * SEEDS; i += LOCAL) {
        seed_key[i] = NONE;
        short_list[i] = candidate_of(i / SEEDS, uint(WINDOW_Y), uint(PAD_X));
        short_cost[i] = 0u;
    }
    barrier();
    uint key = NONE;
    if (live && is_allowed(mine)) {
        key = min(bound_at(mine), 0xfffffeu) << 8 | member;
        atomicMin(seed_key[place], key);
    }
    barrier();
    if (key != NONE && key == seed_key[place]) {
        short_list[place] = mine;
    }
}

/* Compares the short list in full and takes the winners into best_cost and best_order. */
void compare(uint count)
{
    uint lane = gl_LocalInvocationIndex;
    for (uint job = lane; job < count * PARTS; job += LOCAL) {
        atomicAdd(short_cost[job / PARTS], sad_part(short_list[job / PARTS], job % PARTS));
    }
    uint before = lane < TILE_X ? best_cost[lane] : 0u;
    barrier();
    for (uint i = lane; i < count; i += LOCAL) {
        atomicMin(best_cost[block_of(short_list[i])], short_cost[i]);
    }
    barrier();
    if (lane < TILE_X && best_cost[lane] < before) {
        best_order[lane] = NONE;
    }
    barrier();
    for (uint i = lane; i < count; i += LOCAL) {
        uint c = short_list[i];
        if (short_cost[i] == best_cost[block_of(c)]) {
            atomicMin(best_order[block_of(c)], order_at(c));
        }
    }
    barrier();
}

/* Where an invocation is in its candidates. */
struct Scan {
    uint done;      /* quads of the team passed, in steps of TEAM * GROUP */
    uint row, quad; /* the next one of this invocation */
};

/* Lists candidates whose block sum does not exclude them, to the end or until the list is full. */
void scan(uint b, uint target_sum, uint near, inout Scan at)
{
    /* A sum passes where low <= sum <= high, so where its distance from low, modulo 2^16, is at
     * most high - low; either half of a word is tested in place. */
    uint low = target_sum - min(target_sum, near);
    uint range = (min(target_sum + near, 0xffffu) - low) << 16 | 0xffffu;
    uint start = reference_quads + sample_of(b) / 4u;
    while (at.done < QUADS) {
        uint hits = 0u, row = at.row, quad = at.quad;
        [[unroll]] for (uint k = 0u; k < GROUP; k++) {
            if (row < ROWS) {
                uvec2 pairs = sums[start + row * pc.pair.stride + quad];
                uint bits = uint((pairs.x << 16) - (low << 16) <= range) |
                            uint(pairs.x - (low << 16) <= range) << 1 |
                            uint((pairs.y << 16) - (low << 16) <= range) << 2 |
                            uint(pairs.y - (low << 16) <= range) << 3;
                hits |= bits << (4u * k);
            }
            row += TEAM / ROW_QUADS;
            quad += TEAM % ROW_QUADS;
            if (quad >= ROW_QUADS) {
                quad -= ROW_QUADS;
                row++;
            }
        }
        if (hits != 0u) {
            uint count = uint(bitCount(hits)), place = atomicAdd(list_count, count);
            if (place + count > LIST) {
                for (uint i = place; i < LIST; i++) {
                    list[i] = NONE;
                }
                list_full = true;
                return;
            }
            uint first = at.row * ROW_QUADS + at.quad;
            for (; hits != 0u; hits &= hits - 1u) {
                uint k = uint(findLSB(hits)), index = first + k / 4u * TEAM;
                list[place++] = candidate_of(b, index / ROW_QUADS,
                    4u * (index % ROW_QUADS) + k % 4u);
            }
        }
        at.done += GROUP * TEAM;
        at.row = row;
        at.quad = quad;
    }
}

/* Moves what the quarters do not exclude from the list to the short list; what finds no room there
 * stays. */
void shorten()
{
    uint count = min(list_count, LIST);
    for (uint i = gl_LocalInvocationIndex; i < count; i += LOCAL) {
        uint c = list[i], b = block_of(c);
        if (c == NONE || compared[b] > GIVE_UP) {
            continue;
        }
        bool counts_here = is_allowed(c);
        if (counts_here && wins(bound_at(c), order_at(c), best_cost[b], best_order[b])) {
            uint place = atomicAdd(short_count, 1u);
            if (place >= SHORT_LIST) {
                short_list_full = true;
                continue;
            }
            short_list[place] = c;
            short_cost[place] = 0u;
            atomicAdd(compared[b], 1u);
        }
        if (counts_here) {
            atomicAdd(passed[b], 1u);
        }
        list[i] = NONE;
    }
}

/* 64-bit counts a field: candidates past the first level and past the second. */
void count_up(uint which, uint value)
{
    uint at = (z * GPUME_COUNTS + which) * 2u;
    uint before = value > 0u ? atomicAdd(counts[at], value) : 0u;
    if (before + value < before) {
        atomicAdd(counts[at + 1u], 1u);
    }
}

/* Of a block that is left over, every candidate is compared. */
uint candidates_of(uint b)
{
    ivec2 at = ivec2(position_of(b)), picture = ivec2(pc.width, pc.height);
    ivec2 after_it = picture - at - min(ivec2(BLOCK), picture - at);
    ivec2 window = ivec2(WINDOW_X, WINDOW_Y);
    ivec2 before = INSIDE == 0u ? window : min(window, at);
    ivec2 after = INSIDE == 0u ? window : min(window, after_it);
    return uint((before.x + after.x + 1) * (before.y + after.y + 1));
}

/* The block's result, or its place among those left over. */
void finish(uint b, bool left)
{
    uvec2 grid = position_of(b) / BLOCK;
    uint index = z * pc.blocks + grid.y * pc.blocks_x + grid.x;
    todo[index] = uint(left);
    if (left) {
        todo[pc.left_list + 1u + atomicAdd(todo[pc.left_list], 1u)] = index;
    } else {
        vectors[index] = vector_of(best_order[b]);
        costs[index] = best_cost[b];
    }
    atomicAdd(past_blocks, left ? candidates_of(b) : passed[b]);
    atomicAdd(past_parts, left ? candidates_of(b) : compared[b]);
}

void main()
{
    uint lane = gl_LocalInvocationIndex, b = lane / TEAM, member = lane % TEAM;
    z = gl_WorkGroupID.z;
    target_quads = ((pc.pair.target_frame + z) % pc.pair.ring) * pc.pair.frame_quads;
    reference_quads = ((pc.pair.reference_frame + z) % pc.pair.ring) * pc.pair.frame_quads;
    bool live = is_whole(b);
    uint here = sample_of(b) + 4u * uint(WINDOW_Y) * pc.pair.stride + uint(PAD_X);
    uint target_sum = 0u;
    if (live) {
        target_sum = sums[target_quads + here / 4u].x & 0xffffu; /* blocks begin with a quad */
    }
    if (member == 0u) {
        best_cost[b] = NONE;
        best_order[b] = NONE;
        passed[b] = 0u;
        compared[b] = 0u;
        target_parts[b] = live ? parts_at(target_quads, here) : uvec4(0u);
    }
    if (lane == 0u) {
        list_count = 0u;
        list_full = false;
        short_list_full = false;
        past_blocks = 0u;
        past_parts = 0u;
    }
    barrier();
    seed(b, member, target_sum, live);
    barrier();

    Scan at = Scan(0u, member / ROW_QUADS, member % ROW_QUADS);
    uint count = TILE_X * SEEDS;
    bool left = !live, again = true;
    while (count > 0u || again) {
        compare(count);
        bool listed = short_list_full; /* the list still holds what was put there before */
        barrier();
        if (lane == 0u) {
            list_count = listed ? list_count : 0u;
            list_full = listed && list_full;
            short_list_full = false;
            short_count = 0u;
        }
        barrier();
        bool open = !left && (best_cost[b] > 0u || best_order[b] > 0u);
        if (open && !listed) {
            uint near = (best_cost[b] >> BOX_SHIFT) + uint(BOX_SHIFT > 0u);
            scan(b, target_sum, near, at);
        }
        barrier();
        shorten();
        barrier();
        count = min(short_count, SHORT_LIST);
        again = list_full || short_list_full;
        left = !live || compared[b] > GIVE_UP;
    }

    if (is_there(b) && member == 0u) {
        finish(b, left);
    }
    barrier();
    if (lane == 0u) {
        count_up(GPUME_COUNT_PAST_BLOCKS, past_blocks);
        count_up(GPUME_COUNT_PAST_PARTS, past_parts);
    }
}
