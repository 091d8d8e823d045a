/* SPDX-License-Identifier: BSD-2-Clause */
#include "estimate/predictor.h"

#include "base/grid.h"
#include "console.h"
#include "estimate/estimate.h"
#include "vectors/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool parse_predictor(const struct gpume_option *row, const char *text, void *field)
{
    struct gpume_predictor_option *out = field;
    (void)row;
    if (text[0] == '\0') {
        return false;
    }
    const bool zero = strcmp(text, "zero") == 0, median = strcmp(text, "median") == 0;
    out->kind = zero     ? GPUME_PREDICTOR_ZERO
                : median ? GPUME_PREDICTOR_MEDIAN
                         : GPUME_PREDICTOR_GIVEN;
    out->file = zero || median ? NULL : text;
    return true;
}

static void predictor_words(const struct gpume_option *row, char *text, size_t bytes)
{
    (void)row;
    snprintf(text, bytes, "zero median");
}

const struct gpume_option_type gpume_type_predictor = {
    sizeof(struct gpume_predictor_option), parse_predictor, NULL, predictor_words};

#define NOWHERE UINT64_MAX

struct predictor_row {
    uint64_t ref;
    uint32_t x, y;
    uint16_t w, h; /* of the shape if the file names it, else visible */
    int32_t dx, dy;
};

struct gpume_predictor_rows {
    uint64_t frame; /* NOWHERE: none */
    bool has_ref, has_shape;
    struct predictor_row *rows;
    size_t count, capacity;
};

static int open_predictor_file(struct gpume_predictor_source *source)
{
    const struct gpume_vectors_source file = {.path = source->path, .log = gpume_console};
    gpume_vectors_reader_close(&source->reader);
    source->next = NULL;
    for (uint64_t i = 0; i < source->kept; i++) {
        source->frames[i].frame = NOWHERE;
    }
    const int status = gpume_vectors_reader_open(&source->reader, &file);
    return status ? status : gpume_vectors_reader_next(source->reader, &source->next);
}

int gpume_predictor_open(
    struct gpume_predictor_source *source, const char *path, const struct gpume_params *params)
{
    const uint32_t farthest = params->distance_count > 0
                                  ? params->distances[params->distance_count - 1]
                                  : params->ref_distance;
    *source = (struct gpume_predictor_source){
        .path = path, .params = *params, .kept = 2ull * farthest + 1};
    source->frames = calloc(source->kept, sizeof(*source->frames));
    const int status = source->frames ? open_predictor_file(source)
                                      : gpume_log_nomem(&gpume_console, source->path);
    source->failed = status != GPUME_OK;
    return status;
}

void gpume_predictor_close(struct gpume_predictor_source *source)
{
    for (uint64_t i = 0; source->frames && i < source->kept; i++) {
        free(source->frames[i].rows);
    }
    free(source->frames);
    gpume_vectors_reader_close(&source->reader);
}

static int add_row(struct gpume_predictor_rows *frame, const struct gpume_vectors_block *block)
{
    if (frame->count == frame->capacity) {
        const size_t capacity = frame->capacity > 0 ? 2 * frame->capacity : 4096;
        struct predictor_row *rows = realloc(frame->rows, capacity * sizeof(*rows));
        if (!rows) {
            return gpume_log_nomem(&gpume_console, "predictors");
        }
        frame->rows = rows;
        frame->capacity = capacity;
    }
    frame->rows[frame->count++] = (struct predictor_row){.ref = block->ref,
        .x = block->x,
        .y = block->y,
        .w = frame->has_shape ? block->shape_w : block->w,
        .h = frame->has_shape ? block->shape_h : block->h,
        .dx = block->dx,
        .dy = block->dy};
    return GPUME_OK;
}

/* Keeps the first candidates of the next field. */
static int keep_predictor_field(struct gpume_predictor_source *source)
{
    const struct gpume_vectors_field *field = source->next;
    struct gpume_predictor_rows *frame = &source->frames[field->frame % source->kept];
    if (frame->frame != field->frame) {
        frame->frame = field->frame;
        frame->count = 0;
        frame->has_ref = field->columns & GPUME_VECTORS_REF;
        frame->has_shape = field->columns & GPUME_VECTORS_SHAPE;
    }
    int status = GPUME_OK;
    for (size_t i = 0; i < field->count && status == GPUME_OK; i++) {
        if (field->blocks[i].candidate == 0) {
            status = add_row(frame, &field->blocks[i]);
        }
    }
    return status ? status : gpume_vectors_reader_next(source->reader, &source->next);
}

