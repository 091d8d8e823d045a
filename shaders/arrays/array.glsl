/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays of 1, 2 or 4-byte elements by address, 16 bytes (a quad) at a time. An array may begin and
 * end within a quad: the rest of that quad is read, as memory is, and left out.
 */
layout(constant_id = GPUME_ARRAY_SPEC_ELEMENT) const uint ELEMENT = 4; /* bytes */

layout(local_size_x = GPUME_ARRAY_LOCAL) in;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Quads
{
    uvec4 at[];
};
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Pairs
{
    uvec2 at[];
};
layout(push_constant) uniform Push
{
    gpume_array_push pc;
};

const uint IN_QUAD = 16u / ELEMENT;
const uint IN_WORD = ELEMENT < 4u ? 4u / ELEMENT : 1u;
const int ELEMENT_BITS = int(32u / IN_WORD);

uint element_of(uvec4 quad, uint i)
{
    return bitfieldExtract(quad[i / IN_WORD], int(i % IN_WORD) * ELEMENT_BITS, ELEMENT_BITS);
}

/* The elements of a quad that belong to the array: from the first to before the second. */
uvec2 range_of(uint quad)
{
    return uvec2(quad == 0u ? pc.skip : 0u, quad + 1u == pc.quads ? pc.keep : IN_QUAD);
}
