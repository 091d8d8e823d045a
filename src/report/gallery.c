/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/gallery.h"

#include "base/base.h"
#include "report/shell.h"
#include "sinks/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CROP_MIN 48u /* pixels of the video, to show enough of the surroundings */
#define SIDE_MAX 72u /* samples of a crop, across and down */

#define CELLS_MAX 129u            /* of a cost surface, across and down */
#define ASKED_BYTES 3000000u      /* of surfaces of the block that was asked for */
#define DISPLACEMENTS_MAX 500000u /* larger windows have no surfaces: they would take too long */

void gpume_report_gallery_init(
    struct gpume_report_gallery *gallery, const struct gpume_run *run, bool with_crops)
{
    *gallery = (struct gpume_report_gallery){
        .width = run->params.width,
        .height = run->params.height,
        .bits = run->params.bits,
        .with_crops = with_crops,
        .params = run->params,
        .asked_x = run->asked->surface_x,
        .asked_y = run->asked->surface_y,
    };
    const struct gpume_params *p = &run->params;
    const uint32_t columns = 2 * p->window_x * p->subpel + 1,
                   rows = 2 * p->window_y * p->subpel + 1;
    const uint32_t larger = gpume_max_u32(columns, rows);
    if (with_crops && (uint64_t)columns * rows <= DISPLACEMENTS_MAX && !p->prefilter &&
        !p->best_reference) {
        gallery->step = (larger + CELLS_MAX - 1) / CELLS_MAX;
        gallery->cells_x = (columns + gallery->step - 1) / gallery->step;
        gallery->cells_y = (rows + gallery->step - 1) / gallery->step;
        gallery->with_asked = run->asked->with_surface;
    }
}

/* The least cost of the displacements of a cell. */
static uint32_t cell(const struct gpume_report_gallery *gallery, uint32_t x, uint32_t y)
{
    const struct gpume_params *p = &gallery->params;
    const uint32_t columns = 2 * p->window_x * p->subpel + 1,
                   rows = 2 * p->window_y * p->subpel + 1;
    const uint32_t right = gpume_min_u32((x + 1) * gallery->step, columns);
    const uint32_t bottom = gpume_min_u32((y + 1) * gallery->step, rows);
    uint32_t least = GPUME_NONE;
    for (uint32_t row = y * gallery->step; row < bottom; row++) {
        for (uint32_t column = x * gallery->step; column < right; column++) {
            least = gpume_min_u32(least, gallery->costs[(size_t)row * columns + column]);
        }
    }
    return least;
}

/* Appends the cells of a block's surface. */
static int take_surface(struct gpume_report_gallery *gallery, struct gpume_bytes *surface,
    const struct gpume_field *field, const struct gpume_shown *shown)
{
    const struct gpume_params *p = &gallery->params;
    const struct gpume_block_size shape = {shown->layer->block_w, shown->layer->block_h};
    const size_t columns = 2 * (size_t)p->window_x * p->subpel + 1;
    const size_t rows = 2 * (size_t)p->window_y * p->subpel + 1;
    gallery->costs = gallery->costs ? gallery->costs : malloc(columns * rows * sizeof(uint32_t));
    if (!gallery->costs) {
        return GPUME_NOMEM;
    }
    const int status = gpume_surface(
        p, &field->target, &field->reference, &shape, shown->x, shown->y, gallery->costs);
    for (uint32_t i = 0; i < gallery->cells_x * gallery->cells_y && status == GPUME_OK; i++) {
        const uint32_t least = cell(gallery, i % gallery->cells_x, i / gallery->cells_x);
        gpume_bytes_number(surface, least == GPUME_NONE ? 0 : (uint64_t)least + 1);
    }
    return surface->failed ? GPUME_NOMEM : status;
}

/* The surfaces of the first fields, as far as there is room. */
static int take_asked(struct gpume_report_gallery *gallery, const struct gpume_field *field)
{
    const struct gpume_shown shown = gpume_shown_holding(field, gallery->asked_x, gallery->asked_y);
    gpume_bytes_number(&gallery->asked, field->frame);
    gpume_bytes_number(&gallery->asked, shown.x);
    gpume_bytes_number(&gallery->asked, shown.y);
    const int status = take_surface(gallery, &gallery->asked, field, &shown);
    gallery->with_asked = gallery->asked.count < ASKED_BYTES;
    return status;
}

/* Crops are squares of three times the longer side of a block. */
static void size_crops(struct gpume_report_gallery *gallery, const struct gpume_layer *layer)
{
    const uint32_t longer = gpume_max_u32(layer->block_w, layer->block_h);
    const uint32_t side = gpume_max_u32(3 * longer, CROP_MIN);
    const uint32_t scale = (side + SIDE_MAX - 1) / SIDE_MAX;
    gallery->crop_width = gpume_min_u32(side, gallery->width);
    gallery->crop_height = gpume_min_u32(side, gallery->height);
    gallery->scale = scale;
    gallery->columns = (gallery->crop_width + scale - 1) / scale;
    gallery->rows = (gallery->crop_height + scale - 1) / scale;
}

