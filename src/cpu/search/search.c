/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/search/search.h"

#include <string.h>

static const struct gpume_search *const searches[] = {
    &gpume_search_plain,
#if defined(GPUME_SEARCH_X86)
    &gpume_search_avx2,
    &gpume_search_avx512,
#endif
#if defined(GPUME_SEARCH_ARM)
    &gpume_search_neon,
#endif
    NULL,
};

const struct gpume_search *gpume_search_at(uint32_t index)
{
    return searches[index];
}

const struct gpume_search *gpume_search_select(const char *name)
{
    const struct gpume_search *best = NULL;
    for (uint32_t i = 0; searches[i]; i++) {
        bool meant = !name || strcmp(name, searches[i]->name) == 0;
        best = meant && searches[i]->available() ? searches[i] : best;
    }
    return best;
}

/* --- box sums */

/* Below this many candidates per block, sums cost more than they save. */
#define CANDIDATES_MIN 64u

/* Whether a layer uses boxes of this size. */
static bool uses_size(const struct gpume_shape *layer, uint32_t size)
{
    uint32_t side = layer->block_w < layer->block_h ? layer->block_w : layer->block_h;
    switch (size) {
    case 4:
        return true;
    case 8: /* for 8x8, comparing four sums at once is cheaper than one and then four */
        return side >= 16 || (side == 8 && layer->block_w != layer->block_h);
    case 12:
        return side == 12;
    default:
        return side >= size;
    }
}

struct gpume_boxes gpume_boxes_plan(const struct gpume_plan *plan)
{
    static const uint32_t sizes[GPUME_BOX_SIZES] = {4, 8, 16, 12};
    struct gpume_boxes boxes = {.stride = plan->padded_stride, .rows = plan->padded_rows};
    if (plan->sample_bytes != 1 || plan->candidates < CANDIDATES_MIN) {
        return boxes;
    }
    for (uint32_t i = 0; i < GPUME_BOX_SIZES; i++) {
        bool used = false;
        for (uint32_t j = 0; j < plan->layer_count; j++) {
            used = used || uses_size(&plan->layers[j], sizes[i]);
        }
        if (used) {
            boxes.sizes[boxes.levels++] = sizes[i];
        }
    }
    return boxes;
}

struct gpume_layer_boxes gpume_boxes_of_layer(
    const struct gpume_boxes *boxes, const struct gpume_shape *layer)
{
    struct gpume_layer_boxes own = {.stride = boxes->stride};
    for (uint32_t i = 0; i < boxes->levels; i++) {
        uint32_t size = boxes->sizes[i];
        if (uses_size(layer, size)) {
            own.sizes[own.levels] = size;
            own.tiles[own.levels] =
                (struct gpume_tiles){layer->block_w / size, layer->block_h / size};
            own.sums[own.levels++] = boxes->sums[i];
        }
    }
    return own;
}

/* --- with or without elimination */

/* With one item in 16, probing an alternative that is ten times slower costs 2 %. */
#define PROBE_FIELDS 32u
#define PROBE_ITEMS 16u

void gpume_policy_init(struct gpume_policy *policy, bool possible, bool wide, uint32_t items)
{
    *policy = (struct gpume_policy){.possible = possible,
        .eliminating = possible && wide,
        .items = items,
        .period = items < PROBE_ITEMS ? items : PROBE_ITEMS};
}

struct gpume_policy_choice gpume_policy_next(struct gpume_policy *policy)
{
    uint64_t field = policy->fields++;
    return (struct gpume_policy_choice){.eliminating = policy->eliminating,
        .probing = policy->possible && field % PROBE_FIELDS == 0,
        .period = policy->period,
        .first = (uint32_t)((policy->period / 2 + field / PROBE_FIELDS) % policy->period)};
}

void gpume_policy_learn(struct gpume_policy *policy, const struct gpume_probe *probe)
{
    for (uint32_t way = 0; way < 2; way++) {
        if (probe->items[way]) {
            uint64_t boxes = way ? probe->box_ns / policy->items : 0;
            policy->item_ns[way] = probe->ns[way] / probe->items[way] + boxes + 1;
        }
    }
    if (policy->item_ns[0] && policy->item_ns[1]) {
        policy->eliminating = policy->item_ns[1] < policy->item_ns[0];
    }
}
