/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/system.h"

#include <dirent.h>
#include <stddef.h>
#include <string.h>

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
