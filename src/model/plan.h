/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parameters in, every size, count and limit out. Pure arithmetic, and the one place that refuses
 * what cannot be computed exactly or does not fit.
 *
 * Engines search in padded frames, so that no candidate needs a test for the picture's edge:
 *
 *      pad_x (window_x rounded up to 4)
 *     +-----+--------------------------+-------+
 *     |     window_y rows of edge samples      |
 *     +-----+--------------------------+-------+
 *     |edge | picture                  | edge  |   padded_rows = height + 2 window_y
 *     +-----+--------------------------+-------+
 *     |     window_y rows of edge samples      |
 *     +-----+--------------------------+-------+
 *      padded_stride samples, a multiple of 4
 *
 * Four samples from a multiple of 4 are a quad: 4 bytes at 8 bits, 8 bytes above. Kernels load
 * quads.
 */
#ifndef GPUME_MODEL_PLAN_H
#define GPUME_MODEL_PLAN_H

#include "base/log.h"

#include "gpume/gpume.h"

/*
 * --- A filter's parameters in, whole numbers out: what both engines compute with. Doubles are used
 * here and nowhere behind. gpume.h has the definition of every kind.
 */

#define GPUME_PREFILTER_RADIUS_MAX 48u /* rows and columns: three sigmas of 16 */
#define GPUME_PREFILTER_WEIGHTS (31u * 31u)
#define GPUME_PREFILTER_STEPS 1024u /* differences that BILATERAL tells apart */

/* Of the range tables' bits, those that a product with a spatial weight loses. */
#define GPUME_PREFILTER_PRODUCT_SHIFT 8u

struct gpume_prefilter_tables {
    enum gpume_prefilter_kind kind;
    uint32_t radius_x, radius_y; /* pixels */
    uint32_t peak;               /* 2^bits - 1 */
    uint32_t shift;   /* GAUSS, BOX: bits cut off the columns' sums. BILATERAL: off differences */
    uint32_t divisor; /* GAUSS, BOX: of the rows' sums. KERNEL: of the sum */
    /* GAUSS, BOX: 2 radius + 1 for columns and rows alike. BILATERAL, KERNEL: (2 radius_x + 1) *
     * (2 radius_y + 1) in raster order. */
    int32_t weights[GPUME_PREFILTER_WEIGHTS];
    int32_t likeness[GPUME_PREFILTER_STEPS]; /* BILATERAL: by difference >> shift */
};

/* GPUME_INVALID, logged, if a member that the kind looks at is out of range. */
int gpume_prefilter_make(const struct gpume_prefilter *filter, uint32_t bits,
    const struct gpume_log *log, struct gpume_prefilter_tables *tables);

/* --- The plan. */

#define GPUME_BATCH_MAX 64u /* fields in one submission */
#define GPUME_SLOTS_MAX 16u /* submissions under way */
#define GPUME_LAYERS_MAX GPUME_SHAPES_MAX
#define GPUME_MEAN_ROUNDS 4u /* in which the two matches of a mean are searched anew, at most */

/* Host memory of a task in the queue, and of a field without its arrays, which frame/frame.c and
 * run/queue.c keep to. */
#define GPUME_QUEUED_BYTES (sizeof(struct gpume_task) + 48)
#define GPUME_FIELD_BYTES (sizeof(struct gpume_field) + sizeof(struct gpume_task) + 512)

/* What an engine and its device can do. */
struct gpume_caps {
    uint64_t window_bytes; /* largest part of a buffer that a kernel can bind; UINT64_MAX = any */
    uint32_t align_bytes;  /* of such parts; a power of 2 */
    uint32_t batch_max;    /* fields in one submission, 1 or more */
    uint64_t batch_work;   /* pixel differences in one; a run can only end between submissions */
    bool fast_references;  /* the fast search can search several references of a task */
    uint32_t threads;      /* that search a task; 0: it is a GPU */
};

/* Blocks of one shape, in a grid from (0,0) that covers every pixel of a picture. A block that the
 * right or bottom edge cuts counts its visible pixels only. */
struct gpume_shape {
    uint32_t block_w, block_h;      /* pixels */
    uint32_t blocks_x, blocks_y;    /* across and down */
    uint32_t blocks;                /* blocks_x * blocks_y */
    uint32_t first;                 /* index of its first block in a field's arrays */
    uint32_t cost_bits;             /* the largest cost of the search fits */
    uint32_t index_bits;            /* the largest block index within the shape fits */
    uint64_t candidates;            /* of all blocks, those that the edge mode allows; below 2^49 */
    uint32_t band_rows, band_count; /* block rows that are searched with one pair of windows */
};

/*
 * Surfaces: what engines keep of every frame, in padded planes with the layout that plan.h draws.
 * With fractions of a pixel a surface has a plane for each: sample (x,y) of plane fy * units + fx
 * lies fx / units to the right of pixel (x,y) and fy / units below it. Plane 0 is the picture. A
 * plan says which of them a run has, which one is searched and which one predicted frames and sums
 * are made of.
 */
