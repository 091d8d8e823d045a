/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The temporal filter on the processor. Pictures wait in a ring of 16-bit samples until all that
 * refer to them are filtered. The fields of the next picture leave its predictions: luma as the
 * search predicted it, vectors for chroma. Filtering is three steps over the rows of blocks, which
 * threads share, with decisions for the whole picture between them:
 *
 *     look     predicts chroma and measures noise    -> the variance of each plane
 *     fit      corrects the light, rejects blocks    -> which references are used
 *     average  the weighted means
 *
 * With params.spatial a fourth one takes strips of rows, of the means with their weights.
 */
#include "filter/temporal.h"

#include "base/base.h"
#include "base/os.h"
#include "base/workers.h"
#include "filter/chroma_taps.h"
#include "filter/loops.h"
#include "filter/noise.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PREDICTIONS_MAX (2 * GPUME_TEMPORAL_RADIUS_MAX)
#define BLOCK GPUME_TEMPORAL_BLOCK
#define FIT 16u /* a block fits if its mean square difference is up to this many variances */
#define AHEAD GPUME_TEMPORAL_STARTED_MAX
#define RESULTS (AHEAD + 1)
#define LIGHT_STEPS 16 /* of 8 bits, that the light of a block may change by */
#define TAPS GPUME_CHROMA_TAPS
#define LUMA_TAPS 6
#define AROUND                                                                                     \
    (BLOCK + LUMA_TAPS) /* samples that a block is predicted from, a half further, too             \
                         */

/* One plane of a picture or of a prediction. */
struct layer {
    uint16_t *samples; /* rows without gaps */
    uint32_t width, height, block_w, block_h;
};

struct prediction {
    bool there, used;
    bool has_luma; /* the search has predicted it */
    uint64_t reference;
    struct gpume_vector *vectors;
    struct layer layers[GPUME_TEMPORAL_PLANES];
    uint8_t *rejected;           /* per plane and block */
    atomic_uint fitting;         /* blocks of luma */
    atomic_uint_fast64_t unlike; /* differences of luma beyond noise, in 1/256 */
};

/* A filtered picture. */
struct result {
    struct layer means[GPUME_TEMPORAL_PLANES];
    struct gpume_plane planes[GPUME_TEMPORAL_PLANES];
    uint8_t *bytes[GPUME_TEMPORAL_PLANES]; /* of 8 bits */
    uint64_t variance[GPUME_TEMPORAL_PLANES];
    uint32_t references;
};

/* What a thread needs for a row of blocks. */
struct scratch {
    atomic_bool taken;
    int32_t *columns;         /* width + 2 REACH */
    uint16_t *gains;          /* width */
    uint32_t *sums, *weights; /* BLOCK rows of width */
    struct gpume_spatial_scratch spatial;
};

struct host {
    struct gpume_temporal_params params;
    uint32_t planes, blocks_x, blocks_y, shift;
    uint64_t put, done, taken; /* pictures; `done` is the number of the next to be filtered */
    uint32_t ring;             /* pictures that there is room for */
    struct layer (*pictures)[GPUME_TEMPORAL_PLANES];
    bool *begins;                                   /* of the same pictures: it begins a scene */
    struct prediction predictions[PREDICTIONS_MAX]; /* by distance, the past before the future */
    struct result results[RESULTS];                 /* of picture i at i % RESULTS */
    struct gpume_noise_values values[GPUME_TEMPORAL_PLANES];
    uint64_t *texture;            /* per plane and block: n Q - S^2, A of luma; */
    uint64_t *cell, *residual;    /* q and v */
    atomic_uint_fast64_t allowed; /* twice what a reference may differ by beyond noise */
    const struct gpume_loops *loops;
    struct gpume_workers *workers;
    struct scratch *scratches;
    uint32_t scratch_count;
    /* of the picture that is being filtered */
    bool measures;
    struct gpume_noise_area area;
    uint64_t variance[GPUME_TEMPORAL_PLANES];
    uint32_t strengths[GPUME_TEMPORAL_PLANES];
    struct gpume_loops_curve curves[GPUME_TEMPORAL_PLANES];
    /* with params.spatial */
    bool spatial; /* this picture, too */
    struct gpume_spatial_plane means[GPUME_TEMPORAL_PLANES];
    int32_t limits[GPUME_TEMPORAL_PLANES][GPUME_SPATIAL_LIMITS];
};

/* --- memory */

static bool open_layer(
    struct layer *layer, const struct gpume_temporal_params *params, uint32_t plane)
{
    *layer = (struct layer){
        .width = gpume_temporal_width(params, plane),
        .height = gpume_temporal_height(params, plane),
        .block_w = BLOCK >> (plane > 0 ? params->shift_x : 0),
        .block_h = BLOCK >> (plane > 0 ? params->shift_y : 0),
    };
    const size_t bytes = (size_t)layer->width * layer->height * sizeof *layer->samples;
    layer->samples = malloc(bytes);
    gpume_os_prefer_large_pages(layer->samples, bytes);
    return layer->samples != NULL;
}

static bool open_predictions(struct host *temporal)
{
    const size_t blocks = (size_t)temporal->blocks_x * temporal->blocks_y;
    bool complete = true;
    for (uint32_t i = 0; i < 2 * temporal->params.radius && complete; i++) {
        struct prediction *prediction = &temporal->predictions[i];
        prediction->vectors = malloc(blocks * sizeof *prediction->vectors);
        prediction->rejected = malloc(blocks * temporal->planes);
        complete = prediction->vectors && prediction->rejected;
        for (uint32_t p = 0; p < temporal->planes && complete; p++) {
            complete = open_layer(&prediction->layers[p], &temporal->params, p);
        }
    }
    return complete;
}

