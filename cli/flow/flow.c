/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume flow: a vector for every pixel of every frame pair of a video, or of two pictures, as .flo
 * files. A frame is sent to the engine once for each grid of blocks, padded so that the grid is
 * shifted; each copy is searched in that of the frame before or after.
 *
 * The arithmetic is that of python/gpume/_dense.py: doubles in a fixed order of evaluation, without
 * fused operations and without functions whose last digit differs between C libraries, so that all
 * machines and numbers of threads give the same bytes. The main thread shares rows and strips of
 * columns with others.
 */
#include "base/base.h"
#include "base/os.h"
#include "base/workers.h"
#include "console.h"
#include "files/bytes.h"
#include "files/path.h"
#include "host.h"
#include "job.h"
#include "options/option.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As gpume-flow(1) has them, on the scale of 8 bits. */
#define ERROR 2.0    /* mean absolute error in 5x5 pixels at which a weight falls to 1/e */
#define LEAST 1e-4   /* of that factor, so that sums of weights lose nothing in rounding */
#define OUTSIDE 0.01 /* of the weight of a vector that leads out of the reference */
#define SPREAD 0.2   /* squared pixels: how far vectors differ where those of a pixel count half */
#define WIDE 11      /* side of the boxes that smooth vectors */
#define NEAR 5       /* side of those that measure errors: around the vectors of blocks, */
#define FAR 9        /* and around a smooth one */
#define WORSE 1.1    /* the smooth vector may predict worse by this factor */
#define WORSE_BY 0.5 /* and this much more */
#define MARGIN 4     /* pixels from the reference's edge where prediction decides nothing */
#define STEPS 2      /* of refinement */
#define REACH 9      /* side of their boxes */
#define MOST 0.5     /* pixels per step */
#define STIFFNESS 20.0 /* squared samples per pixel, added to those of slopes */

#define VECTOR_UNITS 1024 /* vectors are multiples of 1/1024 pixel */

/* Planes of doubles; which holds what changes on the way. */
#define PLANES 8u

/* The caller sets the first members. */
struct dense {
    uint32_t width, height, bits;
    uint32_t block;           /* side of the squares */
    struct gpume_bands bands; /* threads */

    float *given, *wanted; /* reference and target, on the scale of 8 bits: exact */
    double *planes[PLANES];
};

/* What a plane holds. From one line to the next its use changes. */
enum {
    U, /* sums of weights times vectors, then the flow */
    V,
    TRUST,    /* sums of weights, then how far to trust the flow */
    SMOOTH_U, /* sums of weights times squared lengths, then the smooth flow */
    SMOOTH_V,
    ERRORS,
    SMOOTH_ERRORS,
    XX = TRUST, /* of a step: products of slopes and of what is missing */
    XY,
    YY,
    XM,
    YM,
    PREDICTED,
};
_Static_assert(PREDICTED + 1 == PLANES, "all planes have a use");

static bool dense_init(struct dense *dense)
{
    const size_t pixels = (size_t)dense->width * dense->height;
    dense->given = malloc(pixels * sizeof(float));
    dense->wanted = malloc(pixels * sizeof(float));
    bool made = dense->given && dense->wanted;
    for (uint32_t i = 0; i < PLANES; i++) {
        dense->planes[i] = malloc(pixels * sizeof(double));
        made = made && dense->planes[i];
    }
    return made;
}

static void dense_finish(struct dense *dense)
{
    free(dense->given);
    free(dense->wanted);
    for (uint32_t i = 0; i < PLANES; i++) {
        free(dense->planes[i]);
    }
    gpume_bands_finish(&dense->bands);
}

static double *row_of(const struct dense *dense, uint32_t plane, uint32_t y)
{
    return dense->planes[plane] + (size_t)y * dense->width;
}

/* For every row of the picture. */
static void run_rows(struct dense *dense, gpume_band_fn fn, void *opaque)
{
    gpume_bands_run(&dense->bands, dense->height, 8 * sizeof(double) * dense->width, fn, opaque);
}

/* Whether a vector leads to where the reference's edge is nearer than this, or out of it. */
static bool leads_out(
    const struct dense *dense, uint32_t x, uint32_t y, double u, double v, int margin)
{
    const double to_x = x + u, to_y = y + v;
    return to_x < margin || to_y < margin || to_x > (double)dense->width - 1 - margin ||
           to_y > (double)dense->height - 1 - margin;
}

/* --- boxes: sums of side x side values, with zeros around, several times over
 *
 * Sums along rows and sums along columns may change their order, so all of the rows come first.
 */

#define LANES 16u /* lines that are summed side by side: columns of two cache lines */
#define HALF_MAX (WIDE / 2)

struct boxes {
    struct dense *dense;
    uint32_t plane, side, times;
};

/* Sums `lanes` lines, which are `apart`, of `count` values, which are `step` apart, in place. A sum
 * follows from the one before by a value that enters and one that leaves; `old` keeps the values
 * that have been replaced and have yet to leave. */
