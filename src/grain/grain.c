/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Grain is measured where a picture is flat, in blocks of 32x32 samples of luma and those of chroma
 * in the same place: there, little is mistaken for it. What a block is without grain, its level and
 * slope, is taken from the clean picture and subtracted from both. The products of samples at
 * each distance, those of the picture less those of the clean one, then are those of what the clean
 * one lacks, be it all grain or a part: texture that both have is in neither.
 *
 * Sums over a block are whole numbers, and blocks are added up in their order.
 */
#include "grain/grain.h"

#include "base/base.h"
#include "base/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIDE GPUME_GRAIN_SIDE
#define PLANES GPUME_GRAIN_PLANES
#define WINDOW_PICTURES 24u /* after which the grain is compared with that before */
#define WINDOW_BLOCKS 256.0 /* fewer say too little */
#define CUT_STEPS 8.0       /* mean change of blocks, of 8 bits, at a change of scene, and .. */
#define CUT_TIMES 3.0       /* .. beside that of the picture before */

#define KEPT_MOST 0.35 /* of the grain, that a filter keeps; more is texture */
#define KEPT_MORE 0.1  /* than the plainest blocks: these show texture, too */
#define GUESS_SIDE 4u
#define GUESS_SHARE 0.4 /* of its energy, in means, that a flat block has at most */
#define GUESS_PARTS 8u  /* of the range of intensities, as grain depends on it */
#define GUESS_LEAST 32u /* part of all blocks that says something */
#define GUESS_MORE 1.5  /* so that the filter takes grain for grain where it is stronger, too */

/* What a block is, by plane, in squared steps of 8 bits. */
struct block {
    double light;                     /* mean of luma */
    double picture[PLANES];           /* variance about the clean picture's slope */
    double clean[PLANES];             /* the same of the clean picture */
    double difference[PLANES];        /* mean square */
    double slope_along, slope_across; /* of clean luma: the larger and the smaller mean square */
    bool clipped;
};

struct products {
    int64_t lags[PLANES][GPUME_GRAIN_LAGS];
    int64_t cross[2][GPUME_GRAIN_CROSS];
    int64_t sum;
};

/* Samples about the slope, in GPUME_GRAIN_UNITS. */
struct patch {
    uint32_t width, height;
    int32_t picture[SIDE * SIDE], clean[SIDE * SIDE];
};

struct gpume_grain {
    struct gpume_grain_params params;
    uint32_t planes, blocks_x, blocks_y, shift;
    double unit; /* squared: of 8 bits, of GPUME_GRAIN_UNITS */
    struct gpume_workers *workers;
    struct block *blocks;
    double *lights, *values;
    uint32_t *chosen, chosen_count;
    struct products *products; /* of the chosen blocks */
    struct products *kept;     /* of those that show nothing but grain */
    double kept_most;          /* share of the grain that these have in the clean picture */
    const struct gpume_plane *picture, *clean;
    bool begun;
    double change; /* of the lights, to the last picture */
    struct gpume_grain_sums segment, window;
    uint32_t window_pictures;
    int64_t segment_us, window_us;
    struct gpume_grain_segment *segments;
    size_t segment_count, segment_room;
};

/* --- a block */

static int32_t sample_at(const struct gpume_plane *plane, uint32_t x, uint32_t y, uint32_t shift)
{
    return (int32_t)(gpume_plane_sample(plane, x, y) >> shift);
}

static void subtract_slope(struct patch *patch, double mean, double slope_x, double slope_y)
{
    const int32_t w = (int32_t)patch->width, h = (int32_t)patch->height;
    for (int32_t y = 0; y < h; y++) {
        for (int32_t x = 0; x < w; x++) {
            const double level = mean + slope_x * (2 * x - w + 1) + slope_y * (2 * y - h + 1);
            const int32_t rounded = (int32_t)floor(level * GPUME_GRAIN_UNITS + 0.5);
            const int32_t at = y * w + x;
            patch->picture[at] = patch->picture[at] * GPUME_GRAIN_UNITS - rounded;
            patch->clean[at] = patch->clean[at] * GPUME_GRAIN_UNITS - rounded;
        }
    }
}

