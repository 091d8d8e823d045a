/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz_search.h"

/* --- parameters */

/* A square, its halves and its quarters, or any shapes. */
static void take_shapes(struct fuzz_bytes *from, struct gpume_params *params, bool quick)
{
    const uint8_t kind = fuzz_u8(from);
    const uint32_t side = 8u << kind % (quick ? 2 : 5), half = side / 2;
    const struct gpume_block_size tree[] = {{side, side}, {side, half}, {half, side}, {half, half}};
    params->shape_count = fuzz_small(from, 0, quick ? 4 : 32, GPUME_SHAPES_MAX);
    for (uint32_t i = 0; i < GPUME_SHAPES_MAX && i < params->shape_count; i++) {
        params->shapes[i] = tree[i % 4];
        if (kind & 128 || i >= 4) {
            params->shapes[i].width = 4 * fuzz_about(from, 1, 32);
            params->shapes[i].height = 4 * fuzz_about(from, 1, 32);
        }
    }
}

static void take_cost(struct fuzz_bytes *from, struct gpume_params *params)
{
    static const uint32_t units[] = {0, 1, 2, 4};
    const uint8_t flags = fuzz_u8(from);
    params->metric = (enum gpume_metric)fuzz_about(from, 0, 2);
    params->subpel = flags & 128 ? fuzz_about(from, 0, 5) : units[flags % 4];
    params->interpolation = (enum gpume_interpolation)fuzz_about(from, 0, 2);
    params->subpel_search = (enum gpume_subpel_search)fuzz_about(from, 0, 1);
    params->rate = flags & 4;
    params->partition = flags & 8;
    if (params->rate || flags & 64) {
        params->lambda = fuzz_about(from, 0, flags & 16 ? 2000 : GPUME_LAMBDA_MAX);
        params->predictor = (enum gpume_predictor)fuzz_about(from, 0, 2);
        params->passes = fuzz_about(from, 0, 3);
    }
    params->predict = flags & 32 ? NULL : fuzz_predict;
}

static void take_references(struct fuzz_bytes *from, struct gpume_params *params, bool quick)
{
    const uint8_t flags = fuzz_u8(from);
    params->direction = (enum gpume_direction)fuzz_about(from, 0, 2);
    params->distance_count = fuzz_small(from, 0, quick ? 3 : 16, GPUME_DISTANCES_MAX);
    for (uint32_t i = 0; i < GPUME_DISTANCES_MAX && i < params->distance_count; i++) {
        params->distances[i] = fuzz_small(from, 1, quick ? 4 : 1024, GPUME_DISTANCE_MAX);
    }
    params->best_reference = flags & 1;
    params->bidirectional = flags & 2;
    params->confidence = flags & 4;
    params->candidates = fuzz_about(from, 0, 8);
    params->refine_metric = (enum gpume_refine_metric)(flags >> 6);
    if (flags & 8) {
        params->first_target = fuzz_u8(from) % 8u;
        params->target_count = fuzz_u8(from) % 8u;
    }
}

void fuzz_take_search(struct fuzz_bytes *from, struct gpume_params *params, bool quick)
{
    take_shapes(from, params, quick);
    take_cost(from, params);
    take_references(from, params, quick);
}

int fuzz_predict(void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors)
{
    const struct fuzz_predictor *predictor = opaque;
    uint64_t state = predictor->seed + 1000 * frame + ref;
    for (uint32_t i = 0; i < predictor->blocks; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        const int divisor = state >> 62 ? 1 << 12 : 1; /* a few pixels, or anything */
        vectors[i].dx = (int16_t)((int16_t)(state >> 32) / divisor);
        vectors[i].dy = (int16_t)((int16_t)(state >> 16) / divisor);
    }
    return frame == predictor->fails_at ? GPUME_IO : GPUME_OK;
}

static uint32_t blocks_along(uint32_t size, uint32_t side)
{
    return (size + side - 1) / side;
}

uint32_t fuzz_count_blocks(const struct gpume_params *params)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < params->shape_count; i++) {
        count += blocks_along(params->width, params->shapes[i].width) *
                 blocks_along(params->height, params->shapes[i].height);
    }
    return params->shape_count > 0 ? count
                                   : blocks_along(params->width, params->block) *
                                         blocks_along(params->height, params->block);
}

/* --- fields */

