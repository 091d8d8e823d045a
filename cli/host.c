/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "base/base.h"
#include "console.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the host */

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

/* --- the engine that options name */

#define SEARCHES_MAX 32u /* more than any build has */

/* Refuses options that concern GPUs if `option` with `value` selects the CPU engine. */
static int refuse_gpu(const struct gpume_params *params, const char *option, const char *value)
{
    const bool named = params->device || params->devices;
    if (!named && !params->validate) {
        return GPUME_OK;
    }
    return gpume_refuse(GPUME_INVALID, "--%s: has no effect with --%s %s; leave one of them out",
        named ? "device" : "validate", option, value);
}

/* The first comma between two names, which may contain one before a space. */
static size_t comma_in(const char *text)
{
    size_t at = strcspn(text, ",");
    while (text[at] && text[at + 1] == ' ') {
        at += 1 + strcspn(text + at + 1, ",");
    }
    return at;
}

char *gpume_next_device(char **list)
{
    char *name = *list;
    if (name) {
        char *comma = name + comma_in(name);
        *list = *comma ? comma + 1 : NULL;
        *comma = '\0';
    }
    return name;
}

void gpume_take_device_list(struct gpume_params *params)
{
    const char *text = params->device;
    if (text && (strcmp(text, "all") == 0 || strcmp(text, "cpu") == 0 || text[comma_in(text)])) {
        params->devices = text;
        params->device = NULL;
    }
}

static int check_search(const struct gpume_params *params)
{
    static struct gpume_search_info searches[SEARCHES_MAX];
    uint32_t count = 0;
    char names[256] = "";
    if (gpume_list_searches(NULL, searches, SEARCHES_MAX, &count) != GPUME_OK) {
        return GPUME_OK;
    }
    for (uint32_t i = 0; i < count && i < SEARCHES_MAX; i++) {
        const enum gpume_backend backend = searches[i].backend;
        if (params->backend != GPUME_BACKEND_AUTO && params->backend != backend) {
            continue;
        }
        if (strcmp(params->search, searches[i].name) == 0) {
            return backend == GPUME_BACKEND_CPU ? refuse_gpu(params, "search", params->search)
                                                : GPUME_OK;
        }
        gpume_text_join(names, sizeof(names), " or ", "%s", searches[i].name);
    }
    return gpume_refuse(GPUME_INVALID, "--search %s: must be %s; 'gpume devices' lists them",
        params->search, names);
}

int gpume_check_engine(const struct gpume_params *params)
{
    if (params->search) {
        GPUME_CHECK(check_search(params));
    }
    return params->backend == GPUME_BACKEND_CPU ? refuse_gpu(params, "backend", "cpu") : GPUME_OK;
}

/* Whether this machine may have a GPU, or the environment names drivers or layers of Vulkan. If
 * not, only software drivers are left, and loading them takes as much processor time as a second of
 * a small video. */
static bool may_have_gpu(void)
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

int gpume_settle_engine(struct gpume_params *params)
{
    GPUME_CHECK(gpume_check_engine(params));
    const bool asks = params->device || params->devices || params->search || params->validate;
    if (params->backend == GPUME_BACKEND_AUTO && !asks && !may_have_gpu()) {
        params->backend = GPUME_BACKEND_CPU;
    }
    return GPUME_OK;
}
