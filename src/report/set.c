/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pictures are reduced by a whole factor: each sample is the mean of a square, of which the upper 8
 * bits are kept. Small pictures become PNG, others JPEG.
 */
#include "report/report.h"

#include "base/base.h"
#include "media/picture.h"
#include "report/shell.h"
#include "sinks/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of pictures in colour: the most pixels across or down, and the most pixels of a PNG. */
#define COLOUR_SIDE 720u
#define COLOUR_LOSSLESS (UINT64_C(1) << 12)

/* Colours are what the page plays: smaller, so that there is room for many, and of one size, so
 * that they are equally sharp. */
enum { LUMA, COLOUR, LOSSLESS, SIZES };
static const uint32_t side_limits[] = {1280, COLOUR_SIDE};            /* pixels across or down */
static const uint64_t lossless_limits[] = {1 << 16, COLOUR_LOSSLESS}; /* pixels of a picture */

/* The largest planes, in bytes before they are encoded, that are stored as luma and change. In a
 * page that is 1080p, of which it holds about seven pairs; in files beside it 4K, of which a pair
 * takes about 3 MB. */
#define EXACT_BYTES UINT64_C(2500000)
#define EXACT_LARGE_BYTES UINT64_C(9000000)
#define DISPLACEMENTS_MAX 500000u /* larger windows have no surfaces: they would take too long */
#define KEYS 8u                   /* frames in a chain of references, of which one has its luma */

static const char *const picture_names[GPUME_REPORT_PICTURES] = {
    "colour", "reference", "target", "predicted", "difference", "residual", "luma", "change"};
static const char *const list_names[GPUME_REPORT_LISTS] = {
    "vectors", "parts", "seconds", "references", "returns"};

struct gpume_report_encoder {
    const char *label;
    struct gpume_params params;
    struct gpume_log log;
    int (*take_colour)(void *colours, uint64_t frame, struct gpume_plane *rgb); /* may be NULL */
    void *colours;
    bool exact; /* luma and change are wanted */
    bool wanted[GPUME_REPORT_PICTURES];
    struct gpume_report_size sizes[SIZES];
    struct gpume_still *stills[SIZES]; /* NULL: not needed */
    unsigned char *gray_of;            /* the gray level of each difference, from 0 to the peak */
    uint32_t *sums;                    /* one per column of the video, or three with colours */
};

/* side: the most pixels of the longer side. lossless: the most pixels of a lossless picture. */
static struct gpume_report_size reduced_size(
    uint32_t width, uint32_t height, uint32_t side, uint64_t lossless)
{
    const uint32_t scale = (uint32_t)gpume_div_up(gpume_max_u32(width, height), side);
    struct gpume_report_size size = {
        scale, (width + scale - 1) / scale, (height + scale - 1) / scale, false};
    size.lossless = (uint64_t)size.width * size.height <= lossless;
    return size;
}

/* Adds a row of bytes to the sums. Without aliasing, so that the compiler can vectorize it. */
static void add_colours(uint32_t *restrict sums, const uint8_t *restrict from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sums[i] += from[i];
    }
}

/* One of the three colours: the sums of `rows` rows, into one row of the page's picture. */
static void reduce_colour(const struct gpume_report_size *size, const uint32_t *sums,
    uint32_t video_width, uint32_t rows, uint32_t colour, unsigned char *to)
{
    for (uint32_t column = 0; column < size->width; column++) {
        const uint32_t left = column * size->scale;
        const uint32_t right = gpume_min_u32(left + size->scale, video_width);
        const uint32_t samples = rows * (right - left);
        uint32_t sum = samples / 2;
        for (uint32_t x = left; x < right; x++) {
            sum += sums[3 * (size_t)x + colour];
        }
        to[3 * (size_t)column + colour] = (unsigned char)(sum / samples);
    }
}

