/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums over the invocations of a workgroup that come before one's own. They are counted by
 * subgroup, since Vulkan does not tie a subgroup's lanes to gl_LocalInvocationIndex.
 * Define LOCAL and SUBGROUP; every subgroup is full.
 */
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require

const uint SUBGROUPS = LOCAL / SUBGROUP;
shared uint subgroup_sums[SUBGROUPS];

uint invocation_number()
{
    return gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID;
}

/* Of the values of all invocations before this one; `all`: of all of them. By all together. */
uint sum_before(uint value, out uint all)
{
    uint own = subgroupExclusiveAdd(value);
    if (gl_SubgroupInvocationID == SUBGROUP - 1u) {
        subgroup_sums[gl_SubgroupID] = own + value;
    }
    barrier();
    uint before = 0u;
    all = 0u;
    for (uint i = 0; i < SUBGROUPS; i++) {
        uint sum = subgroup_sums[i];
        before += i < gl_SubgroupID ? sum : 0u;
        all += sum;
    }
    barrier();
    return before + own;
}