/* Returns the mean of the clean samples. */
static double read_patch(
    const struct gpume_grain *grain, uint32_t plane, uint32_t index, struct patch *patch)
{
    const uint32_t w = SIDE >> (plane > 0 ? grain->params.shift_x : 0);
    const uint32_t h = SIDE >> (plane > 0 ? grain->params.shift_y : 0);
    const uint32_t left = index % grain->blocks_x * w, top = index / grain->blocks_x * h;
    int64_t sum = 0, sum_x = 0, sum_y = 0;
    patch->width = w;
    patch->height = h;
    for (uint32_t y = 0; y < h; y++) {
        for (uint32_t x = 0; x < w; x++) {
            const uint32_t at = y * w + x;
            const int32_t clean = sample_at(&grain->clean[plane], left + x, top + y, grain->shift);
            patch->picture[at] = sample_at(&grain->picture[plane], left + x, top + y, grain->shift);
            patch->clean[at] = clean;
            sum += clean;
            sum_x += clean * (2 * (int32_t)x - (int32_t)w + 1);
            sum_y += clean * (2 * (int32_t)y - (int32_t)h + 1);
        }
    }
    const double count = w * h;
    const double mean = (double)sum / count;
    /* The mean square of 1 - w, 3 - w, ... w - 1 is (w^2 - 1) / 3. */
    subtract_slope(patch, mean, 3 * (double)sum_x / (count * (w * w - 1)),
        3 * (double)sum_y / (count * (h * h - 1)));
    return mean;
}

/* The mean squares of the slopes of clean luma, along and across their main direction: the values
 * of the structure tensor. */
static void find_slopes(const struct patch *patch, struct block *block, double unit)
{
    int64_t xx = 0, xy = 0, yy = 0;
    const int32_t *clean = patch->clean;
    for (uint32_t y = 1; y + 1 < SIDE; y++) {
        for (uint32_t x = 1; x + 1 < SIDE; x++) {
            const uint32_t at = y * SIDE + x;
            const int64_t dx = clean[at + 1] - clean[at - 1];
            const int64_t dy = clean[at + SIDE] - clean[at - SIDE];
            xx += dx * dx;
            xy += dx * dy;
            yy += dy * dy;
        }
    }
    const double count = (SIDE - 2) * (SIDE - 2);
    const double half = (double)(xx + yy) / 2, difference = (double)(xx - yy) / 2;
    const double root = sqrt(difference * difference + (double)xy * (double)xy);
    block->slope_along = (half + root) * unit / count;
    block->slope_across = (half - root) * unit / count;
}

static void describe_block(const struct gpume_grain *grain, uint32_t index)
{
    struct block *block = &grain->blocks[index];
    const uint32_t bits = grain->params.bits - grain->shift;
    const int32_t peak = (1 << bits) - 1;
    struct patch patch;
    uint32_t clipped = 0;
    for (uint32_t p = 0; p < grain->planes; p++) {
        const double mean = read_patch(grain, p, index, &patch);
        const uint32_t count = patch.width * patch.height;
        int64_t picture = 0, clean = 0, difference = 0;
        for (uint32_t i = 0; i < count; i++) {
            const int64_t a = patch.picture[i], b = patch.clean[i];
            picture += a * a;
            clean += b * b;
            difference += (a - b) * (a - b);
        }
        block->picture[p] = (double)picture * grain->unit / count;
        block->clean[p] = (double)clean * grain->unit / count;
        block->difference[p] = (double)difference * grain->unit / count;
        if (p == 0) {
            block->light = ldexp(mean, 8 - (int)bits);
            find_slopes(&patch, block, grain->unit);
        }
    }
    const uint32_t left = index % grain->blocks_x * SIDE, top = index / grain->blocks_x * SIDE;
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        const int32_t v = sample_at(grain->picture, left + i % SIDE, top + i / SIDE, grain->shift);
        clipped += v == 0 || v == peak;
    }
    block->clipped = clipped > SIDE * SIDE / 100;
}

static void describe_row(void *opaque, uint32_t row)
{
    const struct gpume_grain *grain = opaque;
    for (uint32_t x = 0; x < grain->blocks_x; x++) {
        describe_block(grain, row * grain->blocks_x + x);
    }
}

/* --- products */

static int64_t multiply(
    const int32_t *a, const int32_t *b, uint32_t stride, uint32_t width, uint32_t height)
{
    int64_t sum = 0;
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            sum += (int64_t)a[y * stride + x] * b[y * stride + x];
        }
    }
    return sum;
}

