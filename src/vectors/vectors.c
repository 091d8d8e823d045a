/* SPDX-License-Identifier: BSD-2-Clause */
#include "vectors/vectors.h"

#include "vectors/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static uint16_t visible(uint32_t block, uint32_t position, uint32_t size)
{
    return (uint16_t)(size - position < block ? size - position : block);
}

/* A block of the results, and its place in the picture. */
struct block_place {
    const struct gpume_field *field;
    const struct gpume_layer *layer;
    size_t index; /* in the layer */
    uint32_t x, y, rank;
};

static void fill_further(
    struct gpume_vectors_block *to, const struct block_place *place, uint32_t k)
{
    const struct gpume_field *field = place->field;
    const struct gpume_layer *layer = place->layer;
    const int32_t scale = GPUME_VECTORS_UNITS / (int32_t)field->vector_units;
    const size_t i = place->index;
    const bool two = layer->refs2 && layer->refs2[i] != GPUME_NONE;
    to->shape_w = (uint16_t)layer->block_w;
    to->shape_h = (uint16_t)layer->block_h;
    to->bits = layer->bits ? layer->bits[i + (size_t)k * layer->candidate_stride] : 0;
    to->ref2 = two ? field->refs[layer->refs2[i]] : GPUME_VECTORS_ONE;
    to->dx2 = two ? scale * layer->vectors2[i].dx : 0;
    to->dy2 = two ? scale * layer->vectors2[i].dy : 0;
    to->candidate = k;
    to->second = layer->second ? layer->second[i] : GPUME_NONE;
    to->ties = layer->ties ? layer->ties[i] : 0;
    to->texture = layer->texture ? layer->texture[i] : 0;
    to->returns = layer->returns && layer->returns[i] != GPUME_NONE
                      ? (uint32_t)scale * layer->returns[i]
                      : GPUME_NONE;
}

/* Writes the rows of a block to `to` and returns their end. */
static struct gpume_vectors_block *fill(const struct gpume_vectors_info *info,
    const struct block_place *place, struct gpume_vectors_block *to)
{
    const struct gpume_layer *layer = place->layer;
    const uint32_t units = place->field->vector_units;
    const int32_t scale = GPUME_VECTORS_UNITS / (units > 0 ? (int32_t)units : 1);
    const uint32_t most = info->candidates > 0 ? info->candidates : 1;
    for (uint32_t k = 0; k < most; k++) {
        const size_t i = place->index + (size_t)k * layer->candidate_stride;
        if (k > 0 && layer->costs[i] == GPUME_NONE) {
            break;
        }
        to->x = place->x;
        to->y = place->y;
        to->w = visible(layer->block_w, place->x, info->width);
        to->h = visible(layer->block_h, place->y, info->height);
        to->dx = scale * layer->vectors[i].dx;
        to->dy = scale * layer->vectors[i].dy;
        to->cost = layer->costs ? layer->costs[i] : 0;
        to->rank = place->rank;
        to->ref = layer->refs ? place->field->refs[layer->refs[place->index]] : place->field->ref;
        if (info->columns & GPUME_VECTORS_FURTHER) {
            fill_further(to, place, k);
        }
        to++;
    }
    return to;
}

static struct gpume_vectors_block *fill_parts(const struct gpume_vectors_info *info,
    const struct gpume_field *field, size_t first, size_t count, struct gpume_vectors_block *to)
{
    for (size_t i = first; i < first + count; i++) {
        const struct gpume_part *part = &field->parts[i];
        const struct gpume_layer *layer = field->layers[part->layer];
        const struct block_place place = {.field = field,
            .layer = layer,
            .index = part->block,
            .x = part->block % layer->blocks_x * layer->block_w,
            .y = part->block / layer->blocks_x * layer->block_h,
            .rank = part->rank};
        to = fill(info, &place, to);
    }
    return to;
}

