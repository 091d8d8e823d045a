/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/half.h"

#include "base/base.h"
#include "encode/kernels/kernels.h"

#include <string.h>

static size_t stride_of(uint32_t blocks_x)
{
    return (size_t)blocks_x * GPUME_HALF_BLOCK + 2u * GPUME_HALF_MARGIN;
}

static size_t plane_bytes(uint32_t blocks_x, uint32_t blocks_y)
{
    return stride_of(blocks_x) * ((size_t)blocks_y * GPUME_HALF_BLOCK + 2u * GPUME_HALF_MARGIN);
}

size_t gpume_half_bytes(uint32_t blocks_x, uint32_t blocks_y)
{
    return GPUME_HALF_PLANES * plane_bytes(blocks_x, blocks_y);
}

struct gpume_half gpume_half_at(uint8_t *memory, uint32_t blocks_x, uint32_t blocks_y)
{
    const size_t stride = stride_of(blocks_x);
    return (struct gpume_half){
        .samples = memory + GPUME_HALF_MARGIN * stride + GPUME_HALF_MARGIN,
        .stride = (ptrdiff_t)stride,
        .plane = (ptrdiff_t)plane_bytes(blocks_x, blocks_y),
        .width = blocks_x * GPUME_HALF_BLOCK,
        .height = blocks_y * GPUME_HALF_BLOCK,
    };
}

struct gpume_band gpume_band_read(
    uint8_t *memory, const struct gpume_plane *luma, uint32_t blocks_x, uint32_t index)
{
    const uint32_t width = blocks_x * GPUME_SQUARE;
    const uint64_t first = (uint64_t)index * GPUME_SQUARE;
    if (luma->bits == 8 && luma->width == width && first + GPUME_SQUARE < luma->height) {
        const uint8_t *samples = gpume_plane_row(luma, (int64_t)first);
        return (struct gpume_band){samples, luma->stride};
    }
    const uint32_t shift = luma->bits - 8, half = shift > 0 ? 1u << (shift - 1) : 0;
    for (uint32_t y = 0; y <= GPUME_SQUARE; y++) {
        const uint64_t row = gpume_min_u64(first + y, luma->height - 1);
        const char *from = gpume_plane_row(luma, (int64_t)row);
        uint8_t *to = memory + (size_t)y * width;
        if (luma->bits == 8) {
            memcpy(to, from, luma->width);
        } else {
            const uint16_t *deep = (const uint16_t *)(const void *)from;
            for (uint32_t x = 0; x < luma->width; x++) {
                const uint32_t sample = (deep[x] + half) >> shift; /* the largest ones are 256 */
                to[x] = (uint8_t)(sample < 255 ? sample : 255);
            }
        }
        memset(to + luma->width, to[luma->width - 1], width - luma->width);
    }
    return (struct gpume_band){memory, (ptrdiff_t)width};
}

/* Means of 2x2 from column `right`, 0 or 1; beyond the last column it repeats. */
static void write_row(
    uint8_t *to, const uint8_t *upper, ptrdiff_t stride, uint32_t width, uint32_t right)
{
    const uint8_t *lower = upper + stride;
    gpume_encode_kernels()->halve(to, upper + right, lower + right, width - right);
    if (right) {
        const uint32_t last = 2 * width - 1;
        to[width - 1] = (uint8_t)((upper[last] + lower[last] + 1) >> 1);
    }
}

static void extend_row(const struct gpume_half *half, uint8_t *row)
{
    memset(row - GPUME_HALF_MARGIN, row[0], GPUME_HALF_MARGIN);
    memset(row + half->width, row[half->width - 1], GPUME_HALF_MARGIN);
}

/* Repeats a row, with its margins, towards the upper or the lower end of the plane. */
static void repeat_row(const struct gpume_half *half, uint8_t *row, ptrdiff_t step)
{
    const uint8_t *from = row - GPUME_HALF_MARGIN;
    for (ptrdiff_t y = 1; y <= (ptrdiff_t)GPUME_HALF_MARGIN; y++) {
        memcpy(row - GPUME_HALF_MARGIN + y * step, from, (size_t)half->stride);
    }
}

void gpume_half_write(struct gpume_half *half, const struct gpume_band *band, uint32_t index)
{
    for (uint32_t plane = 0; plane < GPUME_HALF_PLANES; plane++) {
        uint8_t *first = half->samples + plane * half->plane +
                         (ptrdiff_t)(index * GPUME_HALF_BLOCK) * half->stride;
        const uint8_t *from = band->samples + (plane >> 1) * band->stride;
        uint8_t *to = first;
        for (uint32_t y = 0; y < GPUME_HALF_BLOCK; y++) {
            write_row(to, from, band->stride, half->width, plane & 1);
            extend_row(half, to);
            to += half->stride;
            from += 2 * band->stride;
        }
        if (index == 0) {
            repeat_row(half, first, -half->stride);
        }
        if ((index + 1) * GPUME_HALF_BLOCK == half->height) {
            repeat_row(half, to - half->stride, half->stride);
        }
    }
}

void gpume_half_quarter(const struct gpume_half *half, const struct gpume_plane *plane)
{
    for (uint32_t y = 0; y < half->height / 2; y++) {
        const uint8_t *upper = half->samples + 2 * (ptrdiff_t)y * half->stride;
        gpume_encode_kernels()->halve(
            gpume_plane_row(plane, y), upper, upper + half->stride, half->width / 2);
    }
}

void gpume_half_extend_row(struct gpume_half *half, uint32_t block_y)
{
    for (uint32_t plane = 0; plane < GPUME_HALF_PLANES; plane++) {
        uint8_t *first = half->samples + plane * half->plane +
                         (ptrdiff_t)(block_y * GPUME_HALF_BLOCK) * half->stride;
        uint8_t *last = first + (ptrdiff_t)(GPUME_HALF_BLOCK - 1) * half->stride;
        for (uint8_t *row = first; row <= last; row += half->stride) {
            extend_row(half, row);
        }
        if (block_y == 0) {
            repeat_row(half, first, -half->stride);
        }
        if ((block_y + 1) * GPUME_HALF_BLOCK == half->height) {
            repeat_row(half, last, half->stride);
        }
    }
}

void gpume_half_extend(struct gpume_half *half)
{
    for (uint32_t y = 0; y < half->height / GPUME_HALF_BLOCK; y++) {
        gpume_half_extend_row(half, y);
    }
}
