/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/variant.h"

#include "base/grid.h"
#include "gpu/vk/device.h"

#include <stdio.h>
#include <string.h>

static bool always(const struct gpume_gpu *gpu)
{
    (void)gpu;
    return true;
}

static bool has_half(const struct gpume_gpu *gpu)
{
    return gpu->half;
}

static const struct gpume_match_variant variants[] = {
    {"quads", "integers, four samples a word: any device", always, false, GPUME_TILE_INT},
    {"int", "integers, tiles in shared memory", always, true, GPUME_TILE_INT},
    {"float", "floats that stay exact, tiles in shared memory", always, true, GPUME_TILE_FLOAT},
    {"half", "pairs of half floats that stay exact, to 10 bits", has_half, true, GPUME_TILE_HALF},
    {0},
};

const struct gpume_match_variant *gpume_match_variant_at(uint32_t index)
{
    return variants[index].name ? &variants[index] : NULL;
}

const struct gpume_match_variant *gpume_match_variant_select(
    const struct gpume_gpu *gpu, const char *name)
{
    if (!name && gpu->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) {
        return &variants[0]; /* shared memory is no gain there */
    }
    const struct gpume_match_variant *best = NULL;
    for (uint32_t i = 0; variants[i].name; i++) {
        bool meant = !name || strcmp(name, variants[i].name) == 0;
        best = meant && variants[i].available(gpu) ? &variants[i] : best;
    }
    return best;
}

static struct gpume_tile_limits limits_of(const struct gpume_gpu *gpu, uint32_t blocks)
{
    const VkPhysicalDeviceLimits *l = &gpu->properties.limits;
    return (struct gpume_tile_limits){
        .shared_bytes = l->maxComputeSharedMemorySize,
        .invocations =
            gpume_min_u32(l->maxComputeWorkGroupInvocations, l->maxComputeWorkGroupSize[0]),
        .blocks = blocks,
    };
}

uint32_t gpume_match_variant_tiles(const struct gpume_match_variant *variant,
    const struct gpume_gpu *gpu, const struct gpume_plan *plan, const struct gpume_shape *layer,
    uint32_t blocks, struct gpume_tile tiles[GPUME_VARIANT_TILES_MAX])
{
    struct gpume_tile_limits limits = limits_of(gpu, blocks);
    tiles[0] = (struct gpume_tile){0};
    if (!variant->tiled) {
        return 1;
    }
    bool half = variant->words == GPUME_TILE_HALF; /* usually the fastest: worth a closer look */
    return gpume_tile_choose(
        plan, layer, variant->words, &limits, half ? 3 : 1, half ? 3 : 2, tiles);
}

bool gpume_match_variant_takes(const struct gpume_match_variant *variant,
    const struct gpume_gpu *gpu, const struct gpume_plan *plan, const struct gpume_shape *layer,
    struct gpume_tile *tile)
{
    struct gpume_tile_limits limits = limits_of(gpu, GPUME_TILE_BLOCKS_MAX);
    return variant->tiled && gpume_tile_complete(plan, layer, variant->words, &limits, tile);
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
