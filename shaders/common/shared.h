/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers that cross the border between C and GLSL; both compilers read this file. Push constants
 * hold what changes from dispatch to dispatch, specialisation constants what a plan fixes.
 *
 * Units: a quad is four neighbouring samples of a row (one word at 8 bits, two above); frames are
 * addressed in quads from the start of the bound window.
 */
#ifndef GPUME_SHADERS_COMMON_SHARED_H
#define GPUME_SHADERS_COMMON_SHARED_H

#ifdef GL_core_profile
#define GPUME_U32 uint
#define GPUME_I32 int
#define GPUME_ADDRESS uvec2
#else
#include <stdint.h>
#define GPUME_U32 uint32_t
#define GPUME_I32 int32_t
#define GPUME_ADDRESS uint64_t /* of a device's memory; 8 bytes aligned */
#endif

/* Specialisation constants. */
#define GPUME_SPEC_BLOCK_W 0
#define GPUME_SPEC_BLOCK_H 1
#define GPUME_SPEC_WINDOW_X 2
#define GPUME_SPEC_WINDOW_Y 3
#define GPUME_SPEC_INSIDE 4         /* edge mode: 1 = only candidates wholly inside the reference */
#define GPUME_SPEC_TEAM 5           /* invocations that share one block, a power of 2 */
#define GPUME_SPEC_PREDICTED 6      /* 1 = the predicted frame is stored */
#define GPUME_SPEC_FALLBACK 7       /* 1 = only the blocks that pruning leaves to the full search */
#define GPUME_SPEC_LOCAL 8          /* invocations of a workgroup */
#define GPUME_SPEC_BITS 9           /* of a sample; memory may hold more all the same */
#define GPUME_SPEC_KEY_BITS 10      /* bits of the order in a word beside the cost; 0 = two words */
#define GPUME_SPEC_CHUNK 11         /* neighbouring dy that one invocation sums up at once */
#define GPUME_SPEC_UNIT 12          /* side of the square of target samples in registers */
#define GPUME_SPEC_TILE_X 13        /* blocks of a workgroup, side by side */
#define GPUME_SPEC_TILE_Y 14        /* blocks of a workgroup, one below the other */
#define GPUME_SPEC_COLUMNS 15       /* neighbouring dx whose samples are loaded at once */
#define GPUME_SPEC_BAND 16          /* chunks whose samples are loaded at once */
#define GPUME_SPEC_RADIUS_X 17      /* columns on either side that a filter looks at */
#define GPUME_SPEC_RADIUS_Y 18      /* and rows */
#define GPUME_SPEC_QUARTER_SHIFT 19 /* low bits cut off sums of quarter blocks, */
#define GPUME_SPEC_SIXTEENTH_SHIFT 20 /* and off those of sixteenths */
#define GPUME_SPEC_LIST 21            /* quads of candidates that wait for their sixteenths */
#define GPUME_SPEC_GIVE_UP 22         /* candidates to compare before a block falls back */
#define GPUME_SPEC_PART                                                                            \
    23 /* rows of groups of candidates that pruning takes at a time; or of a strip */
#define GPUME_SPEC_ROWS 24 /* 1 = sums of quarters alone, in rows, for prune_small.comp */
/* Of the general search: */
#define GPUME_SPEC_UNITS_LOG2 25 /* of vectors in a pixel: 1, 2 or 4 */
#define GPUME_SPEC_INTERPOLATION 26
#define GPUME_SPEC_FULL 27   /* 1 = every fraction is a candidate */
#define GPUME_SPEC_METRIC 28 /* as those below; refinement has another constant */
#define GPUME_SPEC_RATE 29   /* 1 = vectors have a price */
#define GPUME_SPEC_LAMBDA 30
#define GPUME_SPEC_KEPT 31        /* candidates of a block */
#define GPUME_SPEC_CONFIDENCE 32  /* 1 = ties are counted */
#define GPUME_SPEC_REFERENCES 33  /* pairs of a task */
#define GPUME_SPEC_BOX 34         /* side of the boxes whose sums bound costs: 4 or 8 */
#define GPUME_SPEC_SEEDS 35       /* candidates of a block that prune_strips.comp compares first */
#define GPUME_SPEC_COST_METRIC 36 /* of results: the refinement compares by it */
#define GPUME_SPEC_WHOLE 37       /* 1 = refine.comp is given vectors in whole pixels */
#define GPUME_SPEC_SIXTEENTHS 38  /* 1 = block_sums.comp writes sums of sixteenths */
#define GPUME_SPEC_STRIDE 39      /* quads per padded row */
#define GPUME_SPEC_COUNT 40

