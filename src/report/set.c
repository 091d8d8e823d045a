/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pictures are reduced by a whole factor: each sample is the mean of a square, of which the upper 8
 * bits are kept. Small pictures become PNG, others JPEG.
 */
#include "report/set.h"

#include "base/status.h"
#include "media/still.h"
#include "sinks/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIDE_MAX 1280u                   /* pixels across or down of the page's pictures */
#define LOSSLESS_MAX ((uint64_t)1 << 16) /* pixels */

const char *const gpume_report_picture_names[GPUME_REPORT_PICTURES] = {
    "reference", "target", "predicted", "difference", "residual"};
const char *const gpume_report_list_names[GPUME_REPORT_LISTS] = {
    "vectors", "parts", "seconds", "references"};

struct gpume_report_encoder {
    const char *label;
    struct gpume_params params;
    struct gpume_log log;
    struct gpume_still *still;
    uint32_t scale, width, height; /* width, height: of the page's pictures */
    bool lossless;
    unsigned char *gray_of; /* the gray level of each difference, from 0 to the peak */
    uint32_t *sums;         /* one per column of the video */
};

static int refuse_memory(const struct gpume_report_encoder *encoder)
{
    return gpume_log_nomem(&encoder->log, encoder->label);
}

void gpume_report_encoder_close(struct gpume_report_encoder **encoder)
{
    if (*encoder) {
        gpume_still_close(&(*encoder)->still);
        free((*encoder)->gray_of);
        free((*encoder)->sums);
        free(*encoder);
        *encoder = NULL;
    }
}

static int fill_encoder(struct gpume_report_encoder *encoder)
{
    const struct gpume_params *params = &encoder->params;
    const uint32_t larger = params->width > params->height ? params->width : params->height;
    const uint32_t peak = (1u << params->bits) - 1;
    encoder->scale = (larger + SIDE_MAX - 1) / SIDE_MAX;
    encoder->width = (params->width + encoder->scale - 1) / encoder->scale;
    encoder->height = (params->height + encoder->scale - 1) / encoder->scale;
    encoder->lossless = (uint64_t)encoder->width * encoder->height <= LOSSLESS_MAX;
    encoder->gray_of = malloc((size_t)peak + 1);
    encoder->sums = malloc(params->width * sizeof(*encoder->sums));
    if (!encoder->gray_of || !encoder->sums) {
        return refuse_memory(encoder);
    }
    for (uint32_t d = 0; d <= peak; d++) {
        encoder->gray_of[d] =
            (unsigned char)lround(255 * pow((double)d / peak, 1 / GPUME_REPORT_GAMMA));
    }
    return gpume_still_open(&encoder->still, encoder->label, encoder->width, encoder->height,
        encoder->lossless, &encoder->log);
}

int gpume_report_encoder_open(
    struct gpume_report_encoder **encoder, const char *label, const struct gpume_run *run)
{
    struct gpume_report_encoder *self = calloc(1, sizeof(*self));
    if (!self) {
        return gpume_log_nomem(&run->log, label);
    }
    self->label = label;
    self->params = run->params;
    self->log = run->log;
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
    return encoder->scale;
}

bool gpume_report_encoder_lossless(const struct gpume_report_encoder *encoder)
{
    return encoder->lossless;
}

static const void *row_of(const struct gpume_plane *plane, uint32_t y)
{
    return (const char *)plane->data + (ptrdiff_t)y * plane->stride;
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
    if (minus == plane) {
        deep ? add_16(sums, row_of(plane, y), plane->width)
             : add_8(sums, row_of(plane, y), plane->width);
    } else {
        deep ? add_difference_16(sums, row_of(plane, y), row_of(minus, y), plane->width)
             : add_difference_8(sums, row_of(plane, y), row_of(minus, y), plane->width);
    }
}

/* The rounded mean of a square of d = `samples` samples, by multiplication with inverse, 2^40 / d
 * rounded up: a division per sample took most of the time. Exact: the error is below
 * sum / 2^40 < 2^-12, while the next whole number is at least 1 / d away, and d <= 52 x 52. */
static uint32_t mean_of(const uint32_t *sums, uint32_t columns, uint32_t samples, uint64_t inverse)
{
    uint64_t sum = samples / 2;
    for (uint32_t x = 0; x < columns; x++) {
        sum += sums[x];
    }
    return (uint32_t)(sum * inverse >> 40);
}

/* Turns the sums of `rows` rows into one row of the page's picture. is_difference: the sums are of
 * absolute differences. */
static void reduce_row(const struct gpume_report_encoder *encoder, const struct gpume_plane *plane,
    bool is_difference, uint32_t rows, unsigned char *to)
{
    const uint32_t scale = encoder->scale, peak = (1u << plane->bits) - 1;
    const uint32_t last = plane->width - (encoder->width - 1) * scale;
    const uint32_t down = plane->bits - 8, width = encoder->width;
    const unsigned char *const gray_of = encoder->gray_of;
    const uint64_t inverse = (UINT64_C(1) << 40) / (rows * scale) + 1;
    for (uint32_t column = 0; column < width; column++) {
        const uint32_t *const sums = encoder->sums + (size_t)column * scale;
        uint32_t mean = column + 1 < width ? mean_of(sums, scale, rows * scale, inverse)
                                           : mean_of(sums, last, rows * last,
                                                 (UINT64_C(1) << 40) / (rows * last) + 1);
        mean = mean < peak ? mean : peak; /* raw files may contain larger samples */
        to[column] = (unsigned char)(is_difference ? gray_of[mean] : mean >> down);
    }
}

