/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of 8x8 samples side by side, as vectors of GCC and clang. GPUME_BLOCKS: how many. A file
 * for one instruction set defines it, so that eight numbers of each block, of 16 bits, fill a
 * register. Elsewhere it is 1, whatever the compiler is allowed to use.
 */
#ifndef GPUME_ENCODE_KERNELS_ROWS_H
#define GPUME_ENCODE_KERNELS_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* GPUME_REPEAT(numbers of one block): of all blocks. GPUME_SHUFFLE(a, b, PATTERN, k): the lanes
 * that PATTERN(i, n, k) lists for each block, from lane i of a or n + i of b on. */
#ifndef GPUME_BLOCKS
#define GPUME_BLOCKS 1
#endif
#if GPUME_BLOCKS == 4
#define GPUME_REPEAT(...) __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__
#define GPUME_SHUFFLE(a, b, PATTERN, k)                                                            \
    __builtin_shufflevector(                                                                       \
        a, b, PATTERN(0, 32, k), PATTERN(8, 32, k), PATTERN(16, 32, k), PATTERN(24, 32, k))
#elif GPUME_BLOCKS == 2
#define GPUME_REPEAT(...) __VA_ARGS__, __VA_ARGS__
#define GPUME_SHUFFLE(a, b, PATTERN, k)                                                            \
    __builtin_shufflevector(a, b, PATTERN(0, 16, k), PATTERN(8, 16, k))
#elif GPUME_BLOCKS == 1
#define GPUME_REPEAT(...) __VA_ARGS__
#define GPUME_SHUFFLE(a, b, PATTERN, k) __builtin_shufflevector(a, b, PATTERN(0, 8, k))
#else
#error "GPUME_BLOCKS must be 1, 2 or 4"
#endif

#define GPUME_VECTOR_BYTES (16 * GPUME_BLOCKS)

typedef int16_t gpume_lanes __attribute__((vector_size(GPUME_VECTOR_BYTES)));
typedef uint16_t gpume_lanes_unsigned __attribute__((vector_size(GPUME_VECTOR_BYTES)));
typedef uint32_t gpume_words __attribute__((vector_size(GPUME_VECTOR_BYTES)));
typedef uint64_t gpume_halves __attribute__((vector_size(GPUME_VECTOR_BYTES)));
/* Eight samples of each block, in the lower half of its place. */
typedef uint8_t gpume_samples __attribute__((vector_size(GPUME_VECTOR_BYTES)));

/* A row of each block from above. */
struct gpume_rows {
    gpume_lanes row[8];
};

/* Where each block lies. */
struct gpume_places {
    const uint8_t *at[GPUME_BLOCKS];
};

static inline struct gpume_places gpume_side_by_side(const uint8_t *at)
{
    struct gpume_places places;
    for (uint32_t i = 0; i < GPUME_BLOCKS; i++) {
        places.at[i] = at + 8 * i;
    }
    return places;
}

static inline struct gpume_places gpume_same_place(const uint8_t *at)
{
    struct gpume_places places;
    for (uint32_t i = 0; i < GPUME_BLOCKS; i++) {
        places.at[i] = at;
    }
    return places;
}

static inline uint64_t gpume_load_half(const uint8_t *at)
{
    uint64_t half;
    memcpy(&half, at, sizeof(half));
    return half;
}