/* Of samples of a, and those of b at this distance. */
static int64_t multiply_at(
    const int32_t *a, const int32_t *b, const struct patch *patch, int32_t dx, int32_t dy)
{
    const uint32_t w = patch->width, h = patch->height;
    const uint32_t far_x = (uint32_t)abs(dx), far_y = (uint32_t)abs(dy);
    a += (dx < 0 ? far_x : 0) + (dy < 0 ? far_y * w : 0);
    b += (dx > 0 ? far_x : 0) + (dy > 0 ? far_y * w : 0);
    return multiply(a, b, w, w - far_x, h - far_y);
}

/* Luma added up at the samples of chroma. */
static void add_luma(const struct gpume_grain *grain, const int32_t *luma, int32_t *sums)
{
    const uint32_t sx = grain->params.shift_x, sy = grain->params.shift_y;
    const uint32_t w = SIDE >> sx, h = SIDE >> sy;
    memset(sums, 0, sizeof *sums * w * h);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        sums[(i / SIDE >> sy) * w + (i % SIDE >> sx)] += luma[i];
    }
}

static void multiply_lags(const struct patch *patch, const int32_t *samples, int64_t *lags)
{
    uint32_t lag = 0;
    for (int32_t dy = 0; dy <= GPUME_GRAIN_LAG; dy++) {
        for (int32_t dx = dy == 0 ? 0 : -GPUME_GRAIN_REACH; dx <= GPUME_GRAIN_REACH; dx++) {
            lags[lag++] = multiply_at(samples, samples, patch, dx, dy);
        }
    }
}

/* Of the picture, or of the clean one. */
static void multiply_samples(
    const struct gpume_grain *grain, uint32_t index, bool clean, struct products *products)
{
    struct patch patch;
    int32_t luma[SIDE * SIDE];
    read_patch(grain, 0, index, &patch);
    multiply_lags(&patch, clean ? patch.clean : patch.picture, products->lags[0]);
    add_luma(grain, clean ? patch.clean : patch.picture, luma);
    for (uint32_t p = 1; p < grain->planes; p++) {
        read_patch(grain, p, index, &patch);
        const int32_t *samples = clean ? patch.clean : patch.picture;
        multiply_lags(&patch, samples, products->lags[p]);
        for (uint32_t i = 0; i < GPUME_GRAIN_CROSS; i++) {
            int32_t dx, dy;
            gpume_grain_position(i, &dx, &dy);
            products->cross[p - 1][i] = multiply_at(luma, samples, &patch, dx, dy);
        }
        products->sum = multiply_at(luma, luma, &patch, 0, 0);
    }
}

/* What the clean picture lacks, and what it kept. */
static void multiply_block(void *opaque, uint32_t item)
{
    const struct gpume_grain *grain = opaque;
    struct products *lost = &grain->products[item], *kept = &grain->kept[item];
    multiply_samples(grain, grain->chosen[item], false, lost);
    multiply_samples(grain, grain->chosen[item], true, kept);
    for (uint32_t k = 0; k < GPUME_GRAIN_LAGS * PLANES; k++) {
        lost->lags[k / GPUME_GRAIN_LAGS][k % GPUME_GRAIN_LAGS] -=
            kept->lags[k / GPUME_GRAIN_LAGS][k % GPUME_GRAIN_LAGS];
    }
    for (uint32_t k = 0; k < GPUME_GRAIN_CROSS * 2; k++) {
        lost->cross[k / GPUME_GRAIN_CROSS][k % GPUME_GRAIN_CROSS] -=
            kept->cross[k / GPUME_GRAIN_CROSS][k % GPUME_GRAIN_CROSS];
    }
    lost->sum -= kept->sum;
}

/* --- which blocks */

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The middle one, by value, of what the clean picture lacks in a plane. 0: it lacks nothing. */
static double usual_loss(struct gpume_grain *grain, uint32_t plane)
{
    const uint32_t count = grain->blocks_x * grain->blocks_y;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct block *block = &grain->blocks[i];
        if (block->difference[plane] > 0 && !block->clipped) {
            grain->values[found++] = block->picture[plane] - block->clean[plane];
        }
    }
    qsort(grain->values, found, sizeof *grain->values, compare_values);
    return found > 0 && grain->values[found / 2] > 0 ? grain->values[found / 2] : 0;
}

