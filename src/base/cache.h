/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is worth keeping between runs, by name, in a folder that may not be there, full, read-only
 * or full of rubbish: nothing that goes wrong here is a failure, it is told at debug level. A file
 * is complete or absent (base/out.h), and what is damaged or stored under another name counts as
 * absent. Any thread.
 */
#ifndef GPUME_BASE_CACHE_H
#define GPUME_BASE_CACHE_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>

#define GPUME_CACHE_BYTES_MAX ((size_t)16 << 20) /* of one entry */

struct gpume_cache {
    const char *folder; /* NULL: nothing is kept */
    const struct gpume_log *log;
};

/* Is there an entry of that name? Then *data, which the caller frees, and *bytes are it. */
bool gpume_cache_load(
    const struct gpume_cache *cache, const char *name, void **data, size_t *bytes);

/* Replaces the entry; true if that was possible. The folder is made, with the one it lies in,
 * readable by the user alone. */
bool gpume_cache_store(
    const struct gpume_cache *cache, const char *name, const void *data, size_t bytes);

#endif
