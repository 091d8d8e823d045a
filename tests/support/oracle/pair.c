/* SPDX-License-Identifier: BSD-2-Clause */
/* All blocks of all shapes of one target in one reference, pass by pass. */
#include "oracle.h"

#include <stdlib.h>

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static struct grid make_grid(const struct run *run, int shape)
{
    const int side_x = run->options->shapes[shape].width;
    const int side_y = run->options->shapes[shape].height;
    const int width = run->clip->width;
    const int height = run->clip->height;
    struct grid grid = {(width + side_x - 1) / side_x, (height + side_y - 1) / side_y, NULL};
    grid.blocks = allocate((size_t)grid.columns * (size_t)grid.rows, sizeof(*grid.blocks));
    for (int row = 0; row < grid.rows; row++) {
        for (int column = 0; column < grid.columns; column++) {
            const int x = column * side_x;
            const int y = row * side_y;
            grid.blocks[row * grid.columns + column].place = (struct place){
                x, y, smaller(side_x, width - x), smaller(side_y, height - y), shape};
        }
    }
    return grid;
}

void make_grids(const struct run *run, int target, struct field *field)
{
    field->target = target;
    for (int i = 0; i < run->options->shape_count; i++) {
        field->grids[i] = make_grid(run, i);
    }
}

/* `before` holds the vectors of the pass before, NULL in the first pass. */
static struct vector predictor_of(const struct options *options, int target,
    const struct block *block, const struct grid *before, int index)
{
    if (options->predictor == PREDICTOR_FILE) {
        return file_predictor(options, target, block->ref, &block->place);
    }
    if (options->predictor == PREDICTOR_MEDIAN && before) {
        return median_predictor(before, index % before->columns, index / before->columns);
    }
    return (struct vector){0, 0};
}

static void search_grid(
    struct run *run, int target, int ref, struct grid *grid, const struct grid *before)
{
    const struct options *options = run->options;
    struct search search = {.options = options,
        .target = &run->clip->pictures[target],
        .reference = &run->clip->pictures[ref]};
    int wanted = options->candidates;
    if (options->confidence && wanted < 2) {
        wanted = 2; /* for `second` */
    }
    for (int i = 0; i < grid->columns * grid->rows; i++) {
        struct block *block = &grid->blocks[i];
        block->ref = ref;
        block->predictor = predictor_of(options, target, block, before, i);
        search.place = block->place;
        search.predictor = block->predictor;
        block->match_count = search_block(&search, wanted, block->matches, &block->ties);
    }
}

static struct field *search_passes(struct run *run, int target, int ref)
{
    const int passes = run->options->predictor == PREDICTOR_MEDIAN ? run->options->passes : 1;
    struct field *before = NULL;
    for (int pass = 0; pass < passes; pass++) {
        struct field *field = allocate(1, sizeof(*field));
        make_grids(run, target, field);
        for (int i = 0; i < run->options->shape_count; i++) {
            search_grid(run, target, ref, &field->grids[i], before ? &before->grids[i] : NULL);
        }
        before = field;
    }
    return before;
}

struct field *search_pair(struct run *run, int target, int ref)
{
    struct field **found = &run->pairs[target * run->clip->count + ref];
    if (!*found) {
        *found = search_passes(run, target, ref);
    }
    return *found;
}