/* Whether a block shows grain rather than edges, blocks that were not filtered, or samples at the
 * ends of the range, which cut grain off. */
static bool is_usable(
    const struct gpume_grain *grain, const struct block *block, const double *loss)
{
    bool usable = !block->clipped;
    for (uint32_t p = 0; p < grain->planes && usable; p++) {
        const bool filtered =
            block->difference[p] >= loss[p] / 16 || block->picture[p] <= loss[p] / 4;
        usable = filtered && block->difference[p] <= 16 * loss[p] + 1 &&
                 (p == 0 || block->clean[p] <= 4 * loss[p] + 4);
    }
    const bool is_edge = block->slope_along + block->slope_across > loss[0] / 4 + 1 &&
                         block->slope_along > 4 * block->slope_across;
    return usable && !is_edge;
}

/* Of the energy of luma, the part that is in the clean picture. */
static double kept_share(const struct block *block)
{
    return block->picture[0] > 0 ? block->clean[0] / block->picture[0] : 1;
}

/* Texture adds to what the clean picture has, so the blocks with the least have little. */
static void find_plainest(struct gpume_grain *grain)
{
    grain->kept_most = -1;
    if (!grain->params.keeps || grain->chosen_count == 0) {
        return;
    }
    for (uint32_t i = 0; i < grain->chosen_count; i++) {
        grain->values[i] = kept_share(&grain->blocks[grain->chosen[i]]);
    }
    qsort(grain->values, grain->chosen_count, sizeof *grain->values, compare_values);
    const double share = grain->values[grain->chosen_count / 16];
    grain->kept_most = share <= KEPT_MOST ? share : -1;
    const double most = share + KEPT_MORE;
    uint32_t count = 0;
    for (uint32_t i = 0; i < grain->chosen_count; i++) {
        if (kept_share(&grain->blocks[grain->chosen[i]]) <= most) {
            grain->chosen[count++] = grain->chosen[i];
        }
    }
    grain->chosen_count = count;
}

static void choose_blocks(struct gpume_grain *grain)
{
    const uint32_t count = grain->blocks_x * grain->blocks_y;
    double loss[PLANES] = {0};
    bool lacks = false;
    grain->chosen_count = 0;
    for (uint32_t p = 0; p < grain->planes; p++) {
        loss[p] = usual_loss(grain, p);
        lacks = lacks || loss[p] > 0;
    }
    if (!lacks) {
        return;
    }
    /* Texture as strong as grain does little harm; if there are few such blocks, the flattest of
     * the others are better than none. */
    double limit = 2 * loss[0] + 2;
    uint32_t usable = 0, flat = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (is_usable(grain, &grain->blocks[i], loss)) {
            grain->values[usable++] = grain->blocks[i].clean[0];
            flat += grain->blocks[i].clean[0] <= limit;
        }
    }
    if (flat < usable && flat < count / 16) {
        const uint32_t wanted = count / 16 < usable ? count / 16 : usable - 1;
        qsort(grain->values, usable, sizeof *grain->values, compare_values);
        limit = fmin(8 * limit, grain->values[wanted]);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (grain->blocks[i].clean[0] <= limit && is_usable(grain, &grain->blocks[i], loss)) {
            grain->chosen[grain->chosen_count++] = i;
        }
    }
    find_plainest(grain);
}

/* --- segments */

static void add_block(const struct gpume_grain *grain, const struct products *products,
    double light, struct gpume_grain_bin *bin)
{
    bin->blocks += 1;
    bin->light += light;
    for (uint32_t p = 0; p < grain->planes; p++) {
        for (uint32_t k = 0; k < GPUME_GRAIN_LAGS; k++) {
            bin->lags[p][k] += (double)products->lags[p][k];
        }
        for (uint32_t k = 0; k < GPUME_GRAIN_CROSS && p > 0; k++) {
            bin->cross[p - 1][k] += (double)products->cross[p - 1][k];
        }
    }
    bin->sum += (double)products->sum;
}

