/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of the general search, for C and GLSL: what its kernels reach by address. A submission
 * has one table, and the rows of its pairs behind it.
 *
 * Pair q = task * references + i is task's target in its reference i. Arrays hold the blocks of all
 * layers, one layer after the other: field_blocks of them. By pair, then by candidate (*), then by
 * block; results by task instead of pair. Vectors are packed, dx in the low and dy in the high 16
 * bits, in units. What a plan does not want has the address 0.
 */
#ifndef GPUME_SHADERS_GENERAL_SHARED_H
#define GPUME_SHADERS_GENERAL_SHARED_H

#include "common/shared.h"

struct gpume_general_table {
    GPUME_ADDRESS predictors;   /* of pairs: vectors, those that the last pass counted bits from */
    GPUME_ADDRESS pair_vectors; /* of pairs, * */
    GPUME_ADDRESS pair_costs;   /* of pairs, *; GPUME_NONE: no such candidate */
    GPUME_ADDRESS pair_ties;    /* of pairs */
    GPUME_ADDRESS vectors;      /* from here on of tasks; * */
    GPUME_ADDRESS costs, bits;  /* * */
    GPUME_ADDRESS refs, refs2, vectors2;
    GPUME_ADDRESS ties, texture, chosen;
    GPUME_ADDRESS predicted; /* planes */
    GPUME_ADDRESS partials;  /* GPUME_SUM_WORDS for each workgroup that measures */
    GPUME_ADDRESS means;     /* GPUME_MEAN_WORDS per block, see means.glsl */
    GPUME_ADDRESS cells;     /* by smallest square: the chosen block that covers it */
    GPUME_ADDRESS counts;    /* GPUME_COUNT_BYTES of every task: candidates that are compared */
};

/* Frames are those of plane 0, from padded row 0 on; further planes follow. */
struct gpume_general_pair {
    GPUME_ADDRESS target, reference;                   /* on the surface that is searched */
    GPUME_ADDRESS measured_target, measured_reference; /* on the one predictions are made of */
    GPUME_ADDRESS target_boxes, reference_boxes;       /* sums of the first two, see boxes.comp, */
    GPUME_ADDRESS reference_ranges;                    /* and their ranges, see ranges.comp */
    GPUME_U32 exists;                                  /* 0: the task has fewer references */
    GPUME_U32 future;                                  /* 1: the reference comes after the target */
};

#ifndef GL_core_profile
typedef struct gpume_general_table gpume_general_table;
typedef struct gpume_general_pair gpume_general_pair;
typedef struct gpume_general_push gpume_general_push;
#endif

/* Of all kernels of the general search; each reads what it needs. */
struct gpume_general_push {
    GPUME_ADDRESS table;
    gpume_layer_push layer;
    GPUME_U32 plane_quads;            /* from one plane of a frame to the next */
    GPUME_U32 block_first, block_end; /* of the layer: those of this dispatch */
    GPUME_U32 candidate;              /* which of the kept ones is searched */
    GPUME_U32 first, end;             /* of the places that it may take: those of this dispatch */
    GPUME_U32 pruned;    /* 1 = sums of boxes bound the cost of a place before it is compared */
    GPUME_U32 box_words; /* from one plane's sums to the next */
    GPUME_U32 coarse;    /* one in this many groups may be where a pruned search starts */
    GPUME_U32 unused;
};

struct gpume_boxes_push {
    GPUME_ADDRESS plane, sums;
    GPUME_U32 stride;    /* quads per padded row */
    GPUME_U32 row, rows; /* padded rows: the first of this dispatch, all of them */
    GPUME_U32 unused;
};

struct gpume_mean_push {
    gpume_general_push general;
    GPUME_U32 turn;    /* even: the past vector is searched anew, else the future one */
    GPUME_U32 is_last; /* of the turn's dispatches */
};

/* Whole pixels on a side of a group of places, see places.glsl. */
#define GPUME_GROUP_SIDE 4

struct gpume_ranges_push {
    GPUME_ADDRESS sums, ranges;
    GPUME_U32 stride;      /* quads per padded row */
    GPUME_U32 sum_rows;    /* padded rows */
    GPUME_U32 plane_words; /* from one plane's sums to the next */
    GPUME_U32 row, rows;   /* of ranges: the first of this dispatch, all of them */
    GPUME_U32 unused;
};

#define GPUME_MEAN_WORDS 8

/* A tree of squares, from the largest to the smallest. */
#define GPUME_TREE_LEVELS 6
#define GPUME_TREE_SPLITS 3 /* a square whole, in halves one above the other, and side by side */
#define GPUME_TREE_LOCAL 64

struct gpume_tree_push {
    GPUME_ADDRESS table;
    GPUME_U32 width, height; /* samples */
    GPUME_U32 field_blocks;
    GPUME_U32 side, levels; /* of the largest square, and how many sizes there are */
    /* By level, then by split: the first block of the layer; GPUME_NONE: there is no such layer. */
    GPUME_U32 first[GPUME_TREE_LEVELS * GPUME_TREE_SPLITS];
};

/* Of a cell: it is the first of its block. Blocks of a partition are fewer: those of 4x4 at most
 * 2^28, and all others together less than twice as many. */
#define GPUME_CELL_FIRST 0x80000000u

struct gpume_measure_push {
    gpume_general_push general; /* its layer: that of the cells */
    GPUME_U32 cell_w, cell_h;   /* a block predicts a cell: in pixels */
    GPUME_U32 predicted_stride; /* quads */
    GPUME_U32 predicted_quads;  /* per task */
};

/* Rows of fractions that one invocation makes with HEVC's filter. */
#define GPUME_FRACTION_ROWS 8

struct gpume_fractions_push {
    GPUME_ADDRESS frame;
    GPUME_U32 stride, plane_quads; /* as above */
    GPUME_U32 row, rows;           /* padded rows to write */
};

#endif
