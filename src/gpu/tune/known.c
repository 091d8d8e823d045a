/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/known.h"

#include "base/grid.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MAX 64u /* answers of this process; older ones make room */

static pthread_mutex_t kept_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char name[GPUME_CACHE_NAME_BYTES];
    char answer[GPUME_KNOWN_BYTES];
} kept[KEPT_MAX];
static uint32_t kept_count;

static bool find_kept(const char *name, char answer[GPUME_KNOWN_BYTES])
{
    bool found = false;
    pthread_mutex_lock(&kept_mutex);
    for (uint32_t i = 0; i < KEPT_MAX && !found; i++) {
        found = strcmp(kept[i].name, name) == 0;
        snprintf(answer, GPUME_KNOWN_BYTES, "%s", kept[i].answer);
    }
    pthread_mutex_unlock(&kept_mutex);
    return found;
}

bool gpume_known_find(
    const struct gpume_cache *cache, const char *name, char answer[GPUME_KNOWN_BYTES])
{
    void *data = NULL;
    size_t bytes = 0;
    if (find_kept(name, answer)) {
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
    pthread_mutex_lock(&kept_mutex);
    uint32_t place = kept_count++ % KEPT_MAX;
    snprintf(kept[place].name, sizeof(kept[place].name), "%s", name);
    snprintf(kept[place].answer, sizeof(kept[place].answer), "%s", answer);
    pthread_mutex_unlock(&kept_mutex);
    gpume_cache_store(cache, name, answer, strlen(answer));
}
