/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/pass_tree.h"

#include "base/grid.h"
#include "encode/half.h"
#include "encode/pass_format.h"

#include <assert.h>
#include <stdlib.h>

/* One axis of the picture. Positions are in units of which a pixel of the analysed frame has `to`
 * and a pixel of the encoded picture has `from`. */
struct axis {
    uint32_t from, to;             /* pixels of the analysed frame, of the encoded picture */
    uint32_t from_count, to_count; /* squares */
};

struct gpume_pass_tree {
    const struct gpume_pass_format *format;
    struct axis x, y;
    unsigned char *record;
};

static struct axis axis_of(uint32_t from, uint32_t to)
{
    return (struct axis){from, to, (uint32_t)gpume_div_up(from, GPUME_SQUARE),
        (uint32_t)gpume_div_up(to, GPUME_SQUARE)};
}

size_t gpume_pass_tree_bytes(const struct gpume_pass_tree *tree)
{
    return 1 + (size_t)tree->x.to_count * tree->y.to_count * sizeof(int16_t);
}

struct gpume_pass_tree *gpume_pass_tree_open(
    const struct gpume_pass_params *params, const struct gpume_pass_video *video)
{
    struct gpume_pass_tree *tree = calloc(1, sizeof(*tree));
    if (!tree) {
        return NULL;
    }
    tree->format = gpume_pass_format_of(params->options->encoder);
    tree->x = axis_of(params->width, video->width);
    tree->y = axis_of(params->height, video->height);
    tree->record = malloc(gpume_pass_tree_bytes(tree));
    if (!tree->record) {
        gpume_pass_tree_close(&tree);
    }
    return tree;
}

/* The stretch that a square of the encoded picture covers, and the squares of the analysed frame
 * in it, from first to last. */
struct stretch {
    uint64_t begin, end;
    uint32_t first, last;
};

static struct stretch stretch_of(const struct axis *axis, uint32_t square)
{
    const uint64_t begin = (uint64_t)square * GPUME_SQUARE * axis->from;
    const uint64_t end =
        gpume_min_u64(begin + GPUME_SQUARE * (uint64_t)axis->from, (uint64_t)axis->from * axis->to);
    const uint64_t step = (uint64_t)GPUME_SQUARE * axis->to;
    return (struct stretch){begin, end, (uint32_t)(begin / step), (uint32_t)((end - 1) / step)};
}

/* How much of the stretch lies in a square of the analysed frame. */
static uint64_t overlap(const struct axis *axis, const struct stretch *stretch, uint32_t square)
{
    const uint64_t step = (uint64_t)GPUME_SQUARE * axis->to;
    const uint64_t begin = square * step, end = gpume_min_u64(begin + step, stretch->end);
    return end - (begin > stretch->begin ? begin : stretch->begin);
}

static int16_t mean_offset(const struct gpume_pass_tree *tree, const int16_t *offsets,
    const struct stretch *across, const struct stretch *down)
{
    const int64_t area = (int64_t)((across->end - across->begin) * (down->end - down->begin));
    int64_t sum = 0;
    for (uint32_t y = down->first; y <= down->last; y++) {
        const int16_t *row = offsets + (size_t)y * tree->x.from_count;
        int64_t row_sum = 0;
        for (uint32_t x = across->first; x <= across->last; x++) {
            row_sum += (int64_t)overlap(&tree->x, across, x) * row[x];
        }
        sum += row_sum * (int64_t)overlap(&tree->y, down, y);
    }
    return (int16_t)gpume_div_nearest(sum, area);
}

const unsigned char *gpume_pass_tree_record(
    struct gpume_pass_tree *tree, const struct gpume_decision *decision)
{
    const unsigned high = tree->format->big_endian ? 0 : 1;
    unsigned char *at = tree->record;
    assert(decision->blocks_x == tree->x.from_count && decision->blocks_y == tree->y.from_count);
    *at++ = tree->format->types[decision->type];
    for (uint32_t y = 0; y < tree->y.to_count; y++) {
        const struct stretch down = stretch_of(&tree->y, y);
        for (uint32_t x = 0; x < tree->x.to_count; x++) {
            const struct stretch across = stretch_of(&tree->x, x);
            const uint16_t offset = (uint16_t)mean_offset(tree, decision->offsets, &across, &down);
            at[high] = (unsigned char)(offset >> 8);
            at[1 - high] = (unsigned char)offset;
            at += 2;
        }
    }
    return tree->record;
}

void gpume_pass_tree_close(struct gpume_pass_tree **tree)
{
    if (*tree) {
        free((*tree)->record);
        free(*tree);
        *tree = NULL;
    }
}
