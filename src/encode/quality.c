/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/quality.h"

#include "base/status.h"
#include "encode/encoder.h"
#include "encode/fixed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What frames of a run have received: those at both ends, and its reference B frame. */
enum place { BEGIN, END, MIDDLE, PLACES };

/* A frame that passes on. */
struct hop {
    struct gpume_tree_step step; /* but for `received` */
    enum place past, future;     /* its references */
    bool is_end, is_middle;      /* of its run: it has received something itself */
    const struct hop *run_end;   /* of the first one of a run, else NULL */
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

static bool allocate(struct gpume_quality_walk *walk, uint32_t blocks)
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
    q->strength =
        gpume_fixed_from_double(5 * (1 - options->qcomp) * options->encoder->tree.strength);
    q->step = step;
    q->opaque = opaque;
    for (uint32_t i = 0; i < GPUME_QUALITY_WALKS; i++) {
        if (!allocate(&q->walks[i], q->blocks)) {
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
struct run {
    uint64_t begin, end, middle;
};

static enum place place_of(const struct run *run, uint64_t frame)
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

static int add_hop(struct gpume_quality *q, struct gpume_quality_walk *walk, const struct run *run,
    uint64_t frame, uint64_t past, uint64_t future)
{
    const bool is_end = frame == run->end, is_middle = frame == run->middle && !is_end;
    struct gpume_quality_step step;
    GPUME_CHECK(q->step(q->opaque, frame, past, future, &step));
    step.tree.past_share = gpume_past_share(q->weightb, past, frame, future);
    step.tree.intra_eighths = q->intra_eighths;
    assert(walk->count < GPUME_STRETCH_MAX);
    walk->hops[walk->count++] = (struct hop){.step = step.tree,
        .past = place_of(run, past),
        .future = place_of(run, future),
        .is_end = is_end,
        .is_middle = is_middle,
        .aq_offsets = step.aq_offsets,
        .offsets = is_end || is_middle ? wanted(q, walk, frame) : NULL};
    return GPUME_OK;
}

static int add_b_frames(
    struct gpume_quality *q, struct gpume_quality_walk *walk, const struct run *run)
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

static int add_run(struct gpume_quality *q, struct gpume_quality_walk *walk, const struct run *run,
    bool ends_with_intra)
{
    const uint32_t first = walk->count;
    GPUME_CHECK(add_b_frames(q, walk, run));
    GPUME_CHECK(add_hop(q, walk, run, run->end, ends_with_intra ? run->end : run->begin, run->end));
    walk->hops[first].run_end = &walk->hops[walk->count - 1];
    return GPUME_OK;
}

/* The run of the stretch that ends with frame `end` > 0. */
static struct run run_to(const struct gpume_stretch *stretch, uint32_t end)
{
    struct run run = {.end = stretch->first + end, .middle = stretch->first + end};
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

static uint32_t last_run_end(const struct gpume_stretch *stretch)
{
    uint32_t end = stretch->count - 1;
    while (gpume_type_is_b(stretch->types[end])) {
        end--;
    }
    return end;
}

int gpume_quality_prepare(struct gpume_quality *quality, const struct gpume_stretch *stretch,
    uint32_t decided, struct gpume_quality_walk **walk)
{
    struct gpume_quality *q = quality;
    struct gpume_quality_walk *w = &q->walks[q->turn];
    const struct run only_first = {stretch->first, stretch->first, stretch->first};
    assert(decided <= GPUME_GROUP_FRAMES_MAX);
    w->first = stretch->first;
    w->decided = decided;
    w->count = 0;
    memset(w->has_offsets, 0, sizeof(w->has_offsets));
    for (uint32_t end = last_run_end(stretch); end > 0;) {
        const struct run run = run_to(stretch, end);
        GPUME_CHECK(add_run(q, w, &run, stretch->types[end] <= GPUME_FRAME_I));
        end = (uint32_t)(run.begin - stretch->first);
    }
    GPUME_CHECK(add_run(q, w, &only_first, true));
    q->turn = (q->turn + 1) % GPUME_QUALITY_WALKS;
    *walk = w;
    return GPUME_OK;
}

/* --- the walk */

static void clear(uint32_t *sums, uint32_t blocks)
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
        clear(sums[BEGIN], q->blocks);
        clear(sums[MIDDLE], q->blocks);
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
    clear(walk->sums[END], quality->blocks);
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
