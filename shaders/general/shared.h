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
    GPUME_ADDRESS sums;      /* GPUME_SUM_WORDS per layer */
    GPUME_ADDRESS predicted; /* planes */
    GPUME_ADDRESS unused;    /* rows of pairs are 16 bytes aligned */
};

/* Frames are those of plane 0, from padded row 0 on; further planes follow. */
struct gpume_general_pair {
    GPUME_ADDRESS target, reference;                   /* on the surface that is searched */
    GPUME_ADDRESS measured_target, measured_reference; /* on the one predictions are made of */
    GPUME_U32 exists;                                  /* 0: the task has fewer references */
    GPUME_U32 future;                                  /* 1: the reference comes after the target */
    GPUME_U32 unused_z, unused_w;
};

#ifndef GL_core_profile
typedef struct gpume_general_table gpume_general_table;
typedef struct gpume_general_pair gpume_general_pair;
#endif

/* Of all kernels of the general search; each reads what it needs. */
struct gpume_general_push {
    GPUME_ADDRESS table;
    gpume_layer_push layer;
    GPUME_U32 stride;      /* quads per padded row */
    GPUME_U32 plane_quads; /* from one plane of a frame to the next */
    GPUME_U32 block_first; /* of the dispatch's first workgroups */
    GPUME_U32 candidate;   /* which of the kept ones is searched */
    GPUME_U32 first, end;  /* of the places that it may take: those of this dispatch */
};

struct gpume_fractions_push {
    GPUME_ADDRESS frame;
    GPUME_U32 stride, plane_quads; /* as above */
    GPUME_U32 row, rows;           /* padded rows to write */
};

#endif
