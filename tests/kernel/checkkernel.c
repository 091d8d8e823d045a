/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * checkkernel cpu|vulkan [--validate] [--part K/N] [SEARCH...]: compares an engine with the
 * brute-force answer on small frames of awkward shapes, with the named searches or with all. Every
 * bit has to agree. --part K/N runs every N-th case, starting with the K-th, so that N processes
 * share the work. Skips without a Vulkan driver.
 */
#include "harness.h"
#include "runner.h"
#include "vulkan_probe.h"

#include <string.h>

#define SEARCHES_MAX 32

#define EXTEND GPUME_EDGE_EXTEND
#define INSIDE GPUME_EDGE_INSIDE
#define FUTURE .direction = GPUME_DIRECTION_FUTURE
#define BOTH .direction = GPUME_DIRECTION_BOTH

static const struct runner_case cases[] = {
    /* every edge and corner, sizes around a block */
    {1, 1, 8, 8, 7, 7, EXTEND, SYNTH_NOISE},
    {1, 1, 8, 8, 7, 7, INSIDE, SYNTH_NOISE},
    {1, 1, 10, 128, 3, 3, EXTEND, SYNTH_NOISE},
    {5, 3, 8, 8, 2, 9, EXTEND, SYNTH_NOISE},
    {7, 8, 8, 8, 7, 7, EXTEND, SYNTH_NOISE},
    {8, 8, 8, 8, 7, 7, EXTEND, SYNTH_NOISE},
    {9, 9, 8, 8, 7, 7, EXTEND, SYNTH_NOISE},
    {9, 9, 8, 8, 7, 7, INSIDE, SYNTH_NOISE},
    {10, 11, 16, 4, 1, 1, INSIDE, SYNTH_NOISE},
    {11, 6, 12, 4, 5, 2, EXTEND, SYNTH_NOISE},
    {64, 48, 8, 8, 7, 7, EXTEND, SYNTH_NOISE},
    {61, 47, 8, 16, 8, 8, EXTEND, SYNTH_NOISE},
    {62, 46, 10, 8, 7, 7, EXTEND, SYNTH_NOISE},
    {63, 45, 10, 8, 7, 7, INSIDE, SYNTH_NOISE},
    /* every kind of block and window */
    {40, 40, 8, 4, 0, 0, EXTEND, SYNTH_NOISE},
    {40, 40, 16, 4, 0, 0, INSIDE, SYNTH_NOISE},
    {41, 39, 8, 12, 24, 0, EXTEND, SYNTH_NOISE},
    {39, 41, 8, 12, 0, 24, INSIDE, SYNTH_NOISE},
    {70, 50, 8, 20, 5, 3, EXTEND, SYNTH_NOISE},
    {70, 70, 8, 32, 6, 6, INSIDE, SYNTH_NOISE},
    {130, 67, 9, 64, 4, 5, EXTEND, SYNTH_NOISE},
    {131, 130, 8, 128, 2, 2, EXTEND, SYNTH_NOISE},
    {24, 24, 8, 24, 31, 33, EXTEND, SYNTH_NOISE},
    {16, 12, 8, 8, 64, 48, EXTEND, SYNTH_NOISE},
    {8, 4, 8, 8, 512, 1, EXTEND, SYNTH_NOISE},
    {4, 8, 12, 4, 2, 512, EXTEND, SYNTH_NOISE},
    {64, 64, 8, 64, 40, 40, EXTEND, SYNTH_NOISE}, /* more blocks than one dispatch may cover */
    /* pruning drops nothing, something and everything; few candidates and many */
    {72, 56, 8, 8, 20, 16, INSIDE, SYNTH_NOISE, .prune = true},
    {72, 56, 10, 16, 17, 15, EXTEND, SYNTH_PAN, .prune = true},
    {64, 48, 8, 8, 16, 16, EXTEND, SYNTH_TIES, .prune = true},
    {64, 48, 8, 8, 16, 16, INSIDE, SYNTH_FLAT, .prune = true},
    {50, 50, 16, 16, 16, 17, INSIDE, SYNTH_OVERFULL, .prune = true},
    {96, 80, 8, 16, 24, 20, EXTEND, SYNTH_PAN, .distance = 3, .frames = 20, .prune = true},
    {64, 64, 8, 32, 16, 16, EXTEND, SYNTH_EXTREME, .prune = true},
    {36, 30, 8, 8, 16, 16, EXTEND, SYNTH_PAN, .prune = true},
    {61, 47, 8, 8, 7, 7, EXTEND, SYNTH_NOISE, .prune = true},
    {62, 46, 16, 8, 3, 2, INSIDE, SYNTH_TIES, .prune = true},
    {24, 24, 8, 24, 31, 33, EXTEND, SYNTH_NOISE, .prune = true},
    {120, 96, 8, 24, 50, 48, EXTEND, SYNTH_GRAIN,
        .prune = true}, /* some invocations have no work */
    {16, 12, 8, 8, 512, 3, EXTEND, SYNTH_NOISE, .prune = true},
    {132, 130, 8, 128, 20, 20, EXTEND, SYNTH_PAN, .prune = true},
    /* half floats; blocks cut at the bottom by less and by more than half */
    {72, 60, 8, 16, 20, 16, INSIDE, SYNTH_PAN, .prune = true, .hardware = true},
    {64, 52, 10, 16, 16, 40, EXTEND, SYNTH_PAN, .prune = true, .hardware = true},
    {100, 92, 8, 16, 33, 29, EXTEND, SYNTH_GRAIN, .prune = true, .hardware = true},
    {64, 88, 8, 32, 70, 5, INSIDE, SYNTH_TIES, .prune = true, .hardware = true},
    {50, 50, 16, 8, 16, 17, INSIDE, SYNTH_OVERFULL, .prune = true, .hardware = true},
    {64, 80, 16, 64, 17, 17, EXTEND, SYNTH_EXTREME, .prune = true, .hardware = true},
    /* one invocation per block: whole and cut blocks, nothing and everything dropped, lists that
     * overflow */
    {72, 56, 8, 8, 7, 7, EXTEND, SYNTH_PAN, .prune = true},
    {200, 92, 8, 8, 7, 7, INSIDE, SYNTH_GRAIN, .prune = true},
    {61, 47, 8, 16, 7, 7, EXTEND, SYNTH_PAN, .prune = true},
    {40, 40, 8, 8, 0, 0, EXTEND, SYNTH_NOISE, .prune = true},
    {120, 96, 8, 8, 7, 7, EXTEND, SYNTH_SLOPE, .prune = true},
    {120, 96, 8, 16, 7, 7, INSIDE, SYNTH_SLOPE, .prune = true, .hardware = true},
    {96, 80, 8, 16, 16, 16, EXTEND, SYNTH_SLOPE, .prune = true},
    {120, 96, 8, 8, 7, 7, EXTEND, SYNTH_SPECKS, .prune = true},
    {96, 80, 8, 16, 16, 16, INSIDE, SYNTH_SPECKS, .prune = true, .hardware = true},
    {64, 48, 8, 8, 7, 7, INSIDE, SYNTH_FLAT, .prune = true, .hardware = true},
    {200, 93, 8, 8, 7, 7, EXTEND, SYNTH_GRAIN, .prune = true, .hardware = true},
    {120, 60, 10, 8, 9, 4, INSIDE, SYNTH_PAN, .prune = true, .hardware = true},
    {80, 64, 8, 16, 3, 20, EXTEND, SYNTH_TIES, .prune = true, .hardware = true},
    {72, 70, 8, 8, 0, 512, EXTEND, SYNTH_GRAIN, .prune = true, .hardware = true},
    {524296, 8, 8, 8, 1, 0, EXTEND, SYNTH_NOISE, .frames = 2, .prune = true}, /* 65537 blocks */
    {8, 524296, 8, 8, 0, 1, EXTEND, SYNTH_NOISE, .frames = 2, .prune = true},
    {72, 70, 8, 8, 512, 0, INSIDE, SYNTH_NOISE, .prune = true, .hardware = true},
    {80, 72, 10, 16, 6, 7, EXTEND, SYNTH_OVERFULL, .prune = true, .hardware = true},
    {64, 80, 16, 8, 7, 7, EXTEND, SYNTH_EXTREME, .prune = true, .hardware = true},
    /* pruning of blocks with sides of 4 and 12: strips, cut blocks, an odd number of quads */
    {64, 48, 8, 4, 16, 16, EXTEND, SYNTH_GRAIN, .prune = true},
    {61, 47, 8, 4, 7, 9, INSIDE, SYNTH_PAN, .prune = true},
    {62, 50, 8, 4, 40, 33, EXTEND, SYNTH_PAN, .prune = true, .hardware = true},
    {66, 45, 10, 4, 16, 3, INSIDE, SYNTH_SLOPE, .prune = true, .hardware = true},
    {64, 48, 8, 4, 3, 70, EXTEND, SYNTH_TIES, .prune = true},
    {40, 41, 8, 4, 0, 0, EXTEND, SYNTH_NOISE, .prune = true},
    {48, 40, 8, 4, 20, 20, EXTEND, SYNTH_NOISE, .prune = true, .hardware = true},
    {64, 48, 8, 4, 9, 9, EXTEND, SYNTH_FLAT, .prune = true},
    {48, 40, 16, 4, 9, 8, EXTEND, SYNTH_OVERFULL, .prune = true, .hardware = true},
    {48, 40, 16, 4, 9, 8, INSIDE, SYNTH_EXTREME, .prune = true},
    {524292, 4, 8, 4, 1, 0, EXTEND, SYNTH_SPECKS, .frames = 2, .prune = true},
    {75, 57, 8, 12, 15, 11, INSIDE, SYNTH_PAN, .prune = true},
    {96, 79, 8, 12, 33, 20, EXTEND, SYNTH_GRAIN, .prune = true, .hardware = true},
    {80, 70, 8, 8, 16, 16, EXTEND, SYNTH_GRAIN, .prune = true, .hardware = true},
    {512, 4, 8, 4, 512, 3, EXTEND, SYNTH_NOISE, .prune = true, .hardware = true},
    /* distributed as on a GPU */
    {64, 48, 8, 8, 7, 7, EXTEND, SYNTH_NOISE, .hardware = true},
    {61, 47, 16, 16, 8, 8, INSIDE, SYNTH_TIES, .hardware = true},
    {41, 39, 8, 12, 24, 0, EXTEND, SYNTH_NOISE, .hardware = true},
    {40, 40, 8, 4, 0, 0, EXTEND, SYNTH_NOISE, .hardware = true},
    {64, 64, 10, 64, 40, 40, EXTEND, SYNTH_NOISE, .hardware = true},
    {61, 203, 8, 16, 5, 9, EXTEND, SYNTH_NOISE, .window_bytes = 5000, .hardware = true},
    {72, 56, 8, 8, 20, 16, INSIDE, SYNTH_NOISE, .prune = true, .hardware = true},
    {516, 130, 8, 8, 2, 1, EXTEND, SYNTH_NOISE}, /* enough blocks for one per invocation */
    {130, 516, 16, 8, 1, 2, INSIDE, SYNTH_TIES},
    /* ties: the tie rule decides almost every block */
    {64, 48, 8, 8, 7, 7, EXTEND, SYNTH_TIES},
    {64, 48, 8, 4, 7, 7, INSIDE, SYNTH_TIES},
    {37, 29, 16, 4, 9, 3, EXTEND, SYNTH_TIES},
    {64, 48, 8, 8, 7, 7, EXTEND, SYNTH_FLAT},
    {33, 21, 10, 16, 7, 7, INSIDE, SYNTH_FLAT},
    /* the largest costs and sums, and samples beyond their depth */
    {260, 132, 16, 128, 1, 1, EXTEND, SYNTH_EXTREME},
    {64, 64, 8, 32, 3, 3, EXTEND, SYNTH_EXTREME},
    {48, 40, 10, 8, 4, 4, EXTEND, SYNTH_OVERFULL},
    /* known motion */
    {96, 80, 8, 16, 7, 7, EXTEND, SYNTH_PAN},
    {97, 81, 10, 8, 7, 7, INSIDE, SYNTH_PAN},
    /* enough blocks for every part of the ranking network */
    {256, 68, 8, 4, 1, 0, EXTEND, SYNTH_NOISE},
    {260, 132, 8, 4, 0, 1, EXTEND, SYNTH_TIES},
    {212, 164, 16, 4, 1, 0, EXTEND, SYNTH_NOISE},
    {256, 256, 8, 4, 0, 0, EXTEND, SYNTH_TIES},
    {260, 260, 10, 4, 0, 0, EXTEND, SYNTH_NOISE},
    /* distant references, more frames than the ring holds */
    {48, 32, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, .distance = 2, .frames = 24},
    {20, 20, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, .distance = 7, .frames = 30},
    {20, 20, 10, 8, 3, 3, INSIDE, SYNTH_NOISE, .distance = 1, .frames = 39},
    /* frames that kernels can only access in parts */
    {64, 200, 8, 8, 7, 7, EXTEND, SYNTH_NOISE, .window_bytes = 4096},
    {64, 200, 10, 8, 7, 7, INSIDE, SYNTH_NOISE, .window_bytes = 8192},
    {61, 203, 8, 16, 5, 9, EXTEND, SYNTH_NOISE, .window_bytes = 5000, .distance = 3, .frames = 9},
    {33, 100, 16, 4, 2, 1, EXTEND, SYNTH_TIES, .window_bytes = 2048},
};