/* rgb: triples of bytes. sums: room for three per column of it. to: triples of the reduced size. */
static void reduce_colours(const struct gpume_report_size *size, const struct gpume_plane *rgb,
    uint32_t *sums, unsigned char *to)
{
    const size_t count = 3 * (size_t)rgb->width;
    for (uint32_t row = 0; row < size->height; row++) {
        const uint32_t top = row * size->scale;
        const uint32_t rows = gpume_min_u32(rgb->height - top, size->scale);
        memset(sums, 0, count * sizeof(*sums));
        for (uint32_t y = top; y < top + rows; y++) {
            add_colours(sums, gpume_plane_row(rgb, y), count);
        }
        for (uint32_t colour = 0; colour < 3; colour++) {
            reduce_colour(size, sums, rgb->width, rows, colour, to + 3 * (size_t)row * size->width);
        }
    }
}

static int refuse_memory(const struct gpume_report_encoder *encoder)
{
    return gpume_log_nomem(&encoder->log, encoder->label);
}

void gpume_report_encoder_close(struct gpume_report_encoder **encoder)
{
    if (*encoder) {
        for (size_t i = 0; i < SIZES; i++) {
            gpume_still_close(&(*encoder)->stills[i]);
        }
        free((*encoder)->gray_of);
        free((*encoder)->sums);
        free(*encoder);
        *encoder = NULL;
    }
}

static struct gpume_report_size size_of(const struct gpume_params *params, size_t kind)
{
    return reduced_size(params->width, params->height, side_limits[kind], lossless_limits[kind]);
}

static int open_stills(struct gpume_report_encoder *encoder)
{
    const bool needed[SIZES] = {
        encoder->wanted[GPUME_REPORT_TARGET], encoder->wanted[GPUME_REPORT_COLOUR], encoder->exact};
    int status = GPUME_OK;
    for (size_t i = 0; i < SIZES && status == GPUME_OK; i++) {
        const struct gpume_report_size *size = &encoder->sizes[i];
        if (needed[i]) {
            status = gpume_still_open(&encoder->stills[i], encoder->label, size->width,
                size->height, i == COLOUR, size->lossless, &encoder->log);
        }
    }
    return status;
}

static uint64_t plane_bytes(const struct gpume_params *params)
{
    return (uint64_t)params->width * params->height * (params->bits > 8 ? 2 : 1);
}

bool gpume_report_has_surfaces(const struct gpume_run *run)
{
    const struct gpume_params *p = &run->params;
    const uint64_t columns = 2 * (uint64_t)p->window_x * p->subpel + 1;
    const uint64_t rows = 2 * (uint64_t)p->window_y * p->subpel + 1;
    return columns * rows <= DISPLACEMENTS_MAX && !p->prefilter && !p->best_reference;
}

/* The page predicts and measures with whole pixels. */
bool gpume_report_wants_exact(const struct gpume_run *run, uint64_t bytes_max)
{
    const struct gpume_params *p = &run->params;
    const uint64_t blocks_max = gpume_div_up(p->width, 4) * gpume_div_up(p->height, 4);
    return gpume_report_has_surfaces(run) && p->subpel == 1 && !run->asked->from_stream &&
           blocks_max <= GPUME_REPORT_BLOCKS_MAX && plane_bytes(p) <= bytes_max;
}

bool gpume_report_is_both(const struct gpume_params *params)
{
    return params->direction == GPUME_DIRECTION_BOTH && !params->best_reference;
}

bool gpume_report_is_key(const struct gpume_params *params, uint64_t frame)
{
    return frame / params->ref_distance % KEYS == 0;
}

static void choose_pictures(struct gpume_report_encoder *encoder, const struct gpume_run *run,
    enum gpume_report_contents contents)
{
    const bool film = contents == GPUME_REPORT_FILM, all = contents == GPUME_REPORT_ALL;
    const bool large = contents == GPUME_REPORT_LARGE;
    encoder->exact =
        all || (!film && gpume_report_wants_exact(run, large ? EXACT_LARGE_BYTES : EXACT_BYTES));
    for (size_t i = 0; i < GPUME_REPORT_PICTURES; i++) {
        encoder->wanted[i] = all || (!film && !encoder->exact);
    }
    encoder->wanted[GPUME_REPORT_LUMA] = encoder->wanted[GPUME_REPORT_CHANGE] = encoder->exact;
    encoder->wanted[GPUME_REPORT_COLOUR] = encoder->take_colour != NULL;
    encoder->wanted[GPUME_REPORT_TARGET] |= film && !encoder->take_colour;
    encoder->sizes[COLOUR] = size_of(&run->params, large ? LUMA : COLOUR);
    encoder->sizes[LUMA] = size_of(&run->params, film ? COLOUR : LUMA);
    encoder->sizes[LOSSLESS] = (struct gpume_report_size){
        1, run->params.width, run->params.height * (run->params.bits > 8 ? 2 : 1), true};
}

