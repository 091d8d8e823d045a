/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/analysis_state.h"

#include "base/grid.h"
#include "base/status.h"
#include "encode/aq.h"
#include "encode/fixed.h"

#include <string.h>

/* --- what types and quality ask for */

int gpume_analysis_cost(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
{
    struct gpume_analysis *a = opaque;
    struct gpume_frame_cost found;
    GPUME_CHECK(gpume_lookahead_cost(a->lookahead, frame, past, future, &found));
    *cost = found.inner_cost;
    return GPUME_OK;
}

static uint32_t *information_at(const struct gpume_analysis *a, uint64_t frame)
{
    return a->information + frame % a->frames_max * a->blocks;
}

/* The frame's, and those of all frames before it on the way. */
static const uint32_t *information_of(struct gpume_analysis *a, uint64_t frame)
{
    for (; a->informed <= frame; a->informed++) {
        struct gpume_frame_facts facts;
        gpume_lookahead_facts(a->lookahead, a->informed, &facts);
        gpume_tree_information(a->blocks, facts.intra_costs,
            gpume_analysis_aq_offsets(a, a->informed), information_at(a, a->informed));
    }
    return information_at(a, frame);
}

int gpume_analysis_step(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, struct gpume_quality_step *step)
{
    struct gpume_analysis *a = opaque;
    struct gpume_frame_cost cost;
    struct gpume_frame_facts facts;
    GPUME_CHECK(gpume_lookahead_cost(a->lookahead, frame, past, future, &cost));
    gpume_lookahead_facts(a->lookahead, frame, &facts);
    *step = (struct gpume_quality_step){.tree = {.intra_costs = facts.intra_costs,
                                            .costs = cost.costs,
                                            .kinds = cost.kinds,
                                            .past = cost.past,
                                            .future = cost.future,
                                            .information = information_of(a, frame)},
        .aq_offsets = gpume_analysis_aq_offsets(a, frame)};
    return GPUME_OK;
}

/* --- decisions */

/* Of all frames that may be looked at. */
static void find_aq_offsets(struct gpume_analysis *a)
{
    for (; a->offset_end < a->seen; a->offset_end++) {
        const uint32_t *energies = gpume_lookahead_energies(a->lookahead, a->offset_end);
        if (energies) {
            uint32_t *later = information_at(a, a->offset_end);
            gpume_aq_offsets(&a->params.options, energies, a->blocks, later,
                gpume_analysis_aq_offsets(a, a->offset_end));
        }
    }
}

/* A frame and its references; the frame itself for none. */
struct coding {
    uint64_t frame, past, future;
    enum gpume_frame_type type;
    const int16_t *offsets;
};

static uint64_t weigh(uint32_t count, const uint16_t *costs, const int16_t *offsets)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += ((uint64_t)costs[i] * gpume_fixed_scale_of_offset(offsets[i]) + 128) >> 8;
    }
    return sum;
}

static int tell(struct gpume_analysis *a, const struct coding *coding)
{
    struct gpume_frame_cost cost;
    struct gpume_frame_facts facts;
    const uint64_t frame = coding->frame;
    GPUME_CHECK(gpume_lookahead_cost(a->lookahead, frame, coding->past, coding->future, &cost));
    gpume_lookahead_facts(a->lookahead, frame, &facts);
    const struct gpume_decision decision = {
        .display = frame,
        .coded = a->coded++,
        .type = coding->type,
        .has_past = coding->past != frame,
        .has_future = coding->future != frame,
        .past = coding->past,
        .future = coding->future,
        .weight = cost.weight,
        .blocks_x = gpume_lookahead_blocks_x(a->lookahead),
        .blocks_y = gpume_lookahead_blocks_y(a->lookahead),
        .offsets = coding->offsets,
        .costs = cost.costs,
        .intra_costs = facts.intra_costs,
        .kinds = cost.kinds,
        .past_vectors = cost.past,
        .future_vectors = cost.future,
        .cost = cost.cost,
        .intra_cost = facts.intra_cost,
        .intra_blocks = cost.intra_blocks,
        .weighted_cost = weigh(a->blocks, cost.costs, coding->offsets),
    };
    return a->params.decide(a->params.opaque, &decision);
}

/* The last frame of the stretch whose information is passed on: x265 stops at the next key frame,
 * or where that is closed before it. */
static uint32_t tree_end(
    const struct gpume_analysis *a, const struct gpume_stretch *stretch, uint32_t target)
{
    const struct gpume_encode_options *options = &a->params.options;
    const uint32_t last = (uint32_t)gpume_min_u64(stretch->count - 1, options->keyint);
    for (uint32_t i = target + 1; options->encoder == GPUME_ENCODER_X265 && i <= last; i++) {
        if (stretch->types[i] <= GPUME_FRAME_I) {
            return stretch->types[i] == GPUME_FRAME_I ? i : i - 1;
        }
    }
    return last;
}

