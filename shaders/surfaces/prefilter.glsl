/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the filters before the search share: where a padded frame's samples are, and where those of
 * the filtered plane go. gpume.h defines the filters, src/model/plan.c makes their numbers.
 *
 * Grid: one invocation per quad of the plane; x = quad of a row, y = row of the part. Reads a
 * padded frame and the tables, writes the plane. Samples to the right of the picture do not count.
 */
layout(constant_id = GPUME_SPEC_BITS) const uint BITS = 8;
layout(constant_id = GPUME_SPEC_RADIUS_X) const int RADIUS_X = 1;
layout(constant_id = GPUME_SPEC_RADIUS_Y) const int RADIUS_Y = 1;

layout(local_size_x = GPUME_FILTER_LOCAL) in;
layout(std430, binding = 0) readonly buffer Frame { QUAD frame[]; };
layout(std430, binding = 1) writeonly buffer Plane { QUAD plane[]; };
layout(std430, binding = 2) readonly buffer Tables {
    int weights[GPUME_FILTER_WEIGHTS];
    int likeness[];
};
layout(push_constant) uniform Push { gpume_filter_push pc; };

const int PEAK = (1 << BITS) - 1;

int row_of_invocation()
{
    return int(pc.row + gl_WorkGroupID.y);
}

/* Quads to the picture's row y, or its nearest. */
uint line_at(int y)
{
    return pc.frame_base + uint(clamp(y, 0, int(pc.height) - 1)) * pc.frame_stride;
}

/* Memory may hold samples beyond their depth. */
int sample_at(uint line, int x)
{
    int inside = clamp(x, 0, int(pc.width) - 1);
    return min(unpack(frame[line + uint(inside) / 4u])[inside & 3], PEAK);
}

ivec4 samples_at(uint line, int x)
{
    return ivec4(sample_at(line, x), sample_at(line, x + 1), sample_at(line, x + 2),
        sample_at(line, x + 3));
}

/* Those one to the right of `samples`, which begin at x. */
ivec4 moved(ivec4 samples, uint line, int x)
{
    return ivec4(samples.yzw, sample_at(line, x + 4));
}

void store(int x, ivec4 samples)
{
    uint row = pc.plane_base + (pc.row + gl_WorkGroupID.y) * pc.plane_stride;
    plane[row + uint(x) / 4u] = pack(samples);
}