static int fill_encoder(struct gpume_report_encoder *encoder)
{
    const struct gpume_params *params = &encoder->params;
    const uint32_t peak = (1u << params->bits) - 1;
    encoder->gray_of = malloc((size_t)peak + 1);
    encoder->sums = malloc(3 * (size_t)params->width * sizeof(*encoder->sums));
    if (!encoder->gray_of || !encoder->sums) {
        return refuse_memory(encoder);
    }
    for (uint32_t d = 0; d <= peak; d++) {
        encoder->gray_of[d] =
            (unsigned char)lround(255 * pow((double)d / peak, 1 / GPUME_REPORT_GAMMA));
    }
    return open_stills(encoder);
}

int gpume_report_encoder_open(struct gpume_report_encoder **encoder, const char *label,
    const struct gpume_run *run, enum gpume_report_contents contents)
{
    struct gpume_report_encoder *self = calloc(1, sizeof(*self));
    if (!self) {
        return gpume_log_nomem(&run->log, label);
    }
    self->label = label;
    self->params = run->params;
    self->take_colour = run->colours.take;
    self->colours = run->colours.source;
    self->log = run->log;
    choose_pictures(self, run, contents);
    const int status = fill_encoder(self);
    if (status != GPUME_OK) {
        gpume_report_encoder_close(&self);
        return status;
    }
    *encoder = self;
    return GPUME_OK;
}

uint32_t gpume_report_encoder_scale(const struct gpume_report_encoder *encoder)
{
    return encoder->sizes[LUMA].scale;
}

bool gpume_report_encoder_lossless(const struct gpume_report_encoder *encoder)
{
    return encoder->sizes[LUMA].lossless;
}

bool gpume_report_encoder_exact(const struct gpume_report_encoder *encoder)
{
    return encoder->exact;
}

void gpume_report_encoder_want_luma(struct gpume_report_encoder *encoder, bool wanted)
{
    encoder->wanted[GPUME_REPORT_LUMA] = encoder->exact && wanted;
}

/* Add a row to the sums. Separate loops without aliasing, which the compiler can vectorize. */
static void add_8(uint32_t *restrict sums, const uint8_t *restrict from, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++) {
        sums[x] += from[x];
    }
}

static void add_16(uint32_t *restrict sums, const uint16_t *restrict from, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++) {
        sums[x] += from[x];
    }
}

static void add_difference_8(uint32_t *restrict sums, const uint8_t *restrict from,
    const uint8_t *restrict minus, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++) {
        sums[x] += (uint32_t)abs(from[x] - minus[x]);
    }
}

static void add_difference_16(uint32_t *restrict sums, const uint16_t *restrict from,
    const uint16_t *restrict minus, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++) {
        sums[x] += (uint32_t)abs(from[x] - minus[x]);
    }
}

/* Adds a row of samples, or of absolute differences if minus is another plane. */
static void add_row(
    uint32_t *sums, const struct gpume_plane *plane, const struct gpume_plane *minus, uint32_t y)
{
    const bool deep = plane->bits > 8;
    const void *row = gpume_plane_row(plane, y), *less = gpume_plane_row(minus, y);
    if (minus == plane) {
        deep ? add_16(sums, row, plane->width) : add_8(sums, row, plane->width);
    } else {
        deep ? add_difference_16(sums, row, less, plane->width)
             : add_difference_8(sums, row, less, plane->width);
    }
}

