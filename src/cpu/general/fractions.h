/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The planes between the samples of a surface (model/surface.h), made of plane 0, for kernels.h.
 */
#ifndef GPUME_CPU_GENERAL_FRACTIONS_H
#define GPUME_CPU_GENERAL_FRACTIONS_H

#include "base/grid.h"
#include "cpu/general/kernels.h"

#define ROWS GPUME_FRACTION_ROWS
#define COLUMNS 128u
#define BEFORE 3 /* samples that taps reach to the left and up */
#define AFTER 4  /* and to the right and down */

/* ROWS x COLUMNS places of a surface, as integers. */
struct tile {
    int32_t at[ROWS + BEFORE + AFTER][COLUMNS + BEFORE + AFTER]; /* at[BEFORE][BEFORE]: the first */
    int32_t halves[4][ROWS + 1][COLUMNS + 1];                    /* H.264: see make_halves */
    int32_t across[ROWS + BEFORE + AFTER][COLUMNS];              /* HEVC: see filter_across */
};

struct place {
    uint32_t x, y;          /* of the first sample, in the padded plane */
    uint32_t columns, rows; /* that exist */
};

/* One fraction of a tile: what lies fx / 4 to the right of every place and fy / 4 below it. */
typedef void (*fraction_fn)(const struct gpume_plan *plan, const struct tile *tile, uint32_t fx,
    uint32_t fy, int32_t out[ROWS][COLUMNS]);

static int32_t load(const struct gpume_plan *plan, const void *plane, uint32_t x, uint32_t y)
{
    size_t index = (size_t)y * plan->padded_stride + x;
    return plan->sample_bytes == 2 ? ((const uint16_t *)plane)[index]
                                   : ((const uint8_t *)plane)[index];
}

static uint32_t clamp(int64_t at, uint32_t count)
{
    return at < 0 ? 0 : (uint32_t)gpume_min_u64((uint64_t)at, count - 1);
}

/* The padded plane repeats the picture's edge, so repeating its own edge goes on with that. */
static void load_tile(
    const struct gpume_plan *plan, const void *plane, const struct place *place, struct tile *tile)
{
    for (uint32_t i = 0; i < ROWS + BEFORE + AFTER; i++) {
        uint32_t y = clamp((int64_t)place->y + i - BEFORE, plan->padded_rows);
        for (uint32_t j = 0; j < COLUMNS + BEFORE + AFTER; j++) {
            uint32_t x = clamp((int64_t)place->x + j - BEFORE, plan->padded_stride);
            tile->at[i][j] = load(plan, plane, x, y);
        }
    }
}

static inline int32_t peak_of(const struct gpume_plan *plan)
{
    return (int32_t)(1u << plan->params.bits) - 1;
}

static inline int32_t clip(int32_t value, int32_t peak)
{
    return value < 0 ? 0 : value > peak ? peak : value;
}

/* --- bilinear */

static void bilinear(const struct gpume_plan *plan, const struct tile *tile, uint32_t fx,
    uint32_t fy, int32_t out[ROWS][COLUMNS])
{
    int32_t right = (int32_t)fx, down = (int32_t)fy;
    (void)plan;
    for (uint32_t i = 0; i < ROWS; i++) {
        const int32_t *a = &tile->at[i + BEFORE][BEFORE], *c = &tile->at[i + BEFORE + 1][BEFORE];
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
    uint32_t shift = (uint32_t)gpume_min_u64(4, plan->params.bits - 8);
    for (uint32_t i = 0; i < ROWS + BEFORE + AFTER; i++) {
        for (uint32_t j = 0; j < COLUMNS; j++) {
            tile->across[i][j] = fx > 0 ? eight(hevc_taps[fx], &tile->at[i][j], 1) >> shift
                                        : tile->at[i][j + BEFORE];
        }
    }
}

static void hevc(const struct gpume_plan *plan, const struct tile *tile, uint32_t fx, uint32_t fy,
    int32_t out[ROWS][COLUMNS])
{
    uint32_t bits = plan->params.bits, last = 14 - bits;
    uint32_t shift = fx > 0 ? 6 : (uint32_t)gpume_min_u64(4, bits - 8);
    const int32_t peak = peak_of(plan);
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t j = 0; j < COLUMNS; j++) {
            int32_t sum = fy > 0 ? eight(hevc_taps[fy], &tile->across[i][j], COLUMNS) >> shift
                                 : tile->across[i + BEFORE][j];
            out[i][j] = clip((sum + (1 << (last - 1))) >> last, peak);
        }
    }
}

/* --- H.264: ITU-T H.264 8.4.2.2.1, with the names of its figure 8-4 */

static inline int32_t six(int32_t a, int32_t b, int32_t c, int32_t d, int32_t e, int32_t f)
{
    return a - 5 * b + 20 * c + 20 * d - 5 * e + f;
}