/* count blocks of one layer, in raster order. */
static struct gpume_vectors_block *fill_layer(const struct gpume_vectors_info *info,
    struct block_place place, size_t count, struct gpume_vectors_block *to)
{
    const struct gpume_layer *layer = place.layer;
    const size_t end = place.index + count;
    uint32_t column = (uint32_t)(place.index % layer->blocks_x);
    place.x = column * layer->block_w;
    place.y = (uint32_t)(place.index / layer->blocks_x) * layer->block_h;
    for (; place.index < end; place.index++) {
        place.rank = layer->ranks ? layer->ranks[place.index] : 0;
        to = fill(info, &place, to);
        place.x += layer->block_w;
        if (++column == layer->blocks_x) {
            column = place.x = 0;
            place.y += layer->block_h;
        }
    }
    return to;
}

static struct gpume_vectors_block *fill_layers(const struct gpume_vectors_info *info,
    const struct gpume_field *field, size_t first, size_t count, struct gpume_vectors_block *to)
{
    for (uint32_t i = 0; i < field->layer_count && count > 0; i++) {
        const struct gpume_layer *layer = field->layers[i];
        const size_t blocks = (size_t)layer->blocks_x * layer->blocks_y;
        const size_t left = first < blocks ? blocks - first : 0, part = count < left ? count : left;
        to = fill_layer(
            info, (struct block_place){.field = field, .layer = layer, .index = first}, part, to);
        count -= part;
        first = left > 0 ? 0 : first - blocks;
    }
    return to;
}

uint32_t gpume_vectors_units(const struct gpume_vectors_field *field, uint32_t so_far)
{
    uint32_t units = so_far > 0 ? so_far : 1;
    for (size_t i = 0; i < field->count && units < GPUME_VECTORS_UNITS; i++) {
        const struct gpume_vectors_block *block = &field->blocks[i];
        const bool two = field->columns & GPUME_VECTORS_REF2;
        const int32_t all = block->dx | block->dy | (two ? block->dx2 | block->dy2 : 0);
        const uint32_t needed = all & 1 ? 4 : all & 2 ? 2 : 1;
        units = needed > units ? needed : units;
    }
    return units;
}

size_t gpume_vectors_blocks(const struct gpume_field *results)
{
    size_t count = results->part_count;
    for (uint32_t i = 0; i < results->layer_count && results->part_count == 0; i++) {
        count += (size_t)results->layers[i]->blocks_x * results->layers[i]->blocks_y;
    }
    return count;
}

size_t gpume_vectors_take(const struct gpume_vectors_info *info,
    const struct gpume_vectors_field *field, size_t first, size_t count,
    struct gpume_vectors_block *buffer, const struct gpume_vectors_block **rows)
{
    const struct gpume_field *results = field->results;
    if (field->blocks) {
        *rows = field->blocks + first;
        return count;
    }
    *rows = buffer;
    return (size_t)((results->part_count > 0 ? fill_parts(info, results, first, count, buffer)
                                             : fill_layers(info, results, first, count, buffer)) -
                    buffer);
}

const struct gpume_layer *gpume_vectors_plain(
    const struct gpume_vectors_info *info, const struct gpume_vectors_field *field)
{
    const struct gpume_field *results = field->results;
    if (field->blocks || results->part_count > 0 || results->layer_count != 1 || info->joined ||
        info->candidates > 1 || info->columns & GPUME_VECTORS_FURTHER ||
        !(info->columns & GPUME_VECTORS_COST)) {
        return NULL;
    }
    const struct gpume_layer *layer = results->layers[0];
    const uint32_t units = results->vector_units > 0 ? results->vector_units : 1;
    return units == info->units && layer->costs && layer->ranks ? layer : NULL;
}

size_t gpume_vectors_rows(
    const struct gpume_vectors_info *info, const struct gpume_vectors_field *field)
{
    struct gpume_vectors_block room[256];
    const struct gpume_vectors_block *rows;
    size_t count = 0;
    if (field->blocks || info->candidates < 2) {
        return field->count;
    }
    const size_t most = sizeof(room) / sizeof(room[0]) / info->candidates;
    for (size_t first = 0; first < field->count; first += most) {
        const size_t left = field->count - first;
        count += gpume_vectors_take(info, field, first, left < most ? left : most, room, &rows);
    }
    return count;
}

bool gpume_vectors_is_joined(const struct gpume_vectors_field *field)
{
    bool same = true;
    for (size_t i = 1; i < field->count && field->blocks && same; i++) {
        same = field->blocks[i].ref == field->blocks[0].ref;
    }
    return !same;
}