/* The rounded mean of a square of d = `samples` samples, by multiplication with inverse, 2^44 / d
 * rounded up: a division per sample took most of the time. Exact: the error is below
 * sum / 2^44 < 2^-14, while the next whole number is at least 1 / d away, and d <= 92 x 92. */
static uint32_t mean_of(const uint32_t *sums, uint32_t columns, uint32_t samples, uint64_t inverse)
{
    uint64_t sum = samples / 2;
    for (uint32_t x = 0; x < columns; x++) {
        sum += sums[x];
    }
    return (uint32_t)(sum * inverse >> 44);
}

/* Turns the sums of `rows` rows into one row of the page's picture. is_difference: the sums are of
 * absolute differences. */
static void reduce_row(const struct gpume_report_encoder *encoder, const struct gpume_plane *plane,
    bool is_difference, uint32_t rows, unsigned char *to)
{
    const struct gpume_report_size *size = &encoder->sizes[LUMA];
    const uint32_t scale = size->scale, peak = (1u << plane->bits) - 1;
    const uint32_t last = plane->width - (size->width - 1) * scale;
    const uint32_t down = plane->bits - 8, width = size->width;
    const unsigned char *const gray_of = encoder->gray_of;
    const uint64_t inverse = (UINT64_C(1) << 44) / (rows * scale) + 1;
    for (uint32_t column = 0; column < width; column++) {
        const uint32_t *const sums = encoder->sums + (size_t)column * scale;
        uint32_t mean = column + 1 < width ? mean_of(sums, scale, rows * scale, inverse)
                                           : mean_of(sums, last, rows * last,
                                                 (UINT64_C(1) << 44) / (rows * last) + 1);
        mean = mean < peak ? mean : peak; /* raw files may contain larger samples */
        to[column] = (unsigned char)(is_difference ? gray_of[mean] : mean >> down);
    }
}

/* Reduces |plane - minus|; if minus == plane, the plane itself. */
static void reduce(struct gpume_report_encoder *encoder, const struct gpume_plane *plane,
    const struct gpume_plane *minus, unsigned char *to)
{
    const struct gpume_report_size *size = &encoder->sizes[LUMA];
    for (uint32_t row = 0; row < size->height; row++) {
        const uint32_t top = row * size->scale, left = plane->height - top;
        const uint32_t rows = left < size->scale ? left : size->scale;
        memset(encoder->sums, 0, plane->width * sizeof(*encoder->sums));
        for (uint32_t y = top; y < top + rows; y++) {
            add_row(encoder->sums, plane, minus, y);
        }
        reduce_row(encoder, plane, minus != plane, rows, to + (size_t)row * size->width);
    }
}

static void pack_vectors(struct gpume_bytes *bytes, const struct gpume_params *params,
    const struct gpume_field *field, uint64_t blocks)
{
    const uint32_t window_x = params->window_x * params->subpel;
    const uint32_t window_y = params->window_y * params->subpel;
    const uint32_t columns = 2 * window_x + 1, rows = 2 * window_y + 1;
    const uint32_t vectors = columns * rows; /* at most 4097 x 4097 */
    const size_t width = vectors <= 0x100       ? 1
                         : vectors <= 0x10000   ? 2
                         : vectors <= 0x1000000 ? 3
                                                : 4;
    for (uint64_t i = 0; i < blocks; i++) {
        const struct gpume_shown shown = gpume_shown_at(field, i);
        const struct gpume_vector vector = shown.layer->vectors[shown.index];
        const uint32_t dx = (uint32_t)(vector.dx + (int32_t)window_x);
        const uint32_t dy = (uint32_t)(vector.dy + (int32_t)window_y);
        const uint32_t index = dy * columns + dx;
        const unsigned char digits[4] = {(unsigned char)index, (unsigned char)(index >> 8),
            (unsigned char)(index >> 16), (unsigned char)(index >> 24)};
        gpume_bytes_put(bytes, digits, width);
    }
    for (uint64_t i = 0; i < blocks; i++) {
        const struct gpume_shown shown = gpume_shown_at(field, i);
        gpume_bytes_number(bytes, shown.layer->costs[shown.index]);
    }
}