static inline void sum_lines(
    double *values, uint32_t count, size_t step, uint32_t half, uint32_t lanes, size_t apart)
{
    double sums[LANES] = {0}, old[HALF_MAX + 1][LANES] = {{0}};
    for (uint32_t i = 0; i < half && i < count; i++) {
        for (uint32_t k = 0; k < lanes; k++) {
            sums[k] += values[i * step + k * apart];
        }
    }
    for (uint32_t i = 0, at = 0; i < count; i++, at = at == half ? 0 : at + 1) {
        double *value = values + i * step;
        const double *entering = i + half < count ? value + half * step : NULL;
        for (uint32_t k = 0; k < lanes; k++) {
            sums[k] += (entering ? entering[k * apart] : 0) - old[at][k];
            old[at][k] = value[k * apart];
            value[k * apart] = sums[k];
        }
    }
}

static void sum_rows(void *opaque, uint32_t begin, uint32_t end)
{
    const struct boxes *boxes = opaque;
    const uint32_t width = boxes->dense->width, at_once = 4;
    for (uint32_t y = begin; y < end; y += at_once) {
        for (uint32_t i = 0; i < boxes->times; i++) {
            sum_lines(row_of(boxes->dense, boxes->plane, y), width, 1, boxes->side / 2,
                gpume_min_u32(at_once, end - y), width);
        }
    }
}

static void sum_strips(void *opaque, uint32_t begin, uint32_t end)
{
    const struct boxes *boxes = opaque;
    const struct dense *dense = boxes->dense;
    for (uint32_t strip = begin; strip < end; strip++) {
        double *values = row_of(dense, boxes->plane, 0) + (size_t)strip * LANES;
        const uint32_t lanes = gpume_min_u32(LANES, dense->width - strip * LANES);
        for (uint32_t i = 0; i < boxes->times; i++) {
            if (lanes == LANES) { /* a constant, for vector code */
                sum_lines(values, dense->height, dense->width, boxes->side / 2, LANES, 1);
            } else {
                sum_lines(values, dense->height, dense->width, boxes->side / 2, lanes, 1);
            }
        }
    }
}

static void sum_boxes(struct dense *dense, uint32_t plane, uint32_t side, uint32_t times)
{
    struct boxes boxes = {dense, plane, side, times};
    run_rows(dense, sum_rows, &boxes);
    gpume_bands_run(&dense->bands, (uint32_t)gpume_div_up(dense->width, LANES),
        LANES * sizeof(double) * dense->height, sum_strips, &boxes);
}

/* How many pixels of a box there are along an axis of `length` pixels. */
static uint32_t in_box(uint32_t at, uint32_t length, uint32_t side)
{
    return 1 + gpume_min_u32(at, side / 2) + gpume_min_u32(length - 1 - at, side / 2);
}

/* --- the mean of the vectors of all blocks on a pixel */

static void take_samples(float *to, const struct gpume_plane *plane)
{
    const float scale = 1.0f / (float)(1u << (plane->bits - 8));
    for (uint32_t y = 0; y < plane->height; y++) {
        const uint8_t *row = gpume_plane_row(plane, y);
        const uint16_t *wide = (const uint16_t *)(const void *)row;
        for (uint32_t x = 0; x < plane->width; x++) {
            *to++ = plane->bits > 8 ? (float)wide[x] * scale : (float)row[x];
        }
    }
}

static void begin_pair(
    struct dense *dense, const struct gpume_plane *reference, const struct gpume_plane *target)
{
    static const uint32_t summed[] = {U, V, TRUST, SMOOTH_U};
    take_samples(dense->given, reference);
    take_samples(dense->wanted, target);
    for (size_t i = 0; i < sizeof(summed) / sizeof(summed[0]); i++) {
        memset(
            row_of(dense, summed[i], 0), 0, (size_t)dense->width * dense->height * sizeof(double));
    }
}

struct flow_grid {
    struct dense *dense;
    const struct gpume_field *field;
    uint32_t x, y; /* of the picture in the padded one */
};

static void take_errors(void *opaque, uint32_t begin, uint32_t end)
{
    const struct flow_grid *grid = opaque;
    const struct dense *dense = grid->dense;
    const struct gpume_plane *predicted = &grid->field->predicted;
    const double scale = 1.0 / (1u << (dense->bits - 8));
    for (uint32_t y = begin; y < end; y++) {
        double *errors = row_of(dense, ERRORS, y);
        const float *wanted = dense->wanted + (size_t)y * dense->width;
        const uint8_t *row = gpume_plane_row(predicted, y + grid->y);
        const uint16_t *wide = (const uint16_t *)(const void *)row;
        for (uint32_t x = 0; x < dense->width; x++) {
            const uint32_t sample = dense->bits > 8 ? wide[x + grid->x] : row[x + grid->x];
            errors[x] = fabs(wanted[x] - sample * scale);
        }
    }
}

