/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all kernels of the sort share: memory by address, and where segments lie. Keys are at most
 * 2^30, so that every index fits a signed word.
 */
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint word[]; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Pairs { uvec2 pair[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Quads { uvec4 quad[]; };

layout(push_constant) uniform Push { gpume_sort_push pc; };

bool has(uvec2 address)
{
    return (address.x | address.y) != 0u;
}

/* Of a word, at most 2^30 after another. */
uvec2 address_of(uvec2 first, uint word)
{
    uint carry, low = uaddCarry(first.x, word * 4u, carry);
    return uvec2(low, first.y + carry);
}

/* (first key, number of keys) of a segment; none of one that is not meant. */
uvec2 segment_at(uint i)
{
    if (i >= pc.segments) {
        return uvec2(0u);
    }
    uvec2 segment = has(pc.table) ? Pairs(pc.table).pair[i] : uvec2(i * pc.stride, pc.longest);
    return segment.y >= pc.least && segment.y <= pc.most ? segment : uvec2(0u);
}

uint group_number()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

/* Where the counts of a segment begin, in tiles, and its totals. Segments do not overlap and have a
 * tile of keys or more each, of which 2 * floor(count / tile) >= ceil(count / tile): so neither do
 * their counts, in whatever order segments come. */
uint counts_at(uvec2 segment, uint tile)
{
    return segment.x / tile * 2u * GPUME_SORT_DIGITS;
}

uint totals_at(uvec2 segment, uint tile)
{
    return segment.x / tile * GPUME_SORT_DIGITS;
}
