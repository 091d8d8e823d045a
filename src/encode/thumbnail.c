/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/thumbnail.h"

static uint64_t sum_row(const void *row, uint32_t x, uint32_t end, bool deep)
{
    uint32_t sum = 0; /* of at most 2^16 samples of 16 bits */
    if (deep) {
        const uint16_t *samples = row;
        for (; x < end; x++) {
            sum += samples[x];
        }
    } else {
        const uint8_t *samples = row;
        for (; x < end; x++) {
            sum += samples[x];
        }
    }
    return sum;
}

/* Where a cell begins; neighbours share pixels if there are fewer pixels than cells. */
static uint32_t edge(uint32_t cell, uint32_t pixels, uint32_t cells)
{
    return (uint32_t)((uint64_t)cell * pixels / cells);
}

static uint32_t far_edge(uint32_t cell, uint32_t pixels, uint32_t cells)
{
    const uint32_t near = edge(cell, pixels, cells), far = edge(cell + 1, pixels, cells);
    return far > near ? far : near + 1;
}

/* Whether the cell begins with pixels that the one before it has, too. */
static bool repeats(uint32_t cell, uint32_t pixels, uint32_t cells)
{
    return cell > 0 && edge(cell, pixels, cells) == edge(cell - 1, pixels, cells);
}

void gpume_thumbnail_make(struct gpume_thumbnail *thumbnail, const struct gpume_plane *luma)
{
    const uint32_t shift = luma->bits - 8;
    uint64_t all = 0;
    for (uint32_t cy = 0; cy < GPUME_THUMBNAIL_Y; cy++) {
        const uint32_t top = edge(cy, luma->height, GPUME_THUMBNAIL_Y);
        const uint32_t bottom = far_edge(cy, luma->height, GPUME_THUMBNAIL_Y);
        uint64_t sums[GPUME_THUMBNAIL_X] = {0};
        for (uint32_t y = top; y < bottom; y++) {
            const void *row = (const uint8_t *)luma->data + (ptrdiff_t)y * luma->stride;
            for (uint32_t cx = 0; cx < GPUME_THUMBNAIL_X; cx++) {
                sums[cx] += sum_row(row, edge(cx, luma->width, GPUME_THUMBNAIL_X),
                    far_edge(cx, luma->width, GPUME_THUMBNAIL_X), luma->bits > 8);
            }
        }
        for (uint32_t cx = 0; cx < GPUME_THUMBNAIL_X; cx++) {
            const uint64_t pixels =
                (uint64_t)(bottom - top) * (far_edge(cx, luma->width, GPUME_THUMBNAIL_X) -
                                               edge(cx, luma->width, GPUME_THUMBNAIL_X));
            thumbnail->means[cy * GPUME_THUMBNAIL_X + cx] =
                (int16_t)(((sums[cx] << 6) >> shift) / pixels);
            if (!repeats(cx, luma->width, GPUME_THUMBNAIL_X) &&
                !repeats(cy, luma->height, GPUME_THUMBNAIL_Y)) {
                all += sums[cx];
            }
        }
    }
    thumbnail->mean = (double)all / luma->width / luma->height / (1u << shift);
}

int64_t gpume_thumbnail_dot(const struct gpume_thumbnail *origin, const struct gpume_thumbnail *a,
    const struct gpume_thumbnail *b)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < GPUME_THUMBNAIL_X * GPUME_THUMBNAIL_Y; i++) {
        const int32_t da = a->means[i] - origin->means[i];
        const int32_t db = b->means[i] - origin->means[i];
        sum += da * db;
    }
    return sum;
}