static uint32_t sample(const struct gpume_plane *plane, uint32_t x, uint32_t y)
{
    const char *row = (const char *)plane->data + (ptrdiff_t)y * plane->stride;
    return plane->bits > 8 ? ((const uint16_t *)(const void *)row)[x] : ((const uint8_t *)row)[x];
}

/* One sample of each crop: the mean of a square, of which the upper 8 bits are kept. */
static void take_sample(const struct gpume_report_gallery *gallery,
    const struct gpume_report_block *block, const struct gpume_field *field, uint32_t column,
    uint32_t row)
{
    const uint32_t left = block->left + column * gallery->scale;
    const uint32_t top = block->top + row * gallery->scale;
    const uint32_t right = gpume_min_u32(left + gallery->scale, block->left + gallery->crop_width);
    const uint32_t bottom = gpume_min_u32(top + gallery->scale, block->top + gallery->crop_height);
    uint32_t sums[GPUME_REPORT_CROPS] = {0};
    for (uint32_t y = top; y < bottom; y++) {
        for (uint32_t x = left; x < right; x++) {
            const uint32_t target = sample(&field->target, x, y);
            const uint32_t predicted = sample(&field->predicted, x, y);
            sums[GPUME_REPORT_CROP_TARGET] += target;
            sums[GPUME_REPORT_CROP_PREDICTED] += predicted;
            sums[GPUME_REPORT_CROP_RESIDUAL] +=
                target > predicted ? target - predicted : predicted - target;
        }
    }
    const uint32_t samples = (right - left) * (bottom - top);
    const size_t at = (size_t)row * gallery->columns + column;
    for (size_t i = 0; i < GPUME_REPORT_CROPS; i++) {
        const uint32_t mean = sums[i] / samples >> (gallery->bits - 8);
        block->crops[i * gallery->columns * gallery->rows + at] =
            (unsigned char)(mean < 255 ? mean : 255);
    }
}

/* Where a crop starts whose middle is that of the block, moved to lie inside the picture. */
static uint32_t crop_start(uint32_t at, uint32_t side, uint32_t crop, uint32_t whole)
{
    const uint32_t middle = at + side / 2;
    const uint32_t start = middle > crop / 2 ? middle - crop / 2 : 0;
    return gpume_min_u32(start, whole - crop);
}

static int fill(struct gpume_report_gallery *gallery, struct gpume_report_block *block,
    const struct gpume_field *field, const struct gpume_shown *shown)
{
    unsigned char *const crops = block->crops;
    const struct gpume_bytes surface = block->surface;
    const struct gpume_layer *layer = shown->layer;
    const uint32_t x = shown->x, y = shown->y;
    *block = (struct gpume_report_block){
        .frame = field->frame,
        .ref = field->ref,
        .x = x,
        .y = y,
        .width = gpume_min_u32(layer->block_w, gallery->width - x),
        .height = gpume_min_u32(layer->block_h, gallery->height - y),
        .vector = layer->vectors[shown->index],
        .units = field->vector_units > 0 ? field->vector_units : 1,
        .cost = layer->costs[shown->index],
        .rank = shown->rank,
        .left = crop_start(x, layer->block_w, gallery->crop_width, gallery->width),
        .top = crop_start(y, layer->block_h, gallery->crop_height, gallery->height),
        .crops = crops,
        .surface = surface,
    };
    if (!gallery->with_crops) {
        return GPUME_OK;
    }
    const size_t bytes = (size_t)gallery->columns * gallery->rows * GPUME_REPORT_CROPS;
    block->crops = crops ? crops : malloc(bytes);
    if (!block->crops) {
        return GPUME_NOMEM;
    }
    for (uint32_t row = 0; row < gallery->rows; row++) {
        for (uint32_t column = 0; column < gallery->columns; column++) {
            take_sample(gallery, block, field, column, row);
        }
    }
    gpume_bytes_clear(&block->surface);
    return gallery->step > 0 ? take_surface(gallery, &block->surface, field, shown) : GPUME_OK;
}

