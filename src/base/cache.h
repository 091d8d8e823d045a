/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A store of named entries that outlives a run. Its folder may be missing, full, read-only or
 * corrupt: nothing that goes wrong here fails the caller, it is logged at debug level. A file is
 * written under a temporary name and renamed, so an entry is complete or absent; a damaged or
 * renamed entry counts as absent. Any thread, any number of processes.
 */
#ifndef GPUME_BASE_CACHE_H
#define GPUME_BASE_CACHE_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>

#define GPUME_CACHE_BYTES_MAX ((size_t)16 << 20) /* of one entry */

struct gpume_cache {
    const char *folder; /* NULL: nothing is stored */
    const struct gpume_log *log;
};

/* True if there is an entry of that name: *data, which the caller frees, and *bytes hold it. */
bool gpume_cache_load(
    const struct gpume_cache *cache, const char *name, void **data, size_t *bytes);

/* Stores or replaces the entry; true on success. Creates the folder and its parent, readable by the
 * user alone, if they do not exist. */
bool gpume_cache_store(
    const struct gpume_cache *cache, const char *name, const void *data, size_t bytes);

#endif