static void pack_parts(struct gpume_bytes *bytes, const struct gpume_field *field)
{
    for (uint32_t i = 0; i < field->part_count; i++) {
        gpume_bytes_number(bytes, field->parts[i].layer);
        gpume_bytes_number(bytes, field->parts[i].block);
    }
}

static void pack_seconds(
    struct gpume_bytes *bytes, const struct gpume_field *field, uint64_t blocks)
{
    for (uint64_t i = 0; field->layers[0]->second && i < blocks; i++) {
        const struct gpume_shown shown = gpume_shown_at(field, i);
        const uint32_t second = shown.layer->second[shown.index];
        gpume_bytes_number(bytes, second == GPUME_NONE ? 0 : (uint64_t)second + 1);
    }
}

static void pack_references(
    struct gpume_bytes *bytes, const struct gpume_field *field, uint64_t blocks)
{
    for (uint64_t i = 0; field->layers[0]->refs && i < blocks; i++) {
        const struct gpume_shown shown = gpume_shown_at(field, i);
        const uint64_t reference = field->refs[shown.layer->refs[shown.index]];
        gpume_bytes_signed(bytes, (int64_t)reference - (int64_t)field->frame);
    }
}

static void pack_returns(
    struct gpume_bytes *bytes, const struct gpume_field *field, uint64_t blocks)
{
    for (uint64_t i = 0; field->layers[0]->returns && i < blocks; i++) {
        const struct gpume_shown shown = gpume_shown_at(field, i);
        const uint32_t away = shown.layer->returns[shown.index];
        gpume_bytes_number(bytes, away == GPUME_NONE ? 0 : (uint64_t)away + 1);
    }
}

static bool pack_lists(struct gpume_bytes lists[GPUME_REPORT_LISTS],
    const struct gpume_params *params, const struct gpume_field *field)
{
    const uint64_t blocks = gpume_shown_count(field);
    bool failed = false;
    for (size_t i = 0; i < GPUME_REPORT_LISTS; i++) {
        gpume_bytes_clear(&lists[i]);
    }
    if (blocks <= GPUME_REPORT_BLOCKS_MAX) {
        pack_vectors(&lists[GPUME_REPORT_VECTORS], params, field, blocks);
        pack_parts(&lists[GPUME_REPORT_PARTS], field);
        pack_seconds(&lists[GPUME_REPORT_SECONDS], field, blocks);
        pack_references(&lists[GPUME_REPORT_REFERENCES], field, blocks);
        pack_returns(&lists[GPUME_REPORT_RETURNS], field, blocks);
    }
    for (size_t i = 0; i < GPUME_REPORT_LISTS; i++) {
        failed = failed || lists[i].failed;
    }
    return !failed;
}

/* Each sample less that of another plane (NULL: 0), byte by byte. */
static void take_bytes(
    const struct gpume_plane *plane, const struct gpume_plane *minus, unsigned char *to)
{
    const size_t size = (size_t)plane->width * plane->height;
    for (uint32_t y = 0; y < plane->height; y++) {
        const void *const row = gpume_plane_row(plane, y);
        const void *const less = minus ? gpume_plane_row(minus, y) : NULL;
        const uint8_t *const row8 = row, *const less8 = less;
        const uint16_t *const row16 = row, *const less16 = less;
        for (uint32_t x = 0; x < plane->width && plane->bits <= 8; x++) {
            *to++ = (unsigned char)(row8[x] - (less ? less8[x] : 0));
        }
        for (uint32_t x = 0; x < plane->width && plane->bits > 8; x++) {
            const uint32_t value = row16[x] - (less ? (uint32_t)less16[x] : 0);
            to[size] = (unsigned char)value;
            *to++ = (unsigned char)(value >> 8);
        }
    }
}

static size_t kind_of(size_t picture)
{
    return picture == GPUME_REPORT_COLOUR ? COLOUR : picture >= GPUME_REPORT_LUMA ? LOSSLESS : LUMA;
}

static bool is_of_target(size_t picture)
{
    return picture == GPUME_REPORT_COLOUR || picture == GPUME_REPORT_TARGET ||
           picture == GPUME_REPORT_LUMA;
}

