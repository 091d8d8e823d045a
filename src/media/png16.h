/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads PNG files of three channels of 16 bits, such as flow fields, sample for sample. One thread.
 */
#ifndef GPUME_MEDIA_PNG16_H
#define GPUME_MEDIA_PNG16_H

#include "base/log.h"

#include <stdint.h>

struct gpume_png16 {
    uint32_t width, height;
    uint16_t *samples; /* three per pixel, in raster order; to be freed */
};

/* Failures are logged: GPUME_IO (cannot be read), GPUME_INVALID (not such a file), GPUME_NOMEM. */
int gpume_png16_read(struct gpume_png16 *picture, const char *path, const struct gpume_log *log);

#endif
