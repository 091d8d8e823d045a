/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a run reads besides its input: the kernel of --prefilter, and the vectors of --predictor.
 * The values are parsed with the command line, the files are read when the run begins.
 */
#include "estimate/estimate.h"

#include "base/base.h"
#include "console.h"
#include "files/path.h"
#include "vectors/vectors.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- --prefilter */

#define LINE_BYTES 4096 /* of a kernel's file: enough for 31 numbers of a hundred characters */
#define BLANKS " \t\r\n"

/* What follows "NAME:", or NULL. */
static const char *after(const char *text, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && text[length] == ':' ? text + length + 1 : NULL;
}

static bool parse_side(const char *text, double max, struct gpume_prefilter *filter)
{
    double side;
    if (strchr(text, '.') || !gpume_parse_real(text, '\0', 3, max, &side)) {
        return false;
    }
    filter->width = filter->height = (uint32_t)side;
    return filter->width % 2 == 1;
}

static bool parse_filter(const struct gpume_option *row, const char *text, void *field)
{
    struct gpume_prefilter_option *out = field;
    struct gpume_prefilter_option option = {
        .text = text, .filter = {.size = sizeof(struct gpume_prefilter)}};
    struct gpume_prefilter *filter = &option.filter;
    const char *rest;
    bool good = false;
    (void)row;
    if (strcmp(text, "none") == 0) {
        *out = (struct gpume_prefilter_option){0};
        return true;
    }
    if ((rest = after(text, "gauss"))) {
        filter->kind = GPUME_PREFILTER_GAUSS;
        good = gpume_parse_real(rest, '\0', 0.3, 16, &filter->sigma);
    } else if ((rest = after(text, "box"))) {
        filter->kind = GPUME_PREFILTER_BOX;
        good = parse_side(rest, GPUME_PREFILTER_SIDE_MAX, filter);
    } else if ((rest = after(text, "median"))) {
        filter->kind = GPUME_PREFILTER_MEDIAN;
        good = parse_side(rest, 5, filter);
    } else if ((rest = after(text, "bilateral"))) {
        filter->kind = GPUME_PREFILTER_BILATERAL;
        rest = gpume_parse_real(rest, ',', 0.3, 5, &filter->sigma);
        good = rest && gpume_parse_real(rest + 1, '\0', 0.1, 1000, &filter->range);
    } else if ((rest = after(text, "kernel"))) {
        filter->kind = GPUME_PREFILTER_KERNEL;
        option.file = rest;
        good = rest[0] != '\0';
    }
    if (good) {
        *out = option;
    }
    return good;
}

const struct gpume_option_type gpume_type_prefilter = {
    .bytes = sizeof(struct gpume_prefilter_option),
    .parse = parse_filter,
    .permitted = "gauss:S (0.3 to 16), box:N (odd, 3 to 31), median:3, median:5, bilateral:S,R "
                 "(0.3 to 5, 0.1 to 1000) or kernel:FILE"};

/* The state of reading a kernel's file. */
struct kernel_reader {
    const char *path;
    unsigned line; /* from 1 */
    uint32_t width, height, count;
    double *weights;
};

/* Parses one number at *at and moves *at past it. */
static int take_weight(struct kernel_reader *reader, char **at)
{
    const size_t length = strcspn(*at, "," BLANKS);
    const bool plain = strspn(*at, "0123456789.+-eE") == length && length > 0;
    char *end = *at;
    const double weight = plain ? strtod(*at, &end) : 0;
    if (!plain || end != *at + length) {
        return gpume_refuse(GPUME_FORMAT,
            "%s:%u: '%.*s' is not a number; write a kernel as rows such as 0 -1.5 0", reader->path,
            reader->line, length > 40 ? 40 : (int)length, *at);
    }
    if (weight != 0 && !(fabs(weight) >= 1e-9 && fabs(weight) <= 1e9)) {
        return gpume_refuse(GPUME_FORMAT,
            "%s:%u: %.*s: a weight must be 0, or have a magnitude from 1e-9 to 1e9", reader->path,
            reader->line, length > 40 ? 40 : (int)length, *at);
    }
    if (reader->count == GPUME_PREFILTER_SIDE_MAX || reader->height == GPUME_PREFILTER_SIDE_MAX) {
        return gpume_refuse(GPUME_FORMAT,
            "%s:%u: a kernel has at most %d numbers per row and %d rows; use a smaller one",
            reader->path, reader->line, GPUME_PREFILTER_SIDE_MAX, GPUME_PREFILTER_SIDE_MAX);
    }
    reader->weights[reader->height * GPUME_PREFILTER_SIDE_MAX + reader->count++] = weight;
    *at += length;
    return GPUME_OK;
}

static int take_line(struct kernel_reader *reader, char *line)
{
    line[strcspn(line, "#")] = '\0';
    char *at = line + strspn(line, BLANKS);
    reader->count = 0;
    while (*at) {
        const int status = take_weight(reader, &at);
        if (status != GPUME_OK) {
            return status;
        }
        at += strspn(at, BLANKS);
        if (*at == ',') { /* and a number behind it */
            at += 1 + strspn(at + 1, BLANKS);
            if (!*at || *at == ',') {
                return gpume_refuse(GPUME_FORMAT,
                    "%s:%u: a number is missing next to a comma; write 0", reader->path,
                    reader->line);
            }
        }
    }
    if (reader->count == 0) {
        return GPUME_OK;
    }
    if (reader->height > 0 && reader->count != reader->width) {
        return gpume_refuse(GPUME_FORMAT,
            "%s:%u: has %u number%s, but the rows above have %u; pad with 0", reader->path,
            reader->line, reader->count, gpume_plural(reader->count), reader->width);
    }
    reader->width = reader->count;
    reader->height++;
    return GPUME_OK;
}