/* By decreasing cost; equal costs stay in the order of arrival. */
static int insert(
    struct gpume_report_gallery *gallery, const struct gpume_field *field, uint64_t index)
{
    const struct gpume_shown shown = gpume_shown_at(field, index);
    const uint32_t cost = shown.layer->costs[shown.index];
    size_t place = gallery->count;
    while (place > 0 && gallery->blocks[place - 1].cost < cost) {
        place--;
    }
    if (place == GPUME_REPORT_GALLERY || cost == 0) {
        return GPUME_OK;
    }
    struct gpume_report_block block = {0};
    if (gallery->count == GPUME_REPORT_GALLERY) {
        block = gallery->blocks[--gallery->count]; /* its memory is used again */
    }
    memmove(&gallery->blocks[place + 1], &gallery->blocks[place],
        (gallery->count - place) * sizeof(block));
    gallery->count++;
    const int status = fill(gallery, &block, field, &shown);
    gallery->blocks[place] = block;
    return status;
}

int gpume_report_gallery_add(struct gpume_report_gallery *gallery, const struct gpume_field *field)
{
    const struct gpume_layer *layer = field->layers[0];
    const uint64_t blocks = gpume_shown_count(field);
    uint64_t costliest[GPUME_REPORT_GALLERY_OF] = {0};
    for (uint64_t i = 0; i < blocks; i++) {
        const uint32_t rank = field->part_count > 0 ? field->parts[i].rank : layer->ranks[i];
        if (rank < GPUME_REPORT_GALLERY_OF) {
            costliest[rank] = i;
        }
    }
    if (gallery->scale == 0) {
        size_crops(gallery, layer);
    }
    int status = gallery->with_asked ? take_asked(gallery, field) : GPUME_OK;
    for (size_t i = 0; i < GPUME_REPORT_GALLERY_OF && i < blocks && status == GPUME_OK; i++) {
        status = insert(gallery, field, costliest[i]);
    }
    return status;
}

static void put_crops(const struct gpume_report_gallery *gallery,
    const struct gpume_report_block *block, struct gpume_json *json)
{
    static const char *const names[GPUME_REPORT_CROPS] = {"target", "predicted", "residual"};
    const size_t bytes = (size_t)gallery->columns * gallery->rows;
    gpume_json_count(json, "left", block->left);
    gpume_json_count(json, "top", block->top);
    for (size_t i = 0; i < GPUME_REPORT_CROPS; i++) {
        gpume_json_base64(json, names[i], block->crops + i * bytes, bytes);
    }
}

static void put_pixels(struct gpume_json *json, const char *key, int32_t value, uint32_t units)
{
    char digits[16];
    snprintf(digits, sizeof(digits), "%.8g", (double)value / units);
    gpume_json_digits(json, key, digits);
}

void gpume_report_gallery_put(const struct gpume_report_gallery *gallery, struct gpume_json *json)
{
    gpume_json_begin_list(json, "costliest");
    for (size_t i = 0; i < gallery->count; i++) {
        const struct gpume_report_block *block = &gallery->blocks[i];
        gpume_json_begin(json, NULL);
        gpume_json_count(json, "frame", block->frame);
        gpume_json_count(json, "ref", block->ref);
        gpume_json_count(json, "x", block->x);
        gpume_json_count(json, "y", block->y);
        gpume_json_count(json, "w", block->width);
        gpume_json_count(json, "h", block->height);
        put_pixels(json, "dx", block->vector.dx, block->units);
        put_pixels(json, "dy", block->vector.dy, block->units);
        gpume_json_count(json, "cost", block->cost);
        gpume_json_count(json, "rank", block->rank);
        if (gallery->with_crops) {
            put_crops(gallery, block, json);
            if (gallery->step > 0) {
                gpume_json_base64(json, "surface", block->surface.data, block->surface.count);
            }
        }
        gpume_json_end(json);
    }
    gpume_json_end_list(json);
}

void gpume_report_gallery_put_surfaces(
    const struct gpume_report_gallery *gallery, struct gpume_json *json)
{
    gpume_json_begin(json, "surfaces");
    gpume_json_count(json, "step", gallery->step);
    gpume_json_count(json, "columns", gallery->cells_x);
    gpume_json_count(json, "rows", gallery->cells_y);
    gpume_json_base64(json, "asked", gallery->asked.data, gallery->asked.count);
    gpume_json_end(json);
}

uint64_t gpume_report_gallery_surface_bytes(const struct gpume_report_gallery *gallery)
{
    uint64_t bytes = gpume_base64_length(gallery->asked.count);
    for (size_t i = 0; i < gallery->count; i++) {
        bytes += gpume_base64_length(gallery->blocks[i].surface.count);
    }
    return bytes;
}

void gpume_report_gallery_finish(struct gpume_report_gallery *gallery)
{
    for (size_t i = 0; i < gallery->count; i++) {
        free(gallery->blocks[i].crops);
        gpume_bytes_finish(&gallery->blocks[i].surface);
    }
    gpume_bytes_finish(&gallery->asked);
    free(gallery->costs);
    gallery->costs = NULL;
    gallery->count = 0;
}
