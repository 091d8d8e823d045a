/* SPDX-License-Identifier: BSD-2-Clause */
/* The plain kernels, and the table of all. */
#include "encode/kernels/kernels.h"

#include "encode/kernels/band.h"
#include "encode/kernels/intra.h"
#include "encode/kernels/refine.h"

static bool has_plain(void)
{
    return true;
}

static const struct gpume_encode_kernels plain = GPUME_ENCODE_KERNELS(has_plain);

const struct gpume_encode_kernels *gpume_encode_kernels_at(uint32_t index)
{
    static const struct gpume_encode_kernels *const all[] = {
        &plain,
#if defined(GPUME_ENCODE_X86)
        &gpume_encode_kernels_avx2,
        &gpume_encode_kernels_avx512,
#endif
    };
    return index < sizeof(all) / sizeof(all[0]) ? all[index] : NULL;
}

const struct gpume_encode_kernels *gpume_encode_kernels(void)
{
    const struct gpume_encode_kernels *best = NULL, *kernels;
    for (uint32_t i = 0; (kernels = gpume_encode_kernels_at(i)); i++) {
        best = kernels->available() ? kernels : best;
    }
    return best;
}
