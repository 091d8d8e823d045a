/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/variant.h"

#include <stdio.h>
#include <string.h>

static bool always(const struct gpume_gpu *gpu)
{
    (void)gpu;
    return true;
}

static const struct gpume_match_variant variants[] = {
    {"int", "integers alone, four samples a word", always},
    {0},
};

const struct gpume_match_variant *gpume_match_variant_at(uint32_t index)
{
    return variants[index].name ? &variants[index] : NULL;
}

const struct gpume_match_variant *gpume_match_variant_select(
    const struct gpume_gpu *gpu, const char *name)
{
    const struct gpume_match_variant *best = NULL;
    for (uint32_t i = 0; variants[i].name; i++) {
        bool meant = !name || strcmp(name, variants[i].name) == 0;
        best = meant && variants[i].available(gpu) ? &variants[i] : best;
    }
    return best;
}

int gpume_match_variant_list(
    const char *device, struct gpume_search_info *searches, uint32_t *count)
{
    static const struct gpume_log silent;
    struct gpume_gpu gpu;
    int found = gpume_gpu_find(&gpu, &silent, device, true, false);
    const struct gpume_match_variant *best =
        found == GPUME_OK ? gpume_match_variant_select(&gpu, NULL) : NULL;
    for (*count = 0; variants[*count].name; (*count)++) {
        const struct gpume_match_variant *variant = &variants[*count];
        searches[*count] = (struct gpume_search_info){.backend = GPUME_BACKEND_VULKAN,
            .available = found == GPUME_OK && variant->available(&gpu),
            .automatic = variant == best};
        snprintf(searches[*count].name, sizeof(searches->name), "%s", variant->name);
        snprintf(searches[*count].summary, sizeof(searches->summary), "%s", variant->summary);
    }
    gpume_gpu_close(&gpu);
    return device ? found : GPUME_OK;
}