void gpume_vectors_find_grid(
    const struct gpume_vectors_field *field, struct gpume_vectors_info *info)
{
    info->width = field->width;
    info->height = field->height;
    /* Squares first: of a picture lower or narrower than a block, only a part of the side shows. */
    const uint32_t w = field->blocks[0].w, h = field->blocks[0].h;
    info->block_w = info->block_h = w > h ? w : h;
    if (!gpume_vectors_on_grid(info, field)) {
        info->block_w = w;
        info->block_h = h;
    }
    if (!gpume_vectors_on_grid(info, field)) {
        info->block_w = info->block_h = 0;
    }
}

bool gpume_vectors_on_grid(
    const struct gpume_vectors_info *info, const struct gpume_vectors_field *field)
{
    if (info->block_w == 0 || !field->blocks) {
        return info->block_w > 0;
    }
    if (field->count != (uint64_t)gpume_vectors_blocks_x(info) * gpume_vectors_blocks_y(info)) {
        return false;
    }
    uint32_t x = 0, y = 0;
    for (size_t i = 0; i < field->count; i++) {
        const struct gpume_vectors_block *block = &field->blocks[i];
        if (block->x != x || block->y != y || block->w != visible(info->block_w, x, info->width) ||
            block->h != visible(info->block_h, y, info->height)) {
            return false;
        }
        x += info->block_w;
        if (x >= info->width) {
            x = 0;
            y += info->block_h;
        }
    }
    return true;
}

/* --- ranks */

struct gpume_vectors_ranker {
    struct gpume_log log;
    struct gpume_vectors_field field;
    struct gpume_vectors_block *blocks;
    uint64_t *keys; /* 2^32 - 1 - cost, then the index: sorted, they are in order of rank */
    size_t capacity;
};

int gpume_vectors_ranker_create(struct gpume_vectors_ranker **ranker, const struct gpume_log *log)
{
    struct gpume_vectors_ranker *self = calloc(1, sizeof(*self));
    if (!self) {
        return gpume_log_nomem(log, "ranks of blocks");
    }
    self->log = *log;
    *ranker = self;
    return GPUME_OK;
}

static int reserve_ranks(struct gpume_vectors_ranker *ranker, size_t count)
{
    if (count <= ranker->capacity) {
        return GPUME_OK;
    }
    free(ranker->blocks);
    free(ranker->keys);
    ranker->capacity = 0;
    ranker->blocks = malloc(count * sizeof(*ranker->blocks));
    ranker->keys = malloc(count * sizeof(*ranker->keys));
    if (!ranker->blocks || !ranker->keys) {
        return gpume_log_nomem(&ranker->log, "ranks of blocks");
    }
    ranker->capacity = count;
    return GPUME_OK;
}

