/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/choice.h"

#include "base/clock.h"
#include "base/grid.h"
#include "base/status.h"
#include "gpu/tune/trial.h"
#include "gpu/vk/device_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTENDERS_MAX 36u /* four variants of GPUME_VARIANT_TILES_MAX shapes */

void gpume_choice_label(const struct gpume_match_variant *variant, const struct gpume_tile *t,
    char label[GPUME_CHOICE_LABEL_BYTES])
{
    snprintf(label, GPUME_CHOICE_LABEL_BYTES, "%s %u %ux%u %u %u %u", variant->name, t->chunk,
        t->tile_x, t->tile_y, t->band, t->columns, t->local);
}

#define SIZE_BYTES 24u

/* "8" for squares, "16x8" for others. */
static void print_size(const struct gpume_shape *layer, char size[SIZE_BYTES])
{
    int length = snprintf(size, SIZE_BYTES, "%u", layer->block_w);
    if (layer->block_h != layer->block_w) {
        snprintf(size + length, SIZE_BYTES - (size_t)length, "x%u", layer->block_h);
    }
}

void gpume_choice_name(const struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, char name[GPUME_CACHE_NAME_BYTES])
{
    const struct gpume_params *p = &plan->params;
    char kind[64], size[SIZE_BYTES];
    print_size(layer, size);
    /* With the name that is asked for: the best shape of one variant is no answer for all. */
    snprintf(kind, sizeof(kind), "search-%s-%ux%u-%u%s%s", size, p->window_x, p->window_y, p->bits,
        p->edge == GPUME_EDGE_INSIDE ? "i" : "-", p->search ? p->search : "");
    gpume_device_cache_name(gpu, kind, name);
}

