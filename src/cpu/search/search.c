/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/search/search.h"

#include "base/base.h"

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

/* --- differences before and after prediction */

#define RUN 512u                                 /* samples of a row measured at a time */
#define TILE (GPUME_BLOCK_MAX * GPUME_BLOCK_MAX) /* samples of all these rows, on the stack */
_Static_assert(RUN <= GPUME_DIFFERENCES_MAX && RUN >= GPUME_BLOCK_MAX, "a run holds a block");

/* Neighbouring blocks of one block row, which are measured together. */
struct block_stretch {
    uint32_t x, x_end, y, y_end; /* pixels; x and y begin at a block's upper left corner */
};

/* Where the match of a stretch is stored. */
struct match_rows {
    uint8_t *first;
    size_t stride; /* bytes */
};

static inline void copy_block_rows(
    struct match_rows to, const uint8_t *from, size_t stride, uint32_t bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to.first + i * to.stride, from + i * stride, bytes);
    }
}

/* Most blocks are 8 or 16 samples wide: then a row is one load and one store. */
static void copy_block(
    struct match_rows to, const uint8_t *from, size_t stride, uint32_t bytes, uint32_t count)
{
    switch (bytes) {
    case 4:
        copy_block_rows(to, from, stride, 4, count);
        break;
    case 8:
        copy_block_rows(to, from, stride, 8, count);
        break;
    case 16:
        copy_block_rows(to, from, stride, 16, count);
        break;
    default:
        copy_block_rows(to, from, stride, bytes, count);
        break;
    }
}

static size_t offset_of(const struct gpume_plan *plan, uint32_t x, uint32_t y)
{
    return (size_t)(plan->pad_y + y) * plan->padded_stride + plan->pad_x + x;
}

/* Copies the match of every block. vectors: of the block row. */
static void predict_stretch(const struct gpume_search_field *field,
    const struct gpume_vector *vectors, const struct block_stretch *stretch, struct match_rows to)
{
    const struct gpume_plan *plan = field->plan;
    uint32_t bytes = plan->sample_bytes, block = field->layer->block_w;
    const uint8_t *reference = field->reference;
    for (uint32_t x = stretch->x; x < stretch->x_end; x += block) {
        const struct gpume_vector *vector = &vectors[x / block];
        uint32_t width = stretch->x_end - x < block ? stretch->x_end - x : block;
        ptrdiff_t shift = (ptrdiff_t)vector->dy * (ptrdiff_t)plan->padded_stride + vector->dx;
        ptrdiff_t from = (ptrdiff_t)offset_of(plan, x, stretch->y) + shift;
        copy_block(to, reference + from * (ptrdiff_t)bytes, (size_t)plan->padded_stride * bytes,
            width * bytes, stretch->y_end - stretch->y);
        to.first += (size_t)width * bytes;
    }
}

void gpume_measure_add(struct gpume_sums *to, const struct gpume_sums *from)
{
    to->zero += from->zero;
    to->sad_before += from->sad_before;
    to->sad_after += from->sad_after;
    to->sse_before += from->sse_before;
    to->sse_after += from->sse_after;
}

static struct gpume_differences compare_run(const struct gpume_search *search,
    uint32_t sample_bytes, const void *a, const void *b, uint32_t count)
{
    return sample_bytes == 2 ? search->differences16(a, b, count)
                             : search->differences8(a, b, count);
}

void gpume_measure_run(const struct gpume_search *search, uint32_t sample_bytes, const void *target,
    const void *reference, const void *predicted, uint32_t count, struct gpume_sums *sums)
{
    struct gpume_differences before = compare_run(search, sample_bytes, target, reference, count);
    struct gpume_differences after = compare_run(search, sample_bytes, target, predicted, count);
    sums->sad_before += before.sad;
    sums->sse_before += before.sse;
    sums->sad_after += after.sad;
    sums->sse_after += after.sse;
}

/* Adds the sums of a stretch of at most TILE samples. */
static void measure_stretch(const struct gpume_search *search,
    const struct gpume_search_field *field, const struct gpume_vector *vectors,
    const struct block_stretch *stretch, void *predicted, struct gpume_sums *sums)
{
    const struct gpume_plan *plan = field->plan;
    uint32_t bytes = plan->sample_bytes, width = stretch->x_end - stretch->x;
    uint16_t tile[TILE];
    struct match_rows match = {(uint8_t *)tile, (size_t)width * bytes};
    if (predicted) {
        match.stride = plan->plane_stride;
        match.first = (uint8_t *)predicted + stretch->y * match.stride + (size_t)stretch->x * bytes;
    }
    predict_stretch(field, vectors, stretch, match);
    for (uint32_t y = stretch->y; y < stretch->y_end; y++) {
        const uint8_t *predicted_row = match.first + (y - stretch->y) * match.stride;
        size_t first = offset_of(plan, stretch->x, y) * bytes;
        gpume_measure_run(search, bytes, (const uint8_t *)field->target + first,
            (const uint8_t *)field->reference + first, predicted_row, width, sums);
    }
}

struct gpume_sums gpume_measure_span(const struct gpume_search *search,
    const struct gpume_search_field *field, const struct gpume_span *span,
    const struct gpume_vector *vectors, void *predicted)
{
    const struct gpume_plan *plan = field->plan;
    const struct gpume_params *p = &plan->params;
    const struct gpume_shape *layer = field->layer;
    uint32_t block_w = layer->block_w, block_h = layer->block_h;
    const struct gpume_vector *row = vectors + (size_t)span->row * layer->blocks_x;
    struct gpume_sums sums = {0};
    for (uint32_t i = span->first; i < span->end; i++) {
        sums.zero += row[i].dx == 0 && row[i].dy == 0;
    }
    uint32_t step = RUN < TILE / block_h ? RUN : TILE / block_h;
    step = step / block_w * block_w;
    uint32_t x_last = gpume_min_u32(span->end * block_w, p->width);
    struct block_stretch stretch = {.y = span->row * block_h};
    stretch.y_end = gpume_min_u32(stretch.y + block_h, p->height);
    for (stretch.x = span->first * block_w; stretch.x < x_last; stretch.x = stretch.x_end) {
        stretch.x_end = gpume_min_u32(stretch.x + step, x_last);
        measure_stretch(search, field, row, &stretch, predicted, &sums);
    }
    return sums;
}