/* exp(-x) for x from 0, but LEAST where that is less: factors of e to the -1/8 and -1/32, and six
 * terms of the series, which leaves an error below 10^-11. */
static double falling(double x)
{
    const double eighth = 0.8824969025845955, fine = 0.96923323447634413;
    if (x > 9.3) { /* exp(-9.3) < LEAST */
        return LEAST;
    }
    const int steps = (int)(x * 32);
    const double r = x - steps / 32.0;
    double value = 1 - r * (1 - r / 2 * (1 - r / 3 * (1 - r / 4 * (1 - r / 5))));
    for (int i = steps % 4; i > 0; i--) {
        value *= fine;
    }
    for (int i = steps / 4; i > 0; i--) {
        value *= eighth;
    }
    return value > LEAST ? value : LEAST;
}

/* Where a pixel lies in its block: from 1/2 at the edge to the middle. */
static double rise_of(uint32_t at, uint32_t block)
{
    at %= block;
    return gpume_min_u32(at, block - 1 - at) + 0.5;
}

static void add_vectors(void *opaque, uint32_t begin, uint32_t end)
{
    const struct flow_grid *grid = opaque;
    const struct dense *dense = grid->dense;
    const uint32_t block = dense->block;
    const struct gpume_layer *layer = grid->field->layers[0];
    const double units = grid->field->vector_units;
    for (uint32_t y = begin; y < end; y++) {
        const double rise = rise_of(y + grid->y, block);
        const double tall = in_box(y, dense->height, NEAR);
        const double *errors = row_of(dense, ERRORS, y);
        const struct gpume_vector *vectors =
            layer->vectors + (size_t)((y + grid->y) / block) * layer->blocks_x;
        double *u = row_of(dense, U, y), *v = row_of(dense, V, y);
        double *squares = row_of(dense, SMOOTH_U, y), *total = row_of(dense, TRUST, y);
        for (uint32_t x = 0; x < dense->width; x++) {
            const struct gpume_vector vector = vectors[(x + grid->x) / block];
            const double dx = vector.dx / units, dy = vector.dy / units;
            const double error = errors[x] / (tall * in_box(x, dense->width, NEAR));
            double weight = rise * rise_of(x + grid->x, block) * falling(error / ERROR);
            weight *= leads_out(dense, x, y, dx, dy, 0) ? OUTSIDE : 1;
            u[x] += weight * dx;
            v[x] += weight * dy;
            squares[x] += weight * (dx * dx + dy * dy);
            total[x] += weight;
        }
    }
}

static void add_grid(struct dense *dense, const struct gpume_field *field, uint32_t x, uint32_t y)
{
    struct flow_grid grid = {dense, field, x, y};
    run_rows(dense, take_errors, &grid);
    sum_boxes(dense, ERRORS, NEAR, 1);
    run_rows(dense, add_vectors, &grid);
}

static void divide_sums(void *opaque, uint32_t begin, uint32_t end)
{
    const struct dense *dense = opaque;
    const size_t first = (size_t)begin * dense->width, last = (size_t)end * dense->width;
    double *u = dense->planes[U], *v = dense->planes[V], *trust = dense->planes[TRUST];
    double *smooth_u = dense->planes[SMOOTH_U], *smooth_v = dense->planes[SMOOTH_V];
    for (size_t i = first; i < last; i++) {
        u[i] /= trust[i];
        v[i] /= trust[i];
        const double spread = smooth_u[i] / trust[i] - (u[i] * u[i] + v[i] * v[i]);
        trust[i] /= SPREAD + (spread > 0 ? spread : 0);
        smooth_u[i] = u[i] * trust[i];
        smooth_v[i] = v[i] * trust[i];
    }
}

/* --- predictions */

/* The samples between which a place lies, and their weights. */
struct taps {
    uint32_t at[4];
    double weights[4];
};

static uint32_t nearest_of(int32_t at, uint32_t length)
{
    return at < 0 ? 0 : gpume_min_u32((uint32_t)at, length - 1);
}

/* cubic: four samples (Keys, 1981, a = -1/2); otherwise two. */
static inline struct taps taps_at(double place, uint32_t length, bool cubic)
{
    struct taps taps;
    int32_t whole = (int32_t)place;
    whole -= whole > place;
    const double t = place - whole;
    if (cubic) {
        taps.weights[0] = ((2 - t) * t - 1) * t / 2;
        taps.weights[1] = ((3 * t - 5) * t * t + 2) / 2;
        taps.weights[2] = ((4 - 3 * t) * t + 1) * t / 2;
        taps.weights[3] = (t - 1) * t * t / 2;
    } else {
        taps.weights[0] = 1 - t;
        taps.weights[1] = t;
    }
    for (int32_t i = 0; i < (cubic ? 4 : 2); i++) {
        taps.at[i] = nearest_of(whole + i - cubic, length);
    }
    return taps;
}