enum gpume_surface {
    GPUME_SURFACE_SOURCE,   /* the frame as it was sent */
    GPUME_SURFACE_FILTERED, /* the source after params.prefilter */
    GPUME_SURFACE_COUNT,
};

struct gpume_plan {
    struct gpume_params params;

    uint32_t sample_bytes;
    /* A field has one layer per block shape. Its arrays hold the layers one after the other. */
    struct gpume_shape layers[GPUME_LAYERS_MAX];
    uint32_t layer_count;
    uint32_t finest;           /* the layer of the smallest blocks */
    uint32_t blocks;           /* of all layers */
    uint64_t candidates;       /* per block, far from any edge; in whole pixels */
    uint64_t field_candidates; /* of all blocks, those that the edge mode allows; below 2^53 */
    uint64_t sweep_candidates; /* those that one sweep of the search looks at: field_candidates, or
                                  with GPUME_SUBPEL_FULL all their fractions; below 2^57 */

    uint32_t plane_stride; /* bytes per row of pool frames and predicted frames; a multiple of 64,
                              so that every fourth row may begin a bound part */
    uint64_t plane_bytes;

    uint32_t pad_x, pad_y;  /* samples to the left of the picture and above it */
    uint32_t dx_quads;      /* quads of neighbouring dx that cover -pad_x .. window_x */
    uint32_t padded_stride; /* samples */
    uint32_t padded_rows;
    uint64_t padded_bytes;  /* aligned to caps.align_bytes */
    uint32_t planes;        /* of a frame on a surface: units * units, see surface.h */
    uint64_t surface_bytes; /* of a frame on a surface: of all its planes */

    /* True if the run needs more than the best whole-pixel vector by SAD of one reference: then the
     * general search answers, which is slower. */
    bool general;
    /* True if the whole-pixel part of a general plan is no more than that, in every reference: the
     * fast search can find the vectors that the general search then refines and chooses from. An
     * engine may choose not to. */
    bool fast_pixels;
    uint32_t units;  /* of vectors in a pixel */
    uint32_t kept;   /* candidates that are searched per block: 2 at least with confidence */
    uint32_t passes; /* of the whole search */
    uint32_t distances[GPUME_DISTANCES_MAX], distance_count; /* rising */
    uint32_t references;                                     /* of one task, at most */
    bool returns; /* fields have `returns`, so that every frame pair is searched in reverse too */
    /* With `returns`: a future pair's task and its reverse, the past pair of the next target, come
     * one after the other, and the first one's field waits for the second. */
    bool mutual;
    uint32_t requests; /* tasks that a frame brings, at most */

    uint32_t reach;       /* how many frames before the newest one a task may look at */
    uint32_t batch;       /* most frames in a submission, and most tasks */
    uint32_t overlap;     /* tasks that threads search side by side; 1: one after the other */
    uint32_t slots;       /* submissions under way or in the receiver's hands */
    uint32_t ring;        /* frames that an engine keeps of a surface: reach + batch */
    uint32_t pool;        /* frames that can be filled, waiting or read at the same time */
    uint64_t run_bytes;   /* host memory that fields and tasks need beside the engine's */
    bool one_window;      /* the whole ring of a surface fits into one window */
    uint32_t filter_rows; /* picture rows that can be filtered from one window */

    bool has_surface[GPUME_SURFACE_COUNT];
    enum gpume_surface searched, measured; /* what the search compares, what sums are made of */

    struct gpume_prefilter_tables prefilter; /* if params.prefilter is not NULL; that pointer is the
                                                caller's and not followed after opening */
};

/* True if the CPU engine takes over when the last GPU fails during the run (run/pipeline.h): the
 * caller has not asked for a particular search or for one device. Engines of a list get both
 * params.device and params.devices. */
static inline bool gpume_plan_stands_by(const struct gpume_params *params)
{
    return params->backend == GPUME_BACKEND_AUTO && (!params->device || params->devices) &&
           !params->search && !params->validate;
}

/* True if frames are kept for as long as tasks may look at them: fields carry them, or the tasks of
 * one engine may go to another one. */
static inline bool gpume_plan_keeps_frames(const struct gpume_params *params)
{
    return params->want_frames || params->devices || gpume_plan_stands_by(params);
}

/* True if the search compares another surface than the source. */
static inline bool gpume_plan_filters(const struct gpume_plan *plan)
{
    return plan->has_surface[GPUME_SURFACE_FILTERED];
}

/* True if the fast search finds all vectors, or the whole-pixel ones. */
static inline bool gpume_plan_searches_fast(const struct gpume_plan *plan)
{
    return !plan->general || plan->fast_pixels;
}