static bool open_scratch(struct scratch *scratch, uint32_t width, bool spatial)
{
    scratch->columns = malloc((width + 2 * GPUME_LOOPS_REACH) * sizeof *scratch->columns);
    scratch->gains = malloc(width * sizeof *scratch->gains);
    scratch->sums = malloc((size_t)width * BLOCK * sizeof *scratch->sums);
    scratch->weights = malloc((size_t)width * BLOCK * sizeof *scratch->weights);
    return scratch->columns && scratch->gains && scratch->sums && scratch->weights &&
           (!spatial || gpume_spatial_open_scratch(&scratch->spatial, width));
}

static bool open_result(struct host *temporal, struct result *result)
{
    const uint32_t bits = temporal->params.bits;
    bool complete = true;
    for (uint32_t p = 0; p < temporal->planes && complete; p++) {
        struct layer *means = &result->means[p];
        complete = open_layer(means, &temporal->params, p);
        result->bytes[p] = malloc((size_t)means->width * means->height);
        complete = complete && result->bytes[p];
        result->planes[p] = (struct gpume_plane){
            .data = bits > 8 ? (void *)means->samples : result->bytes[p],
            .stride = (ptrdiff_t)means->width * (bits > 8 ? 2 : 1),
            .width = means->width,
            .height = means->height,
            .bits = bits,
        };
    }
    return complete;
}

static bool open_values(struct host *temporal)
{
    const size_t blocks = (size_t)temporal->blocks_x * temporal->blocks_y;
    bool complete = true;
    for (uint32_t p = 0; p < temporal->planes; p++) {
        struct gpume_noise_values *values = &temporal->values[p];
        values->textures = malloc(blocks * sizeof *values->textures);
        values->cells = malloc(blocks * sizeof *values->cells);
        values->residuals = malloc(blocks * sizeof *values->residuals);
        complete = complete && values->textures && values->cells && values->residuals;
    }
    temporal->texture = malloc(blocks * temporal->planes * sizeof *temporal->texture);
    temporal->cell = malloc(blocks * temporal->planes * sizeof *temporal->cell);
    temporal->residual = malloc(blocks * temporal->planes * sizeof *temporal->residual);
    return complete && temporal->texture && temporal->cell && temporal->residual;
}

static bool open_memory(struct host *temporal)
{
    bool complete = open_predictions(temporal);
    for (uint32_t i = 0; i < RESULTS && complete; i++) {
        complete = open_result(temporal, &temporal->results[i]);
    }
    complete = complete && open_values(temporal);
    temporal->pictures = calloc(temporal->ring, sizeof *temporal->pictures);
    temporal->begins = calloc(temporal->ring, sizeof *temporal->begins);
    complete = complete && temporal->pictures && temporal->begins;
    for (uint32_t i = 0; i < temporal->ring && complete; i++) {
        for (uint32_t p = 0; p < temporal->planes && complete; p++) {
            complete = open_layer(&temporal->pictures[i][p], &temporal->params, p);
        }
    }
    temporal->scratch_count = gpume_workers_count(temporal->workers);
    temporal->scratches = calloc(temporal->scratch_count, sizeof *temporal->scratches);
    complete = complete && temporal->scratches;
    for (uint32_t i = 0; i < temporal->scratch_count && complete; i++) {
        complete =
            open_scratch(&temporal->scratches[i], temporal->params.width, temporal->params.spatial);
    }
    for (uint32_t p = 0; p < temporal->planes && temporal->params.spatial && complete; p++) {
        const struct layer *layer = &temporal->pictures[0][p];
        complete = gpume_spatial_open_plane(
            &temporal->means[p], layer->width, layer->height, temporal->params.bits);
    }
    return complete;
}

static uint32_t ring_of(const struct gpume_temporal_params *params)
{
    return 2 * params->radius + 1 + GPUME_TEMPORAL_AHEAD + AHEAD;
}

/* What open_scratch allocates. */
static uint64_t thread_bytes(uint32_t width, bool spatial)
{
    return (width + 2 * GPUME_LOOPS_REACH) * sizeof(uint32_t) + width * sizeof(uint16_t) +
           (uint64_t)2 * width * BLOCK * sizeof(uint32_t) +
           (spatial ? gpume_spatial_scratch_bytes(width) : 0);
}

uint64_t gpume_temporal_host_bytes(const struct gpume_temporal_params *params)
{
    const uint64_t planes = params->chroma ? GPUME_TEMPORAL_PLANES : 1;
    const uint64_t blocks =
        gpume_div_up(params->width, BLOCK) * gpume_div_up(params->height, BLOCK);
    const uint64_t layers = 2 * params->radius + RESULTS + ring_of(params);
    uint64_t samples = 0, means = 0;
    for (uint32_t p = 0; p < planes; p++) {
        const uint32_t width = gpume_temporal_width(params, p),
                       height = gpume_temporal_height(params, p);
        samples += (uint64_t)width * height;
        means += params->spatial ? gpume_spatial_plane_bytes(width, height) : 0;
    }
    const uint64_t threads = params->threads > 0 ? params->threads : gpume_workers_processors();
    return samples * (layers * sizeof(uint16_t) + RESULTS) + means +
           threads * thread_bytes(params->width, params->spatial) +
           blocks * (2 * params->radius * (sizeof(struct gpume_vector) + planes) +
                        6 * planes * sizeof(uint64_t));
}

static int host_close(void *opaque);