/* The pixel as the vector predicts it. */
static inline double predict_pixel(
    const struct dense *dense, uint32_t x, uint32_t y, double u, double v, bool cubic)
{
    const uint32_t count = cubic ? 4 : 2;
    const struct taps across = taps_at(x + u, dense->width, cubic);
    const struct taps down = taps_at(y + v, dense->height, cubic);
    double sum = 0;
    for (uint32_t j = 0; j < count; j++) {
        const float *row = dense->given + (size_t)down.at[j] * dense->width;
        double line = 0;
        for (uint32_t i = 0; i < count; i++) {
            line += across.weights[i] * row[across.at[i]];
        }
        sum += down.weights[j] * line;
    }
    return sum;
}

/* --- the smooth flow */

/* Errors of the flow, and of the smooth one, whose sums it divides. */
static void compare_flows(void *opaque, uint32_t begin, uint32_t end)
{
    const struct dense *dense = opaque;
    for (uint32_t y = begin; y < end; y++) {
        const float *wanted = dense->wanted + (size_t)y * dense->width;
        const double *u = row_of(dense, U, y), *v = row_of(dense, V, y);
        const double *trust = row_of(dense, TRUST, y);
        double *smooth_u = row_of(dense, SMOOTH_U, y), *smooth_v = row_of(dense, SMOOTH_V, y);
        double *errors = row_of(dense, ERRORS, y);
        double *smooth_errors = row_of(dense, SMOOTH_ERRORS, y);
        for (uint32_t x = 0; x < dense->width; x++) {
            smooth_u[x] /= trust[x];
            smooth_v[x] /= trust[x];
            errors[x] = fabs(predict_pixel(dense, x, y, u[x], v[x], false) - wanted[x]);
            smooth_errors[x] =
                fabs(predict_pixel(dense, x, y, smooth_u[x], smooth_v[x], false) - wanted[x]);
        }
    }
}

static void choose_smooth(void *opaque, uint32_t begin, uint32_t end)
{
    const struct dense *dense = opaque;
    for (uint32_t y = begin; y < end; y++) {
        const double tall = in_box(y, dense->height, FAR);
        double *u = row_of(dense, U, y), *v = row_of(dense, V, y);
        const double *smooth_u = row_of(dense, SMOOTH_U, y), *smooth_v = row_of(dense, SMOOTH_V, y);
        const double *errors = row_of(dense, ERRORS, y);
        const double *smooth_errors = row_of(dense, SMOOTH_ERRORS, y);
        for (uint32_t x = 0; x < dense->width; x++) {
            const double pixels = tall * in_box(x, dense->width, FAR);
            if (smooth_errors[x] / pixels <= errors[x] / pixels * WORSE + WORSE_BY ||
                leads_out(dense, x, y, smooth_u[x], smooth_v[x], MARGIN)) {
                u[x] = smooth_u[x];
                v[x] = smooth_v[x];
            }
        }
    }
}

/* --- refinement: a step of Lucas and Kanade's method, where the reference says something */

static void predict_rows(void *opaque, uint32_t begin, uint32_t end)
{
    const struct dense *dense = opaque;
    for (uint32_t y = begin; y < end; y++) {
        const double *u = row_of(dense, U, y), *v = row_of(dense, V, y);
        double *predicted = row_of(dense, PREDICTED, y);
        for (uint32_t x = 0; x < dense->width; x++) {
            predicted[x] = predict_pixel(dense, x, y, u[x], v[x], true);
        }
    }
}

/* The mean of the prediction and the target. */
static double both_at(const struct dense *dense, uint32_t x, uint32_t y)
{
    return (row_of(dense, PREDICTED, y)[x] + dense->wanted[(size_t)y * dense->width + x]) / 2;
}

static void multiply_slopes(void *opaque, uint32_t begin, uint32_t end)
{
    const struct dense *dense = opaque;
    for (uint32_t y = begin; y < end; y++) {
        const uint32_t above = y > 0 ? y - 1 : 0, below = gpume_min_u32(y + 1, dense->height - 1);
        const double *predicted = row_of(dense, PREDICTED, y);
        const float *wanted = dense->wanted + (size_t)y * dense->width;
        for (uint32_t x = 0; x < dense->width; x++) {
            const uint32_t left = x > 0 ? x - 1 : 0, right = gpume_min_u32(x + 1, dense->width - 1);
            const double across = (both_at(dense, right, y) - both_at(dense, left, y)) / 2;
            const double down = (both_at(dense, x, below) - both_at(dense, x, above)) / 2;
            const double missing = wanted[x] - predicted[x];
            row_of(dense, XX, y)[x] = across * across;
            row_of(dense, XY, y)[x] = across * down;
            row_of(dense, YY, y)[x] = down * down;
            row_of(dense, XM, y)[x] = across * missing;
            row_of(dense, YM, y)[x] = down * missing;
        }
    }
}