/* For searches by tiles: shapes with one load and many, one block and many, whole units and cut
 * ones, one word for cost and order and two. Cases that set a tile compile quickly. */
#define TILE(...) .tile = {__VA_ARGS__} /* chunk, tile_x, tile_y, band, columns, local */
static const struct runner_case tile_cases[] = {
    {64, 48, 8, 8, 7, 7, EXTEND, SYNTH_NOISE},
    {63, 45, 9, 8, 7, 7, INSIDE, SYNTH_TIES},
    {62, 46, 10, 16, 7, 7, EXTEND, SYNTH_NOISE},
    {72, 56, 12, 16, 16, 16, INSIDE, SYNTH_PAN},
    {40, 40, 16, 8, 8, 8, EXTEND, SYNTH_NOISE},
    {1, 1, 8, 8, 7, 7, EXTEND, SYNTH_NOISE},
    {9, 9, 8, 8, 3, 3, INSIDE, SYNTH_NOISE, TILE(3, 2, 2, 1, 7, 32)},
    {40, 40, 8, 4, 0, 0, EXTEND, SYNTH_NOISE},
    {41, 39, 8, 12, 24, 0, EXTEND, SYNTH_NOISE},
    {39, 44, 10, 12, 0, 24, INSIDE, SYNTH_NOISE},
    {70, 52, 8, 20, 5, 3, EXTEND, SYNTH_TIES, TILE(4, 2, 1, 1, 8, 64)},
    {72, 40, 16, 20, 3, 9, INSIDE, SYNTH_TIES, TILE(3, 1, 1, 4, 7, 64)},
    {48, 40, 8, 8, 33, 16, EXTEND, SYNTH_PAN, TILE(5, 3, 2, 2, 24, 96)},
    {48, 40, 9, 16, 33, 16, INSIDE, SYNTH_PAN, TILE(2, 2, 3, 5, 67, 128)},
    {16, 12, 8, 8, 512, 3, EXTEND, SYNTH_NOISE, TILE(1, 1, 1, 7, 128, 128)},
    {64, 64, 8, 32, 9, 9, EXTEND, SYNTH_NOISE, TILE(3, 2, 1, 3, 12, 64)},
    {132, 70, 8, 128, 2, 2, EXTEND, SYNTH_NOISE, .large = true},
    /* samples beyond their depth, in some of the tiles and in all */
    {48, 40, 10, 8, 4, 4, EXTEND, SYNTH_OVERFULL, TILE(3, 2, 2, 3, 9, 64)},
    {56, 48, 9, 16, 5, 4, INSIDE, SYNTH_OVERFULL, TILE(2, 2, 1, 2, 8, 32)},
    {44, 40, 12, 4, 2, 2, EXTEND, SYNTH_OVERFULL, TILE(5, 3, 3, 1, 5, 32)},
    /* the largest sums of every depth: of a run, of a row of units, of a block */
    {64, 64, 8, 64, 1, 2, EXTEND, SYNTH_OPPOSITE, TILE(5, 1, 1, 1, 3, 32), .large = true},
    {64, 64, 9, 64, 1, 2, EXTEND, SYNTH_OPPOSITE, TILE(5, 1, 1, 1, 3, 32), .large = true},
    {64, 64, 10, 64, 1, 2, EXTEND, SYNTH_OPPOSITE, TILE(5, 1, 1, 1, 3, 32), .large = true},
    {64, 64, 9, 32, 3, 3, EXTEND, SYNTH_OPPOSITE, TILE(4, 2, 1, 1, 7, 32)},
    {64, 64, 10, 32, 3, 3, EXTEND, SYNTH_CHECKERS, TILE(4, 2, 1, 1, 7, 32)},
    {64, 64, 16, 32, 3, 3, EXTEND, SYNTH_OPPOSITE, TILE(4, 1, 1, 2, 7, 32)},
    {64, 64, 16, 32, 3, 3, EXTEND, SYNTH_CHECKERS, TILE(4, 1, 1, 2, 7, 32)},
    {64, 64, 8, 32, 3, 3, EXTEND, SYNTH_CHECKERS, TILE(4, 1, 2, 1, 7, 32)},
    {40, 80, 16, 40, 1, 2, EXTEND, SYNTH_OPPOSITE, TILE(5, 1, 1, 1, 3, 32)},
    {40, 40, 8, 20, 3, 3, EXTEND, SYNTH_OPPOSITE, TILE(4, 2, 2, 1, 7, 32)},
    {48, 40, 9, 16, 3, 3, EXTEND, SYNTH_OPPOSITE, TILE(4, 2, 2, 1, 7, 32)},
    {32, 32, 16, 16, 2, 1, EXTEND, SYNTH_OPPOSITE, TILE(3, 1, 1, 1, 5, 32)},
    {56, 56, 8, 28, 3, 3, EXTEND, SYNTH_OPPOSITE, TILE(4, 2, 2, 1, 7, 32)},
    {48, 48, 10, 12, 3, 3, EXTEND, SYNTH_EXTREME, TILE(4, 2, 2, 1, 7, 32)},
    /* pruning, frames in parts, distant references */
    {72, 56, 8, 8, 20, 16, INSIDE, SYNTH_NOISE, TILE(3, 4, 2, 6, 41, 128), .prune = true},
    {96, 80, 10, 16, 9, 8, EXTEND, SYNTH_PAN, TILE(3, 2, 2, 6, 19, 128), .prune = true},
    {61, 203, 8, 16, 5, 9, EXTEND, SYNTH_NOISE, TILE(5, 2, 2, 2, 11, 64), .window_bytes = 5000,
        .distance = 3, .frames = 9},
    {64, 200, 10, 8, 7, 7, INSIDE, SYNTH_NOISE, TILE(3, 4, 2, 5, 15, 64), .window_bytes = 8192},
    {20, 20, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, TILE(7, 2, 1, 1, 7, 32), .distance = 7, .frames = 30},
    {20, 20, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, TILE(7, 2, 1, 1, 7, 32), .distance = 7, .frames = 30,
        BOTH},
    {72, 56, 8, 8, 20, 16, INSIDE, SYNTH_NOISE, TILE(3, 4, 2, 6, 41, 128), .prune = true, BOTH},
    {64, 200, 10, 8, 7, 7, INSIDE, SYNTH_NOISE, TILE(3, 4, 2, 5, 15, 64), .window_bytes = 8192,
        BOTH},
};