/* Whole samples G, and b, h and j half a sample to the right, below, and both, for every place and
 * one more to the right and below. Unrounded sums of one filter are below 2^16 * 52 < 2^22, those
 * of two below 2^28. */
static inline void make_halves(const struct gpume_plan *plan, struct tile *tile)
{
    const int32_t peak = peak_of(plan);
    int32_t across[ROWS + 1 + 5][COLUMNS + 1]; /* of the rows from two above the first */
    for (uint32_t i = 0; i < ROWS + 1 + 5; i++) {
        const int32_t *g = &tile->at[i + BEFORE - 2][BEFORE];
        for (uint32_t j = 0; j < COLUMNS + 1; j++) {
            across[i][j] =
                six(g[(int32_t)j - 2], g[(int32_t)j - 1], g[j], g[j + 1], g[j + 2], g[j + 3]);
        }
    }
    for (uint32_t i = 0; i < ROWS + 1; i++) {
        int32_t(*g)[COLUMNS + BEFORE + AFTER] = &tile->at[i + BEFORE];
        int32_t(*a)[COLUMNS + 1] = &across[i + 2];
        for (uint32_t j = 0; j < COLUMNS + 1; j++) {
            uint32_t x = j + BEFORE;
            int32_t down = six(g[-2][x], g[-1][x], g[0][x], g[1][x], g[2][x], g[3][x]);
            int32_t both = six(a[-2][j], a[-1][j], a[0][j], a[1][j], a[2][j], a[3][j]);
            tile->halves[0][i][j] = g[0][x];
            tile->halves[1][i][j] = clip((a[0][j] + 16) >> 5, peak);
            tile->halves[2][i][j] = clip((down + 16) >> 5, peak);
            tile->halves[3][i][j] = clip((both + 512) >> 10, peak);
        }
    }
}

/* The two whole or half samples that a quarter sample lies between: which kind, 0 to 3 as in
 * tile.halves, and how many places to the right and below. Where it is one of them, that twice. */
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

static void h264(const struct gpume_plan *plan, const struct tile *tile, uint32_t fx, uint32_t fy,
    int32_t out[ROWS][COLUMNS])
{
    const struct quarter *q = &h264_quarters[fy][fx];
    (void)plan;
    for (uint32_t i = 0; i < ROWS; i++) {
        const int32_t *a = tile->halves[q->of[0].kind][i + q->of[0].below] + q->of[0].right;
        const int32_t *b = tile->halves[q->of[1].kind][i + q->of[1].below] + q->of[1].right;
        for (uint32_t j = 0; j < COLUMNS; j++) {
            out[i][j] = (a[j] + b[j] + 1) >> 1;
        }
    }
}

/* --- planes */

#define DEFINE_STORE(name, sample)                                                                 \
    static void name(const struct gpume_plan *plan, sample *plane, const struct place *place,      \
        int32_t values[ROWS][COLUMNS])                                                             \
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
static void make_column(const struct gpume_plan *plan, void *surface, const struct place *place,
    struct tile *tile, uint32_t fx)
{
    static const fraction_fn makers[] = {[GPUME_INTERPOLATION_H264] = h264,
        [GPUME_INTERPOLATION_HEVC] = hevc,
        [GPUME_INTERPOLATION_BILINEAR] = bilinear};
    uint32_t quarters = 4 / plan->units;
    int32_t values[ROWS][COLUMNS];
    if (plan->params.interpolation == GPUME_INTERPOLATION_HEVC) {
        filter_across(plan, tile, fx * quarters);
    }
    for (uint32_t fy = 0; fy < plan->units; fy++) {
        uint32_t plane = fy * plan->units + fx;
        if (plane > 0) {
            makers[plan->params.interpolation](plan, tile, fx * quarters, fy * quarters, values);
            uint8_t *to = (uint8_t *)surface + plane * plan->padded_bytes;
            if (plan->sample_bytes == 2) {
                store16(plan, (uint16_t *)(void *)to, place, values);
            } else {
                store8(plan, to, place, values);
            }
        }
    }
}

static void fraction_rows(const struct gpume_plan *plan, void *surface, uint32_t row)
{
    struct place place = {.y = row};
    struct tile tile;
    place.rows = (uint32_t)gpume_min_u64(ROWS, plan->padded_rows - row);
    for (place.x = 0; place.x < plan->padded_stride; place.x += COLUMNS) {
        place.columns = (uint32_t)gpume_min_u64(COLUMNS, plan->padded_stride - place.x);
        load_tile(plan, surface, &place, &tile);
        if (plan->params.interpolation == GPUME_INTERPOLATION_H264) {
            make_halves(plan, &tile);
        }
        for (uint32_t fx = 0; fx < plan->units; fx++) {
            make_column(plan, surface, &place, &tile, fx);
        }
    }
}

#endif
