/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/quality.h"

#include "base/base.h"
#include "encode/encoder.h"
#include "encode/fixed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- one frame */

#define BLOCK 32 /* side of a block in quarter pixels */

void gpume_tree_information(
    uint32_t count, const uint16_t *intra_costs, const int16_t *aq_offsets, uint32_t *information)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t scaled =
            (uint64_t)intra_costs[i] * gpume_fixed_scale_of_offset(aq_offsets[i]) >> 12;
        information[i] = scaled > UINT32_MAX ? UINT32_MAX : (uint32_t)scaled;
    }
}

static void add_to_sum(uint32_t *sum, uint64_t amount)
{
    const uint64_t total = *sum + amount;
    *sum = total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
}

static uint64_t part_by_area(uint64_t amount, uint32_t area)
{
    return (amount * area + 512) >> 10;
}

/* The four blocks that share a match, by area. Parts outside the picture are lost. */
static void spread_match(const struct gpume_tree_size *size, uint32_t *sums, uint32_t block_x,
    uint32_t block_y, struct gpume_vector vector, uint64_t amount)
{
    const int64_t x = (int64_t)block_x + (vector.dx >> 5); /* whole blocks, rounded down */
    const int64_t y = (int64_t)block_y + (vector.dy >> 5);
    const uint32_t right = (uint32_t)vector.dx & (BLOCK - 1);
    const uint32_t low = (uint32_t)vector.dy & (BLOCK - 1);
    const bool in_left = x >= 0 && x < size->blocks_x;
    const bool in_right = right > 0 && x >= -1 && x + 1 < size->blocks_x;
    for (uint32_t row = 0; row < 2; row++) {
        const int64_t to_y = y + row;
        const uint32_t height = row > 0 ? low : BLOCK - low;
        if (height == 0 || to_y < 0 || to_y >= size->blocks_y) {
            continue;
        }
        const int64_t to = to_y * size->blocks_x + x;
        if (in_left) {
            add_to_sum(&sums[to], part_by_area(amount, (BLOCK - right) * height));
        }
        if (in_right) {
            add_to_sum(&sums[to + 1], part_by_area(amount, right * height));
        }
    }
}

/* What the block passes on: the part that prediction saves. */
static uint64_t passed_on(const struct gpume_tree_step *step, uint64_t block)
{
    const uint64_t intra = (uint64_t)step->intra_costs[block] * step->intra_eighths / 8;
    const uint64_t inter = step->costs[block];
    if (inter >= intra || step->kinds[block] == GPUME_FROM_SELF) {
        return 0;
    }
    const uint64_t received = step->received != NULL ? step->received[block] : 0;
    return (received + step->information[block]) * (intra - inter) / intra;
}

void gpume_tree_propagate(const struct gpume_tree_size *size, const struct gpume_tree_step *step,
    uint32_t *past_sums, uint32_t *future_sums)
{
    const struct gpume_vector zero = {0, 0};
    uint64_t block = 0;
    for (uint32_t y = 0; y < size->blocks_y; y++) {
        for (uint32_t x = 0; x < size->blocks_x; x++, block++) {
            const uint64_t amount = passed_on(step, block);
            const uint8_t kind = step->kinds[block];
            const bool still = kind == GPUME_FROM_STILL;
            const uint64_t to_past = still || kind == GPUME_FROM_BOTH
                                         ? amount * step->past_share / GPUME_SHARES
                                     : kind == GPUME_FROM_PAST ? amount
                                                               : 0;
            if (to_past != 0) {
                spread_match(size, past_sums, x, y, still ? zero : step->past[block], to_past);
            }
            if (amount != to_past) {
                spread_match(
                    size, future_sums, x, y, still ? zero : step->future[block], amount - to_past);
            }
        }
    }
}