static double clip_step(double step)
{
    return step < -MOST ? -MOST : step > MOST ? MOST : step;
}

static void take_step(void *opaque, uint32_t begin, uint32_t end)
{
    const struct dense *dense = opaque;
    const double all = (double)(REACH * REACH) * (REACH * REACH) * (REACH * REACH);
    for (uint32_t y = begin; y < end; y++) {
        double *u = row_of(dense, U, y), *v = row_of(dense, V, y);
        for (uint32_t x = 0; x < dense->width; x++) {
            const double xx = row_of(dense, XX, y)[x] / all + STIFFNESS;
            const double xy = row_of(dense, XY, y)[x] / all;
            const double yy = row_of(dense, YY, y)[x] / all + STIFFNESS;
            const double xm = row_of(dense, XM, y)[x] / all, ym = row_of(dense, YM, y)[x] / all;
            const double determinant = xx * yy - xy * xy;
            if (!leads_out(dense, x, y, u[x], v[x], MARGIN)) {
                u[x] += clip_step((yy * xm - xy * ym) / determinant);
                v[x] += clip_step((xx * ym - xy * xm) / determinant);
            }
        }
    }
}

/* Not to -0. */
static double round_vector(double pixels)
{
    return rint(pixels * VECTOR_UNITS) / VECTOR_UNITS + 0.0;
}

static void round_flow(void *opaque, uint32_t begin, uint32_t end)
{
    const struct dense *dense = opaque;
    for (size_t i = (size_t)begin * dense->width; i < (size_t)end * dense->width; i++) {
        dense->planes[U][i] = round_vector(dense->planes[U][i]);
        dense->planes[V][i] = round_vector(dense->planes[V][i]);
    }
}

static void complete_flow(struct dense *dense, const double **u, const double **v)
{
    run_rows(dense, divide_sums, dense);
    sum_boxes(dense, SMOOTH_U, WIDE, 3);
    sum_boxes(dense, SMOOTH_V, WIDE, 3);
    sum_boxes(dense, TRUST, WIDE, 3);
    run_rows(dense, compare_flows, dense);
    sum_boxes(dense, ERRORS, FAR, 1);
    sum_boxes(dense, SMOOTH_ERRORS, FAR, 1);
    run_rows(dense, choose_smooth, dense);
    for (uint32_t i = 0; i < STEPS; i++) {
        run_rows(dense, predict_rows, dense);
        run_rows(dense, multiply_slopes, dense);
        for (uint32_t plane = XX; plane <= YM; plane++) {
            sum_boxes(dense, plane, REACH, 3);
        }
        run_rows(dense, take_step, dense);
    }
    run_rows(dense, round_flow, dense);
    *u = dense->planes[U];
    *v = dense->planes[V];
}

#define GRIDS_MAX 16u /* the engine keeps as many copies of a frame */
#define HEAD_BYTES 12u
#define PIXEL_BYTES 8u
#define MAGIC "PIEH" /* 202021.25 as a float */

struct flow_options {
    struct gpume_video_options video;
    struct gpume_frame_range range;
    uint32_t block, window, step; /* step 0: half of the block */
    enum gpume_direction direction;
};

struct flow {
    struct gpume_cli_job job;
    const struct flow_options *options;
    struct gpume_params params; /* of the search, of padded frames */
    struct dense dense;
    uint32_t step, across, grids; /* grids on each axis, and in all */
    struct gpume_plane previous;  /* the frame before the newest; without data: none */
    bool numbered;                /* one file per frame pair */
    struct gpume_out *claim;      /* of them; NULL: they may be shared */
    unsigned char *line;          /* a row of a file */
    bool several;                 /* frame pairs for one file */
    uint64_t pairs;
    double length_sum; /* of all vectors, pixels */
};

/* --- the job: opening */

static int check_flow_name(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    (void)shape;
    GPUME_CHECK(gpume_text_check_named(path, "output", ".flo", log));
    return gpume_pattern_kind(path) == GPUME_PATTERN_WRONG
               ? gpume_refuse(GPUME_INVALID,
                     "--output %s: must have at most two numbers such as %%04d, both in its last "
                     "part",
                     path)
               : GPUME_OK;
}

static const struct gpume_sink_ops flow_ops = {
    .name = "flow", .check = check_flow_name, .is_series = gpume_pattern_is_numbered};

static enum gpume_exit plan_flow(void *client)
{
    struct flow *flow = client;
    const enum gpume_exit result = gpume_job_find_range(&flow->job, &flow->options->range);
    return result ? result
                  : gpume_exit_of_writer(gpume_job_add(&flow->job, &flow_ops, flow->job.output));
}