/* True if fractions of a pixel are candidates of the search, not only of its refinement. */
static inline bool gpume_plan_searches_fractions(const struct gpume_plan *plan)
{
    return plan->units > 1 && plan->params.subpel_search == GPUME_SUBPEL_FULL;
}

/* Planes of a surface whose places are candidates of the search; refinement looks at the others. */
static inline uint32_t gpume_plan_search_planes(const struct gpume_plan *plan)
{
    return gpume_plan_searches_fractions(plan) ? plan->planes : 1;
}

/* Frame pairs whose vectors are kept for `returns`: the reverse ones of a task, and, where each
 * pair has its own task, at every distance the future ones of as many targets. */
static inline uint64_t gpume_plan_reverse_pairs(const struct gpume_plan *plan)
{
    uint64_t pairs = plan->references;
    for (uint32_t i = 0; !plan->params.best_reference && i < plan->distance_count; i++) {
        pairs += plan->distances[i];
    }
    return pairs;
}

/* The most tasks that can wait where that many frames can exist. */
static inline uint32_t gpume_plan_waiting_max(const struct gpume_plan *plan, uint32_t pool)
{
    /* Each frame brings up to plan.requests tasks, and so does, at the end of the input, each
     * target that waits for later references: `reach` targets at most. The tasks of a submission's
     * frames may have to wait for the next submission. */
    return plan->requests * (pool + plan->batch + plan->reach);
}

/* Candidates on one side of (0,0) along an axis, where `room` pixels lie between the block and the
 * picture's edge. */
static inline uint32_t gpume_plan_reach(uint32_t window, uint32_t room, bool inside)
{
    return inside && room < window ? room : window;
}

/* A frame, or a predicted one, in memory of plan->plane_bytes. */
static inline struct gpume_plane gpume_plan_plane(const struct gpume_plan *plan, void *data)
{
    const struct gpume_params *p = &plan->params;
    return (struct gpume_plane){data, plan->plane_stride, p->width, p->height, p->bits};
}

/* Compares what an engine needs, and plan->run_bytes, with params.memory_max. GPUME_AGAIN: that is
 * more, but without box sums it may be less. GPUME_INVALID, logged: it is more.
 * The frames of a plan alone may be more: gpume_plan_make only takes as few of them as it can. */
int gpume_plan_check_memory(
    const struct gpume_plan *plan, uint64_t bytes, bool has_boxes, const struct gpume_log *log);

/* GPUME_INVALID: a parameter is out of range.
 * GPUME_UNSUPPORTED: caps do not allow it. Both are logged. */
int gpume_plan_make(const struct gpume_params *params, const struct gpume_caps *caps,
    const struct gpume_log *log, struct gpume_plan *plan);

/* Puts the defaults where 0 stands for them. */
void gpume_options_complete(struct gpume_params *params);

/* Of complete parameters. GPUME_INVALID, logged. */
int gpume_options_check(const struct gpume_params *params, const struct gpume_log *log);

/*
 * --- Which blocks cover the picture at the least price (params.partition). A tree of squares
 * stands on every block of the largest square: a square stays whole, is cut into two halves, or
 * into four quarters, which are squares of the next level. J, in 1/256, is
 *
 *      whole     256 D + lambda (R + 1)
 *      halves    the sum of both, 256 D + lambda R, + lambda * 3
 *      quarters  the sum of all four J + lambda
 *
 * with D = cost - rounded rate, and without the lambda for a smallest square. The least J wins;
 * among equals whole, then halves one above the other, side by side, then quarters. What lies
 * wholly outside the picture adds nothing. Pure arithmetic.
 */

#define GPUME_PARTITION_LEVELS 6u /* sides from 128 down to 4, by halves */

/* Squares of one side: indices of the plan's layers. */
struct gpume_partition_level {
    uint32_t side;
    uint32_t whole;
    uint32_t above;  /* halves one above the other, side x side / 2; GPUME_NONE: there are none */
    uint32_t beside; /* halves side by side, side / 2 x side */
};

/* Levels from the largest square to the smallest, which has no halves. */
struct gpume_partition {
    struct gpume_partition_level levels[GPUME_PARTITION_LEVELS];
    uint32_t level_count;
};

/* Of a plan with params.partition. */
struct gpume_partition gpume_partition_of(const struct gpume_plan *plan);

/* The layer of the smallest squares, of which every chosen block consists. */
static inline const struct gpume_shape *gpume_partition_smallest(const struct gpume_plan *plan)
{
    const struct gpume_partition partition = gpume_partition_of(plan);
    return &plan->layers[partition.levels[partition.level_count - 1].whole];
}

/* Of one block of the largest square, the `root`: sets chosen[i] = 1 for the blocks that cover it.
 * Arrays hold the blocks of all layers; chosen is zeroed before. Roots share no block. */
void gpume_partition_choose(const struct gpume_plan *plan, const struct gpume_partition *partition,
    const uint32_t *costs, const uint32_t *bits, uint32_t root, uint32_t *chosen);

#endif
