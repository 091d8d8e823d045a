/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernels of an encoder's lookahead share with src/encode/device.c. The half planes of all
 * frames lie one after the other in one array, as they lie in host memory, with their margins.
 * Places in it are bytes; strides and planes are multiples of 4.
 */
#ifndef GPUME_SHADERS_ENCODE_SHARED_H
#define GPUME_SHADERS_ENCODE_SHARED_H

#include "common/shared.h"

/* Arrays, by binding. */
#define GPUME_ENCODE_FRAMES 0
#define GPUME_ENCODE_BLOCKS 1 /* a table of tasks, then words, mostly one per block of a task */

#define GPUME_ENCODE_KINDS 4  /* of tasks, one for each kernel */
#define GPUME_ENCODE_BATCH 32 /* tasks of a kind: the largest z of a grid */
#define GPUME_ENCODE_TASKS (GPUME_ENCODE_KINDS * GPUME_ENCODE_BATCH)
#define GPUME_ENCODE_LOCAL 64 /* invocations of a workgroup: */
#define GPUME_ENCODE_TEAM 8   /* these share a block; workgroups take neighbours in a row */
#define GPUME_ENCODE_DUO 2    /* the same in mean.comp and weigh.comp */
#define GPUME_ENCODE_SHARES 64
#define GPUME_ENCODE_LIMIT 64 /* the largest component of a vector, in quarter pixels */

#ifndef GL_core_profile
typedef struct gpume_encode_task gpume_encode_task;
typedef struct gpume_encode_push gpume_encode_push;
#endif

/* A row of the table: where the first samples of a target and of its references lie. */
struct gpume_encode_task {
    GPUME_U32 target, past, future; /* refine.comp: past, whichever it is */
    GPUME_U32 past_share;           /* in a mean of both, of GPUME_ENCODE_SHARES */
    GPUME_U32 weight;               /* of the past reference: GPUME_ENCODE_WEIGHT */
};

/* denominator: below 8; scale: below 128; offset: from -128 to 127. */
#define GPUME_ENCODE_WEIGHT(denominator, scale, offset)                                            \
    ((denominator) << 16 | (scale) << 8 | ((offset) + 128))

struct gpume_encode_push {
    GPUME_U32 blocks_x, blocks_y;
    GPUME_U32 stride; /* bytes from a row to the next */
    GPUME_U32 plane;  /* bytes from a plane to the next */
    GPUME_U32 task;   /* of z = 0 */
    GPUME_U32 word;   /* of its first block */
    GPUME_U32 more;   /* in refine.comp the first word of coarse vectors; in mean.comp the word of
                         the first block of the vectors in the future references */
};

#endif
