/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/thumbnail.h"

#include "base/base.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SQUARE 4u /* cells across a square */
#define SQUARES_X (GPUME_THUMBNAIL_X / SQUARE)
#define SQUARES_Y (GPUME_THUMBNAIL_Y / SQUARE)
#define SQUARES (SQUARES_X * SQUARES_Y)
#define REACH_X 8u /* cells that a square may have moved */
#define REACH_Y 8u
#define PADDED_X (GPUME_THUMBNAIL_X + 2 * REACH_X)
#define PADDED_Y (GPUME_THUMBNAIL_Y + 2 * REACH_Y)
#define LEVELS(n)                                                                                  \
    ((uint32_t)((n)*GPUME_THUMBNAIL_LEVEL * SQUARE * SQUARE)) /* sum over a square                 \
                                                               */
#define STILL 0.5        /* mean difference up to which there is no motion to look for */
#define CHANGED 1.5      /* residual per cell from which a square may have changed */
#define CHANGED_PART 0.5 /* of its detail that the residual must exceed, too */
#define FLAT_DETAIL 1.0  /* mean deviation below which a square is flat */
#define NOISE 3.0        /* deviation of cells that says nothing about the picture's structure */
#define EVEN 2.0         /* deviation of cells below which a picture has no structure */
#define FLAT_VOTE 0.25   /* of a flat square that has not changed: dark scenes have many */
#define MIXED 0.2        /* least share of each picture in a mixture */
#define BESIDE 0.06      /* most that is left of a mixture, of the square of their difference */
#define LIT 8            /* difference from which a cell is in another light */
#define FAINT 1.0        /* slope at which an outline counts by half */
#define FEW 20.0         /* outlines that are too few to say much */
#define SAME 0.44        /* agreement of outlines from which it is the same picture */
#define OTHER 0.34       /* agreement up to which it is another picture */
#define SHAKE 1          /* cells that a picture may move while its light changes */

static uint64_t sum_row(const void *row, uint32_t x, uint32_t end, bool deep)
{
    uint32_t sum = 0; /* of at most 2^16 samples of 16 bits */
    if (deep) {
        const uint16_t *samples = row;
        for (; x < end; x++) {
            sum += samples[x];
        }
    } else {
        const uint8_t *samples = row;
        for (; x < end; x++) {
            sum += samples[x];
        }
    }
    return sum;
}

/* Where a cell begins; neighbours share pixels if there are fewer pixels than cells. */
static uint32_t cell_edge(uint32_t cell, uint32_t pixels, uint32_t cells)
{
    return (uint32_t)((uint64_t)cell * pixels / cells);
}

static uint32_t cell_far_edge(uint32_t cell, uint32_t pixels, uint32_t cells)
{
    const uint32_t near = cell_edge(cell, pixels, cells), far = cell_edge(cell + 1, pixels, cells);
    return far > near ? far : near + 1;
}

/* Whether the cell begins with pixels that the one before it has, too. */
static bool repeats(uint32_t cell, uint32_t pixels, uint32_t cells)
{
    return cell > 0 && cell_edge(cell, pixels, cells) == cell_edge(cell - 1, pixels, cells);
}

void gpume_thumbnail_make(struct gpume_thumbnail *thumbnail, const struct gpume_plane *luma)
{
    const uint32_t shift = luma->bits - 8;
    uint64_t all = 0;
    for (uint32_t cy = 0; cy < GPUME_THUMBNAIL_Y; cy++) {
        const uint32_t top = cell_edge(cy, luma->height, GPUME_THUMBNAIL_Y);
        const uint32_t bottom = cell_far_edge(cy, luma->height, GPUME_THUMBNAIL_Y);
        uint64_t sums[GPUME_THUMBNAIL_X] = {0};
        for (uint32_t y = top; y < bottom; y++) {
            const void *row = gpume_plane_row(luma, y);
            for (uint32_t cx = 0; cx < GPUME_THUMBNAIL_X; cx++) {
                sums[cx] += sum_row(row, cell_edge(cx, luma->width, GPUME_THUMBNAIL_X),
                    cell_far_edge(cx, luma->width, GPUME_THUMBNAIL_X), luma->bits > 8);
            }
        }
        for (uint32_t cx = 0; cx < GPUME_THUMBNAIL_X; cx++) {
            const uint64_t pixels =
                (uint64_t)(bottom - top) * (cell_far_edge(cx, luma->width, GPUME_THUMBNAIL_X) -
                                               cell_edge(cx, luma->width, GPUME_THUMBNAIL_X));
            thumbnail->means[cy * GPUME_THUMBNAIL_X + cx] =
                (int16_t)(((sums[cx] * GPUME_THUMBNAIL_LEVEL) >> shift) / pixels);
            if (!repeats(cx, luma->width, GPUME_THUMBNAIL_X) &&
                !repeats(cy, luma->height, GPUME_THUMBNAIL_Y)) {
                all += sums[cx];
            }
        }
    }
    thumbnail->mean = (double)all / luma->width / luma->height / (1u << shift);
}