static int host_open(
    void **state, const struct gpume_temporal_params *params, const struct gpume_log *log)
{
    int status = GPUME_OK;
    struct host *temporal = calloc(1, sizeof *temporal);
    if (!temporal) {
        return gpume_log_nomem(log, "the filter");
    }
    temporal->params = *params;
    temporal->planes = params->chroma ? GPUME_TEMPORAL_PLANES : 1;
    temporal->blocks_x = (uint32_t)gpume_div_up(params->width, BLOCK);
    temporal->blocks_y = (uint32_t)gpume_div_up(params->height, BLOCK);
    temporal->shift = params->bits > 10 ? params->bits - 10 : 0;
    temporal->ring = ring_of(params);
    temporal->loops = gpume_loops();
    status = gpume_workers_create(&temporal->workers, params->threads);
    if (status == GPUME_AGAIN) {
        status = gpume_log_no_thread(log);
    } else if (status != GPUME_OK) {
        status = gpume_log_nomem(log, "filtering");
    }
    if (status != GPUME_OK) {
        (void)host_close(temporal);
        return status;
    }
    *state = temporal;
    return GPUME_OK;
}

static int host_prepare(void *opaque, const struct gpume_log *log)
{
    return open_memory(opaque) ? GPUME_OK : gpume_log_nomem(log, "filtering");
}

static int host_close(void *opaque)
{
    struct host *temporal = opaque;
    gpume_workers_destroy(&temporal->workers);
    for (uint32_t i = 0; i < PREDICTIONS_MAX; i++) {
        free(temporal->predictions[i].vectors);
        free(temporal->predictions[i].rejected);
    }
    for (uint32_t p = 0; p < GPUME_TEMPORAL_PLANES; p++) {
        for (uint32_t i = 0; i < PREDICTIONS_MAX; i++) {
            free(temporal->predictions[i].layers[p].samples);
        }
        for (uint32_t i = 0; i < temporal->ring && temporal->pictures; i++) {
            free(temporal->pictures[i][p].samples);
        }
        for (uint32_t i = 0; i < RESULTS; i++) {
            free(temporal->results[i].means[p].samples);
            free(temporal->results[i].bytes[p]);
        }
        gpume_spatial_close_plane(&temporal->means[p]);
        free(temporal->values[p].textures);
        free(temporal->values[p].cells);
        free(temporal->values[p].residuals);
    }
    for (uint32_t i = 0; i < temporal->scratch_count && temporal->scratches; i++) {
        free(temporal->scratches[i].columns);
        free(temporal->scratches[i].gains);
        free(temporal->scratches[i].sums);
        free(temporal->scratches[i].weights);
        gpume_spatial_close_scratch(&temporal->scratches[i].spatial);
    }
    free(temporal->scratches);
    free(temporal->pictures);
    free(temporal->begins);
    free(temporal->cell);
    free(temporal->residual);
    free(temporal->texture);
    free(temporal);
    return GPUME_OK;
}

/* --- pictures and fields in */

static struct layer *picture_at(const struct host *temporal, uint64_t number)
{
    return temporal->pictures[number % temporal->ring];
}

static void copy_plane(struct layer *to, const struct gpume_plane *from)
{
    for (uint32_t y = 0; y < to->height; y++) {
        const uint8_t *row = gpume_temporal_row(from, y);
        uint16_t *samples = to->samples + (size_t)y * to->width;
        if (from->bits > 8) {
            memcpy(samples, row, to->width * sizeof *samples);
            continue;
        }
        for (uint32_t x = 0; x < to->width; x++) {
            samples[x] = row[x];
        }
    }
}

static void host_put(void *opaque, const struct gpume_plane *planes)
{
    struct host *temporal = opaque;
    struct layer *picture = picture_at(temporal, temporal->put++);
    for (uint32_t p = 0; p < temporal->planes; p++) {
        copy_plane(&picture[p], &planes[p]);
    }
}

static bool row_repeats(const uint16_t *last, const uint8_t *row, uint32_t width, uint32_t bits)
{
    if (bits > 8) {
        return memcmp(last, row, width * sizeof *last) == 0;
    }
    uint32_t x = 0;
    while (x < width && last[x] == row[x]) {
        x++;
    }
    return x == width;
}

static bool host_repeats(const void *opaque, const struct gpume_plane *planes)
{
    const struct host *temporal = opaque;
    const struct layer *last = picture_at(temporal, temporal->put - 1);
    bool same = true;
    for (uint32_t p = 0; p < temporal->planes && same; p++) {
        for (uint32_t y = 0; y < last[p].height && same; y++) {
            same = row_repeats(last[p].samples + (size_t)y * last[p].width,
                gpume_temporal_row(&planes[p], y), last[p].width, temporal->params.bits);
        }
    }
    return same;
}

static void host_add(void *opaque, const struct gpume_field *field)
{
    struct host *temporal = opaque;
    struct prediction *prediction = &temporal->predictions[gpume_temporal_index(field)];
    prediction->there = true;
    prediction->reference = field->ref;
    memcpy(prediction->vectors, field->vectors,
        (size_t)temporal->blocks_x * temporal->blocks_y * sizeof *prediction->vectors);
    prediction->has_luma = field->predicted.data != NULL;
    if (prediction->has_luma) {
        copy_plane(&prediction->layers[0], &field->predicted);
    }
}

static void host_begin(void *opaque, uint64_t first, uint64_t next, const bool *begins)
{
    struct host *temporal = opaque;
    temporal->put = first;
    temporal->done = temporal->taken = next;
    for (uint32_t i = 0; i < GPUME_TEMPORAL_RADIUS_MAX && i < next; i++) {
        temporal->begins[(next - 1 - i) % temporal->ring] = begins[i];
    }
}

/* --- blocks */

struct place {
    size_t block;        /* index */
    uint32_t x, y, w, h; /* of its visible samples in a plane */
};