static int compare_keys(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

int gpume_vectors_ranker_apply(struct gpume_vectors_ranker *ranker,
    const struct gpume_vectors_field *field, const struct gpume_vectors_field **ranked)
{
    const size_t count = field->count; /* at most GPUME_READ_BLOCKS_MAX: below 2^32 */
    const int status = reserve_ranks(ranker, count);
    if (status != GPUME_OK) {
        return status;
    }
    memcpy(ranker->blocks, field->blocks, count * sizeof(*ranker->blocks));
    for (size_t i = 0; i < count; i++) {
        ranker->keys[i] = (uint64_t)(UINT32_MAX - field->blocks[i].cost) << 32 | i;
    }
    qsort(ranker->keys, count, sizeof(*ranker->keys), compare_keys);
    for (size_t i = 0; i < count; i++) {
        ranker->blocks[ranker->keys[i] & UINT32_MAX].rank = (uint32_t)i;
    }
    ranker->field = *field;
    ranker->field.columns |= GPUME_VECTORS_RANK;
    ranker->field.blocks = ranker->blocks;
    *ranked = &ranker->field;
    return GPUME_OK;
}

void gpume_vectors_ranker_destroy(struct gpume_vectors_ranker **ranker)
{
    struct gpume_vectors_ranker *self = *ranker;
    if (self) {
        free(self->blocks);
        free(self->keys);
        free(self);
        *ranker = NULL;
    }
}

/* --- rows of named columns */

#define PIXELS(value) (GPUME_VECTORS_UNITS * (int64_t)(value))
#define VECTOR .type = GPUME_BLOCK_PIXELS, .min = PIXELS(INT16_MIN), .max = PIXELS(INT16_MAX)

const struct gpume_block_column_kind gpume_block_columns[GPUME_BLOCK_COLUMNS] = {
    [GPUME_BLOCK_FRAME] = {"frame", .max = GPUME_READ_NUMBER_MAX},
    [GPUME_BLOCK_REF] = {"ref", GPUME_VECTORS_REF, .max = GPUME_READ_NUMBER_MAX},
    [GPUME_BLOCK_X] = {"x", .max = GPUME_READ_SIDE_MAX - 1},
    [GPUME_BLOCK_Y] = {"y", .max = GPUME_READ_SIDE_MAX - 1},
    [GPUME_BLOCK_W] = {"w", .min = 1, .max = GPUME_READ_BLOCK_MAX},
    [GPUME_BLOCK_H] = {"h", .min = 1, .max = GPUME_READ_BLOCK_MAX},
    [GPUME_BLOCK_DX] = {"dx", VECTOR},
    [GPUME_BLOCK_DY] = {"dy", VECTOR},
    [GPUME_BLOCK_COST] = {"cost", GPUME_VECTORS_COST, .max = UINT32_MAX},
    [GPUME_BLOCK_RANK] = {"rank", GPUME_VECTORS_RANK, .max = UINT32_MAX},
    [GPUME_BLOCK_SHAPE] = {"shape", GPUME_VECTORS_SHAPE, GPUME_BLOCK_OUTLINE, .min = 1 << 16 | 1,
        .max = (int64_t)GPUME_READ_BLOCK_MAX << 16 | GPUME_READ_BLOCK_MAX},
    [GPUME_BLOCK_BITS] = {"bits", GPUME_VECTORS_BITS, .max = UINT32_MAX},
    [GPUME_BLOCK_REF2] = {"ref2", GPUME_VECTORS_REF2, .optional = true,
        .max = GPUME_READ_NUMBER_MAX},
    [GPUME_BLOCK_DX2] = {"dx2", GPUME_VECTORS_REF2, .optional = true, VECTOR},
    [GPUME_BLOCK_DY2] = {"dy2", GPUME_VECTORS_REF2, .optional = true, VECTOR},
    [GPUME_BLOCK_CANDIDATE] = {"candidate", GPUME_VECTORS_CANDIDATE, .max = UINT32_MAX},
    [GPUME_BLOCK_SECOND] = {"second", GPUME_VECTORS_SECOND, .optional = true,
        .max = UINT32_MAX - 1},
    [GPUME_BLOCK_TIES] = {"ties", GPUME_VECTORS_TIES, .max = UINT32_MAX},
    [GPUME_BLOCK_TEXTURE] = {"texture", GPUME_VECTORS_TEXTURE, .max = UINT32_MAX},
    [GPUME_BLOCK_RETURN] = {"return", GPUME_VECTORS_RETURN, GPUME_BLOCK_PIXELS, true,
        .max = PIXELS(UINT16_MAX)},
};

static int64_t or_empty(bool known, int64_t number)
{
    return known ? number : GPUME_BLOCK_EMPTY;
}

int64_t gpume_block_number(const struct gpume_vectors_block *block, enum gpume_block_column column)
{
    const bool two = block->ref2 != GPUME_VECTORS_ONE;
    switch (column) {
    case GPUME_BLOCK_SHAPE:
        return (int64_t)block->shape_w << 16 | block->shape_h;
    case GPUME_BLOCK_BITS:
        return block->bits;
    case GPUME_BLOCK_REF2:
        return or_empty(two, (int64_t)block->ref2);
    case GPUME_BLOCK_DX2:
        return or_empty(two, block->dx2);
    case GPUME_BLOCK_DY2:
        return or_empty(two, block->dy2);
    case GPUME_BLOCK_CANDIDATE:
        return block->candidate;
    case GPUME_BLOCK_SECOND:
        return or_empty(block->second != GPUME_NONE, block->second);
    case GPUME_BLOCK_TIES:
        return block->ties;
    case GPUME_BLOCK_TEXTURE:
        return block->texture;
    default:
        return or_empty(block->returns != GPUME_NONE, block->returns);
    }
}

char *gpume_block_put(char *at, enum gpume_block_type type, int64_t number)
{
    static const struct gpume_digits_piece fractions[GPUME_VECTORS_UNITS] = {
        {"", 0}, {".25", 3}, {".5", 2}, {".75", 3}};
    switch (type) {
    case GPUME_BLOCK_PIXELS: {
        const uint32_t size = (uint32_t)(number < 0 ? -number : number);
        *at = '-';
        at = gpume_digits_put(at + (number < 0), size / GPUME_VECTORS_UNITS);
        return gpume_digits_copy(at, &fractions[size % GPUME_VECTORS_UNITS]);
    }
    case GPUME_BLOCK_OUTLINE:
        at = gpume_digits_put(at, (uint32_t)(number >> 16));
        *at++ = 'x';
        return gpume_digits_put(at, (uint32_t)(number & UINT16_MAX));
    default:
        return gpume_digits_put_long(at, (uint64_t)number);
    }
}

/* Returns the end of at most 18 digits, or NULL. */
static const char *take_digits(const char *at, int64_t *number)
{
    const char *begin = at;
    *number = 0;
    for (; *at >= '0' && *at <= '9' && at - begin < 18; at++) {
        *number = *number * 10 + (*at - '0');
    }
    return at > begin ? at : NULL;
}

/* What follows the point: 25, 5, 75 or 0, also with zeros after it. */
static const char *take_fraction(const char *at, int64_t *quarters)
{
    const char *begin = at;
    int hundredths = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        const int weight = at == begin ? 10 : at == begin + 1 ? 1 : 0;
        if (weight == 0 && *at != '0') {
            return NULL;
        }
        hundredths += weight * (*at - '0');
    }
    *quarters = hundredths / 25;
    return at > begin && hundredths % 25 == 0 ? at : NULL;
}

