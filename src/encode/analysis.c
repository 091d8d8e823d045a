/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/analysis.h"

#include "base/grid.h"
#include "base/log.h"
#include "base/status.h"
#include "base/workers.h"
#include "encode/aq.h"
#include "encode/fixed.h"
#include "encode/quality.h"
#include "encode/types.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A run whose types are final, while the tree finds its offsets. */
struct run {
    uint64_t first;
    uint32_t target; /* the last one, counted from the first */
    enum gpume_frame_type types[GPUME_PATTERN_MAX + 1];
    const struct gpume_quality *quality;
    struct gpume_quality_walk *walk; /* NULL without the tree */
    struct gpume_quality_offsets offsets;
    struct gpume_step step; /* that follows the walk */
};

/* Their walks take longer than deciding types, and do not depend on each other. */
#define RUNS (GPUME_QUALITY_WALKS - 1)

struct gpume_analysis {
    struct gpume_analysis_params params;
    struct gpume_log log;
    struct gpume_lookahead *lookahead;
    struct gpume_types types;
    struct gpume_quality *quality; /* NULL without the tree */
    struct gpume_workers *workers; /* follow the tree, beside the calling thread unless that is
                                      the only one */
    uint32_t blocks, window, frames_max;
    int16_t *aq_offsets;   /* of the frames that are kept: position % frames_max */
    uint32_t *information; /* the same, of those before `informed` */
    uint64_t informed;
    int64_t *times;
    uint64_t put, coded; /* frames */
    int64_t duration;    /* of the frame before the last */
    bool started;
    uint64_t last;         /* the last I or P frame that has been decided */
    struct run runs[RUNS]; /* number % RUNS */
    uint64_t runs_begin, runs_end;
};

/* --- what types and quality ask for */

static int type_cost(void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
{
    struct gpume_analysis *a = opaque;
    struct gpume_frame_cost found;
    GPUME_CHECK(gpume_lookahead_cost(a->lookahead, frame, past, future, &found));
    *cost = found.inner_cost;
    return GPUME_OK;
}

static int16_t *aq_offsets_of(const struct gpume_analysis *a, uint64_t frame)
{
    return a->aq_offsets + frame % a->frames_max * a->blocks;
}

/* The frame's, and those of all frames before it on the way. */
static const uint32_t *information_of(struct gpume_analysis *a, uint64_t frame)
{
    for (; a->informed <= frame; a->informed++) {
        struct gpume_frame_facts facts;
        gpume_lookahead_facts(a->lookahead, a->informed, &facts);
        gpume_tree_information(a->blocks, facts.intra_costs, aq_offsets_of(a, a->informed),
            a->information + a->informed % a->frames_max * a->blocks);
    }
    return a->information + frame % a->frames_max * a->blocks;
}

static int tree_step(
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
        .aq_offsets = aq_offsets_of(a, frame)};
    return GPUME_OK;
}

/* --- open, close */

static int open_lookahead(struct gpume_analysis *a)
{
    const struct gpume_encode_options *options = &a->params.options;
    struct gpume_lookahead_params params = a->params.lookahead;
    params.distance_max = options->bframes + 1;
    params.frames_max = a->frames_max;
    params.weights = options->weightp != 0;
    params.shares = options->weightb != 0;
    params.energies = gpume_aq_is_on(options);
    return gpume_lookahead_open(&a->lookahead, &params);
}

static int open_quality(struct gpume_analysis *a)
{
    const struct gpume_tree_size size = {
        gpume_lookahead_blocks_x(a->lookahead), gpume_lookahead_blocks_y(a->lookahead)};
    const struct gpume_encode_options *options = &a->params.options;
    a->blocks = size.blocks_x * size.blocks_y;
    a->aq_offsets = calloc((size_t)a->frames_max * a->blocks, sizeof(*a->aq_offsets));
    a->information = calloc((size_t)a->frames_max * a->blocks, sizeof(*a->information));
    a->times = calloc(a->frames_max, sizeof(*a->times));
    const bool tree = options->tree && options->rc_lookahead > 0;
    if (!a->aq_offsets || !a->information || !a->times ||
        (tree && gpume_quality_open(&a->quality, &size, options, tree_step, a) != GPUME_OK)) {
        return gpume_log_nomem(&a->log, "the offsets of the analysis");
    }
    const int status =
        gpume_workers_create(&a->workers, a->params.lookahead.threads == 1 ? 1 : RUNS + 1);
    return status == GPUME_AGAIN ? gpume_log_no_thread(&a->log)
           : status              ? gpume_log_nomem(&a->log, "the threads of the analysis")
                                 : GPUME_OK;
}

int gpume_analysis_open(
    struct gpume_analysis **analysis, const struct gpume_analysis_params *params)
{
    const struct gpume_log log = {params->lookahead.log, params->lookahead.log_opaque};
    struct gpume_analysis *a = calloc(1, sizeof(*a));
    if (!a) {
        return gpume_log_nomem(&log, "the analysis");
    }
    a->params = *params;
    a->log = log;
    a->window = gpume_types_window(&params->options);
    a->frames_max = GPUME_LOOKAHEAD_LAG + a->window + 1 + RUNS * (params->options.bframes + 1);
    gpume_types_init(&a->types, &params->options, type_cost, a);
    int status;
    GPUME_TRY(open_lookahead(a));
    GPUME_TRY(open_quality(a));
    *analysis = a;
    return GPUME_OK;
fail:
    gpume_analysis_close(&a);
    return status;
}