static int find(const struct gpume_contender *contenders, uint32_t count, const char *wanted)
{
    for (uint32_t i = 0; i < count; i++) {
        char label[GPUME_CHOICE_LABEL_BYTES];
        gpume_choice_label(contenders[i].variant, &contenders[i].tile, label);
        if (strcmp(label, wanted) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* The contender that was the fastest before, or -1. */
static int remembered(const struct gpume_cache *cache, const char *name,
    const struct gpume_contender *contenders, uint32_t count)
{
    char label[GPUME_CHOICE_LABEL_BYTES];
    return gpume_known_find(cache, name, label) ? find(contenders, count, label) : -1;
}

/* Without measurement: the first shape of the last variant. */
static uint32_t promising(const struct gpume_contender *contenders, uint32_t count)
{
    uint32_t first = count - 1;
    while (first > 0 && contenders[first - 1].variant == contenders[count - 1].variant) {
        first--;
    }
    return first;
}

/* Times all contenders and takes the fastest. */
static int try_all(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, struct gpume_contender *contenders, uint32_t count,
    uint32_t *best)
{
    uint64_t start = gpume_clock_ns();
    int status;
    GPUME_TRY(gpume_trial_run(gpu, plan, layer, contenders, count));
    *best = promising(contenders, count);
    for (uint32_t i = 0; i < count; i++) {
        char label[GPUME_CHOICE_LABEL_BYTES];
        gpume_choice_label(contenders[i].variant, &contenders[i].tile, label);
        uint64_t least = contenders[*best].ns;
        if (contenders[i].ns > 0 && (least == 0 || contenders[i].ns < least)) {
            *best = i;
        }
        gpume_log_write(gpu->log, GPUME_LOG_DEBUG, "search %s: %.1f us per field in a trial", label,
            (double)contenders[i].ns / 1e3);
    }
    gpume_log_write(gpu->log, GPUME_LOG_DEBUG, "searches tried in %.1f ms",
        (double)(gpume_clock_ns() - start) / 1e6);
fail:
    return status;
}

static int fastest(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, const struct gpume_cache *cache,
    struct gpume_contender *contenders, uint32_t count, uint32_t *best)
{
    char name[GPUME_CACHE_NAME_BYTES];
    int status;
    gpume_choice_name(gpu, plan, layer, name);
    int before = remembered(cache, name, contenders, count);
    if (before >= 0) {
        *best = (uint32_t)before;
        return GPUME_OK;
    }
    GPUME_TRY(try_all(gpu, plan, layer, contenders, count, best));
    char label[GPUME_CHOICE_LABEL_BYTES];
    gpume_choice_label(contenders[*best].variant, &contenders[*best].tile, label);
    gpume_known_keep(cache, name, label);
fail:
    return status;
}

static int refuse(
    const struct gpume_gpu *gpu, const struct gpume_params *p, const struct gpume_shape *layer)
{
    char size[SIZE_BYTES];
    print_size(layer, size);
    return gpume_log_fail(gpu->log, GPUME_UNSUPPORTED,
        "params.search %s: not for %u bits, block %s, window %ux%u on %s; leave it out", p->search,
        p->bits, size, p->window_x, p->window_y, gpu->properties.deviceName);
}

/* The variant with every shape that is worth a trial, or with the one that is wanted. */
static uint32_t enter(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, const struct gpume_match_variant *variant,
    const struct gpume_tile *wanted, struct gpume_contender *contenders)
{
    struct gpume_tile tiles[GPUME_VARIANT_TILES_MAX] = {*wanted};
    uint32_t count;
    if (wanted->chunk && variant->tiled) {
        count = gpume_match_variant_takes(variant, gpu, plan, layer, &tiles[0]);
    } else {
        count = gpume_match_variant_tiles(variant, gpu, plan, layer, GPUME_TILE_BLOCKS_MAX, tiles);
    }
    for (uint32_t i = 0; i < count; i++) {
        contenders[i] = (struct gpume_contender){.variant = variant, .tile = tiles[i]};
    }
    return count;
}

static void log_choice(const struct gpume_gpu *gpu, const struct gpume_match_choice *choice)
{
    const struct gpume_tile *t = &choice->tile;
    if (!choice->variant->tiled) {
        return;
    }
    gpume_log_write(gpu->log, GPUME_LOG_DEBUG,
        "search %s: chunks of %u, tiles of %ux%u blocks, loads of %u chunks and %u columns, %u "
        "invocations, %.1f KiB, score %.3f",
        choice->variant->name, t->chunk, t->tile_x, t->tile_y, t->band, t->columns, t->local,
        (double)t->shared_bytes / 1024, t->score);
}

/* Blocks that fall back are few and far between: a tile each, if such tiles suit. */
static struct gpume_tile fallback_tile(const struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, const struct gpume_contender *best)
{
    struct gpume_tile tiles[GPUME_VARIANT_TILES_MAX];
    uint32_t count = gpume_match_variant_tiles(best->variant, gpu, plan, layer, 1, tiles);
    return count > 0 ? tiles[0] : best->tile;
}

int gpume_choice_make(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, const struct gpume_cache *cache, const struct gpume_tile *tile,
    struct gpume_match_choice *choice)
{
    struct gpume_contender contenders[CONTENDERS_MAX];
    uint32_t count = 0, best = 0;
    const char *only = plan->params.search;
    bool software = gpu->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    if (!only && software) {
        only = gpume_match_variant_select(gpu, NULL)->name;
    }
    for (uint32_t i = 0; gpume_match_variant_at(i); i++) {
        const struct gpume_match_variant *variant = gpume_match_variant_at(i);
        bool meant = !only || strcmp(only, variant->name) == 0;
        if (meant && variant->available(gpu)) {
            count += enter(gpu, plan, layer, variant, tile, &contenders[count]);
        }
    }
    if (count == 0) {
        return refuse(gpu, &plan->params, layer);
    }
    int status = GPUME_OK;
    if (count > 1 && !software && tile->chunk == 0) {
        status = fastest(gpu, plan, layer, cache, contenders, count, &best);
    } else {
        best = promising(contenders, count);
    }
    if (status == GPUME_OK) {
        *choice = (struct gpume_match_choice){
            .variant = contenders[best].variant,
            .tile = contenders[best].tile,
            .fallback_tile = fallback_tile(gpu, plan, layer, &contenders[best]),
        };
        log_choice(gpu, choice);
    }
    return status;
}
