/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The full search on any device, for blocks of any size: for each block the candidate with the
 * smallest (cost, order).
 *
 * Grid: x and y count workgroups of LOCAL / TEAM blocks, z = task. A team of TEAM invocations
 * shares one block and takes turns at its jobs. A job is four neighbouring dx at CHUNK neighbouring
 * dy, from registers: two rows of eight samples of the target (four, where the block's width is no
 * multiple of eight), to which each row of the reference is compared for all dy while it is loaded.
 * Jobs of a wide window are split over several dispatches, each of which starts from the best of
 * the one before; a barrier lies between them.
 *
 * Shared memory: 2 words per block, used by teams of more than one only. Access: reads target and
 * reference, reads and writes vectors and costs.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common/shared.h"
#include "common/common.glsl"
#include "common/task.glsl"
#include "search/search.glsl"

layout(constant_id = GPUME_SPEC_FALLBACK) const uint FALLBACK = 0;
layout(constant_id = GPUME_SPEC_TEAM) const uint TEAM = 16;
layout(constant_id = GPUME_SPEC_LOCAL) const uint LOCAL = 16;
layout(constant_id = GPUME_SPEC_CHUNK) const uint CHUNK = 4;
layout(constant_id = GPUME_SPEC_KEY_BITS) const uint KEY_BITS = 8;

layout(local_size_x_id = GPUME_SPEC_LOCAL) in;
layout(std430, binding = 0) readonly buffer Target { QUAD target[]; };
layout(std430, binding = 1) readonly buffer Reference { QUAD reference[]; };
layout(std430, binding = 2) buffer Vectors { uint vectors[]; };
layout(std430, binding = 3) buffer Costs { uint costs[]; };
layout(std430, binding = 4) readonly buffer Fallback { uint fallback[]; };
layout(push_constant) uniform Push { gpume_quads_push pc; };

const uint NONE = 0xffffffffu;
const uint SPAN_X = uint(2 * WINDOW_X + 1), SPAN_Y = uint(2 * WINDOW_Y + 1);
const uint DX_QUADS = uint(PAD_X + WINDOW_X + 1 + 3) / 4u;
const uint ROWS = 2u;
const uint QUADS = BLOCK_W % 8u == 0u ? 2u : 1u;

shared uint team_cost[LOCAL / TEAM]; /* one word: cost << KEY_BITS | order */
shared uint team_order[LOCAL / TEAM];

/* For four neighbouring dx at each dy of the job; each at most 128 * 128 * 65535 < 2^31. */
ivec4 sums[CHUNK];

/* The best so far; where one word holds cost and order, it is best_cost. */
uint best_cost = NONE, best_order = NONE;

ivec4 differences(ivec4 t, ivec4 left, ivec4 right)
{
    return abs(t.x - left) + abs(t.y - ivec4(left.yzw, right.x)) +
           abs(t.z - ivec4(left.zw, right.xy)) + abs(t.w - ivec4(left.w, right.xyz));
}

/* ROWS rows of QUADS quads. to, from: quad addresses. */
void add_rows(uint to, uint from)
{
    ivec4 t[ROWS * QUADS];
    [[unroll]] for (uint i = 0u; i < ROWS * QUADS; i++) {
        t[i] = unpack(target[to + i / QUADS * pc.frames.stride + i % QUADS]);
    }
    [[unroll]] for (uint y = 0u; y < ROWS + CHUNK - 1u; y++) {
        ivec4 left = unpack(reference[from + y * pc.frames.stride]);
        [[unroll]] for (uint x = 0u; x < QUADS; x++) {
            ivec4 right = unpack(reference[from + y * pc.frames.stride + x + 1u]);
            [[unroll]] for (uint k = 0u; k < CHUNK; k++) {
                if (y >= k && y - k < ROWS) {
                    sums[k] += differences(t[(y - k) * QUADS + x], left, right);
                }
            }
            left = right;
        }
    }
}

/* One quad, of which `visible` samples count. */
void add_quad(uint to, uint from, uint visible)
{
    ivec4 t = unpack(target[to]);
    [[unroll]] for (uint k = 0u; k < CHUNK; k++) {
        ivec4 left = unpack(reference[from + k * pc.frames.stride]);
        ivec4 right = unpack(reference[from + k * pc.frames.stride + 1u]);
        sums[k] += abs(t.x - left);
        sums[k] += visible > 1u ? abs(t.y - ivec4(left.yzw, right.x)) : ivec4(0);
        sums[k] += visible > 2u ? abs(t.z - ivec4(left.zw, right.xy)) : ivec4(0);
        sums[k] += visible > 3u ? abs(t.w - ivec4(left.w, right.xyz)) : ivec4(0);
    }
}