/* Every filter at every depth, on pictures smaller and larger than its radius. */
#define FILTER(...) .filtered = true, .filter = {__VA_ARGS__}
#define GAUSS(s) FILTER(.kind = GPUME_PREFILTER_GAUSS, .sigma = (s))
#define BOX(n) FILTER(.kind = GPUME_PREFILTER_BOX, .width = (n), .height = (n))
#define MEDIAN(n) FILTER(.kind = GPUME_PREFILTER_MEDIAN, .width = (n), .height = (n))
#define BILATERAL(s, r) FILTER(.kind = GPUME_PREFILTER_BILATERAL, .sigma = (s), .range = (r))
#define KERNEL(w, h, of)                                                                           \
    FILTER(.kind = GPUME_PREFILTER_KERNEL, .width = (w), .height = (h), .weights = (of))
static const double sharpen[] = {0, -1, 0, -1, 5, -1, 0, -1, 0};
static const double laplace[] = {1, 1, 1, 1, -8, 1, 1, 1, 1};
static const double lopsided[] = {0.3, -0.125, 0.7, 1e-7, 0.4};
static const double inverted[] = {-1, -2.5, 0.5};
static const double edges[] = {-0.1, 0.3, -0.2};
static const double shifted[31 * 31] = {1e9}; /* the sample 15 to the left and above */
static const struct runner_case filter_cases[] = {
    {1, 1, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, GAUSS(1)},
    {1, 1, 16, 8, 1, 1, EXTEND, SYNTH_NOISE, BOX(31)},
    {1, 1, 10, 8, 1, 1, INSIDE, SYNTH_NOISE, MEDIAN(5)},
    {1, 1, 8, 8, 1, 1, EXTEND, SYNTH_NOISE, BILATERAL(5, 10)},
    {7, 5, 8, 8, 7, 7, EXTEND, SYNTH_NOISE, GAUSS(16)},
    {7, 5, 16, 4, 2, 9, EXTEND, SYNTH_NOISE, GAUSS(0.3)},
    {7, 5, 10, 4, 2, 2, INSIDE, SYNTH_NOISE, BOX(5)},
    {7, 5, 8, 4, 3, 3, EXTEND, SYNTH_NOISE, MEDIAN(3)},
    {7, 5, 16, 4, 3, 3, EXTEND, SYNTH_NOISE, BILATERAL(0.7, 3)},
    {7, 5, 16, 4, 3, 3, EXTEND, SYNTH_NOISE, KERNEL(31, 31, shifted)},
    {61, 47, 8, 8, 7, 7, EXTEND, SYNTH_NOISE, GAUSS(1.5)},
    {62, 46, 10, 8, 3, 3, INSIDE, SYNTH_EXTREME, GAUSS(2)},
    {33, 39, 16, 16, 4, 4, EXTEND, SYNTH_EXTREME, GAUSS(4.1)},
    {300, 20, 9, 8, 1, 1, EXTEND, SYNTH_NOISE, GAUSS(0.8)},
    {530, 9, 8, 8, 1, 1, EXTEND, SYNTH_NOISE, BOX(7)},
    {61, 47, 8, 8, 7, 7, EXTEND, SYNTH_NOISE, BOX(3)},
    {62, 46, 12, 8, 3, 3, INSIDE, SYNTH_NOISE, BOX(9)},
    {40, 36, 16, 8, 3, 3, EXTEND, SYNTH_EXTREME, BOX(31)},
    {61, 47, 8, 8, 7, 7, EXTEND, SYNTH_NOISE, MEDIAN(3)},
    {62, 46, 10, 8, 3, 3, INSIDE, SYNTH_NOISE, MEDIAN(3)},
    {63, 45, 8, 8, 7, 7, EXTEND, SYNTH_NOISE, MEDIAN(5)},
    {38, 30, 16, 4, 3, 3, INSIDE, SYNTH_TIES, MEDIAN(5)},
    {61, 47, 8, 8, 5, 5, EXTEND, SYNTH_NOISE, BILATERAL(1, 30)},
    {30, 29, 9, 8, 3, 3, INSIDE, SYNTH_NOISE, BILATERAL(2, 80)},
    {30, 28, 10, 8, 3, 3, EXTEND, SYNTH_PAN, BILATERAL(1.5, 12.5)},
    {24, 21, 16, 8, 3, 3, EXTEND, SYNTH_EXTREME, BILATERAL(5, 1000)},
    {24, 21, 12, 8, 3, 3, EXTEND, SYNTH_NOISE, BILATERAL(1, 0.1)},
    {61, 47, 8, 8, 7, 7, EXTEND, SYNTH_NOISE, KERNEL(3, 3, sharpen)},
    {62, 46, 16, 8, 3, 3, INSIDE, SYNTH_EXTREME, KERNEL(3, 3, sharpen)},
    {62, 46, 10, 8, 3, 3, INSIDE, SYNTH_NOISE, KERNEL(3, 3, laplace)},
    {30, 28, 16, 8, 3, 3, EXTEND, SYNTH_EXTREME, KERNEL(3, 3, laplace)},
    {30, 28, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, KERNEL(5, 1, lopsided)},
    {30, 28, 16, 8, 3, 3, EXTEND, SYNTH_NOISE, KERNEL(1, 5, lopsided)},
    {30, 28, 12, 8, 3, 3, EXTEND, SYNTH_NOISE, KERNEL(3, 1, inverted)},
    {30, 28, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, KERNEL(1, 3, edges)},
    {40, 36, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, KERNEL(31, 31, shifted)},
    /* samples beyond their depth: clamped for the search, unchanged elsewhere */
    {48, 40, 10, 8, 4, 4, EXTEND, SYNTH_OVERFULL, GAUSS(1)},
    {30, 28, 9, 8, 4, 4, EXTEND, SYNTH_OVERFULL, BOX(3)},
    {30, 28, 12, 8, 4, 4, EXTEND, SYNTH_OVERFULL, MEDIAN(5)},
    {30, 28, 10, 8, 4, 4, EXTEND, SYNTH_OVERFULL, BILATERAL(1, 20)},
    {30, 28, 9, 8, 4, 4, INSIDE, SYNTH_OVERFULL, KERNEL(3, 3, sharpen)},
    /* with elimination, distant references, more frames than the ring holds, frames in parts */
    {72, 56, 10, 16, 17, 15, EXTEND, SYNTH_PAN, .prune = true, GAUSS(1)},
    {64, 48, 8, 8, 16, 16, INSIDE, SYNTH_PAN, .prune = true, MEDIAN(3)},
    {64, 48, 16, 12, 16, 16, INSIDE, SYNTH_OVERFULL, .prune = true, BOX(3)},
    {20, 20, 10, 8, 3, 3, INSIDE, SYNTH_NOISE, .distance = 3, .frames = 39, GAUSS(0.6)},
    {61, 203, 8, 16, 5, 9, EXTEND, SYNTH_NOISE, .window_bytes = 5000, .distance = 3, GAUSS(2)},
    {64, 200, 10, 8, 7, 7, INSIDE, SYNTH_NOISE, .window_bytes = 8192, BOX(5)},
    {33, 100, 16, 4, 2, 1, EXTEND, SYNTH_TIES, .window_bytes = 2048, MEDIAN(3)},
    {64, 60, 8, 8, 7, 7, EXTEND, SYNTH_NOISE, .hardware = true, KERNEL(3, 3, sharpen)},
};

