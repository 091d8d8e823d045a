/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernels of the temporal filter share with src/filter/device.c. They give what
 * gpume-filter(1) defines, by its names.
 *
 * Each plane has arrays of its own: its pictures in a ring, its predictions, its result. A plane in
 * them is rows of quads, four samples each; samples beyond the right edge have any value. Numbers
 * of 64 bits are a low word and a high word.
 */
#ifndef GPUME_SHADERS_TEMPORAL_SHARED_H
#define GPUME_SHADERS_TEMPORAL_SHARED_H

#include "common/shared.h"

/* Arrays, by binding; each kernel has some of them, in this order. */
#define GPUME_TEMPORAL_PICTURES 0
#define GPUME_TEMPORAL_PREDICTIONS 1
#define GPUME_TEMPORAL_VECTORS 2 /* one after the other, those of each reference */
#define GPUME_TEMPORAL_BLOCKS 3  /* tables of a word per block of the picture */
#define GPUME_TEMPORAL_STATE 4
#define GPUME_TEMPORAL_RESULT 5
#define GPUME_TEMPORAL_MEANS 6 /* of a plane: W << 16 | x + 32768 */
#define GPUME_TEMPORAL_ARRAYS 7

#define GPUME_TEMPORAL_REFERENCES 8 /* at most; by distance, the past before the future */
#define GPUME_TEMPORAL_LOCAL 64     /* invocations that share a block, each with a quad of it, */
#define GPUME_TEMPORAL_LOCAL_X 16   /* or that take quads of the picture */
#define GPUME_TEMPORAL_LOCAL_Y 4
#define GPUME_TEMPORAL_GATHER 256 /* of the kernels that gather blocks */
#define GPUME_TEMPORAL_SIDE 16    /* samples of a side, in luma */

/* Blocks for which the loops of these kernels are short enough: with nine sums of
 * 3,840 values each, and fourteen passes over as many values. */
#define GPUME_TEMPORAL_BLOCKS_MAX (3840 * GPUME_TEMPORAL_GATHER)

/* Tables of BLOCKS. */
#define GPUME_TEMPORAL_TEXTURE 0  /* t; by plane; GPUME_TEMPORAL_CUT: the block is cut */
#define GPUME_TEMPORAL_RESIDUAL 3 /* v; by plane */
#define GPUME_TEMPORAL_SUM 6      /* of luma's work samples, */
#define GPUME_TEMPORAL_SQUARES 7  /* and of their squares */
#define GPUME_TEMPORAL_UNFIT 8    /* 1: the block is not used; by plane and reference */
#define GPUME_TEMPORAL_ERRORS 32  /* the sum of e^2 of luma; by reference */
#define GPUME_TEMPORAL_CELL 40    /* q; by plane */
/* Bit x, and 16 + y: in the block's column x, row y luma is not all black. */
#define GPUME_TEMPORAL_BRIGHT 43
#define GPUME_TEMPORAL_TABLES 44
#define GPUME_TEMPORAL_CUT 0xffffffffu
/* V that is given for a picture whose noise is measured counts up to this many times the measured
 * one: grain is as strong as 8 times what is measured where it is coarse. */
#define GPUME_TEMPORAL_GIVEN_MOST 64u

/* Within a picture: samples that a workgroup makes, and its shared memory. */
#define GPUME_TEMPORAL_TILE_W 56
#define GPUME_TEMPORAL_TILE_H 34
#define GPUME_TEMPORAL_TILE_BYTES 25576

#define GPUME_TEMPORAL_BEGINS 16 /* pictures about which is known whether they begin a scene */

#ifndef GL_core_profile
typedef struct gpume_temporal_curve gpume_temporal_curve;
typedef struct gpume_temporal_state gpume_temporal_state;
typedef struct gpume_temporal_push gpume_temporal_push;
#endif

/* How weights follow from D. */
struct gpume_temporal_curve {
    GPUME_U32 variance; /* V */
    GPUME_I32 lo, hi;
    GPUME_I32 scale;    /* 0: the plane is not changed */
    GPUME_U32 strength; /* S' */
};

/* Up to `begins` it is about one picture. */
struct gpume_temporal_state {
    gpume_temporal_curve curves[3]; /* by plane */
    GPUME_U32 used;                 /* bit i: reference i is */
    GPUME_U32 count;                /* of those; 0 if no plane is changed */
    GPUME_U32 unused[2];
    GPUME_U32 begins[GPUME_TEMPORAL_BEGINS]; /* 1: the picture of this number begins a scene */
};

struct gpume_temporal_push {
    GPUME_U32 width, height;      /* samples of this plane */
    GPUME_U32 stride;             /* quads of a row */
    GPUME_U32 plane;              /* its number */
    GPUME_U32 planes;             /* how many there are */
    GPUME_U32 shift_x, shift_y;   /* of its size: log2 of luma's by its own */
    GPUME_U32 bits;               /* of a sample */
    GPUME_U32 blocks_x, blocks_y; /* of the picture */
    GPUME_U32 limit_x, limit_y;   /* of vectors: those that reach it are not used */
    GPUME_U32 place;              /* of the picture in the ring */
    GPUME_U32 places[2];          /* a byte for each reference: the same */
    GPUME_U32 there;              /* bit i: reference i is there */
    GPUME_U32 references;         /* that a picture may have */
    GPUME_U32 number;             /* of the picture, modulo GPUME_TEMPORAL_BEGINS */
    GPUME_U32 strength;           /* S */
    GPUME_U32 spatial;            /* Z; above 0: planes that are changed have means first */
    GPUME_U32 measure;            /* 1: the noise is measured */
    GPUME_U32 given;              /* V, if not; if it is: above 0, in its place */
    GPUME_U32 least, most;        /* of V; most: only of what is measured */
};

#endif