/* False: the edge of the picture cuts the block. */
static bool find_place(const struct host *temporal, const struct layer *layer, uint32_t bx,
    uint32_t by, struct place *place)
{
    place->block = (size_t)by * temporal->blocks_x + bx;
    place->x = bx * layer->block_w;
    place->y = by * layer->block_h;
    place->w = gpume_min_u32(layer->block_w, layer->width - place->x);
    place->h = gpume_min_u32(layer->block_h, layer->height - place->y);
    return place->w == layer->block_w && place->h == layer->block_h;
}

/* Predicts a block of a plane of chroma; (dx,dy): eighths of a sample. */
static void predict_block(const struct layer *from, const struct layer *to,
    const struct place *place, int32_t dx, int32_t dy, uint32_t bits)
{
    uint16_t around[BLOCK + TAPS - 1][BLOCK + TAPS - 1];
    int32_t across[BLOCK + TAPS - 1][BLOCK];
    const int32_t *taps_x = gpume_chroma_taps[dx & 7], *taps_y = gpume_chroma_taps[dy & 7];
    const int64_t left = (int64_t)place->x + (dx >> 3) - 1, top = (int64_t)place->y + (dy >> 3) - 1;
    const int32_t peak = (int32_t)(1u << bits) - 1;
    const bool inside = left >= 0 && left + place->w + TAPS - 1 <= from->width;
    for (uint32_t y = 0; y < place->h + TAPS - 1; y++) {
        const uint16_t *row =
            from->samples + (size_t)gpume_nearest(top + y, from->height) * from->width;
        for (uint32_t x = 0; x < place->w + TAPS - 1; x++) {
            around[y][x] = row[inside ? left + x : gpume_nearest(left + x, from->width)];
        }
        for (uint32_t x = 0; x < place->w; x++) {
            across[y][x] = taps_x[0] * around[y][x] + taps_x[1] * around[y][x + 1] +
                           taps_x[2] * around[y][x + 2] + taps_x[3] * around[y][x + 3];
        }
    }
    for (uint32_t y = 0; y < place->h; y++) {
        uint16_t *row = to->samples + (size_t)(place->y + y) * to->width + place->x;
        for (uint32_t x = 0; x < place->w; x++) {
            const int32_t sum = taps_y[0] * across[y][x] + taps_y[1] * across[y + 1][x] +
                                taps_y[2] * across[y + 2][x] + taps_y[3] * across[y + 3][x];
            const int32_t value = (sum + 2048) >> 12;
            row[x] = (uint16_t)(value < 0 ? 0 : value > peak ? peak : value);
        }
    }
}

/* Samples of a block of luma from those around it, moved by halves, 0 to 2 on each axis: H.264
 * 8.4.2.2.1. */
static void predict_halves(uint16_t around[AROUND][AROUND], const int32_t halves[2], int32_t peak,
    uint16_t out[BLOCK][BLOCK])
{
    const bool across = halves[0] & 1, down = halves[1] & 1;
    const int32_t shift = 5 * across + 5 * down, rounding = shift ? 1 << (shift - 1) : 0;
    int32_t rows[BLOCK + LUMA_TAPS - 1][BLOCK];
    for (uint32_t y = 0; y < BLOCK + LUMA_TAPS - 1; y++) {
        const uint16_t *row = &around[y + (uint32_t)halves[1] / 2][halves[0] / 2];
        for (uint32_t x = 0; x < BLOCK; x++) {
            const int32_t sum = row[x] + row[x + 5] - 5 * (row[x + 1] + row[x + 4]) +
                                20 * (row[x + 2] + row[x + 3]);
            rows[y][x] = across ? sum : row[x + 2];
        }
    }
    for (uint32_t y = 0; y < BLOCK; y++) {
        for (uint32_t x = 0; x < BLOCK; x++) {
            const int32_t sum = rows[y][x] + rows[y + 5][x] -
                                5 * (rows[y + 1][x] + rows[y + 4][x]) +
                                20 * (rows[y + 2][x] + rows[y + 3][x]);
            const int32_t value = ((down ? sum : rows[y + 2][x]) + rounding) >> shift;
            out[y][x] = (uint16_t)(value < 0 ? 0 : value > peak ? peak : value);
        }
    }
}

/* What lies between two halves is their mean; between four, that of those which lie half a sample
 * away from a whole one in x and in y. */
static void predict_luma(
    struct host *temporal, const struct prediction *prediction, uint32_t bx, uint32_t by)
{
    uint16_t around[AROUND][AROUND], one[BLOCK][BLOCK], other[BLOCK][BLOCK];
    const struct gpume_vector v = prediction->vectors[(size_t)by * temporal->blocks_x + bx];
    const struct layer *from = &picture_at(temporal, prediction->reference)[0];
    const struct layer *to = &prediction->layers[0];
    const int32_t peak = (int32_t)(1u << temporal->params.bits) - 1, fx = v.dx & 3, fy = v.dy & 3;
    int32_t a[2] = {fx / 2, fy / 2}, b[2] = {(fx + 1) / 2, (fy + 1) / 2};
    struct place place;
    (void)find_place(temporal, to, bx, by, &place);
    const int64_t left = (int64_t)place.x + (v.dx >> 2) - 2,
                  top = (int64_t)place.y + (v.dy >> 2) - 2;
    for (uint32_t y = 0; y < AROUND; y++) {
        const uint16_t *row =
            from->samples + (size_t)gpume_nearest(top + y, from->height) * from->width;
        for (uint32_t x = 0; x < AROUND; x++) {
            around[y][x] = row[gpume_nearest(left + x, from->width)];
        }
    }
    if (fx % 2 == 1 && fy % 2 == 1) {
        a[0] = b[1] = 1;
        a[1] = fy == 3 ? 2 : 0;
        b[0] = fx == 3 ? 2 : 0;
    }
    predict_halves(around, a, peak, one);
    predict_halves(around, b, peak, other);
    for (uint32_t y = 0; y < place.h; y++) {
        uint16_t *row = to->samples + (size_t)(place.y + y) * to->width + place.x;
        for (uint32_t x = 0; x < place.w; x++) {
            row[x] = (uint16_t)((one[y][x] + other[y][x] + 1) >> 1);
        }
    }
}

