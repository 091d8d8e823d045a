/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing buffer, and packed whole numbers. A failed allocation is sticky, so it is checked once,
 * at the end. One thread.
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
    bool failed; /* out of memory: the data is incomplete */
};

void gpume_bytes_put(struct gpume_bytes *bytes, const void *data, size_t count);

/* Seven bits per byte, the lowest first. The top bit is set in all bytes but the last. */
void gpume_bytes_number(struct gpume_bytes *bytes, uint64_t value);

/* 0, -1, 1, -2... as 0, 1, 2, 3... */
void gpume_bytes_signed(struct gpume_bytes *bytes, int64_t value);

/* Empties it and keeps the memory. */
void gpume_bytes_clear(struct gpume_bytes *bytes);

void gpume_bytes_finish(struct gpume_bytes *bytes);

#endif