static const char *take_pixels(const char *at, int64_t *number)
{
    int64_t fraction = 0;
    at = take_digits(at, number);
    if (at && *number > UINT32_MAX) {
        return NULL;
    }
    if (at && *at == '.') {
        at = take_fraction(at + 1, &fraction);
    }
    *number = PIXELS(*number) + fraction;
    return at;
}

static const char *take_outline(const char *at, int64_t *number)
{
    int64_t width, height;
    at = take_digits(at, &width);
    at = at && *at == 'x' ? take_digits(at + 1, &height) : NULL;
    if (at && (width < 1 || width > GPUME_READ_BLOCK_MAX || height < 1 ||
                  height > GPUME_READ_BLOCK_MAX)) {
        return NULL;
    }
    *number = at ? width << 16 | height : 0;
    return at;
}

const char *gpume_block_parse(enum gpume_block_column column, const char *text, int64_t *number)
{
    const struct gpume_block_column_kind *kind = &gpume_block_columns[column];
    const bool negative = *text == '-' && kind->type != GPUME_BLOCK_OUTLINE;
    int64_t value = 0;
    const char *at = text + negative;
    at = kind->type == GPUME_BLOCK_PIXELS    ? take_pixels(at, &value)
         : kind->type == GPUME_BLOCK_OUTLINE ? take_outline(at, &value)
                                             : take_digits(at, &value);
    value = negative ? -value : value;
    if (!at || !strchr(",} \t\"", *at) || value < kind->min || value > kind->max) {
        return NULL;
    }
    *number = value;
    return at;
}

void gpume_block_describe(enum gpume_block_column column, char *text, size_t bytes)
{
    const struct gpume_block_column_kind *kind = &gpume_block_columns[column];
    if (kind->type == GPUME_BLOCK_OUTLINE) {
        snprintf(text, bytes, "a shape such as 16x8, of at most %d pixels per side",
            GPUME_READ_BLOCK_MAX);
    } else if (kind->type == GPUME_BLOCK_PIXELS) {
        snprintf(text, bytes, "a multiple of 0.25 from %" PRId64 " to %" PRId64,
            kind->min / GPUME_VECTORS_UNITS, kind->max / GPUME_VECTORS_UNITS);
    } else {
        snprintf(text, bytes, "a whole number from %" PRId64 " to %" PRId64, kind->min, kind->max);
    }
}

