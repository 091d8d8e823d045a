/* SPDX-License-Identifier: BSD-2-Clause */
#include "filter/loops_body.h"

static bool has_avx2_loops(void)
{
    return __builtin_cpu_supports("avx2");
}

const struct gpume_loops gpume_loops_avx2 = GPUME_LOOPS(has_avx2_loops);
