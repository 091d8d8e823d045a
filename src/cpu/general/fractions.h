/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The planes between the samples of a surface (model/surface.h), made of plane 0, for kernels.h.
 */
#ifndef GPUME_CPU_GENERAL_FRACTIONS_H
#define GPUME_CPU_GENERAL_FRACTIONS_H

#include "cpu/general/h264.h"

#define BEFORE 3 /* samples that taps reach to the left and up */
#define AFTER 4  /* and to the right and down */

/* ROWS x COLUMNS places of a surface, as integers. */
struct tile {
    int32_t at[ROWS + BEFORE + AFTER][COLUMNS + BEFORE + AFTER]; /* at[BEFORE][BEFORE]: the first */
    int32_t across[ROWS + BEFORE + AFTER][COLUMNS];              /* HEVC: see filter_across */
};

static void load_tile(
    const struct gpume_plan *plan, const void *plane, const struct place *place, struct tile *tile)
{
    for (uint32_t i = 0; i < ROWS + BEFORE + AFTER; i++) {
        size_t row = row_offset(plan, place, (int32_t)i - BEFORE);
        for (uint32_t j = 0; j < COLUMNS + BEFORE + AFTER; j++) {
            size_t at = row + column_of(plan, place, (int32_t)j - BEFORE);
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
    uint32_t shift = gpume_min_u32(4, plan->params.bits - 8);
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
    uint32_t shift = fx > 0 ? 6 : gpume_min_u32(4, bits - 8);
    const int32_t peak = peak_of(plan);
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t j = 0; j < COLUMNS; j++) {
            int32_t sum = fy > 0 ? eight(hevc_taps[fy], &tile->across[i][j], COLUMNS) >> shift
                                 : tile->across[i + BEFORE][j];
            out[i][j] = clip((sum + (1 << (last - 1))) >> last, peak);
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
static void make_place(const struct gpume_plan *plan, void *surface, const struct place *place)
{
    struct tile tile;
    load_tile(plan, surface, place, &tile);
    for (uint32_t fx = 0; fx < plan->units; fx++) {
        make_column(plan, surface, place, &tile, fx);
    }
}

static void fraction_rows(const struct gpume_plan *plan, void *surface, uint32_t row)
{
    struct place place = {.y = row};
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