/* Both directions and the future alone: more frames than a ring holds, fewer than two distances,
 * fields of one frame in two submissions, all features of a field. */
static const struct runner_case direction_cases[] = {
    {48, 32, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, FUTURE},
    {48, 32, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, BOTH},
    {20, 20, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, FUTURE, .distance = 7, .frames = 30},
    {20, 20, 10, 8, 3, 3, INSIDE, SYNTH_NOISE, BOTH, .distance = 7, .frames = 40},
    {20, 20, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, BOTH, .distance = 1, .frames = 39},
    {20, 20, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, BOTH, .distance = 2, .frames = 3},
    {20, 20, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, BOTH, .distance = 19, .frames = 40},
    {20, 20, 8, 8, 3, 3, EXTEND, SYNTH_NOISE, BOTH, .distance = 39, .frames = 40},
    {96, 80, 8, 16, 24, 20, EXTEND, SYNTH_PAN, BOTH, .distance = 3, .frames = 20, .prune = true},
    {96, 80, 10, 16, 17, 15, INSIDE, SYNTH_PAN, BOTH, .frames = 20, .prune = true},
    {64, 48, 8, 8, 16, 16, EXTEND, SYNTH_TIES, FUTURE, .frames = 9, .prune = true},
    {64, 48, 8, 8, 7, 7, EXTEND, SYNTH_PAN, BOTH, .distance = 2, .frames = 40, .prune = true},
    {61, 203, 8, 16, 5, 9, EXTEND, SYNTH_NOISE, BOTH, .window_bytes = 5000, .distance = 3,
        .frames = 9},
    {64, 200, 10, 8, 7, 7, INSIDE, SYNTH_NOISE, BOTH, .window_bytes = 8192, .frames = 6},
    {33, 100, 16, 4, 2, 1, EXTEND, SYNTH_TIES, FUTURE, .window_bytes = 2048},
    {64, 48, 8, 8, 16, 16, INSIDE, SYNTH_PAN, BOTH, .prune = true, MEDIAN(3)},
    {20, 20, 10, 8, 3, 3, INSIDE, SYNTH_NOISE, BOTH, .distance = 3, .frames = 39, GAUSS(0.6)},
    {64, 200, 10, 8, 7, 7, INSIDE, SYNTH_NOISE, BOTH, .window_bytes = 8192, BOX(5)},
    {64, 60, 8, 8, 7, 7, EXTEND, SYNTH_NOISE, FUTURE, .hardware = true, KERNEL(3, 3, sharpen)},
};

