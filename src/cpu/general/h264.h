/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ITU-T H.264 8.4.2.2.1, with the names of its figure 8-4, for fractions.h: some rows and columns
 * of a plane become all of its fractions. Whole samples G, and b, h and j half a sample to the
 * right, below, and both, are filtered. A quarter sample is the mean of two of them.
 */
#ifndef GPUME_CPU_GENERAL_H264_H
#define GPUME_CPU_GENERAL_H264_H

#include "cpu/general/place.h"

#define TAPS_BEFORE 2
#define TAPS_AFTER 3
#define WIDTH (COLUMNS + 1 + TAPS_BEFORE + TAPS_AFTER)
#define HEIGHT (ROWS + 1 + TAPS_BEFORE + TAPS_AFTER)

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
        sample at[HEIGHT][WIDTH]; /* at[TAPS_BEFORE][TAPS_BEFORE]: the first */                    \
        sum across[HEIGHT][WIDTH];                                                                 \
        sample halves[3][ROWS + 1][WIDTH]; /* b, h and j, for one place more both ways */          \
    };                                                                                             \
                                                                                                   \
    static void h264_load_##bits(const struct gpume_plan *plan, const sample *plane,               \
        const struct place *place, struct h264_##bits *tile)                                       \
    {                                                                                              \
        bool inside =                                                                              \
            place->x >= TAPS_BEFORE && place->x - TAPS_BEFORE + WIDTH <= plan->padded_stride;      \
        for (uint32_t i = 0; i < HEIGHT; i++) {                                                    \
            const sample *row = plane + row_offset(plan, place, (int32_t)i - TAPS_BEFORE);         \
            if (inside) {                                                                          \
                memcpy(tile->at[i], row + place->x - TAPS_BEFORE, sizeof(tile->at[i]));            \
            }                                                                                      \
            for (uint32_t j = 0; !inside && j < WIDTH; j++) {                                      \
                tile->at[i][j] = row[column_of(plan, place, (int32_t)j - TAPS_BEFORE)];            \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void h264_halves_##bits(int32_t peak, struct h264_##bits *tile)                         \
    {                                                                                              \
        for (uint32_t i = 0; i < HEIGHT; i++) {                                                    \
            const sample *g = tile->at[i];                                                         \
            for (uint32_t j = 0; j < COLUMNS + 1; j++) {                                           \
                tile->across[i][j] =                                                               \
                    (sum)six(g[j], g[j + 1], g[j + 2], g[j + 3], g[j + 4], g[j + 5]);              \
            }                                                                                      \
        }                                                                                          \
        for (uint32_t i = 0; i < ROWS + 1; i++) {                                                  \
            sample(*g)[WIDTH] = &tile->at[i];                                                      \
            sum(*a)[WIDTH] = &tile->across[i];                                                     \
            for (uint32_t j = 0; j < COLUMNS + 1; j++) {                                           \
                uint32_t x = j + TAPS_BEFORE;                                                      \
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
        return kind == 0 ? &tile->at[row + TAPS_BEFORE][right + TAPS_BEFORE]                       \
                         : &tile->halves[kind - 1][row][right];                                    \
    }                                                                                              \
                                                                                                   \
    static void h264_store_##bits(const struct gpume_plan *plan, const struct place *place,        \
        const struct h264_##bits *tile, const struct quarter *q, sample *plane)                    \
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
        const struct gpume_plan *plan, void *surface, const struct place *place)                   \
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

#undef TAPS_BEFORE
#undef TAPS_AFTER
#undef WIDTH
#undef HEIGHT

#endif
