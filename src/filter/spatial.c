/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What gpume-filter(1) defines in "Within a picture", on the processor: hard thresholds in a
 * sliding transform, after L. P. Yaroslavsky, K. O. Egiazarian and J. T. Astola, "Transform domain
 * image restoration methods: review, comparison, and interpretation" (2001), with windows that
 * count the more the fewer coefficients they keep (O. G. Guleryuz, "Weighted averaging for
 * denoising with overcomplete dictionaries", 2007), in the integer cosine transform of W. K. Cham
 * (1989). Means come in row by row; strips of rows go out, each on any thread.
 *
 * The transform is linear and separable, and only the choice in the middle is per window. So
 * columns are transformed once for all windows that begin in a row, and what these give back is
 * added up in columns before it is transformed back. Columns of even and of odd number lie apart:
 * windows begin at every other column, and the same loop takes one after the other.
 */
#include "filter/temporal.h"

#include "base/base.h"
#include "filter/loops.h"

#include <stdlib.h>
#include <string.h>

#define SIDE GPUME_LOOPS_SIDE
#define SPAN GPUME_LOOPS_SPAN
#define REACH 6u  /* how far windows begin outside the plane, and end outside it, */
#define MARGIN 3u /* in pairs */
#define TALLY 4u  /* pairs of rows of a window */

/* Views into the memory of a scratch, for a plane. Row r of the plane is at r % SIDE, and a pair of
 * rows at r / 2 % TALLY. Arrays of a pair's two columns have the even one at [0]. */
struct windows_work {
    const struct gpume_spatial_plane *plane;
    const int32_t *limits;
    const struct gpume_loops *loops;
    uint32_t stride;                          /* pairs, margins included */
    int32_t *columns[2][SIDE];                /* A, by k */
    int32_t *made[2][SIDE];                   /* sums of O B, by k */
    int32_t *sums[2][SIDE];                   /* P, by row */
    int32_t *tally[TALLY];                    /* Q, by pair of rows */
    int32_t *shares, *weights, *none, *limit; /* of windows: sums of W by pair; O; -1; T */
    int32_t *coefficients;                    /* SIDE rows of SPAN for each k */
};

/* Arrays of a row that a scratch has. */
#define SCRATCH_ROWS (3 * 2 * SIDE + TALLY + 4)

static uint32_t stride_of(uint32_t pairs)
{
    return pairs + 2 * MARGIN;
}

static uint32_t column_pairs(uint32_t width)
{
    return (width + 1) / 2;
}

/* --- memory */

uint64_t gpume_spatial_plane_bytes(uint32_t width, uint32_t height)
{
    return (uint64_t)2 * column_pairs(width) * height * (sizeof(int16_t) + sizeof(uint16_t));
}

bool gpume_spatial_open_plane(
    struct gpume_spatial_plane *plane, uint32_t width, uint32_t height, uint32_t bits)
{
    const size_t samples = (size_t)2 * column_pairs(width) * height;
    *plane = (struct gpume_spatial_plane){.width = width,
        .height = height,
        .bits = bits,
        .pairs = column_pairs(width),
        .means = malloc(samples * sizeof *plane->means),
        .weights = malloc(samples * sizeof *plane->weights)};
    return plane->means && plane->weights;
}

void gpume_spatial_close_plane(struct gpume_spatial_plane *plane)
{
    free(plane->means);
    free(plane->weights);
}

uint64_t gpume_spatial_scratch_bytes(uint32_t width)
{
    return ((uint64_t)SCRATCH_ROWS * stride_of(column_pairs(width)) + SIDE * SIDE * SPAN) *
           sizeof(int32_t);
}

bool gpume_spatial_open_scratch(struct gpume_spatial_scratch *scratch, uint32_t width)
{
    scratch->memory = malloc((size_t)gpume_spatial_scratch_bytes(width));
    return scratch->memory != NULL;
}

void gpume_spatial_close_scratch(struct gpume_spatial_scratch *scratch)
{
    free(scratch->memory);
}

static int32_t *next_row(const struct windows_work *work, int32_t **memory)
{
    int32_t *row = *memory;
    *memory += work->stride;
    return row;
}

static struct windows_work work_in(const struct gpume_spatial_plane *plane, const int32_t *limits,
    const struct gpume_loops *loops, int32_t *memory)
{
    struct windows_work work = {
        .plane = plane, .limits = limits, .loops = loops, .stride = stride_of(plane->pairs)};
    for (uint32_t i = 0; i < SIDE * 2; i++) {
        work.columns[i % 2][i / 2] = next_row(&work, &memory);
        work.made[i % 2][i / 2] = next_row(&work, &memory);
        work.sums[i % 2][i / 2] = next_row(&work, &memory);
    }
    for (uint32_t i = 0; i < TALLY; i++) {
        work.tally[i] = next_row(&work, &memory);
    }
    work.shares = next_row(&work, &memory);
    work.weights = next_row(&work, &memory);
    work.none = next_row(&work, &memory);
    work.limit = next_row(&work, &memory);
    work.coefficients = memory;
    return work;
}

/* --- limits */

/* Rounded down. */
static uint32_t root_of(uint32_t value)
{
    uint32_t root = 0;
    for (uint32_t bit = UINT32_C(1) << 15; bit > 0; bit /= 2) {
        root += (uint64_t)(root + bit) * (root + bit) <= value ? bit : 0;
    }
    return root;
}

void gpume_spatial_find_limits(uint64_t variance, uint32_t amount, uint32_t strength, uint32_t bits,
    int32_t limits[GPUME_SPATIAL_LIMITS])
{
    const uint32_t sigma = root_of((uint32_t)(256 * variance));
    const uint32_t whole = 295 * amount * sigma >> (gpume_min_u32(bits, 10) - 1);
    for (uint32_t m = GPUME_LOOPS_OWN / 64; m < GPUME_SPATIAL_LIMITS; m++) {
        const uint32_t q = (UINT32_C(1) << 18) / m;
        const uint32_t g = q + (64 * strength * (GPUME_LOOPS_OWN - q) >> 12);
        limits[m] = (int32_t)(whole * root_of(q * g >> 2) >> 11);
    }
}

/* --- means */

void gpume_spatial_put_row(const struct gpume_spatial_plane *plane, uint32_t y,
    const uint32_t *sums, const uint32_t *weights)
{
    const uint32_t pairs = plane->pairs, shift = 16 - plane->bits;
    int16_t *means = plane->means + (size_t)2 * pairs * y;
    uint16_t *shares = plane->weights + (size_t)2 * pairs * y;
    means[2 * pairs - 1] = 0; /* where the width is odd, what it is does not matter */
    shares[2 * pairs - 1] = 0;
    for (uint32_t x = 0; x < plane->width; x++) {
        const uint32_t mean = ((sums[x] << shift) + weights[x] / 2) / weights[x];
        means[x % 2 * pairs + x / 2] = (int16_t)((int32_t)mean - 32768);
        shares[x % 2 * pairs + x / 2] = (uint16_t)weights[x];
    }
}

/* --- windows that begin in one row */

/* The place of a sample within, for one that may be outside. */
static uint32_t mirrored(int64_t place, uint32_t count)
{
    const int64_t turned = place < 0                 ? -1 - place
                           : place >= (int64_t)count ? 2 * (int64_t)count - 1 - place
                                                     : place;
    return (uint32_t)gpume_nearest(turned, count);
}

/* Gives the columns outside the plane what the mirrored ones have. */
static void fill_margins(const struct windows_work *work, int32_t *evens, int32_t *odds)
{
    const int64_t width = work->plane->width;
    int32_t *const columns[2] = {evens, odds};
    for (int64_t x = -(int64_t)REACH; x < (int64_t)(2 * work->plane->pairs + REACH); x++) {
        const uint32_t from = mirrored(x, work->plane->width) + REACH;
        columns[(x + REACH) % 2][(x + REACH) / 2] = columns[from % 2][from / 2];
        x = x == -1 ? width - 1 : x; /* what lies within is there */
    }
}

/* A, and the sums of W in pairs of columns. */
static void analyse_rows(const struct windows_work *work, int64_t top)
{
    const struct gpume_spatial_plane *plane = work->plane;
    for (uint32_t parity = 0; parity < 2; parity++) {
        const int16_t *rows[SIDE];
        const uint16_t *weights[SIDE];
        int32_t *columns[SIDE], *sums = work->made[parity][0] + MARGIN; /* free until then */
        for (uint32_t i = 0; i < SIDE; i++) {
            const size_t at =
                ((size_t)2 * mirrored(top + i, plane->height) + parity) * plane->pairs;
            rows[i] = plane->means + at;
            weights[i] = plane->weights + at;
            columns[i] = work->columns[parity][i] + MARGIN;
        }
        work->loops->analyse_columns(rows, plane->pairs, columns);
        for (uint32_t p = 0; p < plane->pairs; p++) {
            sums[p] = weights[0][p] + weights[1][p] + weights[2][p] + weights[3][p] +
                      weights[4][p] + weights[5][p] + weights[6][p] + weights[7][p];
        }
    }
    for (uint32_t k = 0; k < SIDE; k++) {
        fill_margins(work, work->columns[0][k], work->columns[1][k]);
    }
    fill_margins(work, work->made[0][0], work->made[1][0]);
    for (uint32_t p = 0; p < plane->pairs + 2 * MARGIN; p++) {
        work->shares[p] = work->made[0][0][p] + work->made[1][0][p];
    }
}

/* O, by the number of coefficients that are kept. */
static const uint8_t weight_of[SIDE * SIDE + 1] = {0, 64, 32, 16, 16, 8, 8, 8, 8, 4, 4, 4, 4, 4, 4,
    4, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* T, O, and what windows give back in columns. */
static void filter_windows(const struct windows_work *work, uint32_t first, uint32_t count)
{
    int32_t kept[SPAN] = {0}, *weights = work->weights + first, *limit = work->limit + first;
    const int32_t *shares = work->shares + first;
    for (uint32_t i = 0; i < count; i++) {
        limit[i] = work->limits[(shares[i] + shares[i + 1] + shares[i + 2] + shares[i + 3]) >> 12];
    }
    for (uint32_t k = 0; k < SIDE; k++) {
        work->loops->analyse_windows(work->columns[0][k] + first, work->columns[1][k] + first,
            k == 0 ? work->none + first : limit, limit, count,
            work->coefficients + (size_t)k * SIDE * SPAN, kept);
    }
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = weight_of[kept[i]];
    }
    for (uint32_t k = 0; k < SIDE; k++) {
        work->loops->make_windows(work->coefficients + (size_t)k * SIDE * SPAN, weights, count,
            work->made[0][k] + first, work->made[1][k] + first);
    }
}

/* Adds what they give to the rows of the plane. */
static void shrink_rows(const struct windows_work *work, int64_t top)
{
    const uint32_t pairs = work->plane->pairs, windows = pairs + MARGIN;
    analyse_rows(work, top);
    for (uint32_t i = 0; i < 2 * SIDE; i++) {
        memset(work->made[i % 2][i / 2], 0, work->stride * sizeof(int32_t));
    }
    for (uint32_t first = 0; first < windows; first += SPAN) {
        filter_windows(work, first, gpume_min_u32(SPAN, windows - first));
    }
    for (uint32_t parity = 0; parity < 2; parity++) {
        const int32_t *columns[SIDE];
        int32_t *rows[SIDE];
        for (uint32_t i = 0; i < SIDE; i++) {
            columns[i] = work->made[parity][i] + MARGIN;
            rows[i] = work->sums[parity][(uint32_t)(top + SIDE + i) % SIDE];
        }
        work->loops->make_columns(columns, pairs, rows);
    }
    for (uint32_t i = 0; i < TALLY; i++) {
        int32_t *tally = work->tally[(uint32_t)(top / 2 + TALLY + i) % TALLY];
        const int32_t *weights = work->weights;
        for (uint32_t p = 0; p < pairs; p++) {
            tally[p] += weights[p] + weights[p + 1] + weights[p + 2] + weights[p + 3];
        }
    }
}

/* --- strips */

/* The samples of a row. */
static void give_row(const struct windows_work *work, uint32_t y, uint16_t *out)
{
    const struct gpume_spatial_plane *plane = work->plane;
    const uint32_t shift = 16 - plane->bits, peak = (UINT32_C(1) << plane->bits) - 1;
    const int32_t *tally = work->tally[y / 2 % TALLY];
    for (uint32_t x = 0; x < plane->width; x++) {
        const int32_t weight = tally[x / 2];
        const int32_t sum =
            work->sums[x % 2][y % SIDE][x / 2] + 32768 * weight + ((weight << shift) >> 1);
        const uint32_t value = sum < 0 ? 0 : (uint32_t)sum / ((uint32_t)weight << shift);
        out[x] = (uint16_t)gpume_min_u32(value, peak);
    }
}

static void clear_pair(const struct windows_work *work, uint32_t pair)
{
    for (uint32_t i = 0; i < 4; i++) {
        memset(work->sums[i % 2][(2 * pair + i / 2) % SIDE], 0, work->stride * sizeof(int32_t));
    }
    memset(work->tally[pair % TALLY], 0, work->stride * sizeof(int32_t));
}

void gpume_spatial_filter_strip(const struct gpume_spatial_plane *plane, const int32_t *limits,
    const struct gpume_loops *loops, const struct gpume_spatial_scratch *scratch, uint32_t first,
    uint16_t *out)
{
    const struct windows_work work = work_in(plane, limits, loops, scratch->memory);
    const uint32_t end = gpume_min_u32(first + GPUME_SPATIAL_STRIP, plane->height);
    for (uint32_t i = 0; i < TALLY; i++) {
        clear_pair(&work, i);
    }
    for (uint32_t i = 0; i < work.stride; i++) {
        work.none[i] = -1;
    }
    for (int64_t top = (int64_t)first - REACH; top < end; top += 2) {
        shrink_rows(&work, top);
        for (int64_t y = top; y < top + 2; y++) {
            if (y >= (int64_t)first && y < end) {
                give_row(&work, (uint32_t)y, out + (size_t)y * plane->width);
            }
        }
        clear_pair(&work, (uint32_t)(top / 2 + TALLY) % TALLY);
    }
}