/* Reduces |plane - minus|; if minus == plane, the plane itself. */
static void reduce(struct gpume_report_encoder *encoder, const struct gpume_plane *plane,
    const struct gpume_plane *minus, unsigned char *to)
{
    for (uint32_t row = 0; row < encoder->height; row++) {
        const uint32_t top = row * encoder->scale, left = plane->height - top;
        const uint32_t rows = left < encoder->scale ? left : encoder->scale;
        memset(encoder->sums, 0, plane->width * sizeof(*encoder->sums));
        for (uint32_t y = top; y < top + rows; y++) {
            add_row(encoder->sums, plane, minus, y);
        }
        reduce_row(encoder, plane, minus != plane, rows, to + (size_t)row * encoder->width);
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
    }
    for (size_t i = 0; i < GPUME_REPORT_LISTS; i++) {
        failed = failed || lists[i].failed;
    }
    return !failed;
}

int gpume_report_draft_take(struct gpume_report_draft *draft, struct gpume_report_encoder *encoder,
    const struct gpume_field *field, bool cut)
{
    const struct gpume_plane *const planes[GPUME_REPORT_PICTURES][2] = {
        [GPUME_REPORT_REFERENCE] = {&field->reference, &field->reference},
        [GPUME_REPORT_TARGET] = {&field->target, &field->target},
        [GPUME_REPORT_PREDICTED] = {&field->predicted, &field->predicted},
        [GPUME_REPORT_DIFFERENCE] = {&field->target, &field->reference},
        [GPUME_REPORT_RESIDUAL] = {&field->target, &field->predicted},
    };
    for (size_t i = 0; i < GPUME_REPORT_PICTURES; i++) {
        if (!draft->samples[i]) {
            draft->samples[i] = malloc((size_t)encoder->width * encoder->height);
        }
        if (!draft->samples[i]) {
            return refuse_memory(encoder);
        }
        reduce(encoder, planes[i][0], planes[i][1], draft->samples[i]);
    }
    if (!pack_lists(draft->lists, &encoder->params, field)) {
        return refuse_memory(encoder);
    }
    draft->full = true;
    draft->rating = (struct gpume_report_rating){field->frame, cut, field->sums.sse_after};
    return GPUME_OK;
}

void gpume_report_draft_finish(struct gpume_report_draft *draft)
{
    for (size_t i = 0; i < GPUME_REPORT_PICTURES; i++) {
        free(draft->samples[i]);
    }
    for (size_t i = 0; i < GPUME_REPORT_LISTS; i++) {
        gpume_bytes_finish(&draft->lists[i]);
    }
    *draft = (struct gpume_report_draft){0};
}

int gpume_report_set_make(struct gpume_report_set *set, struct gpume_report_encoder *encoder,
    struct gpume_report_draft *draft)
{
    gpume_report_set_finish(set);
    bool failed = false;
    for (size_t i = 0; i < GPUME_REPORT_PICTURES; i++) {
        const unsigned char *data = NULL;
        size_t bytes = 0;
        const struct gpume_plane plane = {
            .data = draft->samples[i],
            .stride = (ptrdiff_t)encoder->width,
            .width = encoder->width,
            .height = encoder->height,
            .bits = 8,
        };
        const int status = gpume_still_encode(encoder->still, &plane, &data, &bytes);
        if (status != GPUME_OK) {
            gpume_report_set_finish(set);
            return status;
        }
        gpume_bytes_put(&set->pictures[i], data, bytes);
        failed = failed || set->pictures[i].failed;
    }
    for (size_t i = 0; i < GPUME_REPORT_LISTS; i++) {
        gpume_bytes_put(&set->lists[i], draft->lists[i].data, draft->lists[i].count);
        failed = failed || set->lists[i].failed;
    }
    if (failed) {
        gpume_report_set_finish(set);
        return refuse_memory(encoder);
    }
    set->rating = draft->rating;
    draft->full = false;
    return GPUME_OK;
}

void gpume_report_set_finish(struct gpume_report_set *set)
{
    for (size_t i = 0; i < GPUME_REPORT_PICTURES; i++) {
        gpume_bytes_finish(&set->pictures[i]);
    }
    for (size_t i = 0; i < GPUME_REPORT_LISTS; i++) {
        gpume_bytes_finish(&set->lists[i]);
    }
    *set = (struct gpume_report_set){0};
}

uint64_t gpume_report_set_bytes(const struct gpume_report_set *set)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < GPUME_REPORT_PICTURES; i++) {
        bytes += gpume_base64_length(set->pictures[i].count);
    }
    for (size_t i = 0; i < GPUME_REPORT_LISTS; i++) {
        bytes += gpume_base64_length(set->lists[i].count);
    }
    return bytes;
}
