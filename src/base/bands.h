/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work on the rows of a picture that several threads share: one thread alone copies at a fraction
 * of what memory and a GPU's bus can take. One thread calls.
 */
#ifndef GPUME_BASE_BANDS_H
#define GPUME_BASE_BANDS_H

#include "base/workers.h"

#include <stddef.h>
#include <stdint.h>

struct gpume_bands {
    uint32_t threads;              /* at most, with the caller's; 0 or 1: the caller works alone */
    struct gpume_workers *workers; /* from the first large picture on */
    struct gpume_pace pace;        /* of a band */
};

/* Works on the rows from `begin` up to `end`. */
typedef void (*gpume_band_fn)(void *opaque, uint32_t begin, uint32_t end);

/* Calls fn from any threads, for every row once. row_bytes: that it moves. */
void gpume_bands_run(
    struct gpume_bands *bands, uint32_t rows, size_t row_bytes, gpume_band_fn fn, void *opaque);

void gpume_bands_finish(struct gpume_bands *bands);

#endif
