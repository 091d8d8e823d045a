/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/cache.h"

#include "base/base.h"
#include "base/os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096 /* longer paths have no entries */

/* Numbers as this machine has them: the magic number is another one where bytes are swapped. */
struct header {
    uint64_t magic;
    uint64_t bytes; /* behind the header */
    uint64_t sum;   /* of the name and of these bytes */
};
static const uint64_t magic = 0x31656863616d7067; /* "gpmache1" */

static uint64_t sum_of(const char *name, const void *data, size_t bytes)
{
    const uint64_t sum = gpume_checksum(GPUME_CHECKSUM_BEGIN, name, strlen(name) + 1);
    return gpume_checksum(sum, data, bytes);
}

static bool path_of(const struct gpume_cache *cache, const char *name, char path[PATH_BYTES])
{
    if (!cache->folder) {
        return false;
    }
    int length = snprintf(path, PATH_BYTES, "%s/%s", cache->folder, name);
    return length > 0 && length < PATH_BYTES;
}

/* The bytes behind a header that fits them; NULL if there is no such thing. */
static void *read_entry(FILE *file, uint64_t file_bytes, const char *name, size_t *bytes)
{
    struct header header;
    if (file_bytes > sizeof(header) + GPUME_CACHE_BYTES_MAX ||
        fread(&header, sizeof(header), 1, file) != 1 || header.magic != magic ||
        header.bytes > GPUME_CACHE_BYTES_MAX || file_bytes != sizeof(header) + header.bytes) {
        return NULL;
    }
    size_t length = (size_t)header.bytes;
    void *data = malloc(length ? length : 1);
    if (data && fread(data, 1, length, file) == length &&
        sum_of(name, data, length) == header.sum) {
        *bytes = length;
        return data;
    }
    free(data);
    return NULL;
}

bool gpume_cache_load(const struct gpume_cache *cache, const char *name, void **data, size_t *bytes)
{
    char path[PATH_BYTES];
    uint64_t file_bytes;
    FILE *file = path_of(cache, name, path) ? gpume_os_open(path, &file_bytes) : NULL;
    if (!file) {
        return false;
    }
    void *entry = read_entry(file, file_bytes, name, bytes);
    (void)fclose(file);
    if (!entry) {
        gpume_log_write(cache->log, GPUME_LOG_DEBUG, "cache: %s is damaged, ignored", path);
        return false;
    }
    *data = entry;
    return true;
}

/* Makes the folder and its parent; no more, so that a home that is not there stays so. */
static void make_folder(const char *folder)
{
    char parent[PATH_BYTES];
    const char *slash = gpume_os_separator(folder);
    if (gpume_os_make_folder(folder) || errno != ENOENT || !slash || slash == folder) {
        return; /* whether it is there now shows when it is written to */
    }
    snprintf(parent, sizeof(parent), "%.*s", (int)(slash - folder), folder);
    if (gpume_os_make_folder(parent)) {
        (void)gpume_os_make_folder(folder);
    }
}

/* Writes the whole entry beside its final name, then renames it. */
static bool write_entry(
    const char *path, const struct header *header, const void *data, size_t bytes)
{
    char temporary[PATH_BYTES + 4];
    snprintf(temporary, sizeof(temporary), "%s.new", path);
    FILE *file = gpume_os_create(temporary);
    if (!file) {
        return false;
    }
    const bool stored = fwrite(header, sizeof(*header), 1, file) == 1 &&
                        fwrite(data, 1, bytes, file) == bytes && fflush(file) == 0 &&
                        gpume_os_rename(temporary, path);
    if (!stored) {
        gpume_os_remove(temporary);
    }
    return fclose(file) == 0 && stored;
}

bool gpume_cache_store(
    const struct gpume_cache *cache, const char *name, const void *data, size_t bytes)
{
    char path[PATH_BYTES];
    if (bytes > GPUME_CACHE_BYTES_MAX || !path_of(cache, name, path)) {
        return false;
    }
    make_folder(cache->folder);
    if (gpume_os_is_other(path)) {
        gpume_log_write(cache->log, GPUME_LOG_DEBUG, "cache: %s is not a file, not replaced", path);
        return false;
    }
    const struct header header = {magic, bytes, sum_of(name, data, bytes)};
    errno = 0;
    const bool stored = write_entry(path, &header, data, bytes);
    if (!stored) {
        gpume_log_write(cache->log, GPUME_LOG_DEBUG, "cache: %s could not be written: %s", path,
            strerror(errno));
    }
    return stored;
}