/* Written out, as compilers put a vector together best at once. */
static inline gpume_samples gpume_load_samples(const struct gpume_places *places, ptrdiff_t shift)
{
    const uint8_t *const *at = places->at;
#if GPUME_BLOCKS == 4
    return (gpume_samples)(gpume_halves){gpume_load_half(at[0] + shift), 0,
        gpume_load_half(at[1] + shift), 0, gpume_load_half(at[2] + shift), 0,
        gpume_load_half(at[3] + shift), 0};
#elif GPUME_BLOCKS == 2
    return (gpume_samples)(gpume_halves){
        gpume_load_half(at[0] + shift), 0, gpume_load_half(at[1] + shift), 0};
#else
    return (gpume_samples)(gpume_halves){gpume_load_half(at[0] + shift), 0};
#endif
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define GPUME_PAIR(i, n, k) 2 * (i) + (k), 2 * ((n) + (i)) + (k)
#else
#define GPUME_PAIR(i, n, k) 2 * ((n) + (i)) + (k), 2 * (i) + (k)
#endif
#define GPUME_WIDEN(i, n, k)                                                                       \
    GPUME_PAIR(i, n, 0), GPUME_PAIR(i, n, 1), GPUME_PAIR(i, n, 2), GPUME_PAIR(i, n, 3),            \
        GPUME_PAIR(i, n, 4), GPUME_PAIR(i, n, 5), GPUME_PAIR(i, n, 6), GPUME_PAIR(i, n, 7)

/* The same samples as numbers of 16 bits: pairs of a sample and a zero. */
static inline gpume_lanes gpume_widen(gpume_samples samples)
{
    return (gpume_lanes)GPUME_SHUFFLE(samples, (gpume_samples){0}, GPUME_WIDEN, 0);
}

static inline gpume_lanes gpume_load_lanes(const struct gpume_places *places, ptrdiff_t shift)
{
    return gpume_widen(gpume_load_samples(places, shift));
}

static inline struct gpume_rows gpume_load_rows(const struct gpume_places *places, ptrdiff_t stride)
{
    struct gpume_rows rows;
    for (ptrdiff_t y = 0; y < 8; y++) {
        rows.row[y] = gpume_load_lanes(places, y * stride);
    }
    return rows;
}

/* For what processors have an instruction and C has none: clang has a function, and GCC finds the
 * instruction for a loop. */
#if defined(__clang__)
#define GPUME_LARGER(a, b, larger) (larger) = __builtin_elementwise_max(a, b)
#define GPUME_SMALLER(a, b, smaller) (smaller) = __builtin_elementwise_min(a, b)
typedef uint16_t gpume_wide __attribute__((vector_size(2 * GPUME_VECTOR_BYTES)));
#define GPUME_MEAN(a, b, mean)                                                                     \
    (mean) = __builtin_convertvector(                                                              \
        (__builtin_convertvector(a, gpume_wide) + __builtin_convertvector(b, gpume_wide) + 1) >>   \
            1,                                                                                     \
        gpume_samples)
#else
#define GPUME_EACH(result, value)                                                                  \
    for (uint32_t i = 0; i < sizeof(result) / sizeof((result)[0]); i++) {                          \
        (result)[i] = (value);                                                                     \
    }
#define GPUME_LARGER(a, b, larger) GPUME_EACH(larger, (a)[i] > (b)[i] ? (a)[i] : (b)[i])
#define GPUME_SMALLER(a, b, smaller) GPUME_EACH(smaller, (a)[i] < (b)[i] ? (a)[i] : (b)[i])
#define GPUME_MEAN(a, b, mean) GPUME_EACH(mean, (uint8_t)(((a)[i] + (b)[i] + 1) >> 1))
#endif

static inline gpume_lanes gpume_larger(gpume_lanes a, gpume_lanes b)
{
    gpume_lanes larger;
    GPUME_LARGER(a, b, larger);
    return larger;
}

static inline gpume_words gpume_smaller(gpume_words a, gpume_words b)
{
    gpume_words smaller;
    GPUME_SMALLER(a, b, smaller);
    return smaller;
}

/* (a + b + 1) >> 1 */
static inline gpume_samples gpume_mean(gpume_samples a, gpume_samples b)
{
    gpume_samples mean;
    GPUME_MEAN(a, b, mean);
    return mean;
}

static inline gpume_lanes gpume_absolute(gpume_lanes v)
{
    return gpume_larger(v, -v);
}

#define GPUME_HALF_LANES(i, n, k) (i) / 2 + 2, (i) / 2 + 3, (i) / 2, (i) / 2 + 1
#define GPUME_NEXT_LANES(i, n, k) (i) / 2 + 1, (i) / 2, (i) / 2 + 3, (i) / 2 + 2

/* The sum of each block's lanes, in all four words of its place. */
static inline gpume_words gpume_sum_lanes(gpume_lanes_unsigned v)
{
    const gpume_words pairs = (gpume_words)v;
    gpume_words sums = (pairs & 0xffff) + (pairs >> 16);
    sums += GPUME_SHUFFLE(sums, sums, GPUME_HALF_LANES, 0);
    return sums + GPUME_SHUFFLE(sums, sums, GPUME_NEXT_LANES, 0);
}

#endif