static void add_products(struct gpume_grain *grain)
{
    struct gpume_grain_sums *window = &grain->window;
    for (uint32_t i = 0; i < grain->chosen_count; i++) {
        const struct block *block = &grain->blocks[grain->chosen[i]];
        const uint32_t place = (uint32_t)block->light * GPUME_GRAIN_BINS / 256;
        add_block(grain, &grain->products[i], block->light,
            &window->bins[place < GPUME_GRAIN_BINS ? place : GPUME_GRAIN_BINS - 1]);
        if (kept_share(block) <= grain->kept_most) {
            add_block(grain, &grain->products[i], block->light, &window->lost);
            add_block(grain, &grain->kept[i], block->light, &window->kept);
        }
    }
}

static double count_blocks(const struct gpume_grain_sums *sums)
{
    double blocks = 0;
    for (uint32_t i = 0; i < GPUME_GRAIN_BINS; i++) {
        blocks += sums->bins[i].blocks;
    }
    return blocks;
}

static int end_segment(struct gpume_grain *grain)
{
    struct gpume_grain_segment *segments =
        gpume_grow(grain->segments, grain->segment_count, &grain->segment_room, sizeof *segments);
    if (!segments) {
        return GPUME_NOMEM;
    }
    struct gpume_grain_segment *segment = &segments[grain->segment_count++];
    grain->segments = segments;
    segment->start_us = grain->segment_us;
    gpume_grain_solve(&grain->params, &grain->segment, segment);
    return GPUME_OK;
}

/* Adds the window to the segment, or begins a segment with it. */
static int end_window(struct gpume_grain *grain)
{
    const bool known = count_blocks(&grain->segment) >= WINDOW_BLOCKS;
    if (known && !grain->params.single && count_blocks(&grain->window) >= WINDOW_BLOCKS &&
        !gpume_grain_is_alike(&grain->params, &grain->segment, &grain->window)) {
        GPUME_CHECK(end_segment(grain));
        memset(&grain->segment, 0, sizeof(grain->segment));
        grain->segment_us = grain->window_us;
    }
    gpume_grain_sums_add(&grain->segment, &grain->window);
    memset(&grain->window, 0, sizeof(grain->window));
    grain->window_pictures = 0;
    return GPUME_OK;
}

static bool is_cut(struct gpume_grain *grain)
{
    const uint32_t count = grain->blocks_x * grain->blocks_y;
    double change = 0;
    for (uint32_t i = 0; i < count; i++) {
        change += fabs(grain->blocks[i].light - grain->lights[i]);
        grain->lights[i] = grain->blocks[i].light;
    }
    change /= count > 0 ? count : 1;
    const bool cut = grain->begun && change > CUT_STEPS && change > CUT_TIMES * grain->change;
    grain->change = change;
    return cut;
}

int gpume_grain_add(struct gpume_grain *grain, const struct gpume_plane *picture,
    const struct gpume_plane *clean, int64_t time_us)
{
    grain->picture = picture;
    grain->clean = clean;
    gpume_workers_run(grain->workers, describe_row, grain, grain->blocks_y);
    if (is_cut(grain) || grain->window_pictures == WINDOW_PICTURES) {
        GPUME_CHECK(end_window(grain));
    }
    if (!grain->begun) {
        grain->segment_us = time_us;
        grain->begun = true;
    }
    if (grain->window_pictures++ == 0) {
        grain->window_us = time_us;
    }
    choose_blocks(grain);
    gpume_workers_run(grain->workers, multiply_block, grain, grain->chosen_count);
    add_products(grain);
    return GPUME_OK;
}

int gpume_grain_finish(
    struct gpume_grain *grain, const struct gpume_grain_segment **segments, size_t *count)
{
    if (grain->begun) {
        GPUME_CHECK(end_window(grain));
        GPUME_CHECK(end_segment(grain));
        grain->begun = false;
    }
    *segments = grain->segments;
    *count = grain->segment_count;
    return GPUME_OK;
}

/* --- without a clean picture */

/* Of a block that is flat but for what changes from sample to sample: its variance. 0: another one.
 * The means of 4x4 samples keep texture and lose grain. */