/* enum gpume_metric and enum gpume_interpolation. */
#define GPUME_SPEC_METRIC_SAD 0
#define GPUME_SPEC_METRIC_SATD 1
#define GPUME_SPEC_METRIC_SSD 2
#define GPUME_SPEC_INTERPOLATION_H264 0
#define GPUME_SPEC_INTERPOLATION_HEVC 1
#define GPUME_SPEC_INTERPOLATION_BILINEAR 2

#define GPUME_PATCH_COLUMNS 8 /* samples of a patch, see patches.glsl, */
#define GPUME_PATCH_WORDS 32  /* and what it takes */

#define GPUME_BLOCK_SUMS_LOCAL 64
#define GPUME_BLOCK_SUMS_ROWS 16 /* box sums that one invocation makes, one below the other */
#define GPUME_REDUCE_LOCAL 256
#define GPUME_UPLOAD_LOCAL 64
#define GPUME_FILTER_LOCAL 64
#define GPUME_GENERAL_LOCAL 64
#define GPUME_BOXES_ROWS 16      /* box sums that one invocation makes, one below the other */
#define GPUME_FILTER_WEIGHTS 961 /* of gpume_prefilter_tables; likeness comes behind them */
#define GPUME_FILTER_PRODUCT_SHIFT 8

/* Drivers may stop all loops of an invocation after 65,535 iterations, silently (llvmpipe does).
 * The host splits work so that no invocation passes this. */
#define GPUME_ITERATIONS_MAX 60000

/* 64-bit sums travel as low word, high word. */
#define GPUME_SUMS 5 /* zero, sad_before, sad_after, sse_before, sse_after */
#define GPUME_SUM_WORDS 10

/* 64-bit counts of a task, in the same form: candidates that the sums of quarter blocks did not
 * exclude, and of those the ones that the sums of sixteenths did not exclude. */
#define GPUME_COUNT_PAST_BLOCKS 0
#define GPUME_COUNT_PAST_PARTS 1
#define GPUME_COUNT_SLOTS 32                                          /* whose sum counts */
#define GPUME_COUNT_WORDS 8                                           /* per slot: 32 bytes */
#define GPUME_COUNT_BYTES (GPUME_COUNT_SLOTS * GPUME_COUNT_WORDS * 4) /* per task */

/* Workgroups that reduce one band of one task, at most. A lane then sees at most 2^32 pixels /
 * (256 groups * 256 lanes) = 65,536 samples, whose SAD of 65,536 * 65,535 fits 32 bits. A small
 * band has fewer workgroups, whose lanes see four samples. */
#define GPUME_REDUCE_GROUPS 256

/* Arrays: elements are read 16 bytes at a time. */
#define GPUME_ARRAY_LOCAL 256
#define GPUME_ARRAY_GROUPS 1024    /* workgroups at most */
#define GPUME_ARRAY_BINS 4096      /* of a histogram, in one workgroup's shared memory */
#define GPUME_ARRAY_SPEC_ELEMENT 0 /* bytes: 1, 2, 4; or 8: pairs of other workgroups */
#define GPUME_ARRAY_SPEC_MINIMUM 1 /* 1 = smallest element, 0 = sum */
#define GPUME_ARRAY_SPEC_COUNT 2

struct gpume_array_push {
    GPUME_U32 data[2];    /* address of the first quad: low word, high word */
    GPUME_U32 results[2]; /* address of pairs of words, one per workgroup; or of the bins */
    GPUME_U32 quads;      /* of 16 bytes; of pairs the pairs */
    GPUME_U32 skip, keep; /* elements left out of the first quad, and taken from the last */
    GPUME_U32 shift, bins;
};

