/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encodes 8-bit luma planes, or R, G, B byte triples, as picture files in memory, with one encoder
 * for all. One thread.
 */
#ifndef GPUME_MEDIA_STILL_H
#define GPUME_MEDIA_STILL_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpume_still;

/* colour: planes hold R, G, B byte triples. lossless: PNG, else JPEG of good quality. label: the
 * name of the output in messages; kept, not copied. */
int gpume_still_open(struct gpume_still **still, const char *label, uint32_t width, uint32_t height,
    bool colour, bool lossless, const struct gpume_log *log);

/* *data is valid until the next call. */
int gpume_still_encode(struct gpume_still *still, const struct gpume_plane *plane,
    const unsigned char **data, size_t *bytes);

/* Sets *still to NULL. NULL is fine. */
void gpume_still_close(struct gpume_still **still);

#endif
