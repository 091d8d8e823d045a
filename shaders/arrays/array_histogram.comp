/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds to the bins how many elements have the value v with v >> shift == bin, for GPUME_ARRAY_BINS
 * bins per workgroup: counted in shared memory, then added to the results.
 *
 * Grid: x = workgroups that share the array, y = which bins. Shared memory: 16 KiB. A workgroup
 * sees at most 2^32 / 1024 elements where there are 2^32, so that words hold its counts; the
 * results are 64-bit numbers.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#include "common/shared.h"
#include "arrays/array.glsl"

layout(buffer_reference, std430, buffer_reference_align = 8) buffer Words
{
    uint at[];
};

shared uint counts[GPUME_ARRAY_BINS];

void count_quad(uvec4 quad, uvec2 range, uint first_bin, uint bins)
{
    [[unroll]] for (uint i = 0u; i < IN_QUAD; i++)
    {
        uint bin = (element_of(quad, i) >> pc.shift) - first_bin;
        if (i >= range.x && i < range.y && bin < bins) {
            atomicAdd(counts[bin], 1u);
        }
    }
}

void main()
{
    uint lane = gl_LocalInvocationIndex, first_bin = gl_WorkGroupID.y * GPUME_ARRAY_BINS;
    uint bins = min(pc.bins - first_bin, GPUME_ARRAY_BINS);
    for (uint i = lane; i < bins; i += GPUME_ARRAY_LOCAL) {
        counts[i] = 0u;
    }
    barrier();
    Quads data = Quads(uvec2(pc.data[0], pc.data[1]));
    uint step = gl_NumWorkGroups.x * GPUME_ARRAY_LOCAL;
    for (uint q = gl_WorkGroupID.x * GPUME_ARRAY_LOCAL + lane; q < pc.quads; q += step) {
        count_quad(data.at[q], range_of(q), first_bin, bins);
    }
    barrier();
    Words results = Words(uvec2(pc.results[0], pc.results[1]));
    for (uint i = lane; i < bins; i += GPUME_ARRAY_LOCAL) {
        uint count = counts[i], at = 2u * (first_bin + i);
        uint before = count > 0u ? atomicAdd(results.at[at], count) : 0u;
        if (before + count < before) {
            atomicAdd(results.at[at + 1u], 1u);
        }
    }
}
