/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples, blocks and numbers of 64 bits of the temporal filter. Include after temporal/shared.h.
 */
#include "common/common.glsl"

layout(push_constant) uniform Push { gpume_temporal_push pc; };

/* Quads from a plane of an array to the next. */
uint plane_quads()
{
    return pc.stride * pc.height;
}

uint block_count()
{
    return pc.blocks_x * pc.blocks_y;
}

/* Where a table of BLOCKS has the word of a block. */
uint word_of(uint table, uint block)
{
    return table * block_count() + block;
}

uint block_width(uint shift)
{
    return uint(GPUME_TEMPORAL_SIDE) >> shift;
}

/* In quarters of a pixel of luma, as the search writes them. */
ivec2 vector_of(uint word)
{
    return ivec2(bitfieldExtract(int(word), 0, 16), int(word) >> 16);
}

/* From samples to work samples. */
uint work_shift()
{
    return pc.bits > 10u ? pc.bits - 10u : 0u;
}

/* 4^(c - 8) */
uint work_square()
{
    return 1u << 2u * (min(pc.bits, 10u) - 8u);
}

int peak()
{
    return (1 << pc.bits) - 1;
}

/* A quad of a block and which of its samples are visible. */
struct Place {
    uint block;
    uvec2 at;     /* its first sample; in quads and rows */
    uvec2 origin; /* of the block, in samples */
    uvec2 size;   /* of the block; visible samples */
    bool whole;
    bvec4 seen;
};

/* Of the invocation `lane` of those that share the block at (x,y). */
Place place_of(uvec2 block, uint lane)
{
    Place place;
    uvec2 side = uvec2(block_width(pc.shift_x), block_width(pc.shift_y));
    uint across = side.x / 4u;
    place.block = block.y * pc.blocks_x + block.x;
    place.origin = block * side;
    place.size = min(side, uvec2(pc.width, pc.height) - place.origin);
    place.whole = place.size == side;
    uvec2 inside = uvec2(4u * (lane % across), lane / across);
    place.at = uvec2(place.origin.x / 4u + lane % across, place.origin.y + lane / across);
    place.seen = lessThan(inside.x + uvec4(0u, 1u, 2u, 3u),
        uvec4(inside.y < place.size.y ? place.size.x : 0u));
    return place;
}

bool is_seen(Place place)
{
    return place.seen.x; /* the leftmost */
}

uint quad_of(Place place)
{
    return place.at.y * pc.stride + place.at.x;
}

/* --- 64 bits */

uvec2 product(uint a, uint b)
{
    uvec2 result;
    umulExtended(a, b, result.y, result.x);
    return result;
}

/* Of a number by one of 32 bits; the result fits. */
uvec2 times(uvec2 a, uint b)
{
    uvec2 result = product(a.x, b);
    result.y += a.y * b;
    return result;
}

uvec2 plus(uvec2 a, uvec2 b)
{
    add_sum(a, b);
    return a;
}

/* a - b, where that is not below 0. */
uvec2 minus(uvec2 a, uvec2 b)
{
    uint borrow;
    uvec2 result;
    result.x = usubBorrow(a.x, b.x, borrow);
    result.y = a.y - b.y - borrow;
    return result;
}

bool is_above(uvec2 a, uvec2 b)
{
    return a.y > b.y || a.y == b.y && a.x > b.x;
}

/* a - b, or 0. */
uvec2 beyond(uvec2 a, uvec2 b)
{
    return is_above(a, b) ? minus(a, b) : uvec2(0u);
}

/* by: 1 to 31. */
uvec2 left(uvec2 a, uint by)
{
    return uvec2(a.x << by, a.y << by | a.x >> 32u - by);
}

uvec2 right(uvec2 a, uint by)
{
    return uvec2(a.x >> by | a.y << 32u - by, a.y >> by);
}

/* a / b, b below 2^16: digits of 16 bits, from the highest on. */
uvec2 divided(uvec2 a, uint b)
{
    uint digits[4] = uint[4](a.y >> 16u, a.y & 0xffffu, a.x >> 16u, a.x & 0xffffu);
    uint rest = 0u;
    for (uint i = 0u; i < 4u; i++) {
        uint part = rest << 16u | digits[i];
        digits[i] = part / b;
        rest = part % b;
    }
    return uvec2(digits[2] << 16u | digits[3], digits[0] << 16u | digits[1]);
}
