/* SPDX-License-Identifier: BSD-2-Clause */
/* FNV-1a, to detect damage. It does not protect against malice: whoever can write gpume's files can
 * do worse. */
#ifndef GPUME_BASE_CHECKSUM_H
#define GPUME_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of no bytes. */
#define GPUME_CHECKSUM_BEGIN UINT64_C(14695981039346656037)

/* The checksum of the bytes of `sum` followed by these bytes. */
static inline uint64_t gpume_checksum(uint64_t sum, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++) {
        sum = (sum ^ at[i]) * UINT64_C(1099511628211);
    }
    return sum;
}

#endif
