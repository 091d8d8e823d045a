/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sums of a task: every invocation's, then those of the workgroup, of GPUME_REDUCE_LOCAL
 * invocations. Integers only, so the order does not matter. Include after common.glsl.
 */
shared uvec2 sums[GPUME_SUMS][GPUME_REDUCE_LOCAL];

void add_differences(ivec4 difference, inout uint sad, inout uvec2 sse)
{
    uvec4 d = uvec4(abs(difference));
    sad += d.x + d.y + d.z + d.w;
    d *= d;             /* 65535^2 < 2^32 */
    add_word(sse, d.x); /* no loop: rolled ones count against a driver's limit */
    add_word(sse, d.y);
    add_word(sse, d.z);
    add_word(sse, d.w);
}

/* Adds the sums of all invocations to those of invocation 0, which all may read then. */
void add_lanes(uint lane)
{
    for (uint half_count = GPUME_REDUCE_LOCAL / 2; half_count > 0u; half_count /= 2u) {
        barrier();
        if (lane < half_count) {
            for (uint s = 0u; s < GPUME_SUMS; s++) {
                uvec2 sum = sums[s][lane];
                add_sum(sum, sums[s][lane + half_count]);
                sums[s][lane] = sum;
            }
        }
    }
    barrier();
}