/* The costs of a job. to, from: of the block and of its leftmost, uppermost match. */
void compare(uint to, uint from, uvec2 size)
{
    [[unroll]] for (uint k = 0u; k < CHUNK; k++) {
        sums[k] = ivec4(0);
    }
    if (size.x % (4u * QUADS) == 0u && size.y % ROWS == 0u) {
        for (uint y = 0u; y < size.y; y += ROWS) {
            for (uint x = 0u; x < size.x / 4u; x += QUADS) {
                add_rows(to + x, from + x);
            }
            to += ROWS * pc.frames.stride;
            from += ROWS * pc.frames.stride;
        }
        return;
    }
    for (uint y = 0u; y < size.y; y++) {
        for (uint x = 0u; x < size.x; x += 4u) {
            add_quad(to + x / 4u, from + x / 4u, size.x - x);
        }
        to += pc.frames.stride;
        from += pc.frames.stride;
    }
}

/* Offers the candidates of the job at quad dx_quad and row `row` of the window to the best. */
void take(ivec2 at, ivec2 size, uint dx_quad, uint row)
{
    ivec2 picture = ivec2(pc.layer.width, pc.layer.height);
    int dx = 4 * int(dx_quad) - PAD_X;
    uvec4 outside, least = uvec4(NONE);
    [[unroll]] for (int i = 0; i < 4; i++) {
        outside[i] = allowed(at, size, picture, dx + i, 0) ? 0u : NONE;
    }
    [[unroll]] for (uint k = 0u; k < CHUNK; k++) {
        int dy = int(row + k) - WINDOW_Y;
        uvec4 order = uint(int(row + k) * int(SPAN_X) + dx + WINDOW_X) + uvec4(1u, 2u, 3u, 4u);
        order.x = dx == 0 && dy == 0 ? 0u : order.x;
        if (INSIDE != 0u && !allowed(at, size, picture, 0, dy)) {
            continue;
        }
        if (KEY_BITS > 0u) {
            least = min(least, ((uvec4(sums[k]) << KEY_BITS) + order) | outside);
            continue;
        }
        [[unroll]] for (int i = 0; i < 4; i++) {
            uint cost = uint(sums[k][i]) | outside[i];
            if (wins(cost, order[i], best_cost, best_order)) {
                best_cost = cost;
                best_order = order[i];
            }
        }
    }
    best_cost = min(best_cost, min(min(least.x, least.y), min(least.z, least.w)));
}

void search(uint block, uint member)
{
    uvec2 at = uvec2(block % pc.layer.blocks_x, block / pc.layer.blocks_x) * BLOCK_SIZE;
    uvec2 size = min(BLOCK_SIZE, uvec2(pc.layer.width, pc.layer.height) - at);
    uint z = gl_WorkGroupID.z;
    uint to = target_of(pc.frames, z) +
              (at.y + uint(WINDOW_Y)) * pc.frames.stride + (at.x + uint(PAD_X)) / 4u;
    uint from = reference_of(pc.frames, z) +
                at.y * pc.frames.stride + at.x / 4u;
    for (uint job = pc.job_first + member; job < pc.job_end; job += TEAM) {
        /* The last chunk may begin within the one before: a candidate seen twice wins but once. */
        uint dx_quad = job % DX_QUADS, row = min(job / DX_QUADS * CHUNK, SPAN_Y - CHUNK);
        compare(to, from + row * pc.frames.stride + dx_quad, size);
        take(ivec2(at), ivec2(size), dx_quad, row);
    }
}

/* The best of the dispatch before. */
void take_earlier(uint out_index)
{
    int dx = bitfieldExtract(int(vectors[out_index]), 0, 16);
    int dy = bitfieldExtract(int(vectors[out_index]), 16, 16);
    uint cost = costs[out_index], order = order_of(dx, dy);
    if (KEY_BITS > 0u) {
        best_cost = min(best_cost, cost << KEY_BITS | order);
    } else if (wins(cost, order, best_cost, best_order)) {
        best_cost = cost;
        best_order = order;
    }
}

/* Makes the team's best the best of each of its invocations. All of the workgroup calls it. */
void reduce(uint team, uint member)
{
    if (member == 0u) {
        team_cost[team] = team_order[team] = NONE;
    }
    barrier();
    atomicMin(team_cost[team], best_cost);
    barrier();
    if (KEY_BITS == 0u) {
        if (best_cost == team_cost[team]) {
            atomicMin(team_order[team], best_order);
        }
        barrier();
        best_order = team_order[team];
    }
    best_cost = team_cost[team];
}

void main()
{
    uint lane = gl_LocalInvocationIndex, team = lane / TEAM, member = lane % TEAM;
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint index = group * (LOCAL / TEAM) + team;
    uint block = pc.block_first + index * pc.block_step;
    uint z = gl_WorkGroupID.z, out_index = result_index(pc.layer, z, block);
    bool live = index < pc.block_count &&
                (FALLBACK == 0u || fallback[z * pc.layer.blocks + block] != 0u);

    if (live) {
        search(block, member);
        if (member == 0u && pc.job_first > 0u) {
            take_earlier(out_index);
        }
    }
    if (TEAM > 1u) {
        reduce(team, member);
    }
    if (live && member == 0u) {
        bool one_word = KEY_BITS > 0u;
        vectors[out_index] =
            vector_of(one_word ? best_cost & ((1u << KEY_BITS) - 1u) : best_order);
        costs[out_index] = one_word ? best_cost >> KEY_BITS : best_cost;
    }
}
