/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The full search by successive elimination (Li and Salari 1995; by parts of the block: Gao, Duanmu
 * and Zou 2000), exact: the sums of the four quarters of two blocks differ by no more than their
 * SAD, so a candidate whose sums differ by more than the best cost so far (or by as much, and it is
 * later in the tie rule) cannot win and is not compared.
 *
 * First every invocation compares the one of its candidates whose sums are nearest, which gives a
 * good best cost; then all candidates are sieved, those that pass are gathered in shared memory
 * and compared in full, one an invocation. Where too many pass (noise, flat blocks), and for blocks
 * that the picture's edge cuts, the block is left to match.comp.
 *
 * Grid: x and y = block, z = field of the batch; the whole workgroup shares one block. Shared
 * memory: 4 words an invocation. Reads target, reference and boxes, writes vectors, costs and todo.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "shared.h"
#include "common.glsl"
#include "search.glsl"

layout(local_size_x = GPUME_SIEVE_LOCAL) in;
layout(std430, binding = 0) readonly buffer Padded { QUAD padded[]; };
layout(std430, binding = 1) readonly buffer Boxes { uint boxes[]; };
layout(std430, binding = 2) writeonly buffer Vectors { uint vectors[]; };
layout(std430, binding = 3) writeonly buffer Costs { uint costs[]; };
layout(std430, binding = 4) writeonly buffer Todo { uint todo[]; };
layout(push_constant) uniform Push { gpume_sieve_push pc; };

const uint SPAN = uint(2 * WINDOW_X + 1);
const uint CANDIDATES = SPAN * uint(2 * WINDOW_Y + 1);
const uint NONE = 0xffffffffu;

shared uint lane_cost[GPUME_SIEVE_LOCAL];
shared uint lane_order[GPUME_SIEVE_LOCAL];
shared uint passed[2 * GPUME_SIEVE_LOCAL]; /* candidates waiting to be compared */
shared uint passed_count;

/* The same in every invocation. */
ivec2 block_at;
uint target_base, reference_base; /* quads */
uvec4 target_sums;
uint best_cost = NONE, best_order = NONE;

ivec2 vector_at(uint candidate)
{
    return ivec2(int(candidate % SPAN) - WINDOW_X, int(candidate / SPAN) - WINDOW_Y);
}

bool is_allowed(ivec2 v)
{
    return allowed(block_at, ivec2(BLOCK), ivec2(pc.width, pc.height), v.x, v.y);
}

/* Of the four quarters of the block-sized square at sample x, y of a padded frame. */
uvec4 sums_at(uint base, uint x, uint y)
{
    uint at = 4u * (base + y * pc.pair.stride) + x;
    uint below = at + 4u * pc.pair.stride * (BLOCK / 2u);
    return uvec4(boxes[at], boxes[at + BLOCK / 2u], boxes[below], boxes[below + BLOCK / 2u]);
}

