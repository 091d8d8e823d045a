/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/stall.h"

#include <stdatomic.h>

static struct {
    atomic_uint under_way;
    atomic_uint_least64_t ended;
} writes;

void gpume_stall_begin(void)
{
    atomic_fetch_add(&writes.under_way, 1);
}

void gpume_stall_end(void)
{
    atomic_fetch_add(&writes.ended, 1);
    atomic_fetch_sub(&writes.under_way, 1);
}

bool gpume_stall_look(uint64_t *last)
{
    const uint64_t before = *last;
    *last = atomic_load(&writes.ended);
    return *last == before && atomic_load(&writes.under_way) > 0;
}
