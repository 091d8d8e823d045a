/* SPDX-License-Identifier: BSD-2-Clause */
/* FNV-1a, against damage, not against malice: who can write gpume's files can do worse. */
#ifndef GPUME_BASE_CHECKSUM_H
#define GPUME_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* The sum of nothing. */
#define GPUME_CHECKSUM_BEGIN UINT64_C(14695981039346656037)

/* That of these bytes behind those of `sum`. */
static inline uint64_t gpume_checksum(uint64_t sum, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++) {
        sum = (sum ^ at[i]) * UINT64_C(1099511628211);
    }
    return sum;
}

#endif