/* Which side the field is, and which one a picture of it belongs to. */
static size_t side_of(const struct gpume_report_encoder *encoder, const struct gpume_field *field)
{
    return gpume_report_is_both(&encoder->params) && field->ref > field->frame ? GPUME_REPORT_FUTURE
                                                                               : GPUME_REPORT_PAST;
}

static size_t place_of(size_t side, size_t picture)
{
    return is_of_target(picture) ? GPUME_REPORT_PAST : side;
}

static int take_pictures(struct gpume_report_draft *draft, struct gpume_report_encoder *encoder,
    const struct gpume_field *field)
{
    const struct gpume_plane *const planes[GPUME_REPORT_PICTURES][2] = {
        [GPUME_REPORT_REFERENCE] = {&field->reference, &field->reference},
        [GPUME_REPORT_TARGET] = {&field->target, &field->target},
        [GPUME_REPORT_PREDICTED] = {&field->predicted, &field->predicted},
        [GPUME_REPORT_DIFFERENCE] = {&field->target, &field->reference},
        [GPUME_REPORT_RESIDUAL] = {&field->target, &field->predicted},
        [GPUME_REPORT_LUMA] = {&field->target, NULL},
        [GPUME_REPORT_CHANGE] = {&field->reference, &field->target},
    };
    for (size_t i = 0; i < GPUME_REPORT_PICTURES; i++) {
        struct gpume_plane rgb;
        const size_t kind = kind_of(i);
        const struct gpume_report_size *size = &encoder->sizes[kind];
        unsigned char **const to = &draft->sides[place_of(side_of(encoder, field), i)].samples[i];
        if (!encoder->wanted[i] || (is_of_target(i) && !draft->with_target)) {
            continue;
        }
        *to = *to ? *to : malloc((kind == COLOUR ? 3 : 1) * (size_t)size->width * size->height);
        if (!*to) {
            return refuse_memory(encoder);
        }
        if (kind == LOSSLESS) {
            take_bytes(planes[i][0], planes[i][1], *to);
            continue;
        }
        if (kind == LUMA) {
            reduce(encoder, planes[i][0], planes[i][1], *to);
            continue;
        }
        const int status = encoder->take_colour(encoder->colours, field->frame, &rgb);
        if (status != GPUME_OK) {
            return status;
        }
        reduce_colours(size, &rgb, encoder->sums, *to);
    }
    return GPUME_OK;
}

static int take_side(struct gpume_report_draft *draft, struct gpume_report_encoder *encoder,
    const struct gpume_field *field)
{
    const size_t side = side_of(encoder, field);
    const int status = take_pictures(draft, encoder, field);
    if (status != GPUME_OK) {
        return status;
    }
    if (!pack_lists(draft->sides[side].lists, &encoder->params, field)) {
        return refuse_memory(encoder);
    }
    draft->with[side] = true;
    return GPUME_OK;
}

int gpume_report_draft_take(struct gpume_report_draft *draft, struct gpume_report_encoder *encoder,
    const struct gpume_field *field, bool cut)
{
    memset(draft->with, 0, sizeof(draft->with));
    draft->with_target = true;
    draft->rating = (struct gpume_report_rating){field->frame, cut, field->sums.sse_after};
    draft->full = true;
    return take_side(draft, encoder, field);
}

int gpume_report_draft_add(struct gpume_report_draft *draft, struct gpume_report_encoder *encoder,
    const struct gpume_field *field)
{
    const bool with_target = draft->with_target;
    draft->with_target = false;
    const int status = take_side(draft, encoder, field);
    draft->with_target = with_target;
    return status;
}

void gpume_report_draft_finish(struct gpume_report_draft *draft)
{
    for (size_t i = 0; i < GPUME_REPORT_SIDES * GPUME_REPORT_PICTURES; i++) {
        free(draft->sides[i / GPUME_REPORT_PICTURES].samples[i % GPUME_REPORT_PICTURES]);
    }
    for (size_t i = 0; i < GPUME_REPORT_SIDES * GPUME_REPORT_LISTS; i++) {
        gpume_bytes_finish(&draft->sides[i / GPUME_REPORT_LISTS].lists[i % GPUME_REPORT_LISTS]);
    }
    *draft = (struct gpume_report_draft){0};
}