void gpume_analysis_close(struct gpume_analysis **analysis)
{
    struct gpume_analysis *a = *analysis;
    if (!a) {
        return;
    }
    gpume_workers_destroy(&a->workers);
    gpume_quality_close(&a->quality);
    gpume_lookahead_close(&a->lookahead);
    free(a->times);
    free(a->information);
    free(a->aq_offsets);
    free(a);
    *analysis = NULL;
}

const char *gpume_analysis_engine(const struct gpume_analysis *analysis)
{
    return gpume_lookahead_engine(analysis->lookahead);
}

/* --- decisions */

/* A frame and its references; the frame itself for none. */
struct coding {
    uint64_t frame, past, future;
    enum gpume_frame_type type;
    const int16_t *offsets;
};

static int64_t duration_of(struct gpume_analysis *a, uint64_t frame)
{
    if (frame + 1 < a->put) {
        a->duration = a->times[(frame + 1) % a->frames_max] - a->times[frame % a->frames_max];
    }
    return a->duration;
}

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
        .time_us = a->times[frame % a->frames_max],
        .duration_us = duration_of(a, frame),
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
    struct run *run = opaque;
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
static int tell_run(struct gpume_analysis *a, const struct run *run)
{
    const uint64_t first = run->first, end = first + run->target;
    const enum gpume_frame_type type = run->types[run->target];
    const int16_t *offsets = run->walk ? run->offsets.target : aq_offsets_of(a, end);
    GPUME_CHECK(
        tell(a, &(struct coding){end, type <= GPUME_FRAME_I ? end : first, end, type, offsets}));
    uint64_t middle = end;
    for (uint64_t frame = first + 1; frame < end; frame++) {
        if (run->types[frame - first] == GPUME_FRAME_B_REF) {
            const bool has_own = run->walk && run->offsets.b_ref;
            middle = frame;
            GPUME_CHECK(tell(a, &(struct coding){frame, first, end, GPUME_FRAME_B_REF,
                                    has_own ? run->offsets.b_ref : aq_offsets_of(a, frame)}));
        }
    }
    for (uint64_t frame = first + 1; frame < end; frame++) {
        if (frame != middle) {
            GPUME_CHECK(tell(
                a, &(struct coding){frame, frame < middle ? first : middle,
                       frame < middle ? middle : end, GPUME_FRAME_B, aq_offsets_of(a, frame)}));
        }
    }
    return GPUME_OK;
}

/* Waits for the offsets of the oldest run, tells of it, and forgets its frames. */
static int finish_run(struct gpume_analysis *a)
{
    const struct run *run = &a->runs[a->runs_begin % RUNS];
    if (run->walk) {
        gpume_workers_wait(a->workers, &run->step);
    }
    GPUME_CHECK(tell_run(a, run));
    gpume_lookahead_drop(a->lookahead, run->first + run->target);
    a->runs_begin++;
    return GPUME_OK;
}

/* While the tree follows the walk, types of the next runs can be decided. */
static void start_run(struct gpume_analysis *a, const struct gpume_stretch *stretch,
    uint32_t target, struct gpume_quality_walk *walk)
{
    struct run *run = &a->runs[a->runs_end++ % RUNS];
    struct gpume_step *step = &run->step;
    *run = (struct run){.first = stretch->first,
        .target = target,
        .quality = a->quality,
        .walk = walk,
        .step = {.fn = follow, .opaque = run, .count = 1}};
    memcpy(run->types, stretch->types, (target + 1) * sizeof(stretch->types[0]));
    if (walk) {
        gpume_workers_add(a->workers, &step, 1);
    }
}

/* Decides the next run; the first is frame 0 alone. */
static int decide(struct gpume_analysis *a)
{
    enum gpume_frame_type types[GPUME_PATTERN_MAX + 1];
    const uint32_t count = (uint32_t)gpume_min_u64(a->put - 1 - a->last, a->window);
    const struct gpume_stretch stretch = {a->last, count + 1, types};
    struct gpume_quality_walk *walk = NULL;
    uint32_t decided = 0;
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
    if (a->runs_end - a->runs_begin == RUNS) {
        GPUME_CHECK(finish_run(a));
    }
    start_run(a, &stretch, decided, walk);
    a->last += decided;
    gpume_types_commit(&a->types, a->last, types[decided]);
    return GPUME_OK;
}

int gpume_analysis_put(
    struct gpume_analysis *analysis, const struct gpume_plane *luma, int64_t time_us)
{
    struct gpume_analysis *a = analysis;
    const uint64_t frame = a->put;
    GPUME_CHECK(gpume_lookahead_put(a->lookahead, luma));
    const uint32_t *energies = gpume_lookahead_energies(a->lookahead, frame);
    a->times[frame % a->frames_max] = time_us;
    if (energies) {
        gpume_aq_offsets(&a->params.options, energies, a->blocks, aq_offsets_of(a, frame));
    }
    a->put++;
    while (a->put - a->last > a->window + gpume_lookahead_lag(a->lookahead)) {
        GPUME_CHECK(decide(a));
    }
    return GPUME_OK;
}

int gpume_analysis_finish(struct gpume_analysis *analysis)
{
    struct gpume_analysis *a = analysis;
    while (a->put > 0 && (!a->started || a->last + 1 < a->put)) {
        GPUME_CHECK(decide(a));
    }
    while (a->runs_begin < a->runs_end) {
        GPUME_CHECK(finish_run(a));
    }
    return GPUME_OK;
}
