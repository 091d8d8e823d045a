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

#endif
