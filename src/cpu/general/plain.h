/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernels of general.h as plain loops for the compiler's vectors. Each file that includes this
 * compiles them for its own instruction set.
 */
#ifndef GPUME_CPU_GENERAL_PLAIN_H
#define GPUME_CPU_GENERAL_PLAIN_H

#include "base/base.h"
#include "cpu/general/general.h"

#include <string.h>

/* --- bounds
 *
 * Sums of boxes, and lower bounds of D by each metric from the difference d of a box's sums in the
 * target and in the match.
 *
 *      SAD     |d|, by the triangle inequality (model/cost.h)
 *      SATD    d is one of the coefficients of the tile that the box is, so |d| is at most the sum
 *              of their absolute values, and rounding keeps the order
 *      SSD     d^2 / n for n samples, by the inequality of Cauchy and Schwarz; rounded down
 *
 * D of a block is the sum over its boxes, and not below the sum of their bounds.
 */
static inline uint32_t bound_sad(uint32_t apart, uint32_t box)
{
    (void)box;
    return apart;
}

static inline uint32_t bound_satd(uint32_t apart, uint32_t box)
{
    return box == 8 ? (apart + 2) >> 2 : (apart + 1) >> 1;
}

/* apart < 2^22, so only the square needs 64 bits. */
static inline uint32_t bound_ssd(uint32_t apart, uint32_t box)
{
    return (uint32_t)(((uint64_t)apart * apart) >> (box == 8 ? 6 : 4));
}

/* Sums of 8-bit samples are below 2^14, those of 16-bit samples below 2^22. */
#define DEFINE_BOUND(name, sum, bound_of)                                                          \
    static void name(                                                                              \
        const struct gpume_bound *b, const void *sums, uint32_t count, uint32_t *bounds)           \
    {                                                                                              \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            bounds[i] = 0;                                                                         \
        }                                                                                          \
        for (uint32_t box = 0; box < b->across * b->down; box++) {                                 \
            const sum *at = (const sum *)sums + box % b->across * b->box +                         \
                            (ptrdiff_t)(box / b->across * b->box) * b->stride;                     \
            const uint32_t target = b->target[box], side = b->box;                                 \
            for (uint32_t i = 0; i < count; i++) {                                                 \
                uint32_t match = at[i];                                                            \
                bounds[i] += bound_of(target > match ? target - match : match - target, side);     \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_BOUND(bounds_sad8, uint16_t, bound_sad)
DEFINE_BOUND(bounds_sad16, uint32_t, bound_sad)
DEFINE_BOUND(bounds_satd8, uint16_t, bound_satd)
DEFINE_BOUND(bounds_satd16, uint32_t, bound_satd)
DEFINE_BOUND(bounds_ssd8, uint16_t, bound_ssd)
DEFINE_BOUND(bounds_ssd16, uint32_t, bound_ssd)

#define GPUME_BOUNDS                                                                               \
    {                                                                                              \
        [GPUME_METRIC_SAD] = {bounds_sad8, bounds_sad16},                                          \
        [GPUME_METRIC_SATD] = {bounds_satd8, bounds_satd16},                                       \
        [GPUME_METRIC_SSD] = {bounds_ssd8, bounds_ssd16},                                          \
    }

#define SUM_COLUMNS 256u

/* Sums of the columns of a box, then of neighbouring columns. */
#define DEFINE_SUM_ROW(name, sample, sum)                                                          \
    static void name(const sample *from, size_t stride, uint32_t box, uint32_t count, sum *to)     \
    {                                                                                              \
        uint32_t columns[SUM_COLUMNS + 8] = {0};                                                   \
        for (uint32_t y = 0; y < box; y++) {                                                       \
            for (uint32_t x = 0; x < count + box - 1; x++) {                                       \
                columns[x] += from[y * stride + x];                                                \
            }                                                                                      \
        }                                                                                          \
        for (uint32_t x = 0; x < count; x++) {                                                     \
            uint32_t total = 0;                                                                    \
            for (uint32_t i = 0; i < box; i++) {                                                   \
                total += columns[x + i];                                                           \
            }                                                                                      \
            to[x] = (sum)total;                                                                    \
        }                                                                                          \
    }

DEFINE_SUM_ROW(sum_row8, uint8_t, uint16_t)
DEFINE_SUM_ROW(sum_row16, uint16_t, uint32_t)

static void sum_rows(
    const struct gpume_plan *plan, const void *plane, void *sums, uint32_t box, uint32_t row)
{
    size_t stride = plan->padded_stride;
    if (plan->padded_rows < box || stride < box) {
        return;
    }
    uint32_t end = gpume_min_u32(row + GPUME_FRACTION_ROWS, plan->padded_rows - box + 1);
    uint32_t places = plan->padded_stride - box + 1;
    for (uint32_t y = row; y < end; y++) {
        for (uint32_t x = 0; x < places; x += SUM_COLUMNS) {
            uint32_t count = places - x < SUM_COLUMNS ? places - x : SUM_COLUMNS;
            size_t at = y * stride + x;
            if (plan->sample_bytes == 2) {
                sum_row16((const uint16_t *)plane + at, stride, box, count, (uint32_t *)sums + at);
            } else {
                sum_row8((const uint8_t *)plane + at, stride, box, count, (uint16_t *)sums + at);
            }
        }
    }
}

/* --- the metrics */

/* Hadamard's transform of each column of n numbers, in place and without scaling. Coefficients of
 * both transforms of an 8x8 tile are below 64 * 65536 = 2^22. */
static inline void transform_columns(int32_t tile[8][8], uint32_t n)
{
    for (uint32_t step = 1; step < n; step *= 2) {
        for (uint32_t i = 0; i < n; i++) {
            if (i & step) {
                continue;
            }
            for (uint32_t j = 0; j < 8; j++) {
                int32_t sum = tile[i][j] + tile[i + step][j];
                tile[i + step][j] = tile[i][j] - tile[i + step][j];
                tile[i][j] = sum;
            }
        }
    }
}

static inline void transpose(int32_t tile[8][8], uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < i; j++) {
            int32_t value = tile[i][j];
            tile[i][j] = tile[j][i];
            tile[j][i] = value;
        }
    }
}

