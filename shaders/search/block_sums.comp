/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of a quarter of a block and of a sixteenth at every position of a padded frame, cut to
 * 11 bits, for prune_wide.comp: half floats, two to a word. At most 64 * 64 * 65535 < 2^28 before
 * the cut. For prune_small.comp and prune_strips.comp (ROWS): the sums of quarters alone, row
 * after row, and nothing of what follows.
 *
 * Sums lie in tiles of 4 x 4, one row of tiles after the other, and row by row within a tile. For
 * every tile of quarters the smallest sum and the negative of the largest are written as a pair.
 * The frame's last row is repeated below it, so that every tile is complete. Sixteenths that are
 * another layer's quarters are left to that layer (SIXTEENTHS_MADE). Samples are copied
 * into patches on the way, for one layer of a plan: all layers read the same ones.
 *
 * Grid: x = quad of columns, y = GPUME_BLOCK_SUMS_ROWS rows downwards, z = frame, by the task
 * table. Reads padded frames, writes sums and patches. No shared memory: where a workgroup shared
 * the sums of its columns, blocks of 64 took 22 us per field instead of 24 on an H200, but those of
 * 8 and 16 took 16 us instead of 4 and 9.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "common/shared.h"
#include "common/common.glsl"
#include "common/task.glsl"
#include "search/search.glsl"
#include "search/patches.glsl"

layout(constant_id = GPUME_SPEC_QUARTER_SHIFT) const uint QUARTER_SHIFT = 0;
layout(constant_id = GPUME_SPEC_SIXTEENTH_SHIFT) const uint SIXTEENTH_SHIFT = 0;
layout(constant_id = GPUME_SPEC_ROWS) const uint ROWS = 0;
layout(constant_id = GPUME_SPEC_SIXTEENTHS) const uint SIXTEENTHS_MADE = 1;
layout(constant_id = GPUME_SPEC_BITS) const uint BITS = 8;

layout(local_size_x = GPUME_BLOCK_SUMS_LOCAL) in;
layout(std430, binding = 0) readonly buffer Padded { QUAD padded[]; };
layout(std430, binding = 1) writeonly buffer Quarters { uvec4 quarters[]; };
layout(std430, binding = 1) writeonly buffer Rows { uvec2 rows_of_quarters[]; };
layout(std430, binding = 2) writeonly buffer Sixteenths { uvec4 sixteenths[]; };
layout(std430, binding = 3) writeonly buffer Groups { uint groups[]; };
layout(std430, binding = 4) writeonly buffer Patches { QUAD patches[]; };
layout(push_constant) uniform Push { gpume_block_sums_push pc; };

/* Scalars: a vector of specialisation constants, divided, is invalid to the validation layer. */
const uint HALF_W = BLOCK_W / 2u, HALF_H = BLOCK_H / 2u;
const uint FOURTH_W = BLOCK_W / 4u, FOURTH_H = BLOCK_H / 4u;

/* Memory may hold samples beyond their depth. Cut to it they differ by no more than before, so that
 * bounds from their sums hold. */
ivec4 samples_of(QUAD quad)
{
#ifdef GPUME_WIDE
    return min(unpack(quad), ivec4((1 << BITS) - 1));
#else
    return unpack(quad);
#endif
}

ivec4 samples_at(uint quad) { return samples_of(padded[quad]); }

/* What a quad adds to a sum of samples. Samples of 8 bits are added two at a time: half a word
 * holds those of 16 quads, at most 2 * 255 each. */
#ifdef GPUME_WIDE
uint part_of(QUAD quad)
{
    uvec4 s = uvec4(samples_of(quad));
    return s.x + s.y + s.z + s.w;
}
int sum_of(uint parts) { return int(parts); }
#else
uint part_of(QUAD quad) { return (quad & 0x00ff00ffu) + (quad >> 8 & 0x00ff00ffu); }
int sum_of(uint parts) { return int((parts & 0xffffu) + (parts >> 16)); }
#endif

/* Sums of `side` samples of a row, which is even, from each sample of a quad. Quads past the last
 * are not read: only sums that lie wholly inside the frame mean anything. */
ivec4 row_sums(uint line, uint x, uint side)
{
    uint quad = line + x, past = line + pc.stride - 1u;
    QUAD own = padded[quad];
    ivec4 first = samples_of(own), next = first;
    uint parts = side < 4u ? 0u : part_of(own);
    for (uint i = 1u; i < side / 4u; i++) {
        parts += part_of(padded[min(quad + i, past)]);
    }
    int sum = sum_of(parts);
    if (side % 4u != 0u) { /* half a quad */
        ivec4 s = side < 4u ? first : samples_at(min(quad + side / 4u, past));
        ivec4 t = samples_at(min(quad + side / 4u + 1u, past));
        sum += s.x + s.y;
        next = ivec4(s.zw, t.xy);
    } else {
        next = samples_at(min(quad + side / 4u, past));
    }
    ivec3 change = next.xyz - first.xyz;
    return sum + ivec4(0, change.x, change.x + change.y, change.x + change.y + change.z);
}

/* Copies the workgroup's quads of rows first to end - 1 into patches, in the order of these, so
 * that neighbouring invocations write side by side. */