/* Encodes what the draft has of a side. */
static int make_side(struct gpume_report_side_data *to, struct gpume_report_encoder *encoder,
    const struct gpume_report_draft *draft, size_t side)
{
    const struct gpume_report_draft_side *from = &draft->sides[side];
    bool failed = false;
    for (size_t i = 0; i < GPUME_REPORT_PICTURES; i++) {
        const size_t kind = kind_of(i);
        const struct gpume_report_size *size = &encoder->sizes[kind];
        const unsigned char *data = NULL;
        size_t bytes = 0;
        if (!encoder->wanted[i] || place_of(side, i) != side ||
            !(is_of_target(i) ? draft->with_target : draft->with[side])) {
            continue;
        }
        const struct gpume_plane plane = {
            .data = from->samples[i],
            .stride = (ptrdiff_t)size->width * (kind == COLOUR ? 3 : 1),
            .width = size->width,
            .height = size->height,
            .bits = 8,
        };
        const int status = gpume_still_encode(encoder->stills[kind], &plane, &data, &bytes);
        if (status != GPUME_OK) {
            return status;
        }
        gpume_bytes_put(&to->pictures[i], data, bytes);
        failed = failed || to->pictures[i].failed;
    }
    for (size_t i = 0; draft->with[side] && i < GPUME_REPORT_LISTS; i++) {
        gpume_bytes_put(&to->lists[i], from->lists[i].data, from->lists[i].count);
        failed = failed || to->lists[i].failed;
    }
    return failed ? refuse_memory(encoder) : GPUME_OK;
}

static int make_sides(struct gpume_report_set *set, struct gpume_report_encoder *encoder,
    struct gpume_report_draft *draft)
{
    int status = GPUME_OK;
    for (size_t i = 0; i < GPUME_REPORT_SIDES && status == GPUME_OK; i++) {
        status = make_side(&set->sides[i], encoder, draft, i);
    }
    draft->full = false;
    if (status != GPUME_OK) {
        gpume_report_set_finish(set);
    }
    return status;
}

int gpume_report_set_make(struct gpume_report_set *set, struct gpume_report_encoder *encoder,
    struct gpume_report_draft *draft)
{
    gpume_report_set_finish(set);
    set->rating = draft->rating;
    return make_sides(set, encoder, draft);
}

int gpume_report_set_add(struct gpume_report_set *set, struct gpume_report_draft *draft,
    struct gpume_report_encoder *encoder, const struct gpume_field *field)
{
    memset(draft->with, 0, sizeof(draft->with));
    draft->with_target = false;
    const int status = take_side(draft, encoder, field);
    return status ? status : make_sides(set, encoder, draft);
}

void gpume_report_set_finish(struct gpume_report_set *set)
{
    for (size_t i = 0; i < GPUME_REPORT_SIDES * GPUME_REPORT_PICTURES; i++) {
        gpume_bytes_finish(
            &set->sides[i / GPUME_REPORT_PICTURES].pictures[i % GPUME_REPORT_PICTURES]);
    }
    for (size_t i = 0; i < GPUME_REPORT_SIDES * GPUME_REPORT_LISTS; i++) {
        gpume_bytes_finish(&set->sides[i / GPUME_REPORT_LISTS].lists[i % GPUME_REPORT_LISTS]);
    }
    *set = (struct gpume_report_set){0};
}

static void put_side(const struct gpume_report_side_data *side, struct gpume_json *json)
{
    for (size_t i = 0; i < GPUME_REPORT_PICTURES; i++) {
        const struct gpume_bytes *picture = &side->pictures[i];
        if (picture->count > 0) {
            gpume_json_base64(json, picture_names[i], picture->data, picture->count);
        }
    }
    for (size_t i = 0; i < GPUME_REPORT_LISTS; i++) {
        const struct gpume_bytes *list = &side->lists[i];
        if (list->count > 0 || i == GPUME_REPORT_VECTORS) {
            gpume_json_base64(json, list_names[i], list->data, list->count);
        }
    }
}