/* The sum of absolute coefficients, rounded: that sum is below 64 * 2^22 = 2^28. */
static inline uint32_t satd_of(int32_t tile[8][8], uint32_t n)
{
    uint32_t sum = 0;
    transform_columns(tile, n);
    transpose(tile, n);
    transform_columns(tile, n);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            sum += (uint32_t)(tile[i][j] < 0 ? -tile[i][j] : tile[i][j]);
        }
    }
    return n == 8 ? (sum + 2) >> 2 : (sum + 1) >> 1;
}

/* A gpume_distortion_fn from a function that is told the other match of a mean, or NULL, so that
 * the compiler makes the loops of both. */
#define DEFINE_DISTORTION(name)                                                                    \
    static inline uint32_t name(const struct gpume_target *t, const void *match, uint32_t limit)   \
    {                                                                                              \
        return t->other ? name##_of(t, match, t->other, limit) : name##_of(t, match, NULL, limit); \
    }

/* Of one metric, for 8-bit and 16-bit samples. 32 bits hold the sums: gpume_options_check refuses
 * parameters where they could not. */
#define PREDICTED (c ? (b[x] + c[x] + 1) >> 1 : b[x])

#define DEFINE_ROWS(name, sample, add)                                                             \
    static inline uint32_t name##_of(                                                              \
        const struct gpume_target *t, const void *match, const void *other, uint32_t limit)        \
    {                                                                                              \
        const sample *a = t->samples, *b = match, *c = other;                                      \
        uint32_t sum = 0;                                                                          \
        for (uint32_t y = 0; y < t->height && sum <= limit; y++) {                                 \
            for (uint32_t x = 0; x < t->width; x++) {                                              \
                int32_t d = (int32_t)a[x] - (int32_t)PREDICTED;                                    \
                sum += (uint32_t)(add);                                                            \
            }                                                                                      \
            a += t->stride;                                                                        \
            b += t->stride;                                                                        \
            c = c ? c + t->stride : c;                                                             \
        }                                                                                          \
        return sum;                                                                                \
    }                                                                                              \
    DEFINE_DISTORTION(name)