double gpume_thumbnail_distance(const struct gpume_thumbnail *a, const struct gpume_thumbnail *b)
{
    uint32_t sum = 0; /* 2304 cells of 64 * 255 at most */
    for (uint32_t i = 0; i < GPUME_THUMBNAIL_CELLS; i++) {
        sum += (uint32_t)abs(a->means[i] - b->means[i]);
    }
    return (double)sum / LEVELS(SQUARES);
}

/* The edge is repeated around. */
static void pad(int16_t padded[PADDED_Y][PADDED_X], const struct gpume_thumbnail *thumbnail)
{
    for (uint32_t y = 0; y < PADDED_Y; y++) {
        const uint32_t below = y < REACH_Y ? 0 : y - REACH_Y;
        const uint32_t row = below < GPUME_THUMBNAIL_Y ? below : GPUME_THUMBNAIL_Y - 1;
        const int16_t *means = thumbnail->means + (size_t)row * GPUME_THUMBNAIL_X;
        memcpy(padded[y] + REACH_X, means, GPUME_THUMBNAIL_X * sizeof(*means));
        for (uint32_t x = 0; x < REACH_X; x++) {
            padded[y][x] = means[0];
            padded[y][REACH_X + GPUME_THUMBNAIL_X + x] = means[GPUME_THUMBNAIL_X - 1];
        }
    }
}

/* Sums of absolute differences of each square of `b` at one displacement in `a`. */
static void add_up(uint32_t *sums, int16_t a[PADDED_Y][PADDED_X], const struct gpume_thumbnail *b,
    uint32_t dx, uint32_t dy)
{
    for (uint32_t sy = 0; sy < SQUARES_Y; sy++) {
        uint16_t columns[GPUME_THUMBNAIL_X] = {0}; /* 4 * 64 * 255 at most */
        for (uint32_t y = sy * SQUARE; y < (sy + 1) * SQUARE; y++) {
            const int16_t *from = a[y + dy] + dx;
            const int16_t *to = b->means + (size_t)y * GPUME_THUMBNAIL_X;
            for (uint32_t x = 0; x < GPUME_THUMBNAIL_X; x++) {
                const int16_t high = from[x] > to[x] ? from[x] : to[x];
                const int16_t low = from[x] > to[x] ? to[x] : from[x];
                columns[x] = (uint16_t)(columns[x] + (uint16_t)(high - low));
            }
        }
        for (uint32_t sx = 0; sx < SQUARES_X; sx++) {
            const uint16_t *four = columns + (size_t)sx * SQUARE;
            sums[sy * SQUARES_X + sx] = (uint32_t)four[0] + four[1] + four[2] + four[3];
        }
    }
}

/* The lowest sums of all displacements. */
static void search_squares(
    uint32_t *best, const struct gpume_thumbnail *from, const struct gpume_thumbnail *to)
{
    int16_t padded[PADDED_Y][PADDED_X];
    pad(padded, from);
    memset(best, 0xff, SQUARES * sizeof(*best));
    for (uint32_t dy = 0; dy <= 2 * REACH_Y; dy++) {
        for (uint32_t dx = 0; dx <= 2 * REACH_X; dx++) {
            uint32_t sums[SQUARES];
            add_up(sums, padded, to, dx, dy);
            for (uint32_t i = 0; i < SQUARES; i++) {
                best[i] = sums[i] < best[i] ? sums[i] : best[i];
            }
        }
    }
}

