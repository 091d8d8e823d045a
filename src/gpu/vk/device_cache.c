/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vk/device_cache.h"

#include "base/grid.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A larger entry, of many block and window sizes, is left unread, so that it begins anew. */
#define FULL_BYTES (GPUME_CACHE_BYTES_MAX / 2)

void gpume_device_cache_name(
    const struct gpume_gpu *gpu, const char *kind, char name[GPUME_CACHE_NAME_BYTES])
{
    const VkPhysicalDeviceProperties *p = &gpu->properties;
    char uuid[2 * VK_UUID_SIZE + 1];
    for (size_t i = 0; i < VK_UUID_SIZE; i++) {
        snprintf(uuid + 2 * i, 3, "%02x", p->pipelineCacheUUID[i]);
    }
    /* The version besides, as the UUID of lavapipe (Mesa 22.3) is the same for all of them. */
    snprintf(name, GPUME_CACHE_NAME_BYTES, "%.32s-%04x-%04x-%08x-%s.bin", kind, p->vendorID,
        p->deviceID, p->driverVersion, uuid);
}

/* A driver looks at this too, but may crash on what is not its own. */
static bool is_ours(const struct gpume_gpu *gpu, const void *data, size_t bytes)
{
    const VkPhysicalDeviceProperties *p = &gpu->properties;
    VkPipelineCacheHeaderVersionOne header;
    if (bytes < sizeof(header)) {
        return false;
    }
    memcpy(&header, data, sizeof(header));
    return header.headerSize >= sizeof(header) && header.headerSize <= bytes &&
           header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
           header.vendorID == p->vendorID && header.deviceID == p->deviceID &&
           memcmp(header.pipelineCacheUUID, p->pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

void gpume_device_cache_open(struct gpume_gpu *gpu, const struct gpume_cache *cache)
{
    char name[GPUME_CACHE_NAME_BYTES];
    void *data = NULL;
    size_t bytes = 0;
    if (!cache->folder) {
        return;
    }
    gpume_device_cache_name(gpu, "pipelines", name);
    bool usable = gpume_cache_load(cache, name, &data, &bytes) && bytes <= FULL_BYTES &&
                  is_ours(gpu, data, bytes);
    VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = usable ? bytes : 0,
        .pInitialData = usable ? data : NULL,
    };
    if (vkCreatePipelineCache(gpu->device, &info, NULL, &gpu->pipelines) == VK_SUCCESS) {
        gpu->pipelines_bytes = info.initialDataSize;
    } else {
        gpu->pipelines = VK_NULL_HANDLE; /* as without a folder */
    }
    free(data);
}

const char *gpume_device_cache_save(const struct gpume_gpu *gpu, const struct gpume_cache *cache)
{
    char name[GPUME_CACHE_NAME_BYTES];
    size_t bytes = 0;
    if (!gpu->pipelines) {
        return "no cache";
    }
    /* Pipelines are only ever added, and each makes it longer. */
    if (vkGetPipelineCacheData(gpu->device, gpu->pipelines, &bytes, NULL) != VK_SUCCESS ||
        bytes == gpu->pipelines_bytes) {
        return bytes > 0 ? "cached" : "not cached";
    }
    gpume_device_cache_name(gpu, "pipelines", name);
    void *data = malloc(bytes);
    bool stored = data &&
                  vkGetPipelineCacheData(gpu->device, gpu->pipelines, &bytes, data) == VK_SUCCESS &&
                  gpume_cache_store(cache, name, data, bytes);
    free(data);
    return stored ? "compiled, cached now" : "compiled, not cached";
}

/* --- answers */

#define ANSWERS_MAX 64u /* answers of this process; older ones make room */

static pthread_mutex_t answers_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char name[GPUME_CACHE_NAME_BYTES];
    char answer[GPUME_KNOWN_BYTES];
} answers[ANSWERS_MAX];
static uint32_t answer_count;

static bool find_answer(const char *name, char answer[GPUME_KNOWN_BYTES])
{
    bool found = false;
    pthread_mutex_lock(&answers_mutex);
    for (uint32_t i = 0; i < ANSWERS_MAX && !found; i++) {
        found = strcmp(answers[i].name, name) == 0;
        snprintf(answer, GPUME_KNOWN_BYTES, "%s", answers[i].answer);
    }
    pthread_mutex_unlock(&answers_mutex);
    return found;
}

bool gpume_known_find(
    const struct gpume_cache *cache, const char *name, char answer[GPUME_KNOWN_BYTES])
{
    void *data = NULL;
    size_t bytes = 0;
    if (find_answer(name, answer)) {
        return true;
    }
    if (!gpume_cache_load(cache, name, &data, &bytes)) {
        return false;
    }
    snprintf(answer, GPUME_KNOWN_BYTES, "%.*s", (int)gpume_min_u64(bytes, GPUME_KNOWN_BYTES - 1),
        (const char *)data);
    free(data);
    return true;
}

void gpume_known_keep(const struct gpume_cache *cache, const char *name, const char *answer)
{
    pthread_mutex_lock(&answers_mutex);
    uint32_t place = answer_count++ % ANSWERS_MAX;
    snprintf(answers[place].name, sizeof(answers[place].name), "%s", name);
    snprintf(answers[place].answer, sizeof(answers[place].answer), "%s", answer);
    pthread_mutex_unlock(&answers_mutex);
    gpume_cache_store(cache, name, answer, strlen(answer));
}