/* Values of a block and of those above and below it, weighted 1, 4, 1. 0 outside the picture. */
static uint64_t column(
    const struct gpume_tree_size *size, const uint32_t *values, uint32_t x, uint32_t y)
{
    if (x >= size->blocks_x) {
        return 0;
    }
    const uint32_t *here = values + (uint64_t)y * size->blocks_x + x;
    const uint64_t above = y > 0 ? *(here - size->blocks_x) : 0;
    const uint64_t below = y + 1 < size->blocks_y ? here[size->blocks_x] : 0;
    return above + 4 * (uint64_t)*here + below;
}

/* A row of blocks, smoothed by 1, 4, 1 along both axes: sums of at most 36 * UINT32_MAX. */
struct smoothing {
    const struct gpume_tree_size *size;
    const uint32_t *values;
    uint64_t left, middle, right; /* columns about the block */
};

static struct smoothing begin_row(
    const struct gpume_tree_size *size, const uint32_t *values, uint32_t y)
{
    return (struct smoothing){size, values, .right = column(size, values, 0, y)};
}

/* Of the row's next block, which is (x, y). */
static uint64_t smoothed(struct smoothing *row, uint32_t x, uint32_t y)
{
    row->left = row->middle;
    row->middle = row->right;
    row->right = column(row->size, row->values, x + 1, y);
    return row->left + 4 * row->middle + row->right;
}

static int16_t offset_of(uint64_t own, uint64_t received, int16_t aq_offset, int64_t strength)
{
    const int64_t ratio = own == 0 ? 0 : gpume_fixed_log2(own + received) - gpume_fixed_log2(own);
    const int64_t offset = aq_offset - gpume_fixed_shift(strength * ratio, 24);
    return (int16_t)(offset < INT16_MIN ? INT16_MIN : offset);
}

void gpume_tree_offsets(const struct gpume_tree_size *size, const uint32_t *information,
    const int16_t *aq_offsets, const uint32_t *received, int64_t strength, int16_t *offsets)
{
    uint64_t block = 0;
    for (uint32_t y = 0; y < size->blocks_y; y++) {
        struct smoothing own = begin_row(size, information, y);
        struct smoothing more = begin_row(size, received, y);
        for (uint32_t x = 0; x < size->blocks_x; x++, block++) {
            const uint64_t sum = smoothed(&own, x, y);
            offsets[block] = offset_of(sum, smoothed(&more, x, y), aq_offsets[block], strength);
        }
    }
}

/* --- a stretch of frames */

/* What frames of a run have received: those at both ends, and its reference B frame. */
enum walk_place { BEGIN, END, MIDDLE, PLACES };

/* A frame that passes information on. */
struct hop {
    struct gpume_tree_step step;  /* without `received` */
    enum walk_place past, future; /* its references */
    bool is_end, is_middle;       /* of its run: others refer to it */
    const struct hop *run_end;    /* only of the first hop of a run; else NULL */
    const int16_t *aq_offsets;
    int16_t *offsets; /* NULL: not wanted */
};

struct gpume_quality_walk {
    uint64_t first;   /* frame */
    uint32_t decided; /* frames after it whose offsets are wanted */
    uint32_t blocks, count;
    struct hop *hops;
    uint32_t *sums[PLACES];
    int16_t *offsets; /* of each of these frames */
    bool has_offsets[GPUME_GROUP_FRAMES_MAX + 1];
};

struct gpume_quality {
    struct gpume_tree_size size;
    uint32_t blocks;
    bool weightb, counts_b;
    uint32_t intra_eighths;
    int64_t strength;
    gpume_step_fn step;
    void *opaque;
    struct gpume_quality_walk walks[GPUME_QUALITY_WALKS]; /* in turns */
    uint32_t turn;
};

static bool allocate_walk(struct gpume_quality_walk *walk, uint32_t blocks)
{
    bool complete = true;
    walk->blocks = blocks;
    for (uint32_t i = 0; i < PLACES; i++) {
        walk->sums[i] = calloc(blocks, sizeof(*walk->sums[i]));
        complete = complete && walk->sums[i];
    }
    /* each frame of a stretch at most once */
    walk->hops = calloc(GPUME_STRETCH_MAX, sizeof(*walk->hops));
    walk->offsets = calloc((GPUME_GROUP_FRAMES_MAX + 1) * (size_t)blocks, sizeof(*walk->offsets));
    return complete && walk->hops && walk->offsets;
}

