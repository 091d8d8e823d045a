/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A buffer that grows, whole numbers packed into it, and its way into a text file. A failed
 * allocation is sticky, so that only the end asks for it. One thread.
 */
#ifndef GPUME_FILES_BYTES_H
#define GPUME_FILES_BYTES_H

#include "files/out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts as zero; release with gpume_bytes_finish. */
struct gpume_bytes {
    unsigned char *data;
    size_t count, room;
    bool failed; /* out of memory: something is missing */
};

void gpume_bytes_put(struct gpume_bytes *bytes, const void *data, size_t count);

/* Seven bits a byte, the lowest first; the top bit says that more follow. */
void gpume_bytes_number(struct gpume_bytes *bytes, uint64_t value);

/* 0, -1, 1, -2... as 0, 1, 2, 3... */
void gpume_bytes_signed(struct gpume_bytes *bytes, int64_t value);

/* Keeps the memory. */
void gpume_bytes_clear(struct gpume_bytes *bytes);

void gpume_bytes_finish(struct gpume_bytes *bytes);

/* Characters of count bytes in base 64. */
static inline uint64_t gpume_base64_length(uint64_t count)
{
    return (count + 2) / 3 * 4;
}

void gpume_base64_write(struct gpume_out *out, const unsigned char *data, size_t count);

#endif