static void describe_flow_search(struct flow *flow)
{
    const struct gpume_source_info *info = &flow->job.info;
    const uint32_t block = flow->options->block;
    struct gpume_params *params = &flow->params;
    flow->step = flow->options->step > 0 ? flow->options->step : block / 2;
    flow->across = block / flow->step;
    flow->grids = flow->across * flow->across;
    *params = flow->options->video.params;
    params->width = info->width + block;
    params->height = info->height + block;
    params->bits = info->bits;
    params->subpel = 4;
    params->block = block;
    params->window_x = params->window_y = flow->options->window;
    params->direction = GPUME_DIRECTION_MANUAL;
    params->ref_distance = 2 * flow->grids - 1; /* from a frame's last copy to another's first */
    params->want_predicted = true;
    params->cache_dir = gpume_host_cache_folder();
    params->log = gpume_library_log;
}

static enum gpume_exit prepare_flow(void *client)
{
    struct flow *flow = client;
    const struct gpume_source_info *info = &flow->job.info;
    describe_flow_search(flow);
    if (info->interlaced) {
        gpume_console_warning("%s: is interlaced, and flow is found between whole frames of two "
                              "fields; --vf bwdif=send_frame deinterlaces it",
            info->label);
    }
    flow->dense = (struct dense){.width = info->width,
        .height = info->height,
        .bits = info->bits,
        .block = flow->options->block,
        .bands = {
            .threads = flow->params.threads > 0 ? flow->params.threads : gpume_os_processors()}};
    flow->line = malloc((size_t)info->width * PIXEL_BYTES);
    if (!dense_init(&flow->dense) || !flow->line) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory for its flow", info->label);
    }
    return gpume_job_open_engine(&flow->job, &flow->params);
}

static enum gpume_exit open_flow(void *client)
{
    struct flow *flow = client;
    struct gpume_cli_job *job = &flow->job;
    const char *path = job->outputs[0].path;
    flow->numbered = gpume_pattern_is_numbered(path);
    return flow->numbered ? gpume_exit_of_writer(
                                gpume_out_open_claim(&flow->claim, &job->set, path, &gpume_console))
                          : gpume_job_open_output(job, 0);
}

/* --- the search */

/* Copies a row, with its first sample before it and its last one behind it. */
static void pad_samples(
    void *to, const void *from, uint32_t width, uint32_t before, uint32_t after, size_t bytes)
{
    unsigned char *at = to;
    const unsigned char *last = (const unsigned char *)from + (width - 1) * bytes;
    for (uint32_t i = 0; i < before; i++, at += bytes) {
        memcpy(at, from, bytes);
    }
    memcpy(at, from, width * bytes);
    at += width * bytes;
    for (uint32_t i = 0; i < after; i++, at += bytes) {
        memcpy(at, last, bytes);
    }
}

static int send_padded(struct flow *flow, const struct gpume_plane *plane, uint32_t x, uint32_t y)
{
    gpume_frame *frame = NULL;
    struct gpume_plane to;
    const size_t bytes = plane->bits > 8 ? 2 : 1;
    int status;
    GPUME_TRY(gpume_frame_acquire(flow->job.ctx, &frame, &to, GPUME_WAIT));
    for (uint32_t row = 0; row < to.height; row++) {
        const uint32_t from = row < y ? 0 : row - y < plane->height ? row - y : plane->height - 1;
        pad_samples(gpume_plane_row(&to, row), gpume_plane_row(plane, from), plane->width, x,
            to.width - plane->width - x, bytes);
    }
    GPUME_TRY(gpume_send(flow->job.ctx, &frame, 0));
fail:
    return status;
}

static int send_grids(struct flow *flow, const struct gpume_plane *plane)
{
    int status = GPUME_OK;
    for (uint32_t i = 0; i < flow->grids && status == GPUME_OK; i++) {
        status =
            send_padded(flow, plane, i % flow->across * flow->step, i / flow->across * flow->step);
    }
    return status;
}

/* Searches the newest frame in the one before, or the other way round, on all grids. */
static int search_grids(struct flow *flow)
{
    const bool future = flow->options->direction == GPUME_DIRECTION_FUTURE;
    const uint64_t newest = (flow->job.frames - 1) * flow->grids, before = newest - flow->grids;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < flow->grids && status == GPUME_OK; i++) {
        const struct gpume_task task = {.size = sizeof(task),
            .target = (future ? before : newest) + i,
            .reference = (future ? newest : before) + i};
        GPUME_TRY(gpume_search(flow->job.ctx, &task));
    }
    for (uint32_t i = 0; i < flow->grids; i++) {
        const struct gpume_field *field = NULL;
        GPUME_TRY(gpume_receive(flow->job.ctx, &field, GPUME_WAIT));
        add_grid(&flow->dense, field, i % flow->across * flow->step, i / flow->across * flow->step);
        gpume_field_release(&field);
    }
fail:
    return status;
}

/* --- files */

