/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/general/fractions.h"

#include "base/grid.h"

#define ROWS GPUME_FRACTION_ROWS
#define COLUMNS 128u
#define BEFORE 3 /* samples that taps reach to the left and up */
#define AFTER 4  /* and to the right and down */

/* ROWS x COLUMNS places of a surface, as integers. */
struct tile {
    int32_t at[ROWS + BEFORE + AFTER][COLUMNS + BEFORE + AFTER]; /* at[BEFORE][BEFORE]: the first */
    int32_t halves[2 * ROWS + 1][2 * COLUMNS + 1]; /* H.264: whole and half samples, from there */
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

static int32_t clip(int32_t value, const struct gpume_plan *plan)
{
    int32_t peak = (int32_t)(1u << plan->params.bits) - 1;
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

/* Intermediate sums are below 2^12 * 88 * 88 < 2^25. */
static void hevc(const struct gpume_plan *plan, const struct tile *tile, uint32_t fx, uint32_t fy,
    int32_t out[ROWS][COLUMNS])
{
    uint32_t bits = plan->params.bits, shift1 = (uint32_t)gpume_min_u64(4, bits - 8);
    uint32_t last = 14 - bits;
    int32_t across[ROWS + BEFORE + AFTER][COLUMNS];
    for (uint32_t i = 0; i < ROWS + BEFORE + AFTER; i++) {
        for (uint32_t j = 0; j < COLUMNS; j++) {
            int32_t sum = 0;
            for (uint32_t k = 0; k < 8; k++) {
                sum += hevc_taps[fx][k] * tile->at[i][j + k];
            }
            across[i][j] = fx > 0 ? sum >> shift1 : tile->at[i][j + BEFORE];
        }
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t j = 0; j < COLUMNS; j++) {
            int32_t sum = 0;
            for (uint32_t k = 0; k < 8; k++) {
                sum += hevc_taps[fy][k] * across[i + k][j];
            }
            sum = fy > 0 ? sum >> (fx > 0 ? 6 : shift1) : across[i + BEFORE][j];
            out[i][j] = clip((sum + (1 << (last - 1))) >> last, plan);
        }
    }
}

/* --- H.264: ITU-T H.264 8.4.2.2.1, with the names of its figure 8-4 */

static int32_t six(int32_t a, int32_t b, int32_t c, int32_t d, int32_t e, int32_t f)
{
    return a - 5 * b + 20 * c + 20 * d - 5 * e + f;
}

/* The whole sample, b, h or j: x2 and y2 count half samples from the first place. */
static int32_t half_at(
    const struct gpume_plan *plan, const struct tile *tile, uint32_t x2, uint32_t y2)
{
    uint32_t x = x2 / 2 + BEFORE, y = y2 / 2 + BEFORE;
    const int32_t(*at)[COLUMNS + BEFORE + AFTER] = tile->at;
    if (x2 % 2 == 0 && y2 % 2 == 0) {
        return at[y][x];
    }
    if (y2 % 2 == 0) {
        const int32_t *g = &at[y][x];
        return clip((six(g[-2], g[-1], g[0], g[1], g[2], g[3]) + 16) >> 5, plan);
    }
    if (x2 % 2 == 0) {
        return clip(
            (six(at[y - 2][x], at[y - 1][x], at[y][x], at[y + 1][x], at[y + 2][x], at[y + 3][x]) +
                16) >>
                5,
            plan);
    }
    int32_t rows[6]; /* unrounded: below 2^16 * 52 < 2^22, and their sum below 2^28 */
    for (uint32_t k = 0; k < 6; k++) {
        const int32_t *g = &at[y + k - 2][x];
        rows[k] = six(g[-2], g[-1], g[0], g[1], g[2], g[3]);
    }
    return clip((six(rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]) + 512) >> 10, plan);
}

/* The two samples at whole and half places that a quarter place lies between, as offsets in half
 * samples: {x, y} of the first, {x, y} of the second; equal where the place is one of them. */
static const uint8_t h264_pairs[4][4][4] = {
    /* fy 0: G a b c */ {{0, 0, 0, 0}, {0, 0, 1, 0}, {1, 0, 1, 0}, {2, 0, 1, 0}},
    /* fy 1: d e f g */ {{0, 0, 0, 1}, {1, 0, 0, 1}, {1, 0, 1, 1}, {1, 0, 2, 1}},
    /* fy 2: h i j k */ {{0, 1, 0, 1}, {0, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 2, 1}},
    /* fy 3: n p q r */ {{0, 2, 0, 1}, {0, 1, 1, 2}, {1, 1, 1, 2}, {2, 1, 1, 2}}};

static void make_halves(const struct gpume_plan *plan, struct tile *tile)
{
    for (uint32_t i = 0; i < 2 * ROWS + 1; i++) {
        for (uint32_t j = 0; j < 2 * COLUMNS + 1; j++) {
            tile->halves[i][j] = half_at(plan, tile, j, i);
        }
    }
}

static void h264(const struct gpume_plan *plan, const struct tile *tile, uint32_t fx, uint32_t fy,
    int32_t out[ROWS][COLUMNS])
{
    const uint8_t *pair = h264_pairs[fy][fx];
    (void)plan;
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t j = 0; j < COLUMNS; j++) {
            int32_t a = tile->halves[2 * i + pair[1]][2 * j + pair[0]];
            int32_t b = tile->halves[2 * i + pair[3]][2 * j + pair[2]];
            out[i][j] = (a + b + 1) >> 1;
        }
    }
}

/* --- planes */

static void store(const struct gpume_plan *plan, void *plane, const struct place *place,
    int32_t values[ROWS][COLUMNS])
{
    for (uint32_t i = 0; i < place->rows; i++) {
        size_t first = (size_t)(place->y + i) * plan->padded_stride + place->x;
        for (uint32_t j = 0; j < place->columns; j++) {
            if (plan->sample_bytes == 2) {
                ((uint16_t *)plane)[first + j] = (uint16_t)values[i][j];
            } else {
                ((uint8_t *)plane)[first + j] = (uint8_t)values[i][j];
            }
        }
    }
}

void gpume_fraction_rows(const struct gpume_plan *plan, void *surface, uint32_t row)
{
    static const fraction_fn makers[] = {[GPUME_INTERPOLATION_H264] = h264,
        [GPUME_INTERPOLATION_HEVC] = hevc,
        [GPUME_INTERPOLATION_BILINEAR] = bilinear};
    fraction_fn make = makers[plan->params.interpolation];
    uint32_t quarters = 4 / plan->units;
    struct place place = {.y = row};
    struct tile tile;
    int32_t values[ROWS][COLUMNS];
    place.rows = (uint32_t)gpume_min_u64(ROWS, plan->padded_rows - row);
    for (place.x = 0; place.x < plan->padded_stride; place.x += COLUMNS) {
        place.columns = (uint32_t)gpume_min_u64(COLUMNS, plan->padded_stride - place.x);
        load_tile(plan, surface, &place, &tile);
        if (plan->params.interpolation == GPUME_INTERPOLATION_H264) {
            make_halves(plan, &tile);
        }
        for (uint32_t i = 1; i < plan->planes; i++) {
            make(plan, &tile, i % plan->units * quarters, i / plan->units * quarters, values);
            store(plan, (uint8_t *)surface + i * plan->padded_bytes, &place, values);
        }
    }
}
