/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES_MAX 16u

void gpume_host_cpu(char name[GPUME_HOST_CPU_BYTES])
{
    char line[256];
    snprintf(name, GPUME_HOST_CPU_BYTES, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon && colon[1] == ' ') {
            const int length = (int)strcspn(colon + 2, "\n");
            snprintf(name, GPUME_HOST_CPU_BYTES, "%.*s", length, colon + 2);
            break;
        }
    }
    if (file) {
        fclose(file);
    }
}

uint32_t gpume_host_processors(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 ? (uint32_t)processors : 1;
}

uint64_t gpume_host_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}

/* A number in a file; UINT64_MAX: there is none, as where the file says "max". */
static uint64_t read_limit(const char *path)
{
    uint64_t limit = UINT64_MAX;
    FILE *file = fopen(path, "r");
    if (file) {
        limit = fscanf(file, "%" SCNu64, &limit) == 1 ? limit : UINT64_MAX;
        fclose(file);
    }
    return limit;
}

uint64_t gpume_host_memory_allowed(void)
{
    static const char *const limits[] = {
        "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    uint64_t allowed = gpume_host_memory();
    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        const uint64_t limit = read_limit(limits[i]);
        allowed = limit < allowed ? limit : allowed;
    }
    return allowed;
}

enum gpume_device_type gpume_host_device_type(const char *name)
{
    struct gpume_device devices[DEVICES_MAX];
    uint32_t count = 0;
    if (gpume_list_devices(devices, DEVICES_MAX, &count) != GPUME_OK) {
        return GPUME_DEVICE_OTHER;
    }
    for (uint32_t i = 0; i < count && i < DEVICES_MAX; i++) {
        if (strcmp(devices[i].name, name) == 0) {
            return devices[i].type;
        }
    }
    return GPUME_DEVICE_OTHER;
}

const char *gpume_host_cache_folder(void)
{
    static const struct {
        const char *variable, *below;
    } places[] = {{"XDG_CACHE_HOME", "gpume"}, {"HOME", ".cache/gpume"}};
    static char folder[4096];
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        const char *root = getenv(places[i].variable);
        if (root && root[0] == '/') { /* the specification ignores others */
            const int length = snprintf(folder, sizeof(folder), "%s/%s", root, places[i].below);
            return length > 0 && (size_t)length < sizeof(folder) ? folder : NULL;
        }
    }
    return NULL;
}

char *gpume_host_temporary(const char *what)
{
    const char *folder = getenv("TMPDIR");
    folder = folder && folder[0] == '/' ? folder : "/tmp";
    const size_t bytes = strlen(folder) + strlen(what) + 16;
    char *name = malloc(bytes);
    if (name) {
        snprintf(name, bytes, "%s/gpume-%s", folder, what);
    }
    return name;
}

bool gpume_host_may_have_gpu(void)
{
    /* Linux has files for each GPU in /dev, whose names begin like this: all drivers that use the
     * kernel's DRM, NVIDIA and its Tegra, WSL, Adreno, Mali, PowerVR, the Android emulator. */
    static const char *const names[] = {
        "dri", "nvidia", "nvhost", "nvgpu", "nvmap", "dxg", "kgsl", "mali", "pvr", "goldfish"};
    static const char *const variables[] = {"VK_DRIVER_FILES", "VK_ADD_DRIVER_FILES",
        "VK_ICD_FILENAMES", "VK_INSTANCE_LAYERS", "VK_LOADER_LAYERS_ENABLE"};
    bool found = false;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        found = found || getenv(variables[i]);
    }
#if defined(__linux__)
    DIR *folder = found ? NULL : opendir("/dev");
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
    return found;
#else
    (void)names;
    return true;
#endif
}