/* A lower bound of the SAD. */
uint bound_of(ivec2 v)
{
    uvec4 sums = sums_at(
        reference_base, uint(block_at.x + PAD_X + v.x), uint(block_at.y + WINDOW_Y + v.y));
    uvec4 d = max(sums, target_sums) - min(sums, target_sums);
    return d.x + d.y + d.z + d.w;
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

uint sad_of(ivec2 v)
{
    uint to = target_base + uint(block_at.y + WINDOW_Y) * pc.pair.stride +
              uint(block_at.x + PAD_X) / 4u;
    uint x = uint(block_at.x + PAD_X + v.x);
    uint from = reference_base + uint(block_at.y + WINDOW_Y + v.y) * pc.pair.stride + x / 4u;
    ivec4 sums = ivec4(0);
    for (uint row = 0u; row < BLOCK; row++) {
        QUAD left = padded[from];
        for (uint i = 0u; i < BLOCK / 4u; i++) {
            QUAD right = padded[from + i + 1u];
            sums += abs(unpack(padded[to + i]) - unpack(shifted(left, right, x & 3u)));
            left = right;
        }
        to += pc.pair.stride;
        from += pc.pair.stride;
    }
    return uint(sums.x + sums.y + sums.z + sums.w);
}

/* Compares one candidate an invocation (NONE: nothing) and takes the winner of all into best. */
void compare_round(uint candidate)
{
    uint lane = gl_LocalInvocationIndex;
    uint cost = NONE, order = NONE;
    if (candidate != NONE) {
        ivec2 v = vector_at(candidate);
        cost = sad_of(v);
        order = order_of(v.x, v.y);
    }
    barrier(); /* the last round's winner has been read */
    lane_cost[lane] = cost;
    lane_order[lane] = order;
    for (uint step = GPUME_SIEVE_LOCAL / 2; step > 0u; step /= 2u) {
        barrier();
        if (lane < step && wins(lane_cost[lane + step], lane_order[lane + step], lane_cost[lane],
                               lane_order[lane])) {
            lane_cost[lane] = lane_cost[lane + step];
            lane_order[lane] = lane_order[lane + step];
        }
    }
    barrier();
    if (wins(lane_cost[0], lane_order[0], best_cost, best_order)) {
        best_cost = lane_cost[0];
        best_order = lane_order[0];
    }
}

/* The candidate of this invocation whose sum is nearest to the block's. */
uint nearest_candidate()
{
    uint nearest = NONE, least = NONE;
    for (uint c = gl_LocalInvocationIndex; c < CANDIDATES; c += GPUME_SIEVE_LOCAL) {
        ivec2 v = vector_at(c);
        uint bound = is_allowed(v) ? bound_of(v) : NONE;
        if (bound < least) {
            least = bound;
            nearest = c;
        }
    }
    return nearest;
}

/* Sieves all candidates; false: too many pass, in all or of those seen so far. */
bool sieve()
{
    uint lane = gl_LocalInvocationIndex, rounds = 0u;
    for (uint first = 0u; first < CANDIDATES; first += GPUME_SIEVE_LOCAL) {
        uint c = first + lane;
        ivec2 v = vector_at(c);
        if (c < CANDIDATES && is_allowed(v) &&
            wins(bound_of(v), order_of(v.x, v.y), best_cost, best_order)) {
            passed[atomicAdd(passed_count, 1u)] = c;
        }
        barrier();
        uint count = passed_count; /* the same for all, and so is what follows */
        barrier();
        if (count >= GPUME_SIEVE_LOCAL) {
            rounds++;
            if (rounds > pc.rounds || 4u * rounds * GPUME_SIEVE_LOCAL > first + GPUME_SIEVE_LOCAL) {
                return false;
            }
            compare_round(passed[lane]);
            uint rest = lane + GPUME_SIEVE_LOCAL < count ? passed[lane + GPUME_SIEVE_LOCAL] : 0u;
            barrier();
            passed[lane] = rest;
            if (lane == 0u) {
                passed_count = count - GPUME_SIEVE_LOCAL;
            }
            barrier();
        }
    }
    compare_round(lane < passed_count ? passed[lane] : NONE);
    return true;
}

void main()
{
    uint lane = gl_LocalInvocationIndex, z = gl_WorkGroupID.z;
    uint block = pc.block_first + gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (block >= pc.block_end) { /* the whole workgroup */
        return;
    }
    uint out_index = z * pc.blocks + block;
    block_at = ivec2(block % pc.blocks_x, block / pc.blocks_x) * int(BLOCK);
    bool whole = block_at.x + int(BLOCK) <= int(pc.width) &&
                 block_at.y + int(BLOCK) <= int(pc.height);
    bool done = false;
    if (whole) { /* likewise */
        target_base = ((pc.pair.target_frame + z) % pc.pair.ring) * pc.pair.frame_quads;
        reference_base = ((pc.pair.reference_frame + z) % pc.pair.ring) * pc.pair.frame_quads;
        target_sums =
            sums_at(target_base, uint(block_at.x + PAD_X), uint(block_at.y + WINDOW_Y));
        if (lane == 0u) {
            passed_count = 0u;
        }
        compare_round(nearest_candidate());
        done = sieve();
    }
    if (lane == 0u) {
        todo[out_index] = done ? 0u : 1u;
        if (done) {
            vectors[out_index] = vector_of(best_order);
            costs[out_index] = best_cost;
        }
    }
}
