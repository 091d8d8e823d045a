/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE /* madvise */
#include "base/system.h"

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__linux__) && !defined(MADV_POPULATE_WRITE)
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14; older ones refuse it */
#endif

bool gpume_may_have_gpu(void)
{
    bool found = true;
#if defined(__linux__)
    /* Linux has files for each GPU in /dev, whose names begin like this: all drivers that use the
     * kernel's DRM, NVIDIA and its Tegra, WSL, Adreno, Mali, PowerVR, the Android emulator. */
    static const char *const names[] = {
        "dri", "nvidia", "nvhost", "nvgpu", "nvmap", "dxg", "kgsl", "mali", "pvr", "goldfish"};
    DIR *folder = opendir("/dev");
    const struct dirent *entry;
    found = !folder;
    while (!found && (entry = readdir(folder))) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            found = found || strncmp(entry->d_name, names[i], strlen(names[i])) == 0;
        }
    }
    if (folder) {
        closedir(folder);
    }
#endif
    return found;
}

void gpume_touch(void *memory, size_t bytes)
{
#if defined(MADV_POPULATE_WRITE)
    const long page = sysconf(_SC_PAGESIZE);
    const uintptr_t begin = (uintptr_t)memory, end = begin + bytes;
    if (page > 0 && bytes >= 4 * (size_t)page) {
        const uintptr_t mask = (uintptr_t)page - 1, first = begin & ~mask;
        (void)madvise((void *)first, ((end + mask) & ~mask) - first, MADV_POPULATE_WRITE);
    }
#else
    (void)memory;
    (void)bytes;
#endif
}
