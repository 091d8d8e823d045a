/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests/style/barriers.py must find: every line that says so, and no other. */
#version 450

layout(local_size_x = 64) in;

shared uint words[64];

void wait()
{
    barrier();
}

uint add_up(uint lane)
{
    wait();
    return words[lane];
}

void count_in_turn()
{
    for (uint turn = 0u; turn < 8u; turn++) {
        if (gl_SubgroupID == turn) { /* WRONG */
            subgroupBarrier();
        }
        barrier();
    }
}

void leave_early(uint lane)
{
    for (uint i = 0u; i < 8u; i++) {
        barrier();
        if (words[lane] == i) { /* WRONG */
            return;
        }
        if (words[lane] == 2u * i) /* WRONG */
            continue;
        if (words[i] == 3u) { /* WRONG */
            break;
        }
    }
}

void count_as_it_likes(uint lane)
{
    for (uint i = 0u; i < 8u; i++) { /* WRONG */
        i += words[lane];
        wait();
    }
    for (bool more = true; more;) { /* WRONG */
        barrier();
        more = words[lane] > 0u;
    }
    while (words[lane] > 0u) { /* WRONG */
        wait();
    }
    do { /* WRONG */
        wait();
    } while (words[lane] > 0u);
}

void main()
{
    uint lane = gl_LocalInvocationIndex;
    if (lane < 32u) { /* WRONG */
        words[lane] = add_up(lane);
    } else {
        words[lane] = 0u;
    }
    if (words[0] > 0u) { /* WRONG */
        words[lane] = 0u;
    } else {
        wait();
    }
    bool both = lane > 3u && add_up(lane) > 0u; /* WRONG */
    if (both) { /* WRONG */
        return;
    }
    switch (lane) { /* WRONG */
    case 0u:
        wait();
        break;
    }
    count_in_turn();
    leave_early(lane);
    count_as_it_likes(lane);
}
