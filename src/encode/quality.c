/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/quality.h"

#include "base/status.h"
#include "encode/fixed.h"
#include "encode/patterns.h"
#include "encode/types.h"

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
    bool opens_run;              /* the first one of its run */
};

struct gpume_quality_walk {
    uint32_t count;
    struct hop *hops;
    struct gpume_quality_step target, b_ref; /* whose offsets are wanted */
    bool has_b_ref;
    uint32_t *sums[PLACES];
    int16_t *offsets, *b_offsets;
};

struct gpume_quality {
    struct gpume_tree_size size;
    uint32_t blocks;
    bool weightb;
    int64_t strength;
    gpume_step_fn step;
    void *opaque;
    struct gpume_quality_walk walks[GPUME_QUALITY_WALKS]; /* in turns */
    uint32_t turn;
};

static bool allocate(struct gpume_quality_walk *walk, uint32_t blocks)
{
    bool complete = true;
    for (uint32_t i = 0; i < PLACES; i++) {
        walk->sums[i] = calloc(blocks, sizeof(*walk->sums[i]));
        complete = complete && walk->sums[i];
    }
    /* each frame of a stretch at most once */
    walk->hops = calloc(GPUME_PATTERN_MAX + 1, sizeof(*walk->hops));
    walk->offsets = calloc(blocks, sizeof(*walk->offsets));
    walk->b_offsets = calloc(blocks, sizeof(*walk->b_offsets));
    return complete && walk->hops && walk->offsets && walk->b_offsets;
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
    q->strength = gpume_fixed_from_double(5 * (1 - options->qcomp));
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
        free(walk->b_offsets);
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

static int add_hop(struct gpume_quality *q, struct gpume_quality_walk *walk, const struct run *run,
    uint64_t frame, uint64_t past, uint64_t future)
{
    struct gpume_quality_step step;
    GPUME_CHECK(q->step(q->opaque, frame, past, future, &step));
    step.tree.past_share = q->weightb ? gpume_past_share(past, frame, future) : GPUME_SHARES / 2;
    assert(walk->count <= GPUME_PATTERN_MAX);
    walk->hops[walk->count++] = (struct hop){.step = step.tree,
        .past = place_of(run, past),
        .future = place_of(run, future),
        .is_end = frame == run->end,
        .is_middle = frame == run->middle && frame != run->end};
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

/* The runs after the target, from the last one. */
static int add_runs(struct gpume_quality *q, struct gpume_quality_walk *walk,
    const struct gpume_stretch *stretch, uint32_t target)
{
    for (uint32_t end = stretch->count - 1; end > target;) {
        const struct run run = run_to(stretch, end);
        const uint32_t first = walk->count;
        GPUME_CHECK(add_b_frames(q, walk, &run));
        GPUME_CHECK(add_hop(q, walk, &run, run.end, run.begin, run.end));
        walk->hops[first].opens_run = true;
        end = (uint32_t)(run.begin - stretch->first);
    }
    return GPUME_OK;
}

/* The run that the target ends, without the target itself. */
static int add_last_run(struct gpume_quality *q, struct gpume_quality_walk *walk,
    const struct gpume_stretch *stretch, uint32_t target)
{
    const struct run run = run_to(stretch, target);
    const uint32_t first = walk->count;
    GPUME_CHECK(add_b_frames(q, walk, &run));
    walk->hops[first].opens_run = true; /* if there is one */
    walk->has_b_ref = run.middle != run.end;
    return walk->has_b_ref ? q->step(q->opaque, run.middle, run.middle, run.middle, &walk->b_ref)
                           : GPUME_OK;
}

int gpume_quality_prepare(struct gpume_quality *quality, const struct gpume_stretch *stretch,
    uint32_t target, struct gpume_quality_walk **walk)
{
    struct gpume_quality *q = quality;
    struct gpume_quality_walk *w = &q->walks[q->turn];
    const uint64_t frame = stretch->first + target;
    w->count = 0;
    w->has_b_ref = false;
    GPUME_CHECK(add_runs(q, w, stretch, target));
    if (target > 0) {
        GPUME_CHECK(add_last_run(q, w, stretch, target));
    }
    GPUME_CHECK(q->step(q->opaque, frame, frame, frame, &w->target));
    q->turn = (q->turn + 1) % GPUME_QUALITY_WALKS;
    *walk = w;
    return GPUME_OK;
}

/* --- the walk */

static void clear(uint32_t *sums, uint32_t blocks)
{
    memset(sums, 0, blocks * sizeof(*sums));
}

static void follow_hop(
    const struct gpume_quality *q, struct gpume_quality_walk *walk, const struct hop *hop)
{
    struct gpume_tree_step step = hop->step;
    uint32_t **sums = walk->sums;
    if (hop->opens_run) {
        clear(sums[BEGIN], q->blocks);
        clear(sums[MIDDLE], q->blocks);
    }
    step.received = hop->is_end ? sums[END] : hop->is_middle ? sums[MIDDLE] : NULL;
    gpume_tree_propagate(&q->size, &step, sums[hop->past], sums[hop->future]);
    if (hop->is_end) { /* the run before ends where this one begins */
        uint32_t *received = sums[BEGIN];
        sums[BEGIN] = sums[END];
        sums[END] = received;
    }
}

static void find_offsets(const struct gpume_quality *q, const struct gpume_quality_step *frame,
    const uint32_t *received, int16_t *offsets)
{
    gpume_tree_offsets(
        q->blocks, frame->tree.information, frame->aq_offsets, received, q->strength, offsets);
}

struct gpume_quality_offsets gpume_quality_follow(
    const struct gpume_quality *quality, struct gpume_quality_walk *walk)
{
    const struct gpume_quality *q = quality;
    clear(walk->sums[END], q->blocks);
    for (uint32_t i = 0; i < walk->count; i++) {
        follow_hop(q, walk, &walk->hops[i]);
    }
    if (walk->has_b_ref) {
        find_offsets(q, &walk->b_ref, walk->sums[MIDDLE], walk->b_offsets);
    }
    find_offsets(q, &walk->target, walk->sums[END], walk->offsets);
    return (struct gpume_quality_offsets){walk->offsets, walk->has_b_ref ? walk->b_offsets : NULL};
}
