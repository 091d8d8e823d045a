/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/cache.h"

#include "base/checksum.h"
#include "base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Reads exactly so many bytes. */
static bool read_all(int fd, void *data, size_t bytes)
{
    char *at = data;
    while (bytes > 0) {
        ssize_t got = read(fd, at, bytes);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

/* The bytes behind a header that fits them; NULL if there is no such thing. */
static void *read_entry(int fd, const char *name, size_t *bytes)
{
    struct stat info;
    struct header header;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || !read_all(fd, &header, sizeof(header)) ||
        header.magic != magic || header.bytes > GPUME_CACHE_BYTES_MAX ||
        (uint64_t)info.st_size != sizeof(header) + header.bytes) {
        return NULL;
    }
    size_t length = (size_t)header.bytes;
    void *data = malloc(length ? length : 1);
    if (data && read_all(fd, data, length) && sum_of(name, data, length) == header.sum) {
        *bytes = length;
        return data;
    }
    free(data);
    return NULL;
}

bool gpume_cache_load(const struct gpume_cache *cache, const char *name, void **data, size_t *bytes)
{
    char path[PATH_BYTES];
    if (!path_of(cache, name, path)) {
        return false;
    }
    /* Whatever lies there, opening it must not wait. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    void *entry = read_entry(fd, name, bytes);
    close(fd);
    if (!entry) {
        gpume_log_write(cache->log, GPUME_LOG_DEBUG, "%s: damaged, left unread", path);
        return false;
    }
    *data = entry;
    return true;
}

/* Makes the folder and its parent; no more, so that a home that is not there stays so. */
static void make_folder(const char *folder)
{
    char parent[PATH_BYTES];
    const char *slash = strrchr(folder, '/');
    if (mkdir(folder, 0700) == 0 || errno != ENOENT || !slash || slash == folder) {
        return; /* whether it is there now shows when it is written to */
    }
    snprintf(parent, sizeof(parent), "%.*s", (int)(slash - folder), folder);
    if (mkdir(parent, 0700) == 0) {
        (void)mkdir(folder, 0700);
    }
}

static void log_as_debug(void *opaque, enum gpume_log_level level, const char *line)
{
    const struct gpume_log *log = opaque;
    (void)level;
    gpume_log_write(log, GPUME_LOG_DEBUG, "cache: %s", line);
}

bool gpume_cache_store(
    const struct gpume_cache *cache, const char *name, const void *data, size_t bytes)
{
    char path[PATH_BYTES];
    struct stat info;
    if (bytes > GPUME_CACHE_BYTES_MAX || !path_of(cache, name, path)) {
        return false;
    }
    make_folder(cache->folder);
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        gpume_log_write(cache->log, GPUME_LOG_DEBUG, "%s: no file, left as it is", path);
        return false;
    }
    struct gpume_log log = *cache->log;
    const struct gpume_log quiet = {.fn = log_as_debug, .opaque = &log};
    const struct header header = {magic, bytes, sum_of(name, data, bytes)};
    struct gpume_out *out = NULL;
    bool stored = gpume_out_open(&out, path, true, &quiet) == GPUME_OK &&
                  gpume_out_write(out, &header, sizeof(header)) == GPUME_OK &&
                  gpume_out_write(out, data, bytes) == GPUME_OK &&
                  gpume_out_finish(out) == GPUME_OK;
    gpume_out_close(&out);
    return stored;
}
