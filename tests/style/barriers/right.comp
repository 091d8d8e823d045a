/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests/style/barriers.py must let pass. */
#version 450

layout(local_size_x = 64) in;
layout(push_constant) uniform Push { uint count; } pc;
layout(constant_id = 0) const uint SUBGROUPS = 8;

shared uint words[64];

void wait()
{
    barrier();
}

/* A barrier() in a comment is none, nor is this: barrier() */
uint least(uint lane)
{
    for (uint half_count = 32u; half_count > 0u; half_count /= 2u) {
        barrier();
        if (lane < half_count) {
            words[lane] = min(words[lane], words[lane + half_count]);
        }
    }
    wait();
    for (uint i = lane; i < 64u; i += 8u) {
        if (words[i] == 3u) {
            break;
        }
        if (words[i] == 4u) {
            continue;
        }
    }
    if (words[lane] > 5u) {
        return 5u;
    }
    return words[0];
}

void main()
{
    uint lane = gl_LocalInvocationIndex;
    if (gl_WorkGroupID.x * 2u >= pc.count) {
        return;
    }
    [[unroll]] for (uint turn = 0u; turn < SUBGROUPS; turn++) {
        subgroupBarrier();
        if (gl_SubgroupID == turn) {
            words[lane]++;
        }
        barrier();
    }
    if (least(lane) > 0u) { /* uniform: the same word for all */
        wait();
    }
    /* uniform: written before the barrier */
    while (words[0] > 0u) {
        wait();
        if (lane == 0u) {
            words[0]--;
        }
        wait();
    }
    if (words[lane] > 0u) {
        return;
    }
    words[lane] = 1u;
}