/* Raises the detail of each square, its deviation from its mean, to that of a thumbnail. */
static void raise_details(uint32_t *details, const struct gpume_thumbnail *thumbnail)
{
    for (uint32_t i = 0; i < SQUARES; i++) {
        const int16_t *first = thumbnail->means +
                               (size_t)(i / SQUARES_X) * SQUARE * GPUME_THUMBNAIL_X +
                               (size_t)(i % SQUARES_X) * SQUARE;
        int32_t mean = 0;
        uint32_t sum = 0;
        for (uint32_t k = 0; k < SQUARE * SQUARE; k++) {
            mean += first[k / SQUARE * GPUME_THUMBNAIL_X + k % SQUARE];
        }
        mean /= (int32_t)(SQUARE * SQUARE);
        for (uint32_t k = 0; k < SQUARE * SQUARE; k++) {
            sum += (uint32_t)abs(first[k / SQUARE * GPUME_THUMBNAIL_X + k % SQUARE] - mean);
        }
        details[i] = sum > details[i] ? sum : details[i];
    }
}

/* Second moments of the cells of two thumbnails. */
struct cell_moments {
    double variance_a, variance_b, covariance; /* times the square of the number of cells */
};

static struct cell_moments moments_of(
    const struct gpume_thumbnail *a, const struct gpume_thumbnail *b)
{
    const int64_t count = GPUME_THUMBNAIL_CELLS;
    int64_t sum_a = 0, sum_b = 0, square_a = 0, square_b = 0, product = 0;
    for (uint32_t i = 0; i < GPUME_THUMBNAIL_CELLS; i++) {
        const int32_t x = a->means[i], y = b->means[i];
        sum_a += x;
        sum_b += y;
        square_a += x * x;
        square_b += y * y;
        product += x * y;
    }
    return (struct cell_moments){(double)(count * square_a - sum_a * sum_a),
        (double)(count * square_b - sum_b * sum_b), (double)(count * product - sum_a * sum_b)};
}

/* The variance of cells of this deviation, as in moments. */
static double variance_of(double deviation)
{
    const double levels = deviation * GPUME_THUMBNAIL_LEVEL * GPUME_THUMBNAIL_CELLS;
    return levels * levels;
}

bool gpume_thumbnail_is_even(const struct gpume_thumbnail *thumbnail)
{
    return moments_of(thumbnail, thumbnail).variance_a < variance_of(EVEN);
}

/* Of the cells, 0 to 1; 0 where neither picture has any structure. */
static double correlation(const struct cell_moments *moments)
{
    const double noise = variance_of(NOISE), even = variance_of(EVEN);
    if (moments->variance_a < even && moments->variance_b < even) {
        return 0;
    }
    const double both = moments->covariance + noise;
    return both > 0 ? both / (sqrt(moments->variance_a + noise) * sqrt(moments->variance_b + noise))
                    : 0;
}

bool gpume_thumbnail_is_mixture(const struct gpume_thumbnail *a,
    const struct gpume_thumbnail *mixed, const struct gpume_thumbnail *b)
{
    int64_t along = 0, length = 0, size = 0;
    for (uint32_t i = 0; i < GPUME_THUMBNAIL_CELLS; i++) {
        const int32_t whole = b->means[i] - a->means[i], part = mixed->means[i] - a->means[i];
        along += part * whole;
        length += whole * whole;
        size += part * part;
    }
    const double all = (double)length, place = all > 0 ? (double)along / all : 0;
    return place > MIXED && place < 1 - MIXED && (double)size - place * place * all < BESIDE * all;
}

/* Slopes of a thumbnail's cells. Their sizes say little, since light changes them: all but faint
 * ones become 1. */
struct outlines {
    double x[GPUME_THUMBNAIL_CELLS], y[GPUME_THUMBNAIL_CELLS];
};

static void find_outlines(struct outlines *outlines, const struct gpume_thumbnail *thumbnail)
{
    *outlines = (struct outlines){0};
    for (uint32_t i = GPUME_THUMBNAIL_X; i < GPUME_THUMBNAIL_CELLS - GPUME_THUMBNAIL_X; i++) {
        const int16_t *cell = thumbnail->means + i;
        const double x = cell[1] - cell[-1];
        const double y = cell[GPUME_THUMBNAIL_X] - *(cell - GPUME_THUMBNAIL_X);
        const double size = sqrt(x * x + y * y) + 2 * FAINT * GPUME_THUMBNAIL_LEVEL;
        outlines->x[i] = x / size;
        outlines->y[i] = y / size;
    }
}