static uint64_t side_bytes(const struct gpume_report_side_data *side)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < GPUME_REPORT_PICTURES; i++) {
        bytes += gpume_base64_length(side->pictures[i].count);
    }
    for (size_t i = 0; i < GPUME_REPORT_LISTS; i++) {
        bytes += gpume_base64_length(side->lists[i].count);
    }
    return bytes;
}

void gpume_report_set_put(const struct gpume_report_set *set, struct gpume_json *json)
{
    gpume_json_begin(json, NULL);
    put_side(&set->sides[GPUME_REPORT_PAST], json);
    if (side_bytes(&set->sides[GPUME_REPORT_FUTURE]) > 0) {
        gpume_json_begin(json, "future");
        put_side(&set->sides[GPUME_REPORT_FUTURE], json);
        gpume_json_end(json);
    }
    gpume_json_end(json);
}

uint64_t gpume_report_set_bytes(const struct gpume_report_set *set)
{
    return side_bytes(&set->sides[GPUME_REPORT_PAST]) +
           side_bytes(&set->sides[GPUME_REPORT_FUTURE]);
}

bool gpume_report_lively_add(
    struct gpume_report_lively *lively, const struct gpume_field *field, bool cut)
{
    const uint64_t before = field->sums.sad_before, after = field->sums.sad_after;
    const uint64_t gain = before > after ? before - after : 0;
    if (cut || gain <= lively->gain) {
        return false;
    }
    *lively = (struct gpume_report_lively){.full = true, .frame = field->frame, .gain = gain};
    return true;
}

/* --- small pictures in colour alone */

struct gpume_report_small {
    const char *label;
    struct gpume_log log;
    struct gpume_report_size size;
    struct gpume_still *still;
    uint32_t *sums;
    unsigned char *samples;
};

int gpume_report_small_open(struct gpume_report_small **small, const char *label, uint32_t width,
    uint32_t height, const struct gpume_log *log)
{
    struct gpume_report_small *self = calloc(1, sizeof(*self));
    if (!self) {
        return gpume_log_nomem(log, label);
    }
    *small = self;
    self->label = label;
    self->log = *log;
    self->size = reduced_size(width, height, COLOUR_SIDE, COLOUR_LOSSLESS);
    const struct gpume_report_size *size = &self->size;
    self->sums = malloc(3 * (size_t)width * sizeof(*self->sums));
    self->samples = malloc(3 * (size_t)size->width * size->height);
    const int status = self->sums && self->samples
                           ? gpume_still_open(&self->still, label, size->width, size->height, true,
                                 size->lossless, log)
                           : gpume_log_nomem(log, label);
    if (status != GPUME_OK) {
        gpume_report_small_close(small);
    }
    return status;
}

int gpume_report_small_encode(
    struct gpume_report_small *small, const struct gpume_plane *rgb, struct gpume_bytes *bytes)
{
    const struct gpume_report_size *size = &small->size;
    const struct gpume_plane plane = {
        .data = small->samples,
        .stride = 3 * (ptrdiff_t)size->width,
        .width = size->width,
        .height = size->height,
        .bits = 8,
    };
    const unsigned char *data;
    size_t count;
    reduce_colours(size, rgb, small->sums, small->samples);
    const int status = gpume_still_encode(small->still, &plane, &data, &count);
    if (status != GPUME_OK) {
        return status;
    }
    gpume_bytes_put(bytes, data, count);
    return bytes->failed ? gpume_log_nomem(&small->log, small->label) : GPUME_OK;
}

struct gpume_report_size gpume_report_small_size(const struct gpume_report_small *small)
{
    return small->size;
}

void gpume_report_small_close(struct gpume_report_small **small)
{
    if (*small) {
        gpume_still_close(&(*small)->still);
        free((*small)->sums);
        free((*small)->samples);
        free(*small);
        *small = NULL;
    }
}