/* One and several layers of rectangles; some can be pruned and others cannot. */
#define SIZES(n, ...) .shape_count = (n), .shapes = {__VA_ARGS__}
static const struct runner_case layer_cases[] = {
    {61, 47, 8, 8, 7, 7, EXTEND, SYNTH_NOISE, SIZES(1, {16, 8})},
    {61, 47, 8, 8, 5, 7, INSIDE, SYNTH_TIES, SIZES(1, {8, 16})},
    {70, 50, 10, 8, 3, 3, EXTEND, SYNTH_PAN, SIZES(1, {4, 32})},
    {66, 52, 8, 8, 3, 5, INSIDE, SYNTH_NOISE, SIZES(1, {20, 8})},
    {64, 64, 16, 8, 2, 3, EXTEND, SYNTH_OVERFULL, SIZES(1, {32, 16})},
    {61, 203, 8, 8, 5, 9, EXTEND, SYNTH_NOISE, SIZES(1, {8, 24}), .window_bytes = 7000},
    {61, 47, 8, 8, 7, 7, EXTEND, SYNTH_PAN, SIZES(3, {8, 8}, {16, 16}, {16, 8}), BOTH},
    {66, 50, 10, 8, 4, 3, INSIDE, SYNTH_NOISE, SIZES(4, {32, 32}, {4, 4}, {12, 20}, {8, 16})},
    {96, 80, 8, 8, 17, 15, EXTEND, SYNTH_PAN, SIZES(3, {16, 8}, {16, 16}, {32, 32}), .prune = true},
    {96, 80, 8, 8, 7, 7, INSIDE, SYNTH_SPECKS, SIZES(3, {8, 8}, {24, 8}, {16, 16}), .prune = true,
        .frames = 9},
    {72, 56, 8, 8, 16, 16, EXTEND, SYNTH_TIES, SIZES(2, {8, 8}, {16, 16}), .prune = true,
        .hardware = true, MEDIAN(3)},
    {61, 203, 8, 8, 5, 9, EXTEND, SYNTH_NOISE, SIZES(2, {16, 8}, {8, 24}), .window_bytes = 7000},
    {100, 84, 8, 8, 20, 15, EXTEND, SYNTH_PAN, SIZES(3, {64, 32}, {16, 32}, {8, 16}), .prune = true,
        .large = true},
    {90, 70, 10, 8, 18, 18, INSIDE, SYNTH_SPECKS, SIZES(3, {40, 8}, {8, 64}, {24, 16}),
        .prune = true, .hardware = true, .frames = 7},
    {96, 72, 16, 8, 17, 17, EXTEND, SYNTH_TIES, SIZES(2, {128, 16}, {16, 24}), .prune = true},
};