#define DEFINE_SATD(name, sample)                                                                  \
    static inline uint32_t name##_of(                                                              \
        const struct gpume_target *t, const void *match, const void *other, uint32_t limit)        \
    {                                                                                              \
        uint32_t n = t->tile, sum = 0;                                                             \
        for (uint32_t top = 0; top < t->height && sum <= limit; top += n) {                        \
            for (uint32_t left = 0; left < t->width; left += n) {                                  \
                int32_t tile[8][8] = {{0}};                                                        \
                ptrdiff_t at = (ptrdiff_t)top * t->stride + left;                                  \
                const sample *a = (const sample *)t->samples + at;                                 \
                const sample *b = (const sample *)match + at;                                      \
                const sample *c = other ? (const sample *)other + at : NULL;                       \
                for (uint32_t y = 0; y < n && y < t->height - top; y++) {                          \
                    for (uint32_t x = 0; x < n && x < t->width - left; x++) {                      \
                        tile[y][x] = (int32_t)a[x] - (int32_t)PREDICTED;                           \
                    }                                                                              \
                    a += t->stride;                                                                \
                    b += t->stride;                                                                \
                    c = c ? c + t->stride : c;                                                     \
                }                                                                                  \
                sum += satd_of(tile, n);                                                           \
            }                                                                                      \
        }                                                                                          \
        return sum;                                                                                \
    }                                                                                              \
    DEFINE_DISTORTION(name)

#define ABSOLUTE (d < 0 ? -d : d)
#define SQUARE ((uint32_t)d * (uint32_t)d)

DEFINE_ROWS(sad8, uint8_t, ABSOLUTE)
DEFINE_ROWS(sad16, uint16_t, ABSOLUTE)
DEFINE_ROWS(ssd8, uint8_t, SQUARE)
DEFINE_ROWS(ssd16, uint16_t, SQUARE)
DEFINE_SATD(satd8, uint8_t)
DEFINE_SATD(satd16, uint16_t)

/* sad, satd: those of 8-bit samples, of which an instruction set may have its own. */
#define GPUME_DISTORTIONS(sad, satd)                                                               \
    {                                                                                              \
        [GPUME_METRIC_SAD] = {sad, sad16}, [GPUME_METRIC_SATD] = {satd, satd16},                   \
        [GPUME_METRIC_SSD] = {ssd8, ssd16},                                                        \
    }

/* --- fractions: the planes between the samples of a surface (model/plan.h), made of plane 0 */

#define ROWS GPUME_FRACTION_ROWS
#define COLUMNS 128u

struct fraction_place {
    uint32_t x, y;          /* of the first sample, in the padded plane */
    uint32_t columns, rows; /* that exist: at most COLUMNS and ROWS */
};

/* The padded plane repeats the picture's edge, so repeating its own edge goes on with that. Samples
 * before the padded row that lies `below` the place's first: */
static inline size_t row_offset(
    const struct gpume_plan *plan, const struct fraction_place *place, int32_t below)
{
    return (size_t)gpume_nearest((int64_t)place->y + below, plan->padded_rows) *
           plan->padded_stride;
}

/* And the column that lies `right` of the place's first. */
static inline size_t column_of(
    const struct gpume_plan *plan, const struct fraction_place *place, int32_t right)
{
    return (size_t)gpume_nearest((int64_t)place->x + right, plan->padded_stride);
}

static inline int32_t peak_of(const struct gpume_plan *plan)
{
    return (int32_t)(1u << plan->params.bits) - 1;
}

static inline int32_t clip(int32_t value, int32_t peak)
{
    return value < 0 ? 0 : value > peak ? peak : value;
}

/*
 * H.264: ITU-T H.264 8.4.2.2.1, with the names of its figure 8-4: some rows and columns
 * of a plane become all of its fractions. Whole samples G, and b, h and j half a sample to the
 * right, below, and both, are filtered. A quarter sample is the mean of two of them.
 */
#define SIX_BEFORE 2
#define SIX_AFTER 3
#define SIX_WIDTH (COLUMNS + 1 + SIX_BEFORE + SIX_AFTER)
#define SIX_HEIGHT (ROWS + 1 + SIX_BEFORE + SIX_AFTER)

static inline int32_t six(int32_t a, int32_t b, int32_t c, int32_t d, int32_t e, int32_t f)
{
    return a - 5 * b + 20 * c + 20 * d - 5 * e + f;
}

/* The two whole or half samples that a quarter sample lies between: which kind, of G, b, h and j,
 * and how many places to the right and below. Where it is one of them, that twice. */
struct quarter {
    struct {
        uint8_t kind, right, below;
    } of[2];
};