static void check_vector(
    const struct gpume_params *params, const struct gpume_field *field, struct gpume_vector vector)
{
    FUZZ_ALWAYS(abs(vector.dx) <= (int)(params->window_x * field->vector_units));
    FUZZ_ALWAYS(abs(vector.dy) <= (int)(params->window_y * field->vector_units));
}

static void check_candidates(const struct gpume_params *params, const struct gpume_field *field,
    const struct gpume_layer *layer, uint32_t block)
{
    const uint32_t count = params->candidates > 0 ? params->candidates : 1;
    FUZZ_ALWAYS(layer->costs[block] != GPUME_NONE);
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t at = k * layer->candidate_stride + block;
        check_vector(params, field, layer->vectors[at]);
        FUZZ_ALWAYS(k == 0 || field->vector_units > 1 ||
                    layer->costs[at] >= layer->costs[at - layer->candidate_stride]);
        FUZZ_ALWAYS(k != 1 || !layer->second || layer->second[block] == layer->costs[at]);
    }
}

static void check_references(const struct gpume_field *field, uint32_t past, uint32_t future)
{
    FUZZ_ALWAYS(past < field->ref_count);
    if (future != GPUME_NONE) {
        FUZZ_ALWAYS(future < field->ref_count);
        FUZZ_ALWAYS(field->refs[past] < field->frame && field->refs[future] > field->frame);
    }
}

static void check_layer(const struct gpume_params *params, const struct gpume_field *field,
    const struct gpume_layer *layer)
{
    const uint32_t blocks = layer->blocks_x * layer->blocks_y;
    uint64_t ranks = 0;
    FUZZ_ALWAYS((layer->bits != NULL) == params->rate);
    FUZZ_ALWAYS((layer->second != NULL) == params->confidence);
    FUZZ_ALWAYS((layer->ties != NULL) == params->confidence);
    FUZZ_ALWAYS((layer->texture != NULL) == params->confidence);
    FUZZ_ALWAYS((layer->returns != NULL) ==
                (params->confidence && params->direction == GPUME_DIRECTION_BOTH));
    FUZZ_ALWAYS((layer->refs != NULL) == (params->best_reference || params->bidirectional));
    FUZZ_ALWAYS((layer->refs2 != NULL) == params->bidirectional);
    for (uint32_t i = 0; i < blocks; i++) {
        check_candidates(params, field, layer, i);
        if (layer->refs) {
            check_references(field, layer->refs[i], layer->refs2 ? layer->refs2[i] : GPUME_NONE);
        }
        FUZZ_ALWAYS(layer->ranks[i] < blocks);
        ranks += layer->ranks[i];
    }
    FUZZ_ALWAYS(ranks == (uint64_t)blocks * (blocks - 1) / 2);
}

/* The parts cover every pixel once. */
static void check_parts(const struct gpume_params *params, const struct gpume_field *field)
{
    uint64_t covered = 0, ranks = 0;
    for (uint32_t i = 0; i < field->part_count; i++) {
        const struct gpume_part *part = &field->parts[i];
        FUZZ_ALWAYS(part->layer < field->layer_count);
        const struct gpume_layer *layer = field->layers[part->layer];
        FUZZ_ALWAYS(part->block < layer->blocks_x * layer->blocks_y);
        const uint32_t x = part->block % layer->blocks_x * layer->block_w;
        const uint32_t y = part->block / layer->blocks_x * layer->block_h;
        const uint32_t right = params->width - x, down = params->height - y;
        covered += (uint64_t)(right < layer->block_w ? right : layer->block_w) *
                   (down < layer->block_h ? down : layer->block_h);
        ranks += part->rank;
    }
    FUZZ_ALWAYS(covered == (uint64_t)params->width * params->height);
    FUZZ_ALWAYS(ranks == (uint64_t)field->part_count * (field->part_count - 1) / 2);
}

void fuzz_check_search(const struct gpume_params *params, const struct gpume_field *field)
{
    FUZZ_ALWAYS(field->vector_units == (params->subpel > 0 ? params->subpel : 1));
    FUZZ_ALWAYS(field->layer_count == (params->shape_count > 0 ? params->shape_count : 1));
    FUZZ_ALWAYS(field->refs[0] == field->ref && field->ref_count >= 1);
    for (uint32_t i = 0; i < field->layer_count; i++) {
        check_layer(params, field, field->layers[i]);
    }
    if (params->partition) {
        check_parts(params, field);
    } else {
        FUZZ_ALWAYS(!field->parts);
    }
}
