/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What blocks cost that are predicted from the samples around them: the least SATD of the modes of
 * src/encode/costs.h.
 *
 * Grid: x counts workgroups along a row of blocks, y rows, z frames. Workgroup: a team for each
 * block, whose members take one of the eight angles each, then one of the other modes. Shared
 * memory: 5.25 words per invocation. Reads the frames; BLOCKS gets the SATDs.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "encode/shared.h"
#include "encode/block.glsl"

layout(local_size_x = GPUME_ENCODE_LOCAL) in;

const uint TEAM = GPUME_ENCODE_TEAM, TEAMS = GPUME_ENCODE_LOCAL / TEAM;
const uint EDGE = 17u; /* samples along an edge, from the corner on */

/* In 1/32 sample per row, from above; then per column, from the left. */
const uint FROM_ABOVE = 5u;
const int ANGLES[TEAM] = int[](0, 13, 32, -32, -13, 0, 13, -13);

shared int edges[TEAMS][2u * EDGE]; /* above, then to the left */
shared uint offers[GPUME_ENCODE_LOCAL];

uint team; /* the invocation's */

/* The samples above the block or, `side` 1, to its left, counted from the corner. */
int edge_at(uint side, int i)
{
    return edges[team][side * EDGE + uint(i)];
}

/* A sample before the corner is that of the other edge to which the angle leads. */
int line_at(uint side, int i, int angle)
{
    int inverse = angle == -32 ? 256 : 630; /* 256 * 32 / -angle */
    return i >= 0 ? edge_at(side, i) : edge_at(1u - side, (-i * inverse + 128) >> 8);
}

int along_angle(uint side, int angle, ivec2 p)
{
    ivec2 q = side == 0u ? p : p.yx; /* along the edge, away from it */
    int place = (q.y + 1) * angle, i = q.x + 1 + (place >> 5), fraction = place & 31;
    int a = line_at(side, i, angle), b = line_at(side, fraction != 0 ? i + 1 : i, angle);
    return (a * (32 - fraction) + b * fraction + 16) >> 5;
}

int planar(ivec2 p)
{
    return ((7 - p.x) * edge_at(1u, p.y + 1) + (p.x + 1) * edge_at(0u, 9) +
               (7 - p.y) * edge_at(0u, p.x + 1) + (p.y + 1) * edge_at(1u, 9) + 8) >>
           4;
}

int mean_of_edges()
{
    int sum = 8;
    for (int i = 1; i <= 8; i++) {
        sum += edge_at(0u, i) + edge_at(1u, i);
    }
    return sum >> 4;
}

uint angular_satd(uint block, uint side, int angle)
{
    int d[32];
    [[unroll]] for (uint y = 0u; y < 8u; y++) {
        uvec2 row = load_block_row(block, y);
        [[unroll]] for (uint x = 0u; x < 4u; x++) {
            d[4u * y + x] = column_pair(row, x) - along_angle(side, angle, ivec2(x, y)) -
                            (along_angle(side, angle, ivec2(x + 4u, y)) << 16);
        }
    }
    return satd_of(d);
}

uint smooth_satd(uint block, bool flat_mode)
{
    int mean = mean_of_edges(), d[32];
    [[unroll]] for (uint y = 0u; y < 8u; y++) {
        uvec2 row = load_block_row(block, y);
        [[unroll]] for (uint x = 0u; x < 4u; x++) {
            int a = flat_mode ? mean : planar(ivec2(x, y));
            int b = flat_mode ? mean : planar(ivec2(x + 4u, y));
            d[4u * y + x] = column_pair(row, x) - a - (b << 16);
        }
    }
    return satd_of(d);
}

void main()
{
    uint lane = gl_LocalInvocationIndex, member = lane % TEAM;
    team = lane / TEAM;
    uvec2 at = uvec2(gl_WorkGroupID.x * TEAMS + team, gl_WorkGroupID.y);
    bool live = at.x < pc.blocks_x;
    at.x = min(at.x, pc.blocks_x - 1u);
    uint block = own_task().target + 8u * (at.y * pc.stride + at.x);
    uint corner = block - pc.stride - 1u;
    for (uint i = member; i < EDGE; i += TEAM) {
        edges[team][i] = int(load_sample(corner + i));
        edges[team][EDGE + i] = int(load_sample(corner + i * pc.stride));
    }
    barrier();
    uint side = member < FROM_ABOVE ? 0u : 1u;
    uint best = min(
        angular_satd(block, side, ANGLES[member]), smooth_satd(block, (member & 1u) != 0u));
    offers[lane] = best;
    barrier();
    if (live && member == 0u) {
        for (uint i = 1u; i < TEAM; i++) {
            best = min(best, offers[lane + i]);
        }
        blocks[pc.word + own_block(at)] = best;
    }
}