void gpume_block_clear(int64_t values[GPUME_BLOCK_COLUMNS])
{
    for (size_t i = 0; i < GPUME_BLOCK_COLUMNS; i++) {
        values[i] = gpume_block_columns[i].optional ? GPUME_BLOCK_EMPTY : 0;
    }
}

static uint32_t or_none(int64_t value)
{
    return value == GPUME_BLOCK_EMPTY ? GPUME_NONE : (uint32_t)value;
}

struct gpume_vectors_row gpume_block_row(const int64_t values[GPUME_BLOCK_COLUMNS])
{
    const bool two = values[GPUME_BLOCK_REF2] != GPUME_BLOCK_EMPTY;
    return (struct gpume_vectors_row){
        .frame = (uint64_t)values[GPUME_BLOCK_FRAME],
        .ref = (uint64_t)values[GPUME_BLOCK_REF],
        .block =
            {
                .x = (uint32_t)values[GPUME_BLOCK_X],
                .y = (uint32_t)values[GPUME_BLOCK_Y],
                .w = (uint16_t)values[GPUME_BLOCK_W],
                .h = (uint16_t)values[GPUME_BLOCK_H],
                .dx = (int32_t)values[GPUME_BLOCK_DX],
                .dy = (int32_t)values[GPUME_BLOCK_DY],
                .cost = (uint32_t)values[GPUME_BLOCK_COST],
                .rank = (uint32_t)values[GPUME_BLOCK_RANK],
                .ref = (uint64_t)values[GPUME_BLOCK_REF],
                .shape_w = (uint16_t)(values[GPUME_BLOCK_SHAPE] >> 16),
                .shape_h = (uint16_t)values[GPUME_BLOCK_SHAPE],
                .bits = (uint32_t)values[GPUME_BLOCK_BITS],
                .ref2 = two ? (uint64_t)values[GPUME_BLOCK_REF2] : GPUME_VECTORS_ONE,
                .dx2 = two ? (int32_t)values[GPUME_BLOCK_DX2] : 0,
                .dy2 = two ? (int32_t)values[GPUME_BLOCK_DY2] : 0,
                .candidate = (uint32_t)values[GPUME_BLOCK_CANDIDATE],
                .second = or_none(values[GPUME_BLOCK_SECOND]),
                .ties = (uint32_t)values[GPUME_BLOCK_TIES],
                .texture = (uint32_t)values[GPUME_BLOCK_TEXTURE],
                .returns = or_none(values[GPUME_BLOCK_RETURN]),
            },
    };
}

/* --- the table of formats */

#define ADDRESS(name) &gpume_vectors_##name,
static const struct gpume_vectors_format *const formats[] = {GPUME_VECTORS_FORMATS(ADDRESS)};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

const struct gpume_vectors_format *gpume_vectors_format_at(size_t number)
{
    return number < FORMATS ? formats[number] : NULL;
}

const struct gpume_vectors_format *gpume_vectors_format_named(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i]->name, name) == 0) {
            return formats[i];
        }
    }
    return NULL;
}

const struct gpume_vectors_format *gpume_vectors_format_of(const char *path)
{
    const size_t length = strlen(path);
    for (size_t i = 0; i < FORMATS; i++) {
        const char *extension = formats[i]->extension;
        const size_t tail = extension ? strlen(extension) : 0;
        if (extension && length > tail && strcasecmp(path + length - tail, extension) == 0) {
            return formats[i];
        }
    }
    return NULL;
}

const struct gpume_vectors_format *gpume_vectors_format_probe(
    const unsigned char *head, size_t bytes)
{
    for (size_t i = 0; i < FORMATS; i++) {
        const char *begins = formats[i]->begins;
        const size_t length = begins ? strlen(begins) : 0;
        if (formats[i]->probe ? formats[i]->probe(head, bytes)
                              : begins && bytes >= length && memcmp(head, begins, length) == 0) {
            return formats[i];
        }
    }
    return &gpume_vectors_csv;
}
