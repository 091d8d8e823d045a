/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The implementations of the exact search: a table from which one is selected at run time. Each
 * gives exactly the vectors and costs of ref.c; they differ in speed only. Vector code works on 16
 * neighbouring dx at a time; each instruction set is compiled in a file for it alone and called
 * only after the processor has been asked.
 *
 * Candidates run in the order of the tie rule and only a smaller cost replaces the best; or every
 * dx keeps its own best, and these are compared by model/cost.h in the end. Edge modes are a
 * rectangle of candidates. Elimination bounds a candidate's cost from below by box sums of the
 * reference. Vectors of neighbouring blocks and of an earlier, similar task only decide how early
 * candidates are dropped; a few work items every 32 fields are timed the other way, and what is
 * cheaper is done.
 */
#ifndef GPUME_CPU_SEARCH_SEARCH_H
#define GPUME_CPU_SEARCH_SEARCH_H

#include "base/base.h"
#include "cpu/general/general.h"
#include "model/plan.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Sums of the differences between two runs of samples, as plain loops for the compiler's vectors:
 * each implementation of the search compiles them for its own instruction set.
 */
#define GPUME_DIFFERENCES_MAX 4096u /* samples per run: 4096 * 255^2 and 4096 * 65535 < 2^32 */

struct gpume_differences {
    uint64_t sad, sse;
};

static inline struct gpume_differences gpume_differences8(
    const uint8_t *a, const uint8_t *b, uint32_t count)
{
    uint32_t sad = 0, sse = 0;
    for (uint32_t i = 0; i < count; i++) {
        int32_t difference = a[i] - b[i];
        sad += (uint32_t)(difference < 0 ? -difference : difference);
        sse += (uint32_t)(difference * difference);
    }
    return (struct gpume_differences){sad, sse};
}

/* A squared difference is at most 65535^2 < 2^32; their sum needs 64 bits. */
static inline struct gpume_differences gpume_differences16(
    const uint16_t *a, const uint16_t *b, uint32_t count)
{
    uint32_t sad = 0;
    uint64_t sse = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t difference = a[i] > b[i] ? (uint32_t)(a[i] - b[i]) : (uint32_t)(b[i] - a[i]);
        sad += difference;
        sse += difference * difference;
    }
    return (struct gpume_differences){sad, sse};
}

/* --- box sums
 *
 * Box sums of a padded reference frame, made once per task: sums[y][x] of the samples in the square
 * whose upper left corner is (x,y). The difference of two blocks' sums never exceeds the sum of
 * their absolute differences, and the same holds for sub-blocks, so a candidate whose bound reaches
 * the best cost so far cannot win and is pruned without comparing a sample. model/cost.h has the
 * proof.
 *
 * W. Li, E. Salari, "Successive elimination algorithm for motion estimation", IEEE Trans. Image
 * Processing 4 (1995): one sum per block. X. Q. Gao, C. J. Duanmu, C. R. Zou, "A multilevel
 * successive elimination algorithm for block matching motion estimation", ibid. 9 (2000): sums of
 * its sub-blocks.
 */
#define GPUME_BOX_SIZES 4u  /* of all layers: 4, 8, 16 and 12 samples per side */
#define GPUME_BOX_LEVELS 3u /* of these sizes in one layer */
#define GPUME_BOX_SLACK                                                                            \
    64u /* entries past the last one that may be read; their values do not matter */

/* Level 0 has boxes of 4x4 samples. Boxes of 12x12 are made of those, others of the level before.
 * 16 bits hold a sum: 16 * 16 * 255 = 65280. */
struct gpume_boxes {
    uint32_t levels;                 /* 0: this plan has no elimination */
    uint32_t sizes[GPUME_BOX_SIZES]; /* samples per side */
    uint16_t *sums[GPUME_BOX_SIZES];
    uint32_t stride, rows; /* of the padded frame; no box begins in the last size - 1 rows */
};

/* Levels and sizes for all layers of a plan; sums are NULL. */
struct gpume_boxes gpume_boxes_plan(const struct gpume_plan *plan);

/* Boxes of one size that lie within a block, from its upper left corner on. */
struct gpume_tiles {
    uint32_t across, down;
};

/* The levels that bound the candidates of one layer, by rising size. */
struct gpume_layer_boxes {
    uint32_t levels; /* 1 or more */
    uint32_t sizes[GPUME_BOX_LEVELS];
    struct gpume_tiles tiles[GPUME_BOX_LEVELS]; /* of a whole block */
    const uint16_t *sums[GPUME_BOX_LEVELS];
    uint32_t stride;
};