static void follow(void *opaque, uint32_t item)
{
    struct gpume_run *run = opaque;
    (void)item;
    run->offsets = gpume_quality_follow(run->quality, run->walk);
}

/* Asks for what the tree needs to know of the stretch. */
static int prepare_walk(struct gpume_analysis *a, const struct gpume_stretch *stretch,
    uint32_t target, struct gpume_quality_walk **walk)
{
    struct gpume_stretch seen = *stretch;
    uint32_t end = tree_end(a, stretch, target);
    while (end > target && gpume_type_is_b(stretch->types[end])) {
        end--;
    }
    seen.count = (end > target ? end : target) + 1;
    return gpume_quality_prepare(a->quality, &seen, target, walk);
}

/* Tells of the run in coded order: its end, the reference B frame, all others. */
static int tell_run(struct gpume_analysis *a, const struct gpume_run *run)
{
    const uint64_t first = run->first, end = first + run->target;
    const enum gpume_frame_type type = run->types[run->target];
    const int16_t *offsets = run->walk ? run->offsets.target : gpume_analysis_aq_offsets(a, end);
    GPUME_CHECK(
        tell(a, &(struct coding){end, type <= GPUME_FRAME_I ? end : first, end, type, offsets}));
    uint64_t middle = end;
    for (uint64_t frame = first + 1; frame < end; frame++) {
        if (run->types[frame - first] == GPUME_FRAME_B_REF) {
            const bool has_own = run->walk && run->offsets.b_ref;
            middle = frame;
            GPUME_CHECK(
                tell(a, &(struct coding){frame, first, end, GPUME_FRAME_B_REF,
                            has_own ? run->offsets.b_ref : gpume_analysis_aq_offsets(a, frame)}));
        }
    }
    for (uint64_t frame = first + 1; frame < end; frame++) {
        if (frame != middle) {
            GPUME_CHECK(tell(a, &(struct coding){frame, frame < middle ? first : middle,
                                    frame < middle ? middle : end, GPUME_FRAME_B,
                                    gpume_analysis_aq_offsets(a, frame)}));
        }
    }
    return GPUME_OK;
}

/* Waits for the offsets of the oldest run, tells of it, and forgets its frames. */
static int finish_run(struct gpume_analysis *a)
{
    const struct gpume_run *run = &a->runs[a->runs_begin % GPUME_RUNS];
    if (run->walk) {
        const uint64_t start = gpume_clock_ns();
        gpume_workers_wait(a->workers, &run->step);
        a->walk_wait_ns += gpume_clock_ns() - start;
        a->walking_ns += run->step.busy_ns;
    }
    GPUME_CHECK(tell_run(a, run));
    const uint64_t end = run->first + run->target;
    gpume_lookahead_drop(a->lookahead, end);
    a->runs_begin++;
    pthread_mutex_lock(&a->mutex);
    a->dropped = end;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    return GPUME_OK;
}

/* While the tree follows the walk, types of the next runs can be decided. */
static void start_run(struct gpume_analysis *a, const struct gpume_stretch *stretch,
    uint32_t target, struct gpume_quality_walk *walk)
{
    struct gpume_run *run = &a->runs[a->runs_end++ % GPUME_RUNS];
    struct gpume_step *step = &run->step;
    *run = (struct gpume_run){.first = stretch->first,
        .target = target,
        .quality = a->quality,
        .walk = walk,
        .step = {.fn = follow, .opaque = run, .count = 1}};
    memcpy(run->types, stretch->types, (target + 1) * sizeof(stretch->types[0]));
    if (walk) {
        gpume_workers_add(a->workers, &step, 1);
    }
}

int gpume_analysis_decide(struct gpume_analysis *a)
{
    enum gpume_frame_type types[GPUME_PATTERN_MAX + 1];
    const uint32_t count = (uint32_t)gpume_min_u64(a->seen - 1 - a->last, a->window);
    const struct gpume_stretch stretch = {a->last, count + 1, types};
    struct gpume_quality_walk *walk = NULL;
    uint32_t decided = 0;
    find_aq_offsets(a);
    types[0] = GPUME_FRAME_IDR; /* or what it is: nothing depends on it later */
    if (count > 0) {
        GPUME_CHECK(gpume_types_decide(&a->types, a->last, count, types + 1, &decided));
    }
    if (!a->started) {
        decided = 0;
        a->started = true;
    }
    if (a->quality) {
        GPUME_CHECK(prepare_walk(a, &stretch, decided, &walk));
    }
    if (a->runs_end - a->runs_begin == a->runs_max) {
        GPUME_CHECK(finish_run(a));
    }
    start_run(a, &stretch, decided, walk);
    a->last += decided;
    gpume_types_commit(&a->types, a->last, types[decided]);
    return GPUME_OK;
}

int gpume_analysis_finish_runs(struct gpume_analysis *a)
{
    while (a->runs_begin < a->runs_end) {
        GPUME_CHECK(finish_run(a));
    }
    return GPUME_OK;
}