static const struct quarter h264_quarters[4][4] = {
    /* G a b c */
    {{{{0, 0, 0}, {0, 0, 0}}}, {{{0, 0, 0}, {1, 0, 0}}}, {{{1, 0, 0}, {1, 0, 0}}},
        {{{0, 1, 0}, {1, 0, 0}}}},
    /* d e f g */
    {{{{0, 0, 0}, {2, 0, 0}}}, {{{1, 0, 0}, {2, 0, 0}}}, {{{1, 0, 0}, {3, 0, 0}}},
        {{{1, 0, 0}, {2, 1, 0}}}},
    /* h i j k */
    {{{{2, 0, 0}, {2, 0, 0}}}, {{{2, 0, 0}, {3, 0, 0}}}, {{{3, 0, 0}, {3, 0, 0}}},
        {{{3, 0, 0}, {2, 1, 0}}}},
    /* n p q r */
    {{{{0, 0, 1}, {2, 0, 0}}}, {{{2, 0, 0}, {1, 0, 1}}}, {{{3, 0, 0}, {1, 0, 1}}},
        {{{2, 1, 0}, {1, 0, 1}}}}};

/* For samples of one size. sum: holds unrounded sums of one filter, which are from -10 to 42 times
 * the largest sample; those of two are below 2^28. */