static void guess_block(struct gpume_grain *grain, uint32_t index)
{
    struct patch patch;
    struct block *block = &grain->blocks[index];
    const uint32_t bits = grain->params.bits - grain->shift;
    int64_t all = 0, coarse = 0;
    block->light = ldexp(read_patch(grain, 0, index, &patch), 8 - (int)bits);
    for (uint32_t y = 0; y < SIDE; y += GUESS_SIDE) {
        for (uint32_t x = 0; x < SIDE; x += GUESS_SIDE) {
            int64_t sum = 0;
            for (uint32_t i = 0; i < GUESS_SIDE * GUESS_SIDE; i++) {
                const int64_t v = patch.picture[(y + i / GUESS_SIDE) * SIDE + x + i % GUESS_SIDE];
                sum += v;
                all += v * v;
            }
            coarse += sum * sum;
        }
    }
    /* The mean square of means: each of `sum` / 16. */
    const double share = all > 0 ? (double)coarse / GUESS_SIDE / GUESS_SIDE / (double)all : 1;
    block->picture[0] = share < GUESS_SHARE ? (double)all * grain->unit / (SIDE * SIDE) : 0;
}

static void guess_row(void *opaque, uint32_t row)
{
    struct gpume_grain *grain = opaque;
    for (uint32_t x = 0; x < grain->blocks_x; x++) {
        guess_block(grain, row * grain->blocks_x + x);
    }
}

static uint32_t part_of(const struct block *block)
{
    const uint32_t part = (uint32_t)block->light * GUESS_PARTS / 256;
    return part < GUESS_PARTS ? part : GUESS_PARTS - 1;
}

uint32_t gpume_grain_guess(struct gpume_grain *grain, const struct gpume_plane *picture)
{
    const uint32_t count = grain->blocks_x * grain->blocks_y;
    double greatest = 0;
    grain->picture = grain->clean = picture;
    gpume_workers_run(grain->workers, guess_row, grain, grain->blocks_y);
    for (uint32_t part = 0; part < GUESS_PARTS; part++) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < count; i++) {
            const struct block *block = &grain->blocks[i];
            if (block->picture[0] > 0 && part_of(block) == part) {
                grain->values[found++] = block->picture[0];
            }
        }
        if (found >= 4 && found >= count / GUESS_LEAST) {
            qsort(grain->values, found, sizeof *grain->values, compare_values);
            greatest = fmax(greatest, grain->values[found / 8]);
        }
    }
    return (uint32_t)fmin(100 * sqrt(GUESS_MORE * greatest) + 0.5, 5000);
}

/* --- */

int gpume_grain_open(struct gpume_grain **grain, const struct gpume_grain_params *params)
{
    struct gpume_grain *opened = calloc(1, sizeof(*opened));
    if (!opened) {
        return GPUME_NOMEM;
    }
    opened->params = *params;
    opened->planes = params->chroma ? PLANES : 1;
    opened->blocks_x = params->width / SIDE;
    opened->blocks_y = params->height / SIDE;
    opened->shift = params->bits > GPUME_GRAIN_BITS_MAX ? params->bits - GPUME_GRAIN_BITS_MAX : 0;
    opened->unit = ldexp(1.0 / (GPUME_GRAIN_UNITS * GPUME_GRAIN_UNITS),
        2 * (8 - (int)(params->bits - opened->shift)));
    const size_t blocks = (size_t)opened->blocks_x * opened->blocks_y + 1;
    opened->blocks = calloc(blocks, sizeof *opened->blocks);
    opened->lights = calloc(blocks, sizeof *opened->lights);
    opened->values = calloc(blocks, sizeof *opened->values);
    opened->chosen = calloc(blocks, sizeof *opened->chosen);
    opened->products = calloc(blocks, sizeof *opened->products);
    opened->kept = calloc(blocks, sizeof *opened->kept);
    const int status =
        opened->blocks && opened->lights && opened->values && opened->chosen && opened->products
            ? gpume_workers_create(&opened->workers, params->threads)
            : GPUME_NOMEM;
    if (status != GPUME_OK) {
        gpume_grain_close(&opened);
        return status;
    }
    *grain = opened;
    return GPUME_OK;
}

void gpume_grain_close(struct gpume_grain **grain)
{
    struct gpume_grain *closed = *grain;
    *grain = NULL;
    if (!closed) {
        return;
    }
    gpume_workers_destroy(&closed->workers);
    free(closed->blocks);
    free(closed->lights);
    free(closed->values);
    free(closed->chosen);
    free(closed->products);
    free(closed->kept);
    free(closed->segments);
    free(closed);
}