void copy_rows(uint base, uint frame, uint first, uint end)
{
    const uint LEFT = PATCH_LEFT / 4u, ALL = (GPUME_BLOCK_SUMS_LOCAL + 2u) * GPUME_BLOCK_SUMS_ROWS;
    uint to = frame * pc.patches * PATCH_ROWS;
    for (uint i = gl_LocalInvocationIndex; i < ALL; i += GPUME_BLOCK_SUMS_LOCAL) {
        uint quad = i / (2u * GPUME_BLOCK_SUMS_ROWS) * 2u + i % 2u - LEFT; /* of the workgroup's */
        uint x = gl_WorkGroupID.x * GPUME_BLOCK_SUMS_LOCAL + quad;
        uint y = first + i / 2u % GPUME_BLOCK_SUMS_ROWS;
        if (quad < GPUME_BLOCK_SUMS_LOCAL && x < pc.stride && y < end) {
            uint octet = to + patch_octet(y, 4u * x, pc.patch_stride);
            patches[2u * octet + i % 2u] = padded[base + y * pc.stride + x];
        }
    }
}

/* Four sums as half floats. */
uvec2 halves(ivec4 sum, uint shift)
{
    vec4 cut = uintBitsToFloat(0x4b000000u | uvec4(sum >> shift)) - 8388608.0;
    return uvec2(packHalf2x16(cut.xy), packHalf2x16(cut.zw));
}

/* Sums of quarters in rows. Of blocks of up to 16 rows alone, so that registers hold what the rows
 * of a quarter sum up to. */
void sum_rows(uint base, uint frame, uint x, uint first, uint end)
{
    const uint KEPT = HALF_H < 8u ? HALF_H : 8u;
    uint column = min(x, pc.stride - 1u), last = pc.rows - 1u;
    ivec4 quarter = ivec4(0), kept[KEPT];
    [[unroll]] for (uint y = 0u; y < KEPT; y++) {
        kept[y] = row_sums(base + min(first + y, last) * pc.stride, column, HALF_W);
        quarter += kept[y];
    }
    uint to = frame * pc.sum_quads + x;
    for (uint from = first; from < end; from += KEPT) {
        [[unroll]] for (uint i = 0u; i < KEPT; i++) {
            uint y = from + i;
            if (y < end) {
                rows_of_quarters[to + y * pc.sum_stride] = halves(quarter, QUARTER_SHIFT);
            }
            ivec4 sums = row_sums(base + min(y + KEPT, last) * pc.stride, column, HALF_W);
            quarter += sums - kept[i];
            kept[i] = sums;
        }
    }
}

void main()
{
    uint x = gl_GlobalInvocationID.x, first = gl_GlobalInvocationID.y * GPUME_BLOCK_SUMS_ROWS;
    uint frame = sum_frames[gl_WorkGroupID.z / 4u][gl_WorkGroupID.z % 4u];
    uint base = frame * pc.frame_quads, tiles = frame * pc.sum_quads / 4u;
    uint end = min(first + GPUME_BLOCK_SUMS_ROWS, pc.rows);
    if (ROWS != 0u) {
        if (x < pc.sum_stride && first < pc.rows) {
            sum_rows(base, frame, x, first, end);
        }
        return;
    }
    if (pc.patches > 0u) {
        copy_rows(base, frame, first, end);
    }
    if (x >= pc.stride || first >= pc.rows) {
        return;
    }
    ivec4 quarter = ivec4(0), sixteenth = ivec4(0);
    for (uint y = first; y < first + HALF_H; y++) {
        uint line = base + min(y, pc.rows - 1u) * pc.stride;
        quarter += row_sums(line, x, HALF_W);
        if (SIXTEENTHS_MADE != 0u && y < first + FOURTH_H) {
            sixteenth += row_sums(line, x, FOURTH_W);
        }
    }
    for (uint tile = first; tile < end; tile += 4u) {
        uvec2 q[4], s[4];
        ivec4 least = quarter, most = quarter;
        [[unroll]] for (uint i = 0u; i < 4u; i++) {
            least = min(least, quarter);
            most = max(most, quarter);
            q[i] = halves(quarter, QUARTER_SHIFT);
            s[i] = halves(sixteenth, SIXTEENTH_SHIFT);
            uint last = pc.rows - 1u, y = tile + i;
            uint line = base + min(y, last) * pc.stride;
            uint below_quarter = base + min(y + HALF_H, last) * pc.stride;
            quarter += row_sums(below_quarter, x, HALF_W) - row_sums(line, x, HALF_W);
            if (SIXTEENTHS_MADE != 0u) {
                uint below_sixteenth = base + min(y + FOURTH_H, last) * pc.stride;
                sixteenth += row_sums(below_sixteenth, x, FOURTH_W) - row_sums(line, x, FOURTH_W);
            }
        }
        uint at = tiles + tile / 4u * pc.stride + x;
        quarters[2u * at] = uvec4(q[0], q[1]);
        quarters[2u * at + 1u] = uvec4(q[2], q[3]);
        if (SIXTEENTHS_MADE != 0u) {
            sixteenths[2u * at] = uvec4(s[0], s[1]);
            sixteenths[2u * at + 1u] = uvec4(s[2], s[3]);
        }
        ivec2 ends = ivec2(min(min(least.x, least.y), min(least.z, least.w)),
            max(max(most.x, most.y), max(most.z, most.w)));
        groups[at] = halves(ends.xyxy, QUARTER_SHIFT).x ^ 0x80000000u;
    }
}
