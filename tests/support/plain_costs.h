/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Half planes and costs of blocks as src/encode defines them, written from the definitions: one
 * sample at a time, with clamped coordinates. Shares no code with src/encode.
 */
#ifndef GPUME_TESTS_PLAIN_COSTS_H
#define GPUME_TESTS_PLAIN_COSTS_H

#include "gpume/gpume.h"

struct plain {
    int64_t width, height; /* multiples of 8 */
    uint8_t *samples; /* four planes: that of means from even columns and rows, one pixel to the
                         right, one below, both */
};

/* The caller frees samples. */
struct plain plain_half(const struct gpume_plane *luma);

/* The sample at a place that may lie outside. */
int32_t plain_at(const struct plain *plain, int64_t x, int64_t y);

/* The same at a place in half samples. */
int32_t plain_half_at(const struct plain *plain, int64_t x, int64_t y);

/* The quarter plane of the first plane; the caller frees samples. */
struct plain plain_quarter(const struct plain *plain);

/* SATD of 8x8 differences: half the sum of all coefficients of the transforms of 4x4. */
uint32_t plain_satd(const int32_t differences[64]);

/* Of one block, with penalties. */
uint32_t plain_intra_cost(const struct plain *plain, int64_t block_x, int64_t block_y);

/* Of one block whose match is at a vector of quarter pixels in the reference, and with `other` the
 * mean of two matches, of which the first counts `share` of 64; with penalties. */
struct plain_match {
    const struct plain *reference;
    struct gpume_vector vector;
    int32_t share;
};
uint32_t plain_match_cost(const struct plain *target, int64_t block_x, int64_t block_y,
    const struct plain_match *match, const struct plain_match *other);

/* A vector in quarter pixels from coarse ones of the whole frame, as costs.h says. */
struct gpume_vector plain_refine(const struct plain *target, int64_t block_x, int64_t block_y,
    const struct plain *reference, const struct gpume_vector *coarse);

/* The variance of a square of 16x16 pixels, times 256, rounded up. */
uint32_t plain_energy(const struct gpume_plane *luma, int64_t block_x, int64_t block_y);

#endif