/* Elimination by strips, by invocations for squares, and by workgroups for blocks that share
 * patches: kernels that take long to compile, and are the same for every search. */
static const struct runner_case elimination_cases[] = {
    {75, 61, 8, 8, 12, 9, INSIDE, SYNTH_PAN, .prune = true, .hardware = true, .large = true,
        SIZES(5, {4, 4}, {4, 8}, {8, 8}, {12, 16}, {64, 64})},
    {80, 70, 10, 8, 7, 6, EXTEND, SYNTH_GRAIN, .prune = true,
        SIZES(4, {32, 32}, {4, 12}, {16, 16}, {24, 8})},
    {69, 58, 8, 8, 20, 17, EXTEND, SYNTH_SLOPE, .prune = true, .hardware = true, .large = true,
        SIZES(4, {8, 8}, {12, 4}, {8, 16}, {64, 32})},
};

/* Half floats have 10 bits, and only with them do large blocks fit any device's shared memory. */
static bool beyond(const struct runner_case *c)
{
    bool half = strcmp(c->search, "half") == 0;
    return (half && c->bits > 10) || (c->large && (!half || c->block > 64));
}

/* The parsed arguments. */
static enum gpume_backend backend;
static bool validate;
static unsigned part = 1, parts = 1;

/* Does this case belong to this process's part and share? Counts the cases of all calls. */
static bool is_in_part(void)
{
    static unsigned next;
    const unsigned number = next++;
    return number % parts == part - 1 && harness_has_case(number / parts);
}

