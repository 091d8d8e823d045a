/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/ceiling.h"

#include "bench/ceiling_gpu.h"
#include "bench/ceiling_x86.h"

#include <string.h>

static const struct {
    const char *search;
    double (*measure)(const char *device, uint32_t threads);
} ceilings[] = {
#if defined(GPUME_BENCH_X86)
    {"avx2", gpume_bench_ceiling_avx2},
    {"avx512", gpume_bench_ceiling_avx512},
#endif
    {"quads", gpume_bench_ceiling_int},
    {"int", gpume_bench_ceiling_int},
    {"float", gpume_bench_ceiling_float},
    {"half", gpume_bench_ceiling_half},
};

double gpume_bench_ceiling(
    const struct gpume_search_info *search, const char *device, uint32_t threads)
{
    for (size_t i = 0; search->available && i < sizeof(ceilings) / sizeof(*ceilings); i++) {
        if (strcmp(ceilings[i].search, search->name) == 0) {
            return ceilings[i].measure(device, threads);
        }
    }
    return 0;
}
