/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of the CPU engine, counted. */
#ifndef GPUME_CPU_MEMORY_H
#define GPUME_CPU_MEMORY_H

#include <stdint.h>
#include <stdlib.h>

/* Zeroed memory for free(); *bytes grows by its size. NULL when memory has run out. */
static inline void *gpume_allocate(uint64_t *bytes, uint64_t count, uint64_t size)
{
    if (size > 0 && count > SIZE_MAX / size) { /* 32-bit hosts */
        return NULL;
    }
    *bytes += count * size;
    return calloc((size_t)count, (size_t)size);
}

#endif