int gpume_quality_open(struct gpume_quality **quality, const struct gpume_tree_size *size,
    const struct gpume_encode_options *options, gpume_step_fn step, void *opaque)
{
    struct gpume_quality *q = calloc(1, sizeof(*q));
    if (!q) {
        return GPUME_NOMEM;
    }
    q->size = *size;
    q->blocks = size->blocks_x * size->blocks_y;
    q->weightb = options->weightb != 0;
    q->counts_b = options->encoder->tree.counts_b;
    q->intra_eighths = options->encoder->tree.intra_eighths;
    q->strength = gpume_fixed_from_double(
        5 * (1 - options->qcomp) * options->encoder->tree.strength[options->psy]);
    q->step = step;
    q->opaque = opaque;
    for (uint32_t i = 0; i < GPUME_QUALITY_WALKS; i++) {
        if (!allocate_walk(&q->walks[i], q->blocks)) {
            gpume_quality_close(&q);
            return GPUME_NOMEM;
        }
    }
    *quality = q;
    return GPUME_OK;
}

void gpume_quality_close(struct gpume_quality **quality)
{
    struct gpume_quality *q = *quality;
    if (!q) {
        return;
    }
    for (uint32_t i = 0; i < GPUME_QUALITY_WALKS; i++) {
        struct gpume_quality_walk *walk = &q->walks[i];
        free(walk->offsets);
        free(walk->hops);
        for (uint32_t j = 0; j < PLACES; j++) {
            free(walk->sums[j]);
        }
    }
    free(q);
    *quality = NULL;
}

/* --- what a walk needs to know */

/* A run of frames: positions of both ends, and of the reference B frame or, without, of the end. */
struct frame_run {
    uint64_t begin, end, middle;
};

static enum walk_place place_in_run(const struct frame_run *run, uint64_t frame)
{
    return frame == run->begin ? BEGIN : frame == run->end ? END : MIDDLE;
}

/* Where to put the offsets of a frame; NULL if they are not wanted. */
static int16_t *wanted(
    const struct gpume_quality *q, struct gpume_quality_walk *walk, uint64_t frame)
{
    const uint64_t i = frame - walk->first;
    if (i > walk->decided) {
        return NULL;
    }
    walk->has_offsets[i] = true;
    return walk->offsets + i * q->blocks;
}

static int add_hop(struct gpume_quality *q, struct gpume_quality_walk *walk,
    const struct frame_run *run, uint64_t frame, uint64_t past, uint64_t future)
{
    const bool is_end = frame == run->end, is_middle = frame == run->middle && !is_end;
    struct gpume_quality_step step;
    GPUME_CHECK(q->step(q->opaque, frame, past, future, &step));
    step.tree.past_share = gpume_past_share(q->weightb, past, frame, future);
    step.tree.intra_eighths = q->intra_eighths;
    assert(walk->count < GPUME_STRETCH_MAX);
    walk->hops[walk->count++] = (struct hop){.step = step.tree,
        .past = place_in_run(run, past),
        .future = place_in_run(run, future),
        .is_end = is_end,
        .is_middle = is_middle,
        .aq_offsets = step.aq_offsets,
        .offsets = is_end || is_middle ? wanted(q, walk, frame) : NULL};
    return GPUME_OK;
}

static int add_b_frames(
    struct gpume_quality *q, struct gpume_quality_walk *walk, const struct frame_run *run)
{
    for (uint64_t frame = run->begin + 1; frame < run->end; frame++) {
        if (frame != run->middle) {
            const bool early = frame < run->middle;
            GPUME_CHECK(add_hop(q, walk, run, frame, early ? run->begin : run->middle,
                early ? run->middle : run->end));
        }
    }
    return run->middle == run->end ? GPUME_OK
                                   : add_hop(q, walk, run, run->middle, run->begin, run->end);
}

