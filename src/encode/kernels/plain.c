/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/kernels/set.h"

static bool available(void)
{
    return true;
}

const struct gpume_encode_kernels gpume_encode_kernels_plain = GPUME_ENCODE_KERNELS;