#define DEFINE_H264(bits, sample, sum)                                                             \
    struct h264_##bits {                                                                           \
        sample at[SIX_HEIGHT][SIX_WIDTH]; /* at[SIX_BEFORE][SIX_BEFORE]: the first */              \
        sum across[SIX_HEIGHT][SIX_WIDTH];                                                         \
        sample halves[3][ROWS + 1][SIX_WIDTH]; /* b, h and j, for one place more both ways */      \
    };                                                                                             \
                                                                                                   \
    static void h264_load_##bits(const struct gpume_plan *plan, const sample *plane,               \
        const struct fraction_place *place, struct h264_##bits *tile)                              \
    {                                                                                              \
        bool inside =                                                                              \
            place->x >= SIX_BEFORE && place->x - SIX_BEFORE + SIX_WIDTH <= plan->padded_stride;    \
        for (uint32_t i = 0; i < SIX_HEIGHT; i++) {                                                \
            const sample *row = plane + row_offset(plan, place, (int32_t)i - SIX_BEFORE);          \
            if (inside) {                                                                          \
                memcpy(tile->at[i], row + place->x - SIX_BEFORE, sizeof(tile->at[i]));             \
            }                                                                                      \
            for (uint32_t j = 0; !inside && j < SIX_WIDTH; j++) {                                  \
                tile->at[i][j] = row[column_of(plan, place, (int32_t)j - SIX_BEFORE)];             \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void h264_halves_##bits(int32_t peak, struct h264_##bits *tile)                         \
    {                                                                                              \
        for (uint32_t i = 0; i < SIX_HEIGHT; i++) {                                                \
            const sample *g = tile->at[i];                                                         \
            for (uint32_t j = 0; j < COLUMNS + 1; j++) {                                           \
                tile->across[i][j] =                                                               \
                    (sum)six(g[j], g[j + 1], g[j + 2], g[j + 3], g[j + 4], g[j + 5]);              \
            }                                                                                      \
        }                                                                                          \
        for (uint32_t i = 0; i < ROWS + 1; i++) {                                                  \
            sample(*g)[SIX_WIDTH] = &tile->at[i];                                                  \
            sum(*a)[SIX_WIDTH] = &tile->across[i];                                                 \
            for (uint32_t j = 0; j < COLUMNS + 1; j++) {                                           \
                uint32_t x = j + SIX_BEFORE;                                                       \
                sum down = (sum)six(g[0][x], g[1][x], g[2][x], g[3][x], g[4][x], g[5][x]);         \
                tile->halves[0][i][j] = (sample)clip((a[2][j] + 16) >> 5, peak);                   \
                tile->halves[1][i][j] = (sample)clip((down + 16) >> 5, peak);                      \
            }                                                                                      \
            for (uint32_t j = 0; j < COLUMNS + 1; j++) {                                           \
                int32_t both = six(a[0][j], a[1][j], a[2][j], a[3][j], a[4][j], a[5][j]);          \
                tile->halves[2][i][j] = (sample)clip((both + 512) >> 10, peak);                    \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static const sample *h264_row_##bits(                                                          \
        const struct h264_##bits *tile, const struct quarter *q, uint32_t which, uint32_t row)     \
    {                                                                                              \
        uint32_t kind = q->of[which].kind, right = q->of[which].right;                             \
        row += q->of[which].below;                                                                 \
        return kind == 0 ? &tile->at[row + SIX_BEFORE][right + SIX_BEFORE]                         \
                         : &tile->halves[kind - 1][row][right];                                    \
    }                                                                                              \
                                                                                                   \
    static void h264_store_##bits(const struct gpume_plan *plan,                                   \
        const struct fraction_place *place, const struct h264_##bits *tile,                        \
        const struct quarter *q, sample *plane)                                                    \
    {                                                                                              \
        for (uint32_t i = 0; i < place->rows; i++) {                                               \
            const sample *a = h264_row_##bits(tile, q, 0, i), *b = h264_row_##bits(tile, q, 1, i); \
            sample means[COLUMNS];                                                                 \
            for (uint32_t j = 0; j < COLUMNS; j++) {                                               \
                means[j] = (sample)((a[j] + b[j] + 1) >> 1);                                       \
            }                                                                                      \
            memcpy(plane + row_offset(plan, place, (int32_t)i) + place->x, means,                  \
                place->columns * sizeof(sample));                                                  \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void h264_place_##bits(                                                                 \
        const struct gpume_plan *plan, void *surface, const struct fraction_place *place)          \
    {                                                                                              \
        uint32_t quarters = 4 / plan->units;                                                       \
        struct h264_##bits tile;                                                                   \
        h264_load_##bits(plan, surface, place, &tile);                                             \
        h264_halves_##bits(peak_of(plan), &tile);                                                  \
        for (uint32_t i = 1; i < plan->planes; i++) {                                              \
            uint32_t fx = i % plan->units * quarters, fy = i / plan->units * quarters;             \
            h264_store_##bits(plan, place, &tile, &h264_quarters[fy][fx],                          \
                (sample *)(void *)((uint8_t *)surface + i * plan->padded_bytes));                  \
        }                                                                                          \
    }

DEFINE_H264(8, uint8_t, int16_t)
DEFINE_H264(16, uint16_t, int32_t)

/* Bilinear and HEVC. */

#define EIGHT_BEFORE 3 /* samples that taps reach to the left and up */
#define EIGHT_AFTER 4  /* and to the right and down */

/* ROWS x COLUMNS places of a surface, as integers. */
struct tile {
    int32_t
        at[ROWS + EIGHT_BEFORE + EIGHT_AFTER]
          [COLUMNS + EIGHT_BEFORE + EIGHT_AFTER]; /* at[EIGHT_BEFORE][EIGHT_BEFORE]: the first */
    int32_t across[ROWS + EIGHT_BEFORE + EIGHT_AFTER][COLUMNS]; /* HEVC: see filter_across */
};

static void load_tile(const struct gpume_plan *plan, const void *plane,
    const struct fraction_place *place, struct tile *tile)
{
    for (uint32_t i = 0; i < ROWS + EIGHT_BEFORE + EIGHT_AFTER; i++) {
        size_t row = row_offset(plan, place, (int32_t)i - EIGHT_BEFORE);
        for (uint32_t j = 0; j < COLUMNS + EIGHT_BEFORE + EIGHT_AFTER; j++) {
            size_t at = row + column_of(plan, place, (int32_t)j - EIGHT_BEFORE);
            tile->at[i][j] = plan->sample_bytes == 2 ? ((const uint16_t *)plane)[at]
                                                     : ((const uint8_t *)plane)[at];
        }
    }
}

/* --- bilinear */

static void bilinear(const struct gpume_plan *plan, const struct tile *tile, uint32_t fx,
    uint32_t fy, int32_t out[ROWS][COLUMNS])
{
    int32_t right = (int32_t)fx, down = (int32_t)fy;
    (void)plan;
    for (uint32_t i = 0; i < ROWS; i++) {
        const int32_t *a = &tile->at[i + EIGHT_BEFORE][EIGHT_BEFORE],
                      *c = &tile->at[i + EIGHT_BEFORE + 1][EIGHT_BEFORE];
        for (uint32_t j = 0; j < COLUMNS; j++) {
            int32_t above = (4 - right) * a[j] + right * a[j + 1];
            int32_t below = (4 - right) * c[j] + right * c[j + 1];
            out[i][j] = ((4 - down) * above + down * below + 8) >> 4;
        }
    }
}

/* --- HEVC: ITU-T H.265 8.5.3.3.3.1 */

static const int32_t hevc_taps[4][8] = {{0, 0, 0, 64, 0, 0, 0, 0}, {-1, 4, -10, 58, 17, -5, 1, 0},
    {-1, 4, -11, 40, 40, -11, 4, -1}, {0, 1, -5, 17, 58, -10, 4, -1}};

/* Sums of one filter are below 2^12 * 112 < 2^19, those of two below 2^15 * 112 * 2^8 < 2^31. */
static inline int32_t eight(const int32_t taps[8], const int32_t *at, size_t step)
{
    int32_t sum = 0;
    for (size_t k = 0; k < 8; k++) {
        sum += taps[k] * at[k * step];
    }
    return sum;
}

/* All rows of the tile filtered for one fx. */
static inline void filter_across(const struct gpume_plan *plan, struct tile *tile, uint32_t fx)
{
    uint32_t shift = gpume_min_u32(4, plan->params.bits - 8);
    for (uint32_t i = 0; i < ROWS + EIGHT_BEFORE + EIGHT_AFTER; i++) {
        for (uint32_t j = 0; j < COLUMNS; j++) {
            tile->across[i][j] = fx > 0 ? eight(hevc_taps[fx], &tile->at[i][j], 1) >> shift
                                        : tile->at[i][j + EIGHT_BEFORE];
        }
    }
}

static void hevc(const struct gpume_plan *plan, const struct tile *tile, uint32_t fx, uint32_t fy,
    int32_t out[ROWS][COLUMNS])
{
    uint32_t bits = plan->params.bits, last = 14 - bits;
    uint32_t shift = fx > 0 ? 6 : gpume_min_u32(4, bits - 8);
    const int32_t peak = peak_of(plan);
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t j = 0; j < COLUMNS; j++) {
            int32_t sum = fy > 0 ? eight(hevc_taps[fy], &tile->across[i][j], COLUMNS) >> shift
                                 : tile->across[i + EIGHT_BEFORE][j];
            out[i][j] = clip((sum + (1 << (last - 1))) >> last, peak);
        }
    }
}

/* --- planes */

#define DEFINE_STORE(name, sample)                                                                 \
    static void name(const struct gpume_plan *plan, sample *plane,                                 \
        const struct fraction_place *place, int32_t values[ROWS][COLUMNS])                         \
    {                                                                                              \
        for (uint32_t i = 0; i < place->rows; i++) {                                               \
            sample *to = plane + (size_t)(place->y + i) * plan->padded_stride + place->x;          \
            for (uint32_t j = 0; j < place->columns; j++) {                                        \
                to[j] = (sample)values[i][j];                                                      \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_STORE(store8, uint8_t)
DEFINE_STORE(store16, uint16_t)

/* The planes of one fx, but for plane 0. */
static void make_column(const struct gpume_plan *plan, void *surface,
    const struct fraction_place *place, struct tile *tile, uint32_t fx)
{
    bool is_hevc = plan->params.interpolation == GPUME_INTERPOLATION_HEVC;
    uint32_t quarters = 4 / plan->units;
    int32_t values[ROWS][COLUMNS];
    if (is_hevc) {
        filter_across(plan, tile, fx * quarters);
    }
    for (uint32_t fy = 0; fy < plan->units; fy++) {
        uint32_t plane = fy * plan->units + fx;
        if (plane > 0) {
            (is_hevc ? hevc : bilinear)(plan, tile, fx * quarters, fy * quarters, values);
            uint8_t *to = (uint8_t *)surface + plane * plan->padded_bytes;
            if (plan->sample_bytes == 2) {
                store16(plan, (uint16_t *)(void *)to, place, values);
            } else {
                store8(plan, to, place, values);
            }
        }
    }
}

/* Bilinear and HEVC. */
static void make_place(
    const struct gpume_plan *plan, void *surface, const struct fraction_place *place)
{
    struct tile tile;
    load_tile(plan, surface, place, &tile);
    for (uint32_t fx = 0; fx < plan->units; fx++) {
        make_column(plan, surface, place, &tile, fx);
    }
}

static void fraction_rows(const struct gpume_plan *plan, void *surface, uint32_t row)
{
    struct fraction_place place = {.y = row};
    place.rows = gpume_min_u32(ROWS, plan->padded_rows - row);
    for (place.x = 0; place.x < plan->padded_stride; place.x += COLUMNS) {
        place.columns = gpume_min_u32(COLUMNS, plan->padded_stride - place.x);
        if (plan->params.interpolation != GPUME_INTERPOLATION_H264) {
            make_place(plan, surface, &place);
        } else if (plan->sample_bytes == 2) {
            h264_place_16(plan, surface, &place);
        } else {
            h264_place_8(plan, surface, &place);
        }
    }
}

#endif