static void predict_chroma(
    struct host *temporal, const struct prediction *prediction, uint32_t bx, uint32_t by)
{
    const struct gpume_temporal_params *params = &temporal->params;
    const struct gpume_vector vector = prediction->vectors[(size_t)by * temporal->blocks_x + bx];
    for (uint32_t p = 1; p < temporal->planes; p++) {
        struct place place;
        (void)find_place(temporal, &prediction->layers[p], bx, by, &place);
        predict_block(&picture_at(temporal, prediction->reference)[p], &prediction->layers[p],
            &place, vector.dx * (1 << (1 - params->shift_x)),
            vector.dy * (1 << (1 - params->shift_y)), params->bits);
    }
}

/* The values of a block that the noise is measured by; a residual of UINT64_MAX: none, because the
 * edge of the picture cuts it, or there is no prediction. */
static void measure_block(struct host *temporal, uint32_t plane, uint32_t bx, uint32_t by)
{
    const struct layer *layer = &picture_at(temporal, temporal->done)[plane];
    struct place place;
    const bool whole = find_place(temporal, layer, bx, by, &place);
    const size_t at = (size_t)plane * temporal->blocks_x * temporal->blocks_y + place.block;
    const struct gpume_patch patch = {layer->samples, layer->width, layer->height, place.x, place.y,
        place.w, place.h, temporal->shift};
    temporal->texture[at] = gpume_noise_texture(&patch);
    temporal->residual[at] = UINT64_MAX;
    if (!whole || !temporal->measures) {
        return;
    }
    temporal->cell[at] = gpume_noise_cell(&patch);
    for (uint32_t i = 0; i < 2; i++) {
        const struct prediction *prediction = &temporal->predictions[i];
        if (prediction->there) {
            temporal->residual[at] = gpume_min_u64(temporal->residual[at],
                gpume_noise_residual(&patch, prediction->layers[plane].samples));
        }
    }
}

static void look_at_row(void *opaque, uint32_t by)
{
    struct host *temporal = opaque;
    for (uint32_t bx = 0; bx < temporal->blocks_x; bx++) {
        for (uint32_t i = 0; i < 2 * temporal->params.radius; i++) {
            const struct prediction *prediction = &temporal->predictions[i];
            if (prediction->there && !prediction->has_luma) {
                predict_luma(temporal, prediction, bx, by);
            }
            if (prediction->there) {
                predict_chroma(temporal, prediction, bx, by);
            }
        }
        for (uint32_t p = 0; p < (temporal->measures ? temporal->planes : 1); p++) {
            measure_block(temporal, p, bx, by);
        }
    }
}

/* --- what is used */

/* Adds what the light has changed by to a block of a prediction. False: too much. */
static bool correct_light(const struct host *temporal, uint32_t plane,
    const struct prediction *prediction, const struct place *place)
{
    const struct layer *to = &prediction->layers[plane];
    const struct layer *picture = &picture_at(temporal, temporal->done)[plane];
    const int64_t count = (int64_t)place->w * place->h;
    const uint64_t variance = temporal->variance[plane] << 2 * temporal->shift;
    int64_t sum = 0;
    for (uint32_t y = place->y; y < place->y + place->h; y++) {
        const size_t at = (size_t)y * to->width + place->x;
        int32_t row = 0;
        for (uint32_t x = 0; x < place->w; x++) {
            row += picture->samples[at + x] - to->samples[at + x];
        }
        sum += row;
    }
    if (256 * (uint64_t)(sum * sum) <= 18 * (uint64_t)count * variance) {
        return true;
    }
    const int32_t change = (int32_t)gpume_div_nearest(sum, count);
    const int32_t peak = (int32_t)(1u << temporal->params.bits) - 1;
    if (abs(change) > LIGHT_STEPS << (temporal->params.bits - 8)) {
        return false;
    }
    for (uint32_t y = place->y; y < place->y + place->h; y++) {
        uint16_t *row = to->samples + (size_t)y * to->width + place->x;
        for (uint32_t x = 0; x < place->w; x++) {
            const int32_t value = row[x] + change;
            row[x] = (uint16_t)(value < 0 ? 0 : value > peak ? peak : value);
        }
    }
    return true;
}

/* The sum of squared differences of a block of luma. */
static uint64_t compare_block(
    const struct host *temporal, const struct prediction *prediction, const struct place *place)
{
    const struct layer *luma = &prediction->layers[0];
    const struct layer *picture = picture_at(temporal, temporal->done);
    uint64_t sum = 0;
    for (uint32_t y = place->y; y < place->y + place->h; y++) {
        const size_t at = (size_t)y * luma->width + place->x;
        uint32_t row = 0;
        for (uint32_t x = 0; x < place->w; x++) {
            const int32_t e = (picture->samples[at + x] >> temporal->shift) -
                              (luma->samples[at + x] >> temporal->shift);
            row += (uint32_t)(e * e);
        }
        sum += row;
    }
    return sum;
}

/* 16 squared steps of 8 bits, in 1/256 of squared work samples. */
static uint64_t sixteen_steps(const struct host *temporal)
{
    return UINT64_C(4096) << 2 * (gpume_min_u32(temporal->params.bits, 10) - 8);
}