static int write_pixels(struct flow *flow, struct gpume_out *out)
{
    unsigned char head[HEAD_BYTES];
    const struct dense *dense = &flow->dense;
    const double *u, *v;
    memcpy(head, MAGIC, 4);
    (void)gpume_le_put32(gpume_le_put32(head + 4, dense->width), dense->height);
    complete_flow(&flow->dense, &u, &v);
    int status = gpume_out_write(out, head, sizeof(head));
    for (uint32_t y = 0; y < dense->height && status == GPUME_OK; y++) {
        unsigned char *at = flow->line;
        for (uint32_t x = 0; x < dense->width; x++, u++, v++) {
            at = gpume_le_put_float(gpume_le_put_float(at, (float)*u), (float)*v);
            flow->length_sum += sqrt(*u * *u + *v * *v);
        }
        status = gpume_out_write(out, flow->line, (size_t)dense->width * PIXEL_BYTES);
    }
    return status;
}

/* The files of the frame pairs so far have their names, and stay. */
static void say_where_to_go_on(const struct flow *flow)
{
    const uint64_t most = flow->job.frames_max;
    char text[192], frames[40] = "", rest[128] = "";
    if (most > 0) {
        snprintf(frames, sizeof(frames), " --frames %" PRIu64, most - flow->pairs);
    }
    if (most != flow->pairs + 1) {
        snprintf(rest, sizeof(rest), "; to go on, add --start %" PRIu64 "%s -y%s",
            flow->job.skip + flow->pairs, frames,
            flow->options->range.duration_us > 0 ? ", without --duration" : "");
    }
    snprintf(text, sizeof(text), "the files of %" PRIu64 " frame pair%s are complete%s",
        flow->pairs, gpume_plural(flow->pairs), rest);
    gpume_signals_set_left(text);
}

/* Frames are counted from --start. */
static int write_flow(struct flow *flow, uint64_t frame, uint64_t ref)
{
    struct gpume_cli_job *job = &flow->job;
    const char *path = job->outputs[0].path;
    struct gpume_out *one = NULL;
    char *name = NULL;
    int status = GPUME_OK;
    if (!flow->numbered) {
        return write_pixels(flow, job->outputs[0].out);
    }
    name = gpume_pattern_name_pair(
        path, (struct gpume_pattern_numbers){job->skip + frame, job->skip + ref});
    GPUME_TRY(name ? gpume_out_open_one(&one, &job->set, name, &gpume_console)
                   : gpume_log_nomem(&gpume_console, path));
    GPUME_TRY(write_pixels(flow, one));
    GPUME_TRY(gpume_out_finish(one));
fail:
    gpume_out_close(&one);
    free(name);
    return status;
}

static int take_flow_frame(void *client, const struct gpume_plane *plane, int64_t time_us)
{
    struct flow *flow = client;
    const bool future = flow->options->direction == GPUME_DIRECTION_FUTURE;
    int status;
    (void)time_us;
    GPUME_TRY(send_grids(flow, plane));
    if (flow->previous.data) {
        const uint64_t newest = flow->job.frames - 1;
        flow->several = !flow->numbered && flow->pairs > 0;
        if (flow->several) {
            return gpume_refuse(GPUME_INVALID,
                "--output %s: is one file, but %s has several frame pairs; name a pattern such as "
                "flow%%04d.flo, or add --frames 2",
                flow->job.outputs[0].path, flow->job.info.label);
        }
        begin_pair(
            &flow->dense, future ? plane : &flow->previous, future ? &flow->previous : plane);
        GPUME_TRY(search_grids(flow));
        GPUME_TRY(write_flow(flow, future ? newest - 1 : newest, future ? newest : newest - 1));
        flow->pairs++;
        if (flow->numbered) {
            say_where_to_go_on(flow);
        }
    }
    flow->previous = *plane; /* is valid for three more frames */
fail:
    return status;
}

static enum gpume_exit finish_flow(void *client)
{
    const struct flow *flow = client;
    const struct gpume_cli_job *job = &flow->job;
    char start[48] = "";
    if (flow->pairs > 0) {
        return GPUME_EXIT_DONE;
    }
    if (flow->options->range.duration_us > 0 && job->frames == job->frames_max) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: no two frames lie within --duration; give a longer one", job->info.label);
    }
    if (job->skip > 0) {
        snprintf(start, sizeof(start), ", --start %" PRIu64, job->skip);
    }
    return gpume_refuse_short_source(&job->info, flow->options->video.source.filter,
        job->skip + job->frames, job->skip + 2, start);
}

static enum gpume_exit abandon_flow(void *client, enum gpume_exit result)
{
    const struct flow *flow = client;
    return flow->several ? GPUME_EXIT_USAGE : gpume_job_result(result);
}

