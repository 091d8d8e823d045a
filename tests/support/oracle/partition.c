/* SPDX-License-Identifier: BSD-2-Clause */
/* The cheapest way to cover the picture with blocks of several shapes (sections 7 and 14). */
#include "oracle.h"

enum split { SPLIT_WHOLE, SPLIT_2NXN, SPLIT_NX2N, SPLIT_QUARTERS };
enum { BITS_WHOLE = 1, BITS_HALVES = 3, BITS_QUARTERS = 1 };

struct tree {
    const struct run *run;
    const struct field *field;
    int smallest; /* side of the smallest square */
};

static int find_shape(const struct options *options, int width, int height)
{
    for (int i = 0; i < options->shape_count; i++) {
        if (options->shapes[i].width == width && options->shapes[i].height == height) {
            return i;
        }
    }
    return -1;
}

/* NULL: wholly outside the picture. The shape must be one of the run's. */
static const struct block *block_at(const struct tree *tree, int x, int y, int width, int height)
{
    const struct clip *clip = tree->run->clip;
    if (x >= clip->width || y >= clip->height) {
        return NULL;
    }
    const struct grid *grid = &tree->field->grids[find_shape(tree->run->options, width, height)];
    return &grid->blocks[y / height * grid->columns + x / width];
}

/* J in 1/256, without partition bits. */
static uint64_t block_j(const struct tree *tree, int x, int y, int width, int height)
{
    const struct block *block = block_at(tree, x, y, width, height);
    if (!block) {
        return 0;
    }
    const struct match *match = &block->matches[0];
    return 256 * match->distortion + (uint64_t)tree->run->options->lambda * (uint64_t)match->bits;
}

static uint64_t bits_j(const struct tree *tree, int bits)
{
    return (uint64_t)tree->run->options->lambda * (uint64_t)bits;
}

/* The least J of the square, 0 where it lies outside; `split` says how it is reached. */
static uint64_t least_j(const struct tree *tree, int x, int y, int side, enum split *split)
{
    const struct options *options = tree->run->options;
    const int half = side / 2;
    *split = SPLIT_WHOLE;
    if (!block_at(tree, x, y, side, side)) {
        return 0;
    }
    if (side == tree->smallest) {
        return block_j(tree, x, y, side, side);
    }
    uint64_t least = block_j(tree, x, y, side, side) + bits_j(tree, BITS_WHOLE);
    if (find_shape(options, side, half) >= 0) {
        const uint64_t j = block_j(tree, x, y, side, half) +
                           block_j(tree, x, y + half, side, half) + bits_j(tree, BITS_HALVES);
        if (j < least) {
            least = j;
            *split = SPLIT_2NXN;
        }
    }
    if (find_shape(options, half, side) >= 0) {
        const uint64_t j = block_j(tree, x, y, half, side) +
                           block_j(tree, x + half, y, half, side) + bits_j(tree, BITS_HALVES);
        if (j < least) {
            least = j;
            *split = SPLIT_NX2N;
        }
    }
    enum split inner;
    const uint64_t j =
        least_j(tree, x, y, half, &inner) + least_j(tree, x + half, y, half, &inner) +
        least_j(tree, x, y + half, half, &inner) + least_j(tree, x + half, y + half, half, &inner) +
        bits_j(tree, BITS_QUARTERS);
    if (j < least) {
        least = j;
        *split = SPLIT_QUARTERS;
    }
    return least;
}

static void add(const struct tree *tree, struct list *list, int x, int y, int width, int height)
{
    const struct block *block = block_at(tree, x, y, width, height);
    if (block) {
        list->blocks[list->count++] = *block;
    }
}

/* Appends the chosen blocks of the square, in z-order. */
static void collect(const struct tree *tree, struct list *list, int x, int y, int side)
{
    const int half = side / 2;
    enum split split;
    least_j(tree, x, y, side, &split);
    switch (split) {
    case SPLIT_WHOLE:
        add(tree, list, x, y, side, side);
        break;
    case SPLIT_2NXN:
        add(tree, list, x, y, side, half);
        add(tree, list, x, y + half, side, half);
        break;
    case SPLIT_NX2N:
        add(tree, list, x, y, half, side);
        add(tree, list, x + half, y, half, side);
        break;
    case SPLIT_QUARTERS:
        collect(tree, list, x, y, half);
        collect(tree, list, x + half, y, half);
        collect(tree, list, x, y + half, half);
        collect(tree, list, x + half, y + half, half);
        break;
    }
}

struct list chosen_blocks(const struct run *run, const struct field *field)
{
    struct tree tree = {run, field, MAX_SIDE};
    int largest = 0;
    for (int i = 0; i < run->options->shape_count; i++) {
        const struct shape shape = run->options->shapes[i];
        if (shape.width == shape.height) {
            tree.smallest = shape.width < tree.smallest ? shape.width : tree.smallest;
            largest = shape.width > largest ? shape.width : largest;
        }
    }
    const struct grid *finest =
        &field->grids[find_shape(run->options, tree.smallest, tree.smallest)];
    struct list list = {
        allocate((size_t)finest->columns * (size_t)finest->rows, sizeof(*list.blocks)), 0};
    for (int y = 0; y < run->clip->height; y += largest) {
        for (int x = 0; x < run->clip->width; x += largest) {
            collect(&tree, &list, x, y, largest);
        }
    }
    return list;
}

struct list shape_blocks(const struct field *field, int shape)
{
    const struct grid *grid = &field->grids[shape];
    return (struct list){grid->blocks, grid->columns * grid->rows};
}