/* Adds the texture of a block, and what differences of a reference may be besides. */
static void add_texture(struct host *temporal, uint32_t bx, uint32_t by)
{
    struct place place;
    (void)find_place(temporal, picture_at(temporal, temporal->done), bx, by, &place);
    const uint64_t count = (uint64_t)place.w * place.h, variance = temporal->variance[0];
    const uint64_t texture = 256 * temporal->texture[place.block] / count;
    const uint64_t noise = 2 * count * variance;
    atomic_fetch_add(&temporal->allowed,
        (texture > noise ? texture - noise : 0) + count * (variance + sixteen_steps(temporal)));
}

static bool reaches_edge(const struct host *temporal, struct gpume_vector vector)
{
    return abs(vector.dx) >= (int)temporal->params.window_x * GPUME_TEMPORAL_UNITS ||
           abs(vector.dy) >= (int)temporal->params.window_y * GPUME_TEMPORAL_UNITS;
}

static void fit_block(
    struct host *temporal, struct prediction *prediction, uint32_t bx, uint32_t by)
{
    const size_t blocks = (size_t)temporal->blocks_x * temporal->blocks_y;
    bool fits = false;
    uint64_t unlike = 0;
    for (uint32_t p = 0; p < temporal->planes; p++) {
        struct place place;
        (void)find_place(temporal, &prediction->layers[p], bx, by, &place);
        const bool lit = correct_light(temporal, p, prediction, &place);
        if (p == 0) {
            const uint64_t sum = compare_block(temporal, prediction, &place);
            const uint64_t count = (uint64_t)place.w * place.h, variance = temporal->variance[0];
            fits = lit && !reaches_edge(temporal, prediction->vectors[place.block]) &&
                   256 * sum <= count * (FIT * variance + sixteen_steps(temporal));
            const uint64_t noise = 4 * count * variance;
            unlike = 256 * sum > noise ? 256 * sum - noise : 0;
        }
        prediction->rejected[p * blocks + place.block] = !fits || !lit;
    }
    atomic_fetch_add(&prediction->fitting, fits);
    atomic_fetch_add(&prediction->unlike, unlike);
}

static void fit_row(void *opaque, uint32_t by)
{
    struct host *temporal = opaque;
    for (uint32_t bx = 0; bx < temporal->blocks_x; bx++) {
        add_texture(temporal, bx, by);
    }
    for (uint32_t i = 0; i < 2 * temporal->params.radius; i++) {
        for (uint32_t bx = 0; bx < temporal->blocks_x && temporal->predictions[i].there; bx++) {
            fit_block(temporal, &temporal->predictions[i], bx, by);
        }
    }
}

/* --- the means */

/* Of the picture that is being filtered. */
static struct result *result_of(struct host *temporal)
{
    return &temporal->results[temporal->done % RESULTS];
}

static struct scratch *take_scratch(struct host *temporal)
{
    uint32_t i = 0;
    while (atomic_exchange(&temporal->scratches[i].taken, true)) {
        i = (i + 1) % temporal->scratch_count; /* one is free: there is one per thread */
    }
    return &temporal->scratches[i];
}

/* Moves the columns from the row above to row y; each is a sum over five rows. */
static void slide_to(const struct host *temporal, const struct layer *picture,
    const struct layer *prediction, int64_t y, int32_t *columns)
{
    const size_t in =
        (size_t)gpume_nearest(y + GPUME_LOOPS_REACH, picture->height) * picture->width;
    const size_t out =
        (size_t)gpume_nearest(y - GPUME_LOOPS_REACH - 1, picture->height) * picture->width;
    temporal->loops->slide(columns + GPUME_LOOPS_REACH, picture->samples + in,
        prediction->samples + in, picture->samples + out, prediction->samples + out, picture->width,
        temporal->shift);
}

/* S of the samples of a row; 0 in blocks that are not used and, before a filter within the picture,
 * where the match lies outside of it: samples there repeat the edge, so their noise is not
 * independent. */
static void find_gains(const struct host *temporal, uint32_t plane,
    const struct prediction *prediction, uint32_t y, uint16_t *gains)
{
    const struct layer *layer = &prediction->layers[plane];
    const int32_t width = (int32_t)layer->width, height = (int32_t)layer->height;
    const int32_t x_shift = 2 + (plane > 0 ? (int32_t)temporal->params.shift_x : 0);
    const int32_t y_shift = 2 + (plane > 0 ? (int32_t)temporal->params.shift_y : 0);
    const size_t row = (size_t)(y / layer->block_h) * temporal->blocks_x;
    const uint8_t *rejected =
        prediction->rejected + (size_t)plane * temporal->blocks_x * temporal->blocks_y + row;
    memset(gains, 0, layer->width * sizeof *gains);
    for (uint32_t bx = 0; bx < temporal->blocks_x; bx++) {
        const struct gpume_vector v = prediction->vectors[row + bx];
        const int32_t dx = v.dx >> x_shift, match_y = (int32_t)y + (v.dy >> y_shift);
        int32_t begin = (int32_t)(bx * layer->block_w), end = begin + (int32_t)layer->block_w;
        end = end < width ? end : width;
        if (temporal->spatial) {
            begin = begin < -dx ? -dx : begin;
            end = end > width - dx ? width - dx : end;
            end = match_y < 0 || match_y >= height ? begin : end;
        }
        for (int32_t x = begin; x < end && !rejected[bx]; x++) {
            gains[x] = (uint16_t)temporal->strengths[plane];
        }
    }
}