struct gpume_upload_push {
    GPUME_U32 width, height; /* samples */
    GPUME_U32 pad_x, pad_y;
    GPUME_U32 plane_stride;  /* words per row of the plane */
    GPUME_U32 plane_base;    /* words to row 0, wrapping below the window's start */
    GPUME_U32 padded_stride; /* quads */
    GPUME_U32 padded_base;   /* quads to padded row 0, wrapping in the same way */
    GPUME_U32 row, rows;     /* padded rows to write */
};

struct gpume_filter_push {
    GPUME_U32 width, height; /* samples */
    GPUME_U32 frame_base;    /* quads to the picture's first sample, wrapping below 0 */
    GPUME_U32 frame_stride;  /* quads per padded row */
    GPUME_U32 plane_base;    /* quads to row 0 of the filtered plane, wrapping below 0 */
    GPUME_U32 plane_stride;  /* quads */
    GPUME_U32 row;           /* the first of this dispatch */
    GPUME_U32 shift, divisor;
};

/* The task table of a submission: a uniform block that kernels read by gl_WorkGroupID.z. Row z says
 * which frames task z compares, by their places in the ring. Behind the rows: the places of the
 * frames whose block sums are made. */
#define GPUME_TASKS_MAX 64
#define GPUME_TASKS_BINDING 8

struct gpume_task_row {
    GPUME_U32 target, reference;
    GPUME_U32 unused_z, unused_w; /* a row has 16 bytes */
};

#ifndef GL_core_profile
struct gpume_task_table {
    struct gpume_task_row rows[GPUME_TASKS_MAX];
    GPUME_U32 sum_frames[2 * GPUME_TASKS_MAX];
};

typedef struct gpume_frames_push gpume_frames_push; /* GLSL names structs without the keyword */
#endif

/* Where the frames of tasks lie in the bound windows. */
struct gpume_frames_push {
    GPUME_U32 target_base, reference_base; /* quads to padded row 0, wrapping below 0 */
    GPUME_U32 frame_quads;                 /* from one place of the ring to the next */
    GPUME_U32 stride;                      /* quads per padded row */
};

#ifndef GL_core_profile
typedef struct gpume_layer_push gpume_layer_push;
#endif

/* The picture, and one layer of its blocks. Results of block i in task z lie at
 * z * field_blocks + first + i. */
struct gpume_layer_push {
    GPUME_U32 width, height;    /* samples */
    GPUME_U32 blocks_x, blocks; /* of the layer: across, and all */
    GPUME_U32 first;            /* block of the layer among those of a field */
    GPUME_U32 field_blocks;     /* of all layers */
};

struct gpume_quads_push {
    gpume_frames_push frames;
    gpume_layer_push layer;
    GPUME_U32 block_first; /* blocks of this dispatch: block_first + i * block_step */
    GPUME_U32 block_step, block_count;
    GPUME_U32 job_first, job_end; /* see match_quads.comp */
};

struct gpume_tile_push {
    gpume_frames_push frames;
    gpume_layer_push layer;
    GPUME_U32 row_first, row_end; /* block rows of this band */
    GPUME_U32 tiles_x;            /* tiles side by side */
    GPUME_U32 tile_first, tile_end;
    GPUME_U32 fallback_list; /* words to the number of blocks that fall back, then come they */
};

struct gpume_block_sums_push {
    GPUME_U32 frame_quads;
    GPUME_U32 stride;                /* quads per padded row */
    GPUME_U32 rows;                  /* padded rows */
    GPUME_U32 sum_stride, sum_quads; /* of a row of sums, and of a frame of them */
    GPUME_U32 patch_stride, patches; /* in a row of them, and in a frame */
};

struct gpume_prune_wide_push {
    gpume_frames_push frames;
    gpume_layer_push layer;
    GPUME_U32 row_first; /* block row of the dispatch's first workgroups */
    GPUME_U32 fallback_list;
    GPUME_U32 sum_quads;             /* in a frame of sums */
    GPUME_U32 patch_stride, patches; /* in a row of them, and in a frame */
};