static int walk_add_run(struct gpume_quality *q, struct gpume_quality_walk *walk,
    const struct frame_run *run, bool ends_with_intra)
{
    const uint32_t first = walk->count;
    GPUME_CHECK(add_b_frames(q, walk, run));
    GPUME_CHECK(add_hop(q, walk, run, run->end, ends_with_intra ? run->end : run->begin, run->end));
    walk->hops[first].run_end = &walk->hops[walk->count - 1];
    return GPUME_OK;
}

/* The run of the stretch that ends with frame `end` > 0. */
static struct frame_run run_to(const struct gpume_stretch *stretch, uint32_t end)
{
    struct frame_run run = {.end = stretch->first + end, .middle = stretch->first + end};
    uint32_t i = end - 1;
    for (; gpume_type_is_b(stretch->types[i]); i--) {
        assert(i > 0);
        if (stretch->types[i] == GPUME_FRAME_B_REF) {
            run.middle = stretch->first + i;
        }
    }
    run.begin = stretch->first + i;
    return run;
}

int gpume_quality_prepare(struct gpume_quality *quality, const struct gpume_stretch *stretch,
    uint32_t decided, struct gpume_quality_walk **walk)
{
    struct gpume_quality *q = quality;
    struct gpume_quality_walk *w = &q->walks[q->turn];
    const struct frame_run only_first = {stretch->first, stretch->first, stretch->first};
    assert(decided <= GPUME_GROUP_FRAMES_MAX);
    w->first = stretch->first;
    w->decided = decided;
    w->count = 0;
    memset(w->has_offsets, 0, sizeof(w->has_offsets));
    uint32_t end = stretch->count - 1;
    while (gpume_type_is_b(stretch->types[end])) {
        end--;
    }
    while (end > 0) {
        const struct frame_run run = run_to(stretch, end);
        GPUME_CHECK(walk_add_run(q, w, &run, stretch->types[end] <= GPUME_FRAME_I));
        end = (uint32_t)(run.begin - stretch->first);
    }
    GPUME_CHECK(walk_add_run(q, w, &only_first, true));
    q->turn = (q->turn + 1) % GPUME_QUALITY_WALKS;
    *walk = w;
    return GPUME_OK;
}

/* --- the walk */

static void clear_sums(uint32_t *sums, uint32_t blocks)
{
    memset(sums, 0, blocks * sizeof(*sums));
}

static void find_offsets(
    const struct gpume_quality *q, const struct hop *hop, const uint32_t *received)
{
    if (hop->offsets) {
        gpume_tree_offsets(
            &q->size, hop->step.information, hop->aq_offsets, received, q->strength, hop->offsets);
    }
}

static void follow_hop(
    const struct gpume_quality *q, struct gpume_quality_walk *walk, const struct hop *hop)
{
    struct gpume_tree_step step = hop->step;
    uint32_t **sums = walk->sums;
    if (hop->run_end) {
        clear_sums(sums[BEGIN], q->blocks);
        clear_sums(sums[MIDDLE], q->blocks);
        if (!q->counts_b) {
            find_offsets(q, hop->run_end, sums[END]);
        }
    }
    step.received = hop->is_end ? sums[END] : hop->is_middle ? sums[MIDDLE] : NULL;
    if (q->counts_b || !hop->is_end) {
        find_offsets(q, hop, step.received);
    }
    gpume_tree_propagate(&q->size, &step, sums[hop->past], sums[hop->future]);
    if (hop->is_end) { /* the run before ends where this one begins */
        uint32_t *received = sums[BEGIN];
        sums[BEGIN] = sums[END];
        sums[END] = received;
    }
}

void gpume_quality_follow(const struct gpume_quality *quality, struct gpume_quality_walk *walk)
{
    clear_sums(walk->sums[END], quality->blocks);
    for (uint32_t i = 0; i < walk->count; i++) {
        follow_hop(quality, walk, &walk->hops[i]);
    }
}

const int16_t *gpume_quality_offsets(const struct gpume_quality_walk *walk, uint64_t frame)
{
    const uint64_t i = frame - walk->first;
    assert(i <= walk->decided);
    return walk->has_offsets[i] ? walk->offsets + i * walk->blocks : NULL;
}
