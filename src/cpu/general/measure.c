/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/general/measure.h"

#include "base/grid.h"
#include "cpu/general/matcher.h"
#include "cpu/measure.h"

#include <string.h>

#define CELL 4u
#define RUN 512u /* samples of a row measured at a time */
_Static_assert(RUN <= GPUME_DIFFERENCES_MAX && RUN % CELL == 0, "whole cells");

static uint32_t cells_x(const struct gpume_plan *plan)
{
    return (uint32_t)gpume_div_up(plan->params.width, CELL);
}

uint32_t gpume_measure_items(const struct gpume_plan *plan)
{
    return (uint32_t)gpume_div_up(plan->params.height, CELL);
}

uint64_t gpume_measure_cells(const struct gpume_plan *plan)
{
    return (uint64_t)cells_x(plan) * gpume_measure_items(plan);
}

static void map_block(
    struct gpume_general *general, const struct gpume_shape *layer, uint32_t index)
{
    const struct gpume_plan *plan = general->plan;
    uint32_t across = cells_x(plan);
    uint32_t left = index % layer->blocks_x * layer->block_w / CELL;
    uint32_t top = index / layer->blocks_x * layer->block_h / CELL;
    uint32_t right = gpume_min_u32(left + layer->block_w / CELL, across);
    uint32_t bottom = gpume_min_u32(top + layer->block_h / CELL, gpume_measure_items(plan));
    for (uint32_t y = top; y < bottom; y++) {
        for (uint32_t x = left; x < right; x++) {
            general->cells[(size_t)y * across + x] = layer->first + index;
        }
    }
}

void gpume_measure_map(
    struct gpume_general *general, const struct gpume_shape *layer, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        if (general->chosen[layer->first + i]) {
            map_block(general, layer, i);
        }
    }
}

uint64_t gpume_measure_zero(const struct gpume_general *general)
{
    const struct gpume_plan *plan = general->plan;
    uint32_t count = general->chosen ? plan->blocks : plan->layers[0].blocks;
    uint64_t zero = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool predicts = !general->chosen || general->chosen[i];
        bool mean = general->refs2 && general->refs2[i] != GPUME_NONE;
        zero += predicts && general->vectors[i].dx == 0 && general->vectors[i].dy == 0 &&
                (!mean || (general->vectors2[i].dx == 0 && general->vectors2[i].dy == 0));
    }
    return zero;
}

/* The block that predicts a cell. */
static uint32_t block_at(const struct gpume_general *general, uint32_t x, uint32_t row)
{
    const struct gpume_shape *first = &general->plan->layers[0];
    return general->cells ? general->cells[(size_t)row * cells_x(general->plan) + x / CELL]
                          : row * CELL / first->block_h * first->blocks_x + x / first->block_w;
}

/* Samples of a row from x, which begins a cell, to `end` that the same block predicts, at least. */
static uint32_t same_block(const struct gpume_general *general, uint32_t x, uint32_t end)
{
    uint32_t width = general->plan->layers[0].block_w;
    uint32_t next = general->cells ? x + CELL : x - x % width + width;
    return (next < end ? next : end) - x;
}

static const uint8_t *match_of(const struct gpume_general *general, const struct gpume_pair *pair,
    uint32_t x, uint32_t y, struct gpume_vector vector)
{
    const struct gpume_plan *plan = general->plan;
    size_t at = (size_t)(plan->pad_y + y) * plan->padded_stride + plan->pad_x + x;
    const struct gpume_matcher matcher = {
        .plan = plan, .reference = (const uint8_t *)pair->measured + at * plan->sample_bytes};
    return gpume_matcher_match(&matcher, vector.dx, vector.dy);
}

/* to = (a + b + 1) >> 1 */
static void average(uint8_t *to, const uint8_t *a, const uint8_t *b, uint32_t count, bool wide)
{
    for (uint32_t i = 0; i < count; i++) {
        if (wide) {
            uint32_t sum = (uint32_t)((const uint16_t *)(const void *)a)[i] +
                           ((const uint16_t *)(const void *)b)[i];
            ((uint16_t *)(void *)to)[i] = (uint16_t)((sum + 1) >> 1);
        } else {
            to[i] = (uint8_t)((a[i] + b[i] + 1) >> 1);
        }
    }
}

/* Predicts `columns` samples of row y, all by the block of the first. */
static void predict_columns(
    const struct gpume_general *general, uint32_t x, uint32_t y, uint32_t columns, uint8_t *to)
{
    uint32_t block = block_at(general, x, y / CELL), bytes = general->plan->sample_bytes;
    const struct gpume_pair *pair = &general->pairs[general->refs ? general->refs[block] : 0];
    const uint8_t *match = match_of(general, pair, x, y, general->vectors[block]);
    if (general->refs2 && general->refs2[block] != GPUME_NONE) {
        const struct gpume_pair *other = &general->pairs[general->refs2[block]];
        const uint8_t *second = match_of(general, other, x, y, general->vectors2[block]);
        average(to, match, second, columns, bytes == 2);
    } else {
        memcpy(to, match, (size_t)columns * bytes);
    }
}

static void measure_run(
    struct gpume_general *general, uint32_t x, uint32_t y, uint32_t count, struct gpume_sums *sums)
{
    const struct gpume_plan *plan = general->plan;
    uint16_t own[RUN];
    uint8_t *to = (uint8_t *)own;
    uint32_t bytes = plan->sample_bytes;
    size_t at = ((size_t)(plan->pad_y + y) * plan->padded_stride + plan->pad_x + x) * bytes;
    if (general->predicted) {
        to = (uint8_t *)general->predicted + (size_t)y * plan->plane_stride + (size_t)x * bytes;
    }
    for (uint32_t i = 0, columns; i < count; i += columns) {
        columns = same_block(general, x + i, x + count);
        predict_columns(general, x + i, y, columns, to + (size_t)i * bytes);
    }
    gpume_measure_run(general->kernels, bytes, (const uint8_t *)general->measured + at,
        (const uint8_t *)general->pairs[0].measured + at, to, count, sums);
}

struct gpume_sums gpume_measure_rows(struct gpume_general *general, uint32_t item)
{
    const struct gpume_params *p = &general->plan->params;
    struct gpume_sums sums = {0};
    uint32_t end = gpume_min_u32((item + 1) * CELL, p->height);
    for (uint32_t y = item * CELL; y < end; y++) {
        for (uint32_t x = 0; x < p->width; x += RUN) {
            uint32_t count = p->width - x < RUN ? p->width - x : RUN;
            measure_run(general, x, y, count, &sums);
        }
    }
    return sums;
}