double gpume_thumbnail_other(const struct gpume_thumbnail *a, const struct gpume_thumbnail *b)
{
    struct outlines first, second;
    double best = 0;
    find_outlines(&first, a);
    find_outlines(&second, b);
    for (int32_t dy = -SHAKE; dy <= SHAKE; dy++) {
        for (int32_t dx = -SHAKE; dx <= SHAKE; dx++) {
            double product = 0, square_a = 0, square_b = 0;
            for (int32_t y = 2; y < (int32_t)GPUME_THUMBNAIL_Y - 2; y++) {
                for (int32_t x = 2; x < (int32_t)GPUME_THUMBNAIL_X - 2; x++) {
                    const int32_t i = y * (int32_t)GPUME_THUMBNAIL_X + x;
                    const int32_t k = i + dy * (int32_t)GPUME_THUMBNAIL_X + dx;
                    if (abs(a->means[i] - b->means[i]) > LIT * GPUME_THUMBNAIL_LEVEL) {
                        product += first.x[i] * second.x[k] + first.y[i] * second.y[k];
                        square_a += first.x[i] * first.x[i] + first.y[i] * first.y[i];
                        square_b += second.x[k] * second.x[k] + second.y[k] * second.y[k];
                    }
                }
            }
            const double alike = product / (sqrt(square_a * square_b) + FEW);
            best = alike > best ? alike : best;
        }
    }
    const double other = (SAME - best) / (SAME - OTHER);
    return other < 0 ? 0 : other > 1 ? 1 : other;
}

void gpume_thumbnail_level(struct gpume_thumbnail *level, const struct gpume_thumbnail *thumbnail,
    const struct gpume_thumbnail *other)
{
    const int32_t most = 255 * GPUME_THUMBNAIL_LEVEL;
    int32_t shift = 0;
    for (uint32_t i = 0; i < GPUME_THUMBNAIL_CELLS; i++) {
        shift += other->means[i] - thumbnail->means[i];
    }
    shift /= (int32_t)GPUME_THUMBNAIL_CELLS;
    for (uint32_t i = 0; i < GPUME_THUMBNAIL_CELLS; i++) {
        const int32_t mean = thumbnail->means[i] + shift;
        level->means[i] = (int16_t)(mean < 0 ? 0 : mean > most ? most : mean);
    }
}

/* Lowers the residuals to those of one direction, if they are less. */
static void include_residuals(struct gpume_unlike *unlike, const uint32_t *residuals,
    const uint32_t *still, const uint32_t *details)
{
    uint64_t sum = 0, detail = 0;
    double changed = 0, votes = 0;
    for (uint32_t i = 0; i < SQUARES; i++) {
        const bool has_changed =
            residuals[i] > LEVELS(CHANGED) && residuals[i] > CHANGED_PART * details[i];
        const bool is_flat = details[i] < LEVELS(FLAT_DETAIL) && still[i] < LEVELS(CHANGED);
        changed += has_changed;
        votes += is_flat ? FLAT_VOTE : 1;
        sum += residuals[i];
        detail += details[i] + LEVELS(1);
    }
    const double residual = (double)sum / LEVELS(SQUARES);
    unlike->residual = residual < unlike->residual ? residual : unlike->residual;
    unlike->relative = unlike->residual * LEVELS(SQUARES) / (double)detail;
    unlike->share = changed / votes < unlike->share ? changed / votes : unlike->share;
}

void gpume_thumbnail_compare(struct gpume_unlike *unlike, const struct gpume_thumbnail *a,
    const struct gpume_thumbnail *b, bool moves)
{
    int16_t padded[PADDED_Y][PADDED_X];
    uint32_t still[SQUARES], residuals[SQUARES], details[SQUARES] = {0};
    const struct cell_moments moments = moments_of(a, b);
    const double even = variance_of(EVEN);
    const bool even_a = moments.variance_a < even, even_b = moments.variance_b < even;
    *unlike = (struct gpume_unlike){.plain = gpume_thumbnail_distance(a, b),
        .structure = 1 - correlation(&moments),
        .residual = 255,
        .share = 1};
    pad(padded, a);
    add_up(still, padded, b, REACH_X, REACH_Y);
    raise_details(details, a);
    raise_details(details, b);
    include_residuals(unlike, still, still, details);
    if (!moves || unlike->plain < STILL) {
        return;
    }
    /* Most pictures have an even part, from which an even picture can be predicted. */
    if (even_a || !even_b) {
        search_squares(residuals, a, b);
        include_residuals(unlike, residuals, still, details);
    }
    if (even_b || !even_a) {
        search_squares(residuals, b, a);
        include_residuals(unlike, residuals, still, details);
    }
}