struct gpume_layer_boxes gpume_boxes_of_layer(
    const struct gpume_boxes *boxes, const struct gpume_shape *layer);

/* Entries of one level, slack included. */
static inline uint64_t gpume_boxes_entries(const struct gpume_boxes *boxes)
{
    return (uint64_t)boxes->stride * boxes->rows + GPUME_BOX_SLACK;
}

/* Rows of a level that hold boxes. */
static inline uint32_t gpume_boxes_rows(const struct gpume_boxes *boxes, uint32_t level)
{
    return boxes->rows < boxes->sizes[level] ? 0 : boxes->rows - boxes->sizes[level] + 1;
}

/* --- searches */

/* Implementations read up to this many bytes past the last sample of a padded frame: two vectors of
 * 64 bytes. The values do not affect the result, but the buffers must be that much longer. */
#define GPUME_SEARCH_SLACK_BYTES 128u

/* Neighbouring blocks of one block row: first .. end - 1. */
struct gpume_span {
    uint32_t row, first, end;
};

/* One layer of one field to search. */
struct gpume_search_field {
    const struct gpume_plan *plan;
    const struct gpume_shape *layer;
    const void *target, *reference; /* whole padded frames with slack behind them */
    /* Box sums of the reference for this layer, to search by elimination; NULL: without. */
    const struct gpume_layer_boxes *boxes;
    /* Vectors of this layer in an earlier field, likely to be good; or NULL. They only affect how
     * soon candidates are pruned. May be the array that is being written. */
    const struct gpume_vector *hints;
    /* Checked before every block: true leaves the rest of the span unchanged. NULL: never. */
    const atomic_bool *cancelled;
};

static inline bool gpume_search_cancelled(const struct gpume_search_field *field)
{
    return field->cancelled && atomic_load_explicit(field->cancelled, memory_order_relaxed);
}

/* Candidates of blocks that were searched with elimination. */
struct gpume_search_counts {
    uint64_t candidates;  /* all */
    uint64_t past_blocks; /* survived the sums of the largest boxes */
    uint64_t past_parts;  /* survived those of smaller ones too: compared sample by sample */
};

struct gpume_search {
    const char *name, *summary;
    bool (*available)(void); /* on this processor */
    /* Writes the vectors and costs of the span's blocks into the arrays of the whole layer, and
     * adds to counts. Spans may be searched in parallel. Layers may have any shape. */
    void (*span)(const struct gpume_search_field *field, const struct gpume_span *span,
        struct gpume_vector *vectors, uint32_t *costs, struct gpume_search_counts *counts);
    /* Makes one row of box sums of one level (x86.h). NULL: without elimination. */
    void (*box_row)(
        const struct gpume_boxes *boxes, const uint8_t *padded, uint32_t level, uint32_t row);
    /* Of `count` samples, at most GPUME_DIFFERENCES_MAX. */
    struct gpume_differences (*differences8)(const uint8_t *a, const uint8_t *b, uint32_t count);
    struct gpume_differences (*differences16)(const uint16_t *a, const uint16_t *b, uint32_t count);
    const struct gpume_general_kernels *general; /* for plans that `span` cannot search */
};

extern const struct gpume_search gpume_search_plain;  /* ref.c */
extern const struct gpume_search gpume_search_neon;   /* aarch64 only */
extern const struct gpume_search gpume_search_avx512; /* x86-64 only */
extern const struct gpume_search gpume_search_avx2;   /* x86-64 only */

/* Implementations from the plain one to the fastest; NULL past the last one. Some may be
 * unavailable on this processor. */
const struct gpume_search *gpume_search_at(uint32_t index);

/* The available implementation of that name; for NULL the fastest available one. NULL: there is no
 * such implementation. */
const struct gpume_search *gpume_search_select(const char *name);

/* --- with or without elimination
 *
 * Decides for every field of a layer whether it is searched with elimination. Every PROBE_FIELDS
 * fields a few work items are searched the other way. Both kinds are timed by the processor time of
 * their threads, and the cheaper one is used until the next probe. This affects speed only: the
 * results are the same either way.
 *
 * gpume_policy_next is called when a field is queued, gpume_policy_learn when a field that probed
 * is complete, both from one thread. Other fields may be queued between the two.
 */
