/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/quality.h"

#include "base/status.h"
#include "encode/fixed.h"
#include "encode/types.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct gpume_quality {
    struct gpume_tree_size size;
    uint32_t blocks;
    bool weightb;
    int64_t strength;
    gpume_step_fn step;
    void *opaque;
    /* What frames have received: those at both ends of a run and its reference B frame. */
    uint32_t *begin, *end, *middle;
    int16_t *offsets, *b_offsets;
};

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
    q->begin = calloc(q->blocks, sizeof(*q->begin));
    q->end = calloc(q->blocks, sizeof(*q->end));
    q->middle = calloc(q->blocks, sizeof(*q->middle));
    q->offsets = calloc(q->blocks, sizeof(*q->offsets));
    q->b_offsets = calloc(q->blocks, sizeof(*q->b_offsets));
    if (!q->begin || !q->end || !q->middle || !q->offsets || !q->b_offsets) {
        gpume_quality_close(&q);
        return GPUME_NOMEM;
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
    free(q->b_offsets);
    free(q->offsets);
    free(q->middle);
    free(q->end);
    free(q->begin);
    free(q);
    *quality = NULL;
}

/* A run of frames: positions of both ends, and of the reference B frame or, without, of the end. */
struct run {
    uint64_t begin, end, middle;
};

/* Which sums a reference of the run has. */
static uint32_t *sums_of(struct gpume_quality *q, const struct run *run, uint64_t frame)
{
    return frame == run->begin ? q->begin : frame == run->end ? q->end : q->middle;
}

/* Passes on what a frame has received, and its own information, to its references. */
static int pass_on(struct gpume_quality *q, const struct run *run, uint64_t frame, uint64_t past,
    uint64_t future, const uint32_t *received)
{
    struct gpume_tree_step step;
    GPUME_CHECK(q->step(q->opaque, frame, past, future, &step));
    const uint64_t distance = future - past;
    step.past_share =
        q->weightb ? 64 - (uint32_t)((64 * (frame - past) + distance / 2) / distance) : 32;
    step.received = received;
    gpume_tree_propagate(&q->size, &step, sums_of(q, run, past), sums_of(q, run, future));
    return GPUME_OK;
}

static int pass_on_b_frames(struct gpume_quality *q, const struct run *run)
{
    memset(q->middle, 0, q->blocks * sizeof(*q->middle));
    for (uint64_t frame = run->begin + 1; frame < run->end; frame++) {
        if (frame != run->middle) {
            const bool early = frame < run->middle;
            GPUME_CHECK(pass_on(q, run, frame, early ? run->begin : run->middle,
                early ? run->middle : run->end, NULL));
        }
    }
    return run->middle == run->end ? GPUME_OK
                                   : pass_on(q, run, run->middle, run->begin, run->end, q->middle);
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

/* Leaves in q->end what the frame at run->begin has received. */
static int walk_over(struct gpume_quality *q, const struct run *run)
{
    memset(q->begin, 0, q->blocks * sizeof(*q->begin));
    GPUME_CHECK(pass_on_b_frames(q, run));
    GPUME_CHECK(pass_on(q, run, run->end, run->begin, run->end, q->end));
    uint32_t *swap = q->begin;
    q->begin = q->end;
    q->end = swap;
    return GPUME_OK;
}

static int finish(
    struct gpume_quality *q, uint64_t frame, const uint32_t *received, int16_t *offsets)
{
    struct gpume_tree_step step;
    GPUME_CHECK(q->step(q->opaque, frame, frame, frame, &step));
    gpume_tree_offsets(
        q->blocks, step.intra_costs, step.aq_offsets, received, q->strength, offsets);
    return GPUME_OK;
}

int gpume_quality_of(struct gpume_quality *quality, const struct gpume_stretch *stretch,
    uint32_t target, const int16_t **offsets, const int16_t **b_offsets)
{
    struct gpume_quality *q = quality;
    memset(q->end, 0, q->blocks * sizeof(*q->end));
    for (uint32_t end = stretch->count - 1; end > target;) {
        const struct run run = run_to(stretch, end);
        GPUME_CHECK(walk_over(q, &run));
        end = (uint32_t)(run.begin - stretch->first);
    }
    *b_offsets = NULL;
    if (target > 0) {
        const struct run run = run_to(stretch, target);
        GPUME_CHECK(pass_on_b_frames(q, &run));
        if (run.middle != run.end) {
            GPUME_CHECK(finish(q, run.middle, q->middle, q->b_offsets));
            *b_offsets = q->b_offsets;
        }
    }
    *offsets = q->offsets;
    return finish(q, stretch->first + target, q->end, q->offsets);
}