static void add_prediction(struct host *temporal, uint32_t plane,
    const struct prediction *prediction, uint32_t by, const struct scratch *scratch)
{
    const struct layer *picture = &picture_at(temporal, temporal->done)[plane];
    const struct layer *from = &prediction->layers[plane];
    const uint32_t width = picture->width, top = by * picture->block_h;
    const uint32_t end = gpume_min_u32(top + picture->block_h, picture->height);
    int32_t *columns = scratch->columns;
    /* The columns of the row above `top`: picture rows that are the same differ by nothing. */
    memset(columns, 0, (width + 2 * GPUME_LOOPS_REACH) * sizeof *columns);
    for (uint32_t i = 0; i < 2 * GPUME_LOOPS_REACH + 1; i++) {
        const size_t row =
            (size_t)gpume_nearest((int64_t)top - 1 - GPUME_LOOPS_REACH + i, picture->height) *
            width;
        temporal->loops->slide(columns + GPUME_LOOPS_REACH, picture->samples + row,
            from->samples + row, picture->samples, picture->samples, width, temporal->shift);
    }
    for (uint32_t y = top; y < end; y++) {
        const size_t at = (size_t)(y - top) * width;
        slide_to(temporal, picture, from, y, columns);
        if (y == top || temporal->spatial) { /* else alike in all rows of a block */
            find_gains(temporal, plane, prediction, y, scratch->gains);
        }
        for (uint32_t i = 0; i < GPUME_LOOPS_REACH; i++) {
            columns[i] = columns[GPUME_LOOPS_REACH];
            columns[GPUME_LOOPS_REACH + width + i] = columns[GPUME_LOOPS_REACH + width - 1];
        }
        temporal->loops->weigh(columns, from->samples + (size_t)y * width, scratch->gains, width,
            &temporal->curves[plane], scratch->sums + at, scratch->weights + at);
    }
}

static void average_plane(
    struct host *temporal, uint32_t plane, uint32_t by, const struct scratch *scratch)
{
    const struct layer *picture = &picture_at(temporal, temporal->done)[plane];
    const uint32_t top = by * picture->block_h;
    const size_t count =
        (size_t)gpume_min_u32(picture->block_h, picture->height - top) * picture->width;
    const uint16_t *samples = picture->samples + (size_t)top * picture->width;
    uint16_t *means = result_of(temporal)->means[plane].samples + (size_t)top * picture->width;
    if (temporal->curves[plane].scale == 0) {
        memcpy(means, samples, count * sizeof *means);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        scratch->sums[i] = GPUME_LOOPS_OWN * samples[i];
        scratch->weights[i] = GPUME_LOOPS_OWN;
    }
    for (uint32_t i = 0; i < 2 * temporal->params.radius; i++) {
        if (temporal->predictions[i].used) {
            add_prediction(temporal, plane, &temporal->predictions[i], by, scratch);
        }
    }
    if (!temporal->spatial) {
        temporal->loops->divide(scratch->sums, scratch->weights, means, (uint32_t)count);
        return;
    }
    for (size_t at = 0; at < count; at += picture->width) {
        gpume_spatial_put_row(&temporal->means[plane], top + (uint32_t)(at / picture->width),
            scratch->sums + at, scratch->weights + at);
    }
}

static void average_row(void *opaque, uint32_t by)
{
    struct host *temporal = opaque;
    struct scratch *scratch = take_scratch(temporal);
    for (uint32_t p = 0; p < temporal->planes; p++) {
        average_plane(temporal, p, by, scratch);
    }
    atomic_store(&scratch->taken, false);
}

/* --- within the picture */

static uint32_t strips_of(const struct layer *layer)
{
    return (uint32_t)gpume_div_up(layer->height, GPUME_SPATIAL_STRIP);
}

/* index: of a strip of any plane. */
static void filter_strip(void *opaque, uint32_t index)
{
    struct host *temporal = opaque;
    const struct layer *means = result_of(temporal)->means;
    uint32_t plane = 0;
    for (; index >= strips_of(&means[plane]); plane++) {
        index -= strips_of(&means[plane]);
    }
    if (temporal->curves[plane].scale > 0) {
        struct scratch *scratch = take_scratch(temporal);
        gpume_spatial_filter_strip(&temporal->means[plane], temporal->limits[plane],
            temporal->loops, &scratch->spatial, index * GPUME_SPATIAL_STRIP, means[plane].samples);
        atomic_store(&scratch->taken, false);
    }
}

static void filter_strips(struct host *temporal)
{
    uint32_t strips = 0;
    for (uint32_t p = 0; p < temporal->planes; p++) {
        strips += strips_of(&temporal->pictures[0][p]);
    }
    gpume_workers_run(temporal->workers, filter_strip, temporal, strips);
}

/* --- a picture */

static struct gpume_noise_area find_area(const struct host *temporal)
{
    const struct layer *luma = picture_at(temporal, temporal->done);
    const struct gpume_patch all = {
        luma->samples, luma->width, luma->height, 0, 0, luma->width, luma->height, temporal->shift};
    return gpume_noise_find_area(&all, temporal->params.bits);
}

/* Whether the luma of a block is measured. */
static bool is_in_area(const struct host *temporal, size_t block)
{
    const struct gpume_noise_area *area = &temporal->area;
    const uint32_t x = (uint32_t)(block % temporal->blocks_x) * BLOCK,
                   y = (uint32_t)(block / temporal->blocks_x) * BLOCK;
    return x >= area->left && x + BLOCK <= area->right && y >= area->top &&
           y + BLOCK <= area->bottom;
}

/* Gathers the values of blocks that are not flat, and decides the variance. */
static uint64_t measure_plane(struct host *temporal, uint32_t plane)
{
    const size_t blocks = (size_t)temporal->blocks_x * temporal->blocks_y;
    const struct layer *layer = &picture_at(temporal, temporal->done)[plane];
    const uint64_t samples = (uint64_t)layer->block_w * layer->block_h;
    struct gpume_noise_values *values = &temporal->values[plane];
    values->count = values->flat = 0;
    for (size_t i = plane * blocks; i < (plane + 1) * blocks; i++) {
        const uint64_t texture = 256 * temporal->texture[i] / (samples * samples);
        if (!is_in_area(temporal, i - plane * blocks) || temporal->residual[i] == UINT64_MAX) {
            continue;
        }
        if (texture == 0) {
            values->flat++;
        } else {
            values->textures[values->count] = texture;
            values->cells[values->count] = temporal->cell[i];
            values->residuals[values->count++] = temporal->residual[i];
        }
    }
    return gpume_noise_variance(values, temporal->params.bits);
}