/* How one field is searched. */
struct gpume_policy_choice {
    bool eliminating; /* most items of this field */
    bool probing;     /* some items are searched the other way, and all are timed */
    uint32_t period;  /* while probing, one item of every `period` is searched the other way, */
    uint32_t first;   /* beginning with this one */
};

/* The times of a field that probed; [0] without elimination, [1] with it. */
struct gpume_probe {
    uint64_t ns[2], items[2];
    uint64_t box_ns; /* to make the box sums, all threads together */
};

struct gpume_policy {
    bool possible; /* the search and the plan allow elimination */
    bool eliminating;
    uint64_t fields; /* queued so far */
    uint32_t items;  /* per field */
    uint32_t period;
    uint64_t item_ns[2]; /* without and with elimination, as last measured; 0: never */
};

/* wide: the window is so large that elimination is the better first guess. */
void gpume_policy_init(struct gpume_policy *policy, bool possible, bool wide, uint32_t items);

struct gpume_policy_choice gpume_policy_next(struct gpume_policy *policy);

void gpume_policy_learn(struct gpume_policy *policy, const struct gpume_probe *probe);

/* Whether this item is searched with elimination. */
static inline bool gpume_policy_eliminates(const struct gpume_policy_choice *choice, uint32_t item)
{
    return choice->eliminating != (choice->probing && item % choice->period == choice->first);
}

/* Whether any item of the field needs box sums. */
static inline bool gpume_policy_needs_boxes(const struct gpume_policy_choice *choice)
{
    return choice->eliminating || choice->probing;
}

/* --- the predicted frame and the sums of differences before and after prediction, part by part of
 * a block row */

/* Adds one to the other. */
void gpume_measure_add(struct gpume_sums *to, const struct gpume_sums *from);

/* Adds the differences of `count` samples, at most GPUME_DIFFERENCES_MAX, to all sums but `zero`.
 */
void gpume_measure_run(const struct gpume_search *search, uint32_t sample_bytes, const void *target,
    const void *reference, const void *predicted, uint32_t count, struct gpume_sums *sums);

/* Sums of a span. vectors: of the whole layer; predicted: the start of a whole plane with
 * plan.plane_stride, or NULL. Spans may be measured in parallel. */
struct gpume_sums gpume_measure_span(const struct gpume_search *search,
    const struct gpume_search_field *field, const struct gpume_span *span,
    const struct gpume_vector *vectors, void *predicted);

/*
 * --- One block as the fast searches see it: its place and the rectangle of its candidates. Both
 * edge modes reduce to such a rectangle, which always contains (0,0).
 */

struct gpume_block {
    const void *target, *reference; /* the block's first sample; the same place in the reference */
    ptrdiff_t stride;               /* samples */
    int32_t width, height;          /* visible */
    int32_t dx_low, dx_high, dy_low, dy_high;
    bool whole; /* not cut by the picture's edge */
};

static inline struct gpume_block gpume_block_at(
    const struct gpume_search_field *field, uint32_t column, uint32_t row)
{
    const struct gpume_plan *plan = field->plan;
    const struct gpume_params *p = &plan->params;
    const struct gpume_shape *layer = field->layer;
    bool inside = p->edge == GPUME_EDGE_INSIDE;
    uint32_t x = column * layer->block_w, y = row * layer->block_h;
    uint32_t width = gpume_min_u32(layer->block_w, p->width - x);
    uint32_t height = gpume_min_u32(layer->block_h, p->height - y);
    size_t offset = (size_t)(plan->pad_y + y) * plan->padded_stride + plan->pad_x + x;
    return (struct gpume_block){
        .target = (const uint8_t *)field->target + offset * plan->sample_bytes,
        .reference = (const uint8_t *)field->reference + offset * plan->sample_bytes,
        .stride = (ptrdiff_t)plan->padded_stride,
        .width = (int32_t)width,
        .height = (int32_t)height,
        .dx_low = -(int32_t)gpume_plan_reach(p->window_x, x, inside),
        .dx_high = (int32_t)gpume_plan_reach(p->window_x, p->width - width - x, inside),
        .dy_low = -(int32_t)gpume_plan_reach(p->window_y, y, inside),
        .dy_high = (int32_t)gpume_plan_reach(p->window_y, p->height - height - y, inside),
        .whole = width == layer->block_w && height == layer->block_h};
}

#endif