struct gpume_prune_small_push {
    gpume_frames_push frames;
    gpume_layer_push layer;
    GPUME_U32 block_first; /* of the dispatch's first workgroup */
    GPUME_U32 fallback_list;
    /* Eights of sums (prune_small.comp) or fours (prune_strips.comp) in a row and in a frame. */
    GPUME_U32 sum_stride, sum_places;
};

struct gpume_predict_push {
    gpume_frames_push frames;
    gpume_layer_push layer;
    GPUME_U32 row_first, row_end;      /* picture rows of this dispatch */
    GPUME_U32 predicted_stride;        /* quads */
    GPUME_U32 predicted_quads;         /* quads per task */
    GPUME_U32 partial_first, partials; /* sets of sums: this band's first, all of a task's */
};

struct gpume_reduce_push {
    GPUME_U32 partials;      /* sets of sums per task */
    GPUME_U32 layer, layers; /* which of them all */
};

/* Specialisation constants of sort_*.comp. */
#define GPUME_SORT_SPEC_LOCAL 0    /* invocations of a workgroup, a power of 2 */
#define GPUME_SORT_SPEC_KEYS 1     /* keys that each of them has; a tile is both multiplied */
#define GPUME_SORT_SPEC_SUBGROUP 2 /* invocations of a subgroup, every one full */
#define GPUME_SORT_SPEC_PAIRS 3    /* 1: there is payload, or there are places in its stead */
#define GPUME_SORT_SPEC_COUNT 4

#define GPUME_SORT_DIGITS 256
#define GPUME_SORT_SCAN_KEYS 8
#define GPUME_SORT_ROW_MAX 4096 /* tiles that one invocation of sort_scan.comp sums up */
#define GPUME_SORT_COPY_LOCAL 256
#define GPUME_SORT_COPY_KEYS 8
#define GPUME_BITONIC_LOCAL 256
#define GPUME_BITONIC_CHUNK 1024 /* keys that one workgroup sorts in shared memory */

/* Of all kernels of a sort; addresses that a kernel does not use are 0. */
struct gpume_sort_push {
    GPUME_ADDRESS keys_in, keys_out;
    GPUME_ADDRESS payload_in, payload_out; /* 0: keys alone */
    GPUME_ADDRESS counts;                  /* of digits, by tile; bitonic: keys with their places */
    GPUME_ADDRESS totals;                  /* of digits, by segment */
    GPUME_ADDRESS table;       /* of segments (first, count); 0: number i begins at i * stride */
    GPUME_U32 stride, longest; /* without a table: of a segment */
    GPUME_U32 segments;
    GPUME_U32 segment_first; /* of the dispatch */
    GPUME_U32 least, most;   /* keys of the segments that are meant; others are left alone */
    GPUME_U32 flip;          /* keys are compared after an exclusive or with this */
    GPUME_U32 flip_out;      /* the same for what is written */
    GPUME_U32 shift;         /* lowest bit of the digit; local: of the first */
    GPUME_U32 passes;        /* local: digits */
    GPUME_U32 slot;          /* bitonic: places a segment has in a chunk, a power of 2 */
    GPUME_U32 reach;         /* bitonic: partners lie this far apart */
    GPUME_U32 steps;         /* GPUME_SORT_TO_RANKS, GPUME_BITONIC_* */
    GPUME_U32 place_shift;   /* keys read give way by this many bits to their place; 0: none */
    GPUME_U32 place_mask;    /* where a key holds its place */
};

#define GPUME_BITONIC_FROM_KEYS 1 /* reads keys and sorts them from nothing, else it merges */
#define GPUME_BITONIC_TO_KEYS 2   /* the order is final */
#define GPUME_BITONIC_FLIP 4      /* partners mirror each other within 2 * reach */
/* keys_out becomes ranks: where the order has the key that was in this place. Places are the
 * payload, or in the keys. */
#define GPUME_SORT_TO_RANKS 8

#endif
