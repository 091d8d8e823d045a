/* SPDX-License-Identifier: BSD-2-Clause */
/* The metrics, for kernels.h. */
#ifndef GPUME_CPU_GENERAL_DISTORTION_H
#define GPUME_CPU_GENERAL_DISTORTION_H

#include "cpu/general/kernels.h"

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

/* Of one metric, for 8-bit and 16-bit samples, and of one match and of a mean of two. 32 bits hold
 * the sums: gpume_options_check refuses parameters where they could not. */
#define DEFINE_ROWS(name, sample, predicted, difference, add)                                      \
    static uint32_t name(const struct gpume_target *t, const void *match, uint32_t limit)          \
    {                                                                                              \
        const sample *a = t->samples, *b = match, *c = t->other;                                   \
        uint32_t sum = 0;                                                                          \
        (void)c;                                                                                   \
        for (uint32_t y = 0; y < t->height && sum <= limit; y++) {                                 \
            for (uint32_t x = 0; x < t->width; x++) {                                              \
                int32_t difference = (int32_t)a[x] - (int32_t)(predicted);                         \
                sum += (uint32_t)(add);                                                            \
            }                                                                                      \
            a += t->stride;                                                                        \
            b += t->stride;                                                                        \
            c = c ? c + t->stride : c;                                                             \
        }                                                                                          \
        return sum;                                                                                \
    }

#define DEFINE_SATD(name, sample, predicted)                                                       \
    static uint32_t name(const struct gpume_target *t, const void *match, uint32_t limit)          \
    {                                                                                              \
        uint32_t n = t->tile, sum = 0;                                                             \
        for (uint32_t top = 0; top < t->height && sum <= limit; top += n) {                        \
            for (uint32_t left = 0; left < t->width; left += n) {                                  \
                int32_t tile[8][8] = {{0}};                                                        \
                ptrdiff_t at = (ptrdiff_t)top * t->stride + left;                                  \
                const sample *a = (const sample *)t->samples + at;                                 \
                const sample *b = (const sample *)match + at;                                      \
                const sample *c = t->other ? (const sample *)t->other + at : NULL;                 \
                (void)c;                                                                           \
                for (uint32_t y = 0; y < n && y < t->height - top; y++) {                          \
                    for (uint32_t x = 0; x < n && x < t->width - left; x++) {                      \
                        tile[y][x] = (int32_t)a[x] - (int32_t)(predicted);                         \
                    }                                                                              \
                    a += t->stride;                                                                \
                    b += t->stride;                                                                \
                    c = c ? c + t->stride : c;                                                     \
                }                                                                                  \
                sum += satd_of(tile, n);                                                           \
            }                                                                                      \
        }                                                                                          \
        return sum;                                                                                \
    }

#define ONE b[x]
#define MEAN ((b[x] + c[x] + 1) >> 1)
#define ABSOLUTE (d < 0 ? -d : d)
#define SQUARE ((uint32_t)d * (uint32_t)d)

DEFINE_ROWS(sad8, uint8_t, ONE, d, ABSOLUTE)
DEFINE_ROWS(sad16, uint16_t, ONE, d, ABSOLUTE)
DEFINE_ROWS(ssd8, uint8_t, ONE, d, SQUARE)
DEFINE_ROWS(ssd16, uint16_t, ONE, d, SQUARE)
DEFINE_ROWS(mean_sad8, uint8_t, MEAN, d, ABSOLUTE)
DEFINE_ROWS(mean_sad16, uint16_t, MEAN, d, ABSOLUTE)
DEFINE_ROWS(mean_ssd8, uint8_t, MEAN, d, SQUARE)
DEFINE_ROWS(mean_ssd16, uint16_t, MEAN, d, SQUARE)
DEFINE_SATD(satd8, uint8_t, ONE)
DEFINE_SATD(satd16, uint16_t, ONE)
DEFINE_SATD(mean_satd8, uint8_t, MEAN)
DEFINE_SATD(mean_satd16, uint16_t, MEAN)

/* Each of them for several matches. */
#define DEFINE_SEVERAL(name)                                                                       \
    static inline void several_##name(const struct gpume_target *t, const void *const *matches,    \
        uint32_t count, uint32_t limit, uint32_t *d)                                               \
    {                                                                                              \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            d[i] = name(t, matches[i], limit);                                                     \
        }                                                                                          \
    }

DEFINE_SEVERAL(sad8)
DEFINE_SEVERAL(sad16)
DEFINE_SEVERAL(ssd8)
DEFINE_SEVERAL(ssd16)
DEFINE_SEVERAL(mean_sad8)
DEFINE_SEVERAL(mean_sad16)
DEFINE_SEVERAL(mean_ssd8)
DEFINE_SEVERAL(mean_ssd16)
DEFINE_SEVERAL(satd8)
DEFINE_SEVERAL(satd16)
DEFINE_SEVERAL(mean_satd8)
DEFINE_SEVERAL(mean_satd16)

/* sad, mean_sad, satd, mean_satd: those of 8-bit samples, of which an instruction set may have its
 * own. prefix: empty, or several_ */
#define GPUME_DISTORTIONS(prefix, sad, mean_sad, satd, mean_satd)                                  \
    {                                                                                              \
        [GPUME_METRIC_SAD] = {{prefix##sad, prefix##sad16},                                        \
            {prefix##mean_sad, prefix##mean_sad16}},                                               \
        [GPUME_METRIC_SATD] = {{prefix##satd, prefix##satd16},                                     \
            {prefix##mean_satd, prefix##mean_satd16}},                                             \
        [GPUME_METRIC_SSD] = {                                                                     \
            {prefix##ssd8, prefix##ssd16}, {prefix##mean_ssd8, prefix##mean_ssd16}},               \
    }

#endif
