/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE /* madvise */
#include "base/os.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

uint32_t gpume_os_processors(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (uint32_t)count;
}

/* --- memory */

#define LARGE_PAGE ((uintptr_t)2 << 20) /* of x86-64, and of ARM with pages of 4 KiB */

void gpume_os_prefer_large_pages(void *memory, size_t bytes)
{
#if defined(MADV_HUGEPAGE)
    const uintptr_t mask = ~(LARGE_PAGE - 1), begin = (uintptr_t)memory;
    const uintptr_t first = (begin + LARGE_PAGE - 1) & mask, end = (begin + bytes) & mask;
    if (memory && end > first) {
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE); /* if not, small ones serve */
    }
#else
    (void)memory;
    (void)bytes;
#endif
}

/* --- time */

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t gpume_clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t gpume_clock_thread_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* --- files */

const char *gpume_os_separator(const char *path)
{
    return strrchr(path, '/');
}

bool gpume_os_make_folder(const char *path)
{
    return mkdir(path, 0700) == 0;
}

bool gpume_os_is_other(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* A stream for a descriptor, which is closed if that fails. */
static FILE *posix_stream(int fd, const char *mode)
{
    FILE *file = fdopen(fd, mode);
    if (!file) {
        close(fd);
    }
    return file;
}

FILE *gpume_os_open(const char *path, uint64_t *bytes)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    const bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    *bytes = is_file ? (uint64_t)info.st_size : UINT64_MAX;
    return posix_stream(fd, "rb");
}

/* The lock is of use only while the file still has its name: its writer may just have renamed it.
 */
FILE *gpume_os_create(const char *path)
{
    struct stat opened, named;
    const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &opened) == 0 &&
        lstat(path, &named) == 0 && opened.st_ino == named.st_ino &&
        opened.st_dev == named.st_dev && S_ISREG(opened.st_mode) && ftruncate(fd, 0) == 0) {
        return posix_stream(fd, "wb");
    }
    if (fd >= 0) {
        close(fd);
    }
    return NULL;
}

bool gpume_os_rename(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

void gpume_os_remove(const char *path)
{
    unlink(path);
}

/* --- the Vulkan loader */

const char gpume_os_vulkan[] = "libvulkan.so.1";
const char gpume_os_vulkan_package[] = "on Debian: apt install libvulkan1";

void *gpume_os_load(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/* memcpy, as C has no cast from data to functions. */
bool gpume_os_find(void *library, const char *name, void *function)
{
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(function, &found, sizeof(found));
    return found;
}
