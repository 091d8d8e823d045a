/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The places of the window that a search looks at, in raster order: whole pixels, or with FULL
 * every fraction. Include after general.glsl.
 */
layout(constant_id = GPUME_SPEC_FULL) const uint FULL = 0;

const int STEP = FULL != 0u ? 1 : UNITS;
/* In steps. Scalars: SPIRV-Tools orders folded vectors wrongly (validation layer 1.3.239). */
const int REACH_X = WINDOW_X * (UNITS / STEP);
const int REACH_Y = WINDOW_Y * (UNITS / STEP);
const uint SPAN = uint(2 * REACH_X + 1);

ivec2 place_of(uint index)
{
    return (ivec2(index % SPAN, index / SPAN) - ivec2(REACH_X, REACH_Y)) * STEP;
}

/* The vector of an order number. */
ivec2 vector_of(uint order)
{
    uint span = uint(2 * WINDOW_X * UNITS + 1);
    ivec2 from_corner = ivec2((order - 1u) % span, (order - 1u) / span);
    return order == 0u ? ivec2(0) : from_corner - ivec2(WINDOW_X * UNITS, WINDOW_Y * UNITS);
}