/* Reads on until the frame is complete, or from the beginning if it is past. */
static int find_frame(struct gpume_predictor_source *source, uint64_t frame,
    const struct gpume_predictor_rows **found)
{
    int status = GPUME_OK;
    const struct gpume_predictor_rows *rows = &source->frames[frame % source->kept];
    if (rows->frame != frame && rows->frame != NOWHERE && rows->frame > frame &&
        strcmp(source->path, "-") != 0) {
        status = open_predictor_file(source);
    }
    while (status == GPUME_OK && source->next && source->next->frame <= frame) {
        status = keep_predictor_field(source);
    }
    *found = rows->frame == frame ? rows : NULL;
    return status;
}

/* The grid of a shape, and its entries in the library's array. */
struct grid {
    struct gpume_block_size shape;
    uint32_t width, height; /* of the picture */
    uint32_t columns;
    size_t first, count;
};

static struct grid make_grid(const struct gpume_params *params, uint32_t index, size_t first)
{
    const bool list = params->shape_count > 0;
    struct grid grid = {.first = first, .width = params->width, .height = params->height};
    grid.shape.width = list ? params->shapes[index].width : params->block;
    grid.shape.height = list ? params->shapes[index].height : params->block;
    grid.columns = (grid.width - 1) / grid.shape.width + 1;
    grid.count = (size_t)grid.columns * ((grid.height - 1) / grid.shape.height + 1);
    return grid;
}

/* True of a block of this grid. */
static bool fits(const struct grid *grid, const struct predictor_row *row, bool has_shape)
{
    const struct gpume_block_size shape = grid->shape;
    if (row->x >= grid->width || row->y >= grid->height || row->x % shape.width != 0 ||
        row->y % shape.height != 0) {
        return false;
    }
    return has_shape ? row->w == shape.width && row->h == shape.height
                     : row->w == gpume_min_u32(shape.width, grid->width - row->x) &&
                           row->h == gpume_min_u32(shape.height, grid->height - row->y);
}

/* From quarters to the units of the run, halves away from zero. */
static int16_t rounded(int32_t quarters, uint32_t units)
{
    const int32_t divisor = GPUME_VECTORS_UNITS / (int32_t)units;
    const int32_t half = quarters < 0 ? -(divisor / 2) : divisor / 2;
    const int32_t value = (quarters + half) / divisor;
    return (int16_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

static int refuse_missing(struct gpume_predictor_source *source, const struct grid *grid,
    size_t index, uint64_t frame, uint64_t ref)
{
    return gpume_refuse(GPUME_INVALID,
        "--predictor %s: has no vector for the block of %ux%u at (%zu,%zu) of frame %" PRIu64
        " in reference %" PRIu64 "; it must have every block of every frame pair",
        source->path, grid->shape.width, grid->shape.height,
        index % grid->columns * grid->shape.width, index / grid->columns * grid->shape.height,
        frame, ref);
}

/* Fills the vectors of one shape. given: room for a flag per block. */
static int fill_predictors(struct gpume_predictor_source *source,
    const struct gpume_predictor_rows *rows, const struct grid *grid, uint64_t frame, uint64_t ref,
    struct gpume_vector *vectors)
{
    const uint32_t units = source->params.subpel;
    bool *given = calloc(grid->count, sizeof(*given));
    size_t missing = 0;
    if (!given) {
        return gpume_log_nomem(&gpume_console, "predictors");
    }
    for (size_t i = 0; rows && i < rows->count; i++) {
        const struct predictor_row *row = &rows->rows[i];
        if ((row->ref == ref || !rows->has_ref) && fits(grid, row, rows->has_shape)) {
            const size_t at =
                (size_t)(row->y / grid->shape.height) * grid->columns + row->x / grid->shape.width;
            given[at] = true;
            vectors[grid->first + at] =
                (struct gpume_vector){rounded(row->dx, units), rounded(row->dy, units)};
        }
    }
    while (missing < grid->count && given[missing]) {
        missing++;
    }
    free(given);
    return missing < grid->count ? refuse_missing(source, grid, missing, frame, ref) : GPUME_OK;
}

int gpume_predictor_give(void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors)
{
    struct gpume_predictor_source *source = opaque;
    const uint32_t shapes = source->params.shape_count > 0 ? source->params.shape_count : 1;
    const struct gpume_predictor_rows *rows = NULL;
    int status = find_frame(source, frame, &rows);
    size_t first = 0;
    for (uint32_t i = 0; i < shapes && status == GPUME_OK; i++) {
        const struct grid grid = make_grid(&source->params, i, first);
        status = fill_predictors(source, rows, &grid, frame, ref, vectors);
        first += grid.count;
    }
    if (status != GPUME_OK) {
        source->failed = true;
        return GPUME_INVALID;
    }
    return GPUME_OK;
}