static int take_lines(struct kernel_reader *reader, FILE *file)
{
    char line[LINE_BYTES];
    while (fgets(line, sizeof(line), file)) {
        reader->line++;
        if (!strchr(line, '\n') && !feof(file)) {
            return gpume_refuse(GPUME_FORMAT,
                "%s:%u: the line is too long or not text; a kernel consists of rows of numbers",
                reader->path, reader->line);
        }
        const int status = take_line(reader, line);
        if (status != GPUME_OK) {
            return status;
        }
    }
    if (ferror(file)) {
        return gpume_refuse(GPUME_FORMAT,
            "%s: cannot be read: %s; --prefilter kernel: needs a text file", reader->path,
            strerror(errno));
    }
    return GPUME_OK;
}

/* Checks the kernel as a whole. */
static int check_kernel(const struct kernel_reader *reader)
{
    bool any = false;
    for (uint32_t i = 0; i < GPUME_PREFILTER_SIDE_MAX * GPUME_PREFILTER_SIDE_MAX; i++) {
        any = any || reader->weights[i] != 0;
    }
    if (reader->height == 0) {
        return gpume_refuse(GPUME_FORMAT,
            "%s: contains no numbers; write a kernel as rows such as 0 -1.5 0", reader->path);
    }
    if (reader->width % 2 == 0 || reader->height % 2 == 0) {
        return gpume_refuse(GPUME_FORMAT,
            "%s: has %u row%s of %u number%s, but both must be odd so that there is a center; add "
            "a "
            "%s of 0",
            reader->path, reader->height, gpume_plural(reader->height), reader->width,
            gpume_plural(reader->width), reader->width % 2 == 0 ? "column" : "row");
    }
    if (!any) {
        return gpume_refuse(
            GPUME_FORMAT, "%s: all numbers are 0; at least one must differ", reader->path);
    }
    return GPUME_OK;
}

int gpume_prefilter_option_read(struct gpume_prefilter_option *option,
    double weights[GPUME_PREFILTER_SIDE_MAX * GPUME_PREFILTER_SIDE_MAX])
{
    struct kernel_reader reader = {.path = option->file, .weights = weights};
    if (!option->file) {
        return GPUME_OK;
    }
    FILE *file = fopen(option->file, "r");
    if (!file) {
        return gpume_refuse(GPUME_FORMAT, "%s: cannot be opened: %s; %s", option->file,
            strerror(errno), gpume_remedy(errno, "check --prefilter kernel:FILE"));
    }
    memset(weights, 0, sizeof(double) * GPUME_PREFILTER_SIDE_MAX * GPUME_PREFILTER_SIDE_MAX);
    int status = take_lines(&reader, file);
    fclose(file);
    status = status == GPUME_OK ? check_kernel(&reader) : status;
    if (status == GPUME_OK) {
        for (uint32_t row = 1; row < reader.height; row++) { /* close the gaps */
            memmove(weights + row * reader.width, weights + row * GPUME_PREFILTER_SIDE_MAX,
                reader.width * sizeof(*weights));
        }
        option->filter.width = reader.width;
        option->filter.height = reader.height;
        option->filter.weights = weights;
    }
    return status;
}

uint64_t gpume_prefilter_option_sum(const struct gpume_prefilter_option *option)
{
    const struct gpume_prefilter *filter = &option->filter;
    if (!option->text || filter->kind != GPUME_PREFILTER_KERNEL) {
        return 0;
    }
    return gpume_checksum(GPUME_CHECKSUM_BEGIN, filter->weights,
        (size_t)filter->width * filter->height * sizeof(double));
}

/* --- --predictor */

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

const struct gpume_option_type gpume_type_predictor = {
    .bytes = sizeof(struct gpume_predictor_option), .parse = parse_predictor};

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
    struct predictor_row *rows =
        gpume_grow(frame->rows, frame->count, &frame->capacity, sizeof(*rows));
    if (!rows) {
        return gpume_log_nomem(&gpume_console, "predictors");
    }
    frame->rows = rows;
    rows[frame->count++] = (struct predictor_row){.ref = block->ref,
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

/* From quarters to the units of the run. */
static int16_t rounded(int32_t quarters, uint32_t units)
{
    const int64_t value = gpume_div_nearest(quarters, GPUME_VECTORS_UNITS / units);
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

/* A gpume_predict_fn; opaque: the source. */
static int give_predictors(void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors)
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

int gpume_predictor_open(
    struct gpume_predictor_source *source, const char *path, struct gpume_params *params)
{
    const uint32_t farthest = params->distance_count > 0
                                  ? params->distances[params->distance_count - 1]
                                  : params->ref_distance;
    params->predict = give_predictors;
    params->predict_opaque = source;
    *source = (struct gpume_predictor_source){
        .path = path, .params = *params, .kept = 2ull * farthest + 1};
    source->frames = calloc(source->kept, sizeof(*source->frames));
    const int status = source->frames ? open_predictor_file(source)
                                      : gpume_log_nomem(&gpume_console, source->path);
    source->failed = status != GPUME_OK;
    return status;
}