static void check_cases(const struct runner_case *all, size_t count, const char *search)
{
    for (size_t i = 0; i < count; i++) {
        struct runner_case c = all[i];
        c.search = search;
        if ((!search || strcmp(search, "quads") == 0 || !beyond(&c)) && is_in_part()) {
            REQUIRE_EQUAL(runner_run(&c, backend, validate), 0);
        }
    }
}

#define CHECK_CASES(all, search) check_cases(all, sizeof(all) / sizeof(*(all)), search)

/* Runs the cases with a search that supports all of them; NULL: the engine's choice. */
static void check_all_cases(const char *search)
{
    CHECK_CASES(cases, search);
    CHECK_CASES(filter_cases, search);
    CHECK_CASES(direction_cases, search);
    CHECK_CASES(elimination_cases, search);
}

/* An empty list of names contains every name. */
static bool is_among(const char *const *names, const char *name)
{
    bool found = !*names;
    for (; *names && !found; names++) {
        found = strcmp(*names, name) == 0;
    }
    return found;
}

/* Every available Vulkan search, or those with these names. */
static void check_vulkan(const char *const *names)
{
    struct gpume_search_info searches[SEARCHES_MAX];
    uint32_t count = 0;
    REQUIRE_EQUAL(gpume_list_searches(NULL, searches, SEARCHES_MAX, &count), GPUME_OK);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = searches[i].name;
        if (searches[i].backend != GPUME_BACKEND_VULKAN || !searches[i].available ||
            !is_among(names, name)) {
            continue;
        }
        if (strcmp(name, "quads") == 0) {
            check_all_cases(name);
        }
        CHECK_CASES(tile_cases, name);
        CHECK_CASES(layer_cases, name);
    }
}

static int usage(void)
{
    fprintf(stderr, "usage: checkkernel cpu|vulkan [--validate] [--part K/N] [SEARCH...]\n");
    return 1;
}

int main(int argc, char **argv)
{
    (void)argc;
    const char *const *next = (const char *const *)argv + 1;
    if (!*next) {
        return usage();
    }
    backend = strcmp(*next++, "cpu") == 0 ? GPUME_BACKEND_CPU : GPUME_BACKEND_VULKAN;
    if (*next && strcmp(*next, "--validate") == 0) {
        validate = true;
        next++;
    }
    if (*next && strcmp(*next, "--part") == 0) {
        if (!next[1] || sscanf(next[1], "%u/%u", &part, &parts) != 2 || part - 1 >= parts) {
            return usage();
        }
        next += 2;
    }
    if (backend == GPUME_BACKEND_CPU) {
        check_all_cases(NULL);
    } else {
        vulkan_probe_or_skip(validate);
        check_vulkan(next);
    }
    return harness_verdict();
}
