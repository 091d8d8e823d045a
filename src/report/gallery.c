/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/gallery.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_MIN 48u /* pixels of the picture to be seen, so that one knows the place */
#define SIDE_MAX 72u  /* pixels of the page's */

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void gpume_report_gallery_init(
    struct gpume_report_gallery *gallery, const struct gpume_run *run, bool with_crops)
{
    const struct gpume_params *params = &run->params;
    const uint32_t wanted = 3 * params->block > PIECE_MIN ? 3 * params->block : PIECE_MIN;
    const uint32_t scale = (wanted + SIDE_MAX - 1) / SIDE_MAX;
    *gallery = (struct gpume_report_gallery){
        .block = params->block,
        .width = params->width,
        .height = params->height,
        .bits = params->bits,
        .crop_width = least(wanted, params->width),
        .crop_height = least(wanted, params->height),
        .scale = scale,
        .with_crops = with_crops,
    };
    gallery->columns = (gallery->crop_width + scale - 1) / scale;
    gallery->rows = (gallery->crop_height + scale - 1) / scale;
}

static uint32_t sample(const struct gpume_plane *plane, uint32_t x, uint32_t y)
{
    const char *row = (const char *)plane->data + (ptrdiff_t)y * plane->stride;
    return plane->bits > 8 ? ((const uint16_t *)(const void *)row)[x] : ((const uint8_t *)row)[x];
}

/* One sample of each piece: a square's mean, its upper 8 bits. */
static void take_sample(const struct gpume_report_gallery *gallery,
    const struct gpume_report_block *block, const struct gpume_field *field, uint32_t column,
    uint32_t row)
{
    const uint32_t left = block->left + column * gallery->scale;
    const uint32_t top = block->top + row * gallery->scale;
    const uint32_t right = least(left + gallery->scale, block->left + gallery->crop_width);
    const uint32_t bottom = least(top + gallery->scale, block->top + gallery->crop_height);
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

/* The piece has the block in its middle, as far as the picture goes. */
static uint32_t piece_start(uint32_t at, uint32_t side, uint32_t piece, uint32_t whole)
{
    const uint32_t middle = at + side / 2;
    const uint32_t start = middle > piece / 2 ? middle - piece / 2 : 0;
    return least(start, whole - piece);
}

static int fill(const struct gpume_report_gallery *gallery, struct gpume_report_block *block,
    const struct gpume_field *field, size_t index)
{
    unsigned char *const crops = block->crops;
    const uint32_t x = (uint32_t)(index % field->blocks_x) * gallery->block;
    const uint32_t y = (uint32_t)(index / field->blocks_x) * gallery->block;
    *block = (struct gpume_report_block){
        .frame = field->frame,
        .ref = field->ref,
        .x = x,
        .y = y,
        .width = least(gallery->block, gallery->width - x),
        .height = least(gallery->block, gallery->height - y),
        .vector = field->vectors[index],
        .cost = field->costs[index],
        .rank = field->ranks[index],
        .left = piece_start(x, gallery->block, gallery->crop_width, gallery->width),
        .top = piece_start(y, gallery->block, gallery->crop_height, gallery->height),
        .crops = crops,
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
    return GPUME_OK;
}

/* In order of falling cost, equal ones in the order they came. */
static int insert(
    struct gpume_report_gallery *gallery, const struct gpume_field *field, size_t index)
{
    size_t place = gallery->count;
    while (place > 0 && gallery->blocks[place - 1].cost < field->costs[index]) {
        place--;
    }
    if (place == GPUME_REPORT_GALLERY || field->costs[index] == 0) {
        return GPUME_OK;
    }
    struct gpume_report_block block = {0};
    if (gallery->count == GPUME_REPORT_GALLERY) {
        block.crops =
            gallery->blocks[--gallery->count].crops; /* the last one's go to the new one */
    }
    memmove(&gallery->blocks[place + 1], &gallery->blocks[place],
        (gallery->count - place) * sizeof(block));
    gallery->count++;
    const int status = fill(gallery, &block, field, index);
    gallery->blocks[place] = block;
    return status;
}

int gpume_report_gallery_add(struct gpume_report_gallery *gallery, const struct gpume_field *field)
{
    const size_t blocks = (size_t)field->blocks_x * field->blocks_y;
    size_t costliest[GPUME_REPORT_GALLERY_OF] = {0};
    for (size_t i = 0; i < blocks; i++) {
        if (field->ranks[i] < GPUME_REPORT_GALLERY_OF) {
            costliest[field->ranks[i]] = i;
        }
    }
    int status = GPUME_OK;
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

void gpume_report_gallery_put(
    const struct gpume_report_gallery *gallery, struct gpume_json *json, const char *key)
{
    gpume_json_begin_list(json, key);
    for (size_t i = 0; i < gallery->count; i++) {
        const struct gpume_report_block *block = &gallery->blocks[i];
        char digits[16];
        gpume_json_begin(json, NULL);
        gpume_json_count(json, "frame", block->frame);
        gpume_json_count(json, "ref", block->ref);
        gpume_json_count(json, "x", block->x);
        gpume_json_count(json, "y", block->y);
        gpume_json_count(json, "w", block->width);
        gpume_json_count(json, "h", block->height);
        snprintf(digits, sizeof(digits), "%d", block->vector.dx);
        gpume_json_digits(json, "dx", digits);
        snprintf(digits, sizeof(digits), "%d", block->vector.dy);
        gpume_json_digits(json, "dy", digits);
        gpume_json_count(json, "cost", block->cost);
        gpume_json_count(json, "rank", block->rank);
        if (gallery->with_crops) {
            put_crops(gallery, block, json);
        }
        gpume_json_end(json);
    }
    gpume_json_end_list(json);
}

void gpume_report_gallery_finish(struct gpume_report_gallery *gallery)
{
    for (size_t i = 0; i < gallery->count; i++) {
        free(gallery->blocks[i].crops);
    }
    gallery->count = 0;
}
