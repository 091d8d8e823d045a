/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/cache.h"

#include "base/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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

/* The bytes behind a header that fits them; NULL if there is no such thing. */
static void *read_entry(FILE *file, const char *name, size_t *bytes)
{
    struct stat info;
    struct header header;
    if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode) ||
        fread(&header, sizeof(header), 1, file) != 1 || header.magic != magic ||
        header.bytes > GPUME_CACHE_BYTES_MAX ||
        (uint64_t)info.st_size != sizeof(header) + header.bytes) {
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
    if (!path_of(cache, name, path)) {
        return false;
    }
    /* Whatever lies there, opening it must not wait. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    FILE *file = fdopen(fd, "rb");
    void *entry = file ? read_entry(file, name, bytes) : NULL;
    (void)(file ? fclose(file) : close(fd));
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
    const char *slash = strrchr(folder, '/');
    if (mkdir(folder, 0700) == 0 || errno != ENOENT || !slash || slash == folder) {
        return; /* whether it is there now shows when it is written to */
    }
    snprintf(parent, sizeof(parent), "%.*s", (int)(slash - folder), folder);
    if (mkdir(parent, 0700) == 0) {
        (void)mkdir(folder, 0700);
    }
}

/* Opens the temporary and locks it; -1 if that fails or another process is writing it. The lock is
 * of use only while the temporary still has its name: its writer may just have renamed it. */
static int open_temporary(const char *temporary)
{
    struct stat opened, named;
    int fd = open(temporary, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &opened) == 0 &&
        lstat(temporary, &named) == 0 && opened.st_ino == named.st_ino &&
        opened.st_dev == named.st_dev && S_ISREG(opened.st_mode) && ftruncate(fd, 0) == 0) {
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

/* Writes the whole entry beside its final name, then renames it. */
static bool write_entry(
    const char *path, const struct header *header, const void *data, size_t bytes)
{
    char temporary[PATH_BYTES + 4];
    snprintf(temporary, sizeof(temporary), "%s.new", path);
    const int fd = open_temporary(temporary);
    if (fd < 0) {
        return false;
    }
    FILE *file = fdopen(fd, "wb");
    const bool stored = file && fwrite(header, sizeof(*header), 1, file) == 1 &&
                        fwrite(data, 1, bytes, file) == bytes && fflush(file) == 0 &&
                        rename(temporary, path) == 0;
    if (!stored) {
        unlink(temporary);
    }
    return (file ? fclose(file) : close(fd)) == 0 && stored;
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
