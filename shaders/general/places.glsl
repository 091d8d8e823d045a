/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The places of the window that a search looks at, by groups of SIDE x SIDE neighbours, which lie
 * in raster order like the places of a group: of whole pixels, or with FULL the fractions from a
 * whole pixel on. Of groups at the window's border some places lie outside it. Include after
 * general.glsl.
 */
layout(constant_id = GPUME_SPEC_FULL) const uint FULL = 0;

const int SIDE = FULL != 0u ? UNITS : GPUME_GROUP_SIDE;
const int STEP = FULL != 0u ? 1 : UNITS; /* from a place to the next */
const uint GROUP = uint(SIDE * SIDE);
/* In groups. Scalars: SPIRV-Tools orders folded vectors wrongly (validation layer 1.3.239). */
const int BEFORE_X = FULL != 0u ? WINDOW_X : (WINDOW_X + SIDE - 1) / SIDE;
const int BEFORE_Y = FULL != 0u ? WINDOW_Y : (WINDOW_Y + SIDE - 1) / SIDE;
const uint GROUPS_X = uint(BEFORE_X + 1 + (FULL != 0u ? WINDOW_X : WINDOW_X / SIDE));
const uint GROUPS_Y = uint(BEFORE_Y + 1 + (FULL != 0u ? WINDOW_Y : WINDOW_Y / SIDE));

/* The first vector of a group. */
ivec2 group_of(uint index)
{
    return (ivec2(index % GROUPS_X, index / GROUPS_X) - ivec2(BEFORE_X, BEFORE_Y)) * SIDE * STEP;
}

ivec2 place_of(uint index)
{
    uint k = index % GROUP;
    return group_of(index / GROUP) + ivec2(k % uint(SIDE), k / uint(SIDE)) * STEP;
}

/* The vector of an order number. */
ivec2 vector_of(uint order)
{
    uint span = uint(2 * WINDOW_X * UNITS + 1);
    ivec2 from_corner = ivec2((order - 1u) % span, (order - 1u) / span);
    return order == 0u ? ivec2(0) : from_corner - ivec2(WINDOW_X * UNITS, WINDOW_Y * UNITS);
}