static enum gpume_exit conclude_flow(void *client, FILE *stream)
{
    const struct flow *flow = client;
    const double pixels = (double)flow->dense.width * flow->dense.height;
    if (stream) {
        fprintf(stream,
            "flow         %" PRIu64 " frame pair%s of %" PRIu32 "x%" PRIu32
            ", %.3f pixels on average\n",
            flow->pairs, gpume_plural(flow->pairs), flow->dense.width, flow->dense.height,
            flow->length_sum / pixels / (double)flow->pairs);
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit run_flow(const void *opaque)
{
    static const struct gpume_job_work work = {.plan = plan_flow,
        .prepare = prepare_flow,
        .open = open_flow,
        .take = take_flow_frame,
        .finish = finish_flow,
        .conclude = conclude_flow,
        .abandon = abandon_flow};
    const struct flow_options *options = opaque;
    struct flow flow = {.options = options, .job = gpume_job_of(&options->video)};
    const enum gpume_exit result = gpume_job_run(&flow.job, &work, &flow);
    gpume_out_close(&flow.claim);
    gpume_job_close(&flow.job);
    dense_finish(&flow.dense);
    free(flow.line);
    return result;
}

/* --- options */

/* Which steps there are is checked when the block is known. */
static const struct gpume_option_type gpume_type_step = {.parse = gpume_type_number_parse,
    .permitted = "the side of a block in pixels, a half or a quarter of it, e.g. 4"};

static void set_flow_defaults(void *opaque)
{
    struct flow_options *options = opaque;
    gpume_video_options_default(&options->video);
    options->block = options->window = 16;
    options->direction = GPUME_DIRECTION_PAST;
}

static int check_flow(void *opaque, const struct gpume_line *line)
{
    const struct flow_options *options = opaque;
    const uint32_t block = options->block, step = options->step > 0 ? options->step : block / 2;
    if (!options->video.output) {
        return gpume_refuse(
            GPUME_INVALID, "give -o, a pattern for one file per frame pair, such as flow%%04d.flo");
    }
    if (options->video.frames == 1) {
        return gpume_refuse(GPUME_INVALID, "--frames 1: a frame pair needs two; give 2 or more");
    }
    const uint32_t across = block % step == 0 ? block / step : 0;
    if (across != 1 && across != 2 && across != 4) {
        return gpume_refuse(GPUME_INVALID,
            "--step %" PRIu32 ": must be %" PRIu32 ", %" PRIu32 " or %" PRIu32
            " with blocks of %" PRIu32,
            step, block, block / 2, block / 4, block);
    }
    if (options->video.common.input_count == 2 && options->direction != GPUME_DIRECTION_PAST) {
        return gpume_refuse(GPUME_INVALID,
            "--direction future: two pictures have one direction; swap them instead");
    }
    GPUME_CHECK(gpume_range_check(&options->video.common, &options->range));
    GPUME_CHECK(gpume_source_options_check(&options->video.common, &options->video.source));
    return gpume_video_options_check(opaque, line);
}

#define OPTIONS struct flow_options

static const char *const directions[] = {"past", "future", NULL};

static struct gpume_option table[] = {
    {.heading = "Search"},
    {GPUME_OPTION_SIDE(OPTIONS, block),
        .help = "side of the blocks: 4 to 128, a multiple of 4 (default 16)"},
    {GPUME_ROW_NUMBER("window", OPTIONS, window, 0, GPUME_WINDOW_MAX), .letter = 'w',
        .help = "largest displacement in pixels, 0 to 512 (default 16)"},
    {GPUME_ROW("step", "N", step, OPTIONS, step), .min = 1, .max = GPUME_BLOCK_MAX,
        .help = "distance of overlapping blocks: the side of a block, a half (default) or a "
                "quarter of it"},
    {GPUME_ROW_CHOICE("direction", "past|future", OPTIONS, direction, directions),
        .help = "search every frame in the one before it or in the one after it (default past)"},
    {.heading = "Input"},
    GPUME_OPTIONS_RANGE(OPTIONS, range, video),
    GPUME_OPTIONS_SOURCE(OPTIONS, video.source),
    {GPUME_OPTION_TIMEOUT},
    {.heading = "Output"},
    {GPUME_ROW_FILE("output", "FILE", OPTIONS, video.output), .letter = 'o',
        .help = "write .flo files of this name: a pattern such as flow%04d.flo, or one file for "
                "one frame pair"},
    GPUME_OPTIONS_VIDEO_LAST(OPTIONS, video),
};

const struct gpume_command gpume_flow_command = {
    .name = "flow",
    .summary = "find a vector for every pixel",
    .usage = "flow INPUT -o flow%04d.flo [options]\nflow REFERENCE TARGET -o FILE.flo [options]",
    .about = "Writes dense optical flow, made of exact searches of overlapping blocks, as one "
             "Middlebury .flo file per frame pair.",
    GPUME_COMMAND_OPTIONS(table, struct flow_options),
    .operands_min = 1,
    .operands_max = 2,
    .operands = "a video or two pictures",
    .catches_signals = true,
    .set_defaults = set_flow_defaults,
    .check = check_flow,
    .run = run_flow,
};