/* scale 0: the plane is not changed. */
static struct gpume_loops_curve curve_of(uint64_t variance)
{
    const int32_t lo = (int32_t)(75 * variance >> 9), hi = (int32_t)(375 * variance >> 9);
    return (struct gpume_loops_curve){lo, hi, hi > lo ? (1 << 24) / (hi - lo) : 0};
}

static bool decide_curves(struct host *temporal, const struct gpume_temporal_choice *choice)
{
    bool any = false;
    for (uint32_t p = 0; p < temporal->planes; p++) {
        const uint32_t bits = temporal->params.bits;
        const uint64_t given = gpume_noise_of_sigma(choice->sigma, bits);
        const uint64_t found =
            choice->measure ? gpume_noise_or_given(measure_plane(temporal, p), given) : given;
        const uint64_t variance =
            gpume_noise_raise(found, gpume_noise_of_sigma(choice->least, bits));
        temporal->variance[p] = variance;
        temporal->curves[p] = curve_of(variance);
        if (variance > 0) {
            temporal->strengths[p] =
                (uint32_t)(choice->strength * (variance + found) / (2 * variance));
        }
        if (temporal->curves[p].scale > 0 && temporal->spatial) {
            gpume_spatial_find_limits(
                variance, choice->spatial, temporal->strengths[p], bits, temporal->limits[p]);
        }
        any = any || temporal->curves[p].scale > 0;
    }
    return any;
}

/* Whether a picture is of another scene than the one before it is known of the past, so only the
 * nearest picture has to be like this one there. Of the future each has to be. */
static bool is_open(const struct host *temporal, uint32_t i)
{
    const struct prediction *prediction = &temporal->predictions[i];
    const uint64_t blocks = (uint64_t)temporal->blocks_x * temporal->blocks_y;
    const bool past = i % 2 == 0;
    return prediction->there && 2 * (uint64_t)atomic_load(&prediction->fitting) >= blocks &&
           (past && i > 0
                   ? !temporal->begins[(prediction->reference + 1) % temporal->ring]
                   : 2 * atomic_load(&prediction->unlike) <= atomic_load(&temporal->allowed));
}

static uint32_t decide_references(struct host *temporal)
{
    bool open[2] = {true, true}; /* the past, the future */
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2 * temporal->params.radius; i++) {
        open[i % 2] = open[i % 2] && is_open(temporal, i);
        temporal->predictions[i].used = open[i % 2];
        count += open[i % 2];
    }
    temporal->begins[temporal->done % temporal->ring] = !temporal->predictions[0].used;
    return count;
}

static void give_bytes(struct host *temporal)
{
    struct result *result = result_of(temporal);
    for (uint32_t p = 0; p < temporal->planes && temporal->params.bits == 8; p++) {
        const struct layer *means = &result->means[p];
        for (size_t i = 0; i < (size_t)means->width * means->height; i++) {
            result->bytes[p][i] = (uint8_t)means->samples[i];
        }
    }
}

static int host_start(void *opaque, const struct gpume_temporal_choice *choice)
{
    struct host *temporal = opaque;
    const bool idle = choice->strength == 0 && choice->spatial == 0;
    temporal->measures = choice->measure && !idle;
    temporal->spatial = choice->spatial > 0;
    struct result *result = result_of(temporal);
    result->references = 0;
    for (uint32_t i = 0; i < PREDICTIONS_MAX; i++) {
        temporal->predictions[i].used = false;
        atomic_store(&temporal->predictions[i].fitting, 0);
        atomic_store(&temporal->predictions[i].unlike, 0);
    }
    memset(temporal->curves, 0, sizeof temporal->curves);
    memset(temporal->variance, 0, sizeof temporal->variance);
    atomic_store(&temporal->allowed, 0);
    if (!idle) {
        if (temporal->measures) {
            temporal->area = find_area(temporal);
        }
        gpume_workers_run(temporal->workers, look_at_row, temporal, temporal->blocks_y);
        const bool any = decide_curves(temporal, choice);
        gpume_workers_run(temporal->workers, fit_row, temporal, temporal->blocks_y);
        const uint32_t references = decide_references(temporal);
        result->references = any ? references : 0;
    }
    gpume_workers_run(temporal->workers, average_row, temporal, temporal->blocks_y);
    if (temporal->spatial) {
        filter_strips(temporal);
    }
    give_bytes(temporal);
    memcpy(result->variance, temporal->variance, sizeof result->variance);
    for (uint32_t i = 0; i < PREDICTIONS_MAX; i++) {
        temporal->predictions[i].there = false;
    }
    temporal->done++;
    return GPUME_OK;
}

static int host_take(void *opaque, struct gpume_temporal_picture *picture)
{
    struct host *temporal = opaque;
    const struct result *result = &temporal->results[temporal->taken++ % RESULTS];
    *picture =
        (struct gpume_temporal_picture){.planes = result->planes, .references = result->references};
    memcpy(picture->variance, result->variance, sizeof picture->variance);
    return GPUME_OK;
}

const struct gpume_temporal_ops gpume_temporal_host = {
    .ahead = 1,
    .open = host_open,
    .prepare = host_prepare,
    .begin = host_begin,
    .put = host_put,
    .repeats = host_repeats,
    .add = host_add,
    .start = host_start,
    .take = host_take,
    .close = host_close,
};
