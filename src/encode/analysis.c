/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/analysis.h"

#include "base/base.h"
#include "base/log.h"
#include "base/os.h"
#include "base/workers.h"
#include "encode/aq.h"
#include "encode/costs.h"
#include "encode/encoder.h"
#include "encode/quality.h"
#include "encode/types.h"
#include "encode/weights.h"
#include "encode/xpsnr.h"

#include <pthread.h>
#include <stdlib.h>

/* Frames that are read before the one that is being sent. */
#define READ_AHEAD 2u

/* How a frame is coded, and what that leaves to code. */
struct coding {
    uint64_t frame, past, future; /* its references; the frame itself for none */
    enum gpume_frame_type type;
    const int16_t *offsets;
    struct gpume_spectrum spectrum;
    struct gpume_losses losses; /* if params.losses */
    int status;                 /* of measuring them */
};

/* Runs whose types are final, and whose offsets one walk of the tree finds. */
struct walk_group {
    struct gpume_analysis *analysis;
    uint64_t first; /* the last frame of the group before it; frame 0 belongs to the first group */
    uint32_t count; /* frames after the first */
    uint32_t known; /* count, plus the later frames that the walk reads */
    enum gpume_frame_type types[GPUME_STRETCH_MAX];    /* from the first */
    struct gpume_quality_walk *walk;                   /* NULL without the tree */
    struct coding codings[GPUME_GROUP_FRAMES_MAX + 1]; /* in coded order */
    uint32_t coding_count;
    struct gpume_step follow, measure; /* the walk; then the spectra */
};

/* Walks of one group or, with many threads, of two are followed while types of the next one are
 * decided. Each takes the frames of a group more. */
#define GPUME_GROUPS GPUME_QUALITY_WALKS
#define GPUME_GROUPS_THREADS 8u   /* threads with which there are that many; else one less */
#define GPUME_THREADS_OF_GROUP 2u /* that follow its walk and measure its spectra */

/* How long a thread took for its part of the work: by the clock, and without waiting. */
struct analysis_stage {
    uint64_t wall_ns, busy_ns;
};

static void stage_begin(struct analysis_stage *stage)
{
    stage->wall_ns -= gpume_clock_ns();
    stage->busy_ns -= gpume_clock_thread_ns();
}

static void stage_end(struct analysis_stage *stage)
{
    stage->busy_ns += gpume_clock_thread_ns();
    stage->wall_ns += gpume_clock_ns();
}

struct gpume_analysis {
    struct gpume_analysis_params params;
    struct gpume_log log;
    struct gpume_lookahead *lookahead;
    struct gpume_types types;
    struct gpume_quality *quality; /* NULL without the tree */
    struct gpume_workers *workers; /* for groups */
    uint32_t blocks, window, frames_max;
    uint32_t lag;              /* frames that are put after one before its costs are found */
    int16_t *aq_offsets;       /* of the frames before `offset_end`: position % frames_max */
    uint32_t *information;     /* the same, of those before `informed` */
    struct gpume_xpsnr *xpsnr; /* from the first frame on, if params.xpsnr */
    uint32_t *xpsnr_weights;   /* the same, of those that were begun: xpsnr_blocks of each */
    uint32_t xpsnr_blocks;
    uint64_t begun; /* frames whose reading has begun */
    uint64_t offset_end, informed;
    uint64_t seen;                          /* `costed` when the decider last looked */
    uint64_t coded;                         /* frames that params.decide was called for */
    uint64_t last;                          /* the last I or P frame that has been decided */
    struct walk_group groups[GPUME_GROUPS]; /* number % GPUME_GROUPS */
    uint64_t groups_begin, groups_end;      /* begun, and not yet passed to params.decide */
    uint32_t groups_max;                    /* GPUME_GROUPS at most */
    bool group_open;                        /* runs are added to the last one */
    struct analysis_stage reading, sending, costing, deciding;
    uint64_t walking_ns, walk_wait_ns; /* walks, and waiting for them */
    /* Where the lookahead works ahead, one thread sends the frames that have been read, one finds
     * costs, and one decides, while the caller's reads more. */
    bool sends, costs, decides;
    pthread_t sender, coster, decider;
    pthread_mutex_t mutex; /* for all below */
    pthread_cond_t changed;
    uint64_t read, put, costed, dropped; /* counts of frames: read, also sent, of which the costs
                                            that are expected are known, forgotten */
    bool finished, stop; /* no more frames are to be read; none to be decided either */
    int status;          /* of the threads */
};

/* QP offsets of adaptive quantization, of a frame that is kept. */
static int16_t *aq_offsets_of(const struct gpume_analysis *a, uint64_t frame)
{
    return a->aq_offsets + frame % a->frames_max * a->blocks;
}

/* --- what types and quality ask for */

static int find_cost_of_change(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
{
    struct gpume_analysis *a = opaque;
    struct gpume_frame_cost found;
    GPUME_CHECK(gpume_lookahead_cost(a->lookahead, frame, past, future, &found));
    *cost = found.inner_cost;
    return GPUME_OK;
}

static int find_coding_cost(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
{
    struct gpume_analysis *a = opaque;
    struct gpume_frame_cost found;
    GPUME_CHECK(gpume_lookahead_cost(a->lookahead, frame, past, future, &found));
    *cost = gpume_weight_coding_cost(&found.weight, frame - past, found.inner_bits);
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
        gpume_tree_information(a->blocks, facts.intra_costs, aq_offsets_of(a, a->informed),
            information_at(a, a->informed));
    }
    return information_at(a, frame);
}

static int make_quality_step(
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

/* --- decisions */

/* Of all frames that may be looked at. */
static void find_aq_offsets(struct gpume_analysis *a)
{
    for (; a->offset_end < a->seen; a->offset_end++) {
        const uint32_t *energies = gpume_lookahead_energies(a->lookahead, a->offset_end);
        if (energies) {
            uint32_t *scratch = information_at(a, a->offset_end); /* which is found later */
            gpume_aq_offsets(
                &a->params.options, energies, a->blocks, scratch, aq_offsets_of(a, a->offset_end));
        }
    }
}

static int report_decision(struct gpume_analysis *a, const struct coding *coding)
{
    struct gpume_frame_cost cost;
    struct gpume_frame_facts facts;
    const uint64_t frame = coding->frame;
    GPUME_CHECK(gpume_lookahead_cost(a->lookahead, frame, coding->past, coding->future, &cost));
    gpume_lookahead_facts(a->lookahead, frame, &facts);
    GPUME_CHECK(coding->status);
    uint32_t skipped = 0;
    for (uint32_t i = 0; i < a->blocks; i++) {
        skipped += gpume_coded_cost(cost.costs[i]) == 0 && cost.kinds[i] != GPUME_FROM_SELF;
    }
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
        .aq_offsets = aq_offsets_of(a, frame),
        .costs = cost.costs,
        .intra_costs = facts.intra_costs,
        .kinds = cost.kinds,
        .past_vectors = cost.past,
        .future_vectors = cost.future,
        .cost = cost.cost,
        .intra_cost = facts.intra_cost,
        .intra_blocks = cost.intra_blocks,
        .skipped_blocks = skipped,
        .spectrum = &coding->spectrum,
        .losses = a->params.losses ? &coding->losses : NULL,
    };
    return a->params.decide(a->params.opaque, &decision);
}

static void add_coding(struct walk_group *group, uint64_t frame, uint64_t past, uint64_t future)
{
    const int16_t *found = group->walk ? gpume_quality_offsets(group->walk, frame) : NULL;
    group->codings[group->coding_count++] = (struct coding){.frame = frame,
        .past = past,
        .future = future,
        .type = group->types[frame - group->first],
        .offsets = found ? found : aq_offsets_of(group->analysis, frame)};
}

/* The frames between two others, by halves. */
static void add_halves(struct walk_group *group, uint64_t past, uint64_t future)
{
    if (future - past >= 2) {
        const uint64_t middle = gpume_types_half(past, future);
        add_coding(group, middle, past, future);
        add_halves(group, past, middle);
        add_halves(group, middle, future);
    }
}

/* A run in coded order: its end, the reference B frame, all others. */
static void add_run(struct walk_group *group, uint64_t begin, uint64_t end)
{
    const enum gpume_frame_type *types = group->types;
    uint64_t middle = end;
    add_coding(group, end, types[end - group->first] <= GPUME_FRAME_I ? end : begin, end);
    if (group->analysis->params.options.encoder->halves) {
        add_halves(group, begin, end);
        return;
    }
    for (uint64_t frame = begin + 1; frame < end; frame++) {
        if (types[frame - group->first] == GPUME_FRAME_B_REF) {
            middle = frame;
            add_coding(group, frame, begin, end);
        }
    }
    for (uint64_t frame = begin + 1; frame < end; frame++) {
        if (frame != middle) {
            add_coding(
                group, frame, frame < middle ? begin : middle, frame < middle ? middle : end);
        }
    }
}

static void list_codings(struct walk_group *group)
{
    uint64_t begin = group->first;
    group->coding_count = 0;
    if (begin == 0) {
        add_run(group, 0, 0);
    }
    for (uint64_t end = begin + 1; end <= group->first + group->count; end++) {
        if (!gpume_type_is_b(group->types[end - group->first])) {
            add_run(group, begin, end);
            begin = end;
        }
    }
}

/* Waits for what is still to be found of the oldest group, reports it, and forgets its frames. */
static int finish_group(struct gpume_analysis *a)
{
    const struct walk_group *group = &a->groups[a->groups_begin % GPUME_GROUPS];
    const uint64_t start = gpume_clock_ns();
    gpume_workers_wait(a->workers, &group->measure);
    a->walk_wait_ns += gpume_clock_ns() - start;
    a->walking_ns += group->follow.busy_ns + group->measure.busy_ns;
    for (uint32_t i = 0; i < group->coding_count; i++) {
        GPUME_CHECK(report_decision(a, &group->codings[i]));
    }
    const uint64_t end = group->first + group->count;
    gpume_lookahead_drop(a->lookahead, end);
    a->groups_begin++;
    pthread_mutex_lock(&a->mutex);
    a->dropped = end;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    return GPUME_OK;
}

static void follow_walk(void *opaque, uint32_t item)
{
    const struct walk_group *group = opaque;
    (void)item;
    gpume_quality_follow(group->analysis->quality, group->walk);
}

/* XPSNR's weights of a frame that is kept; NULL: not wanted. */
static const struct gpume_loss_weights *xpsnr_weights_of(
    const struct gpume_analysis *a, uint64_t frame, struct gpume_loss_weights *weights)
{
    const struct gpume_xpsnr *xpsnr = a->xpsnr;
    if (!xpsnr) {
        return NULL;
    }
    *weights = (struct gpume_loss_weights){
        .of = a->xpsnr_weights + frame % a->frames_max * a->xpsnr_blocks,
        .side = xpsnr->side,
        .columns = xpsnr->columns,
        .rows = xpsnr->rows,
    };
    return weights;
}

static void measure_coding(void *opaque, uint32_t item)
{
    struct walk_group *group = opaque;
    const struct gpume_analysis *a = group->analysis;
    struct coding *coding = &group->codings[item];
    struct gpume_loss_weights weights;
    coding->status = gpume_lookahead_spectrum(a->lookahead, coding->frame, coding->past,
        coding->future, coding->offsets, &coding->spectrum,
        a->params.losses ? &coding->losses : NULL, xpsnr_weights_of(a, coding->frame, &weights));
}

static struct walk_group *last_group(struct gpume_analysis *a)
{
    return &a->groups[(a->groups_end - 1) % GPUME_GROUPS];
}

/* Makes sure that there is a group to add runs to. Its first frame is treated as an intra frame, so
 * that the walk does not look at frames before it. */
static int begin_group(struct gpume_analysis *a)
{
    if (a->group_open) {
        return GPUME_OK;
    }
    if (a->groups_end - a->groups_begin == a->groups_max) {
        GPUME_CHECK(finish_group(a));
    }
    a->groups_end++;
    a->group_open = true;
    *last_group(a) =
        (struct walk_group){.analysis = a, .first = a->last, .types = {GPUME_FRAME_IDR}};
    return GPUME_OK;
}

/* While the walk is followed and spectra are measured, types of the next group can be decided. */
static int end_group(struct gpume_analysis *a)
{
    struct walk_group *group = last_group(a);
    struct gpume_step *steps[] = {&group->follow, &group->measure};
    const struct gpume_stretch stretch = {group->first, group->known + 1, group->types};
    if (a->quality) {
        GPUME_CHECK(gpume_quality_prepare(a->quality, &stretch, group->count, &group->walk));
    }
    list_codings(group);
    group->follow =
        (struct gpume_step){.fn = follow_walk, .opaque = group, .count = group->walk ? 1 : 0};
    group->measure = (struct gpume_step){.fn = measure_coding,
        .opaque = group,
        .count = group->coding_count,
        .after = {&group->follow}};
    gpume_workers_add(a->workers, steps, 2);
    a->group_open = false;
    return GPUME_OK;
}

/* Decides the next run; the first one begins with frame 0. `seen` says how far it may look. */
static int decide_next_run(struct gpume_analysis *a)
{
    const uint32_t count = (uint32_t)gpume_min_u64(a->seen - 1 - a->last, a->window);
    uint32_t decided = 0;
    find_aq_offsets(a);
    GPUME_CHECK(begin_group(a));
    struct walk_group *group = last_group(a);
    enum gpume_frame_type *types = group->types + group->count + 1;
    if (count > 0) {
        GPUME_CHECK(gpume_types_decide(&a->types, a->last, count, types, &decided));
        a->last += decided;
        gpume_types_commit(&a->types, a->last, types[decided - 1]);
    }
    group->known = group->count + count;
    group->count += decided;
    return group->count < GPUME_GROUP_FRAMES ? GPUME_OK : end_group(a);
}

/* Tells of all runs that have been decided. */
static int finish_groups(struct gpume_analysis *a)
{
    if (a->group_open) {
        GPUME_CHECK(end_group(a));
    }
    while (a->groups_begin < a->groups_end) {
        GPUME_CHECK(finish_group(a));
    }
    return GPUME_OK;
}

/* --- threads */

/* Whether there are frames to decide. */
static bool is_left(const struct gpume_analysis *a)
{
    return a->put > 0 && (a->groups_end == 0 || a->last + 1 < a->put);
}

/* What is to be decided next. Call with the mutex held. */
static int (*next_step(struct gpume_analysis *a))(struct gpume_analysis *a)
{
    const bool can_decide = a->costed - a->last > a->window;
    const bool all = a->finished && a->costed == a->read;
    a->seen = a->costed;
    return can_decide || (all && is_left(a))        ? decide_next_run
           : all && a->groups_begin < a->groups_end ? finish_groups
                                                    : NULL;
}

static double seconds_of(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void log_stages(const struct gpume_analysis *a)
{
    gpume_log_write(&a->log, GPUME_LOG_DEBUG,
        "analysis: %llu frames were read in %.3f s (%.3f s of processor time), sent in %.3f s "
        "(%.3f s), costed in %.3f s (%.3f s) and decided in %.3f s (%.3f s, and %.3f s of waiting "
        "for walks, which took %.3f "
        "s)",
        (unsigned long long)a->put, seconds_of(a->reading.wall_ns), seconds_of(a->reading.busy_ns),
        seconds_of(a->sending.wall_ns), seconds_of(a->sending.busy_ns),
        seconds_of(a->costing.wall_ns), seconds_of(a->costing.busy_ns),
        seconds_of(a->deciding.wall_ns), seconds_of(a->deciding.busy_ns),
        seconds_of(a->walk_wait_ns), seconds_of(a->walking_ns));
}

/* Does a step of one of the threads, which has the mutex. */
static void do_step(
    struct gpume_analysis *a, struct analysis_stage *stage, int (*step)(struct gpume_analysis *a))
{
    pthread_mutex_unlock(&a->mutex);
    stage_begin(stage);
    const int status = step(a);
    stage_end(stage);
    pthread_mutex_lock(&a->mutex);
    a->status = a->status ? a->status : status;
}

static void *decider_main(void *opaque)
{
    struct gpume_analysis *a = opaque;
    pthread_mutex_lock(&a->mutex);
    while (!a->stop && a->status == GPUME_OK) {
        int (*const step)(struct gpume_analysis *) = next_step(a);
        if (step) {
            do_step(a, &a->deciding, step);
        } else if (a->finished && a->costed == a->read) {
            break;
        } else {
            pthread_cond_wait(&a->changed, &a->mutex);
        }
    }
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    return NULL;
}

static int send_frame(struct gpume_analysis *a)
{
    return gpume_lookahead_send(a->lookahead);
}

static void *sender_main(void *opaque)
{
    struct gpume_analysis *a = opaque;
    pthread_mutex_lock(&a->mutex);
    while (!a->stop && a->status == GPUME_OK && (a->put < a->read || !a->finished)) {
        if (a->put < a->read) {
            do_step(a, &a->sending, send_frame);
            a->put++;
            pthread_cond_broadcast(&a->changed);
        } else {
            pthread_cond_wait(&a->changed, &a->mutex);
        }
    }
    pthread_mutex_unlock(&a->mutex);
    return NULL;
}

static int find_costs(struct gpume_analysis *a)
{
    return gpume_lookahead_find_expected(a->lookahead, a->costed);
}

/* Whether there is a frame whose costs can be found without waiting long. Call with the mutex held.
 */
static bool can_cost(const struct gpume_analysis *a)
{
    const bool all = a->finished && a->put == a->read;
    return a->costed < a->put && (a->put - a->costed > a->lag || all);
}

static void *coster_main(void *opaque)
{
    struct gpume_analysis *a = opaque;
    pthread_mutex_lock(&a->mutex);
    while (!a->stop && a->status == GPUME_OK && (a->costed < a->read || !a->finished)) {
        if (can_cost(a)) {
            do_step(a, &a->costing, find_costs);
            a->costed++;
            pthread_cond_broadcast(&a->changed);
        } else {
            pthread_cond_wait(&a->changed, &a->mutex);
        }
    }
    pthread_mutex_unlock(&a->mutex);
    return NULL;
}

static int start_threads(struct gpume_analysis *a)
{
    a->sends = pthread_create(&a->sender, NULL, sender_main, a) == 0;
    a->costs = a->sends && pthread_create(&a->coster, NULL, coster_main, a) == 0;
    a->decides = a->costs && pthread_create(&a->decider, NULL, decider_main, a) == 0;
    return a->decides ? GPUME_OK : gpume_log_no_thread(&a->log);
}

/* Ends the threads, if there are any, when they have done all that they are to do. */
static int join_threads(struct gpume_analysis *a, bool *why)
{
    pthread_mutex_lock(&a->mutex);
    *why = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    if (a->sends) {
        pthread_join(a->sender, NULL);
    }
    if (a->costs) {
        pthread_join(a->coster, NULL);
    }
    if (a->decides) {
        pthread_join(a->decider, NULL);
        log_stages(a);
    }
    a->sends = a->costs = a->decides = false;
    return a->status;
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
    params.pattern = options->encoder->pattern_costs;
    params.energies = gpume_aq_is_on(options);
    return gpume_lookahead_open(&a->lookahead, &params);
}

/* What is asked for of a frame that ends a run, or is a B frame in it. */
static int expect_cost(void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
{
    struct gpume_analysis *a = opaque;
    gpume_lookahead_expect(a->lookahead, (uint32_t)(frame - past), (uint32_t)(future - frame));
    *cost = 0;
    return GPUME_OK;
}

/* Runs of all lengths that may be chosen, and changes from each frame to the next. */
static void expect_costs(struct gpume_analysis *a)
{
    const struct gpume_encode_options *options = &a->params.options;
    const struct gpume_types types = {.options = *options, .coding_cost = expect_cost, .opaque = a};
    uint64_t cost;
    for (uint32_t run = 1; run <= options->bframes + 1; run++) {
        if (run == 1 || options->b_adapt != 0 || run == options->bframes + 1) {
            (void)gpume_types_run_cost(&types, 0, run, UINT64_MAX, &cost);
        }
    }
}

static int open_quality(struct gpume_analysis *a)
{
    const struct gpume_tree_size size = {
        gpume_lookahead_blocks_x(a->lookahead), gpume_lookahead_blocks_y(a->lookahead)};
    const struct gpume_encode_options *options = &a->params.options;
    a->blocks = size.blocks_x * size.blocks_y;
    a->aq_offsets = calloc((size_t)a->frames_max * a->blocks, sizeof(*a->aq_offsets));
    a->information = calloc((size_t)a->frames_max * a->blocks, sizeof(*a->information));
    if (!a->aq_offsets || !a->information ||
        (options->tree &&
            gpume_quality_open(&a->quality, &size, options, make_quality_step, a) != GPUME_OK)) {
        return gpume_log_nomem(&a->log, "the offsets of the analysis");
    }
    const int status = gpume_workers_create(
        &a->workers, a->params.lookahead.threads == 1 ? 1 : a->groups_max * GPUME_THREADS_OF_GROUP);
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
    pthread_mutex_init(&a->mutex, NULL);
    pthread_cond_init(&a->changed, NULL);
    a->window = gpume_types_window(&params->options);
    const uint32_t threads =
        params->lookahead.threads ? params->lookahead.threads : gpume_workers_processors();
    a->groups_max = threads < GPUME_GROUPS_THREADS ? GPUME_GROUPS - 1 : GPUME_GROUPS;
    a->frames_max = a->window + 1 + a->groups_max * (GPUME_GROUP_FRAMES + params->options.bframes);
    if (params->lookahead.backend != GPUME_BACKEND_CPU || params->lookahead.threads != 1) {
        a->frames_max += 2 * GPUME_LOOKAHEAD_LAG + READ_AHEAD + GPUME_READINGS_MAX - 1;
    }
    gpume_types_init(&a->types, &params->options, find_cost_of_change, find_coding_cost, a);
    int status;
    GPUME_TRY(open_lookahead(a));
    expect_costs(a);
    GPUME_TRY(open_quality(a));
    a->lag = gpume_lookahead_lag(a->lookahead);
    if (a->lag > 0) {
        GPUME_TRY(start_threads(a));
    }
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
    (void)join_threads(a, &a->stop);
    gpume_workers_destroy(&a->workers);
    gpume_quality_close(&a->quality);
    gpume_lookahead_close(&a->lookahead);
    gpume_xpsnr_close(&a->xpsnr);
    free(a->xpsnr_weights);
    free(a->information);
    free(a->aq_offsets);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->mutex);
    free(a);
    *analysis = NULL;
}

const char *gpume_analysis_engine(const struct gpume_analysis *analysis)
{
    return gpume_lookahead_engine(analysis->lookahead);
}

/* --- frames */

/* Waits for room among the frames that are kept. */
static int wait_for_room(struct gpume_analysis *a)
{
    pthread_mutex_lock(&a->mutex);
    while (a->decides && a->begun - a->dropped == a->frames_max && a->status == GPUME_OK) {
        pthread_cond_wait(&a->changed, &a->mutex);
    }
    const int status = a->status;
    pthread_mutex_unlock(&a->mutex);
    return status;
}

/* The threads can go on with the frame that was begun first. */
static void complete_frame(struct gpume_analysis *a)
{
    stage_begin(&a->reading);
    gpume_lookahead_complete_reading(a->lookahead);
    stage_end(&a->reading);
    pthread_mutex_lock(&a->mutex);
    a->read++;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
}

/* Without threads. */
static int go_on(struct gpume_analysis *a)
{
    GPUME_CHECK(send_frame(a));
    a->seen = a->costed = ++a->put;
    while (a->put - a->last > a->window) {
        GPUME_CHECK(decide_next_run(a));
    }
    return GPUME_OK;
}

static int open_xpsnr(struct gpume_analysis *a, uint32_t bits)
{
    const struct gpume_analysis_params *params = &a->params;
    const struct gpume_xpsnr_params of_source = {params->lookahead.width, params->lookahead.height,
        bits, params->rate_num, params->rate_den};
    int status = gpume_xpsnr_open(&a->xpsnr, &of_source);
    if (status == GPUME_OK) {
        a->xpsnr_blocks = gpume_max_u32(a->xpsnr->columns * a->xpsnr->rows, 1);
        a->xpsnr_weights =
            calloc((size_t)a->frames_max * a->xpsnr_blocks, sizeof(*a->xpsnr_weights));
        status = a->xpsnr_weights ? GPUME_OK : GPUME_NOMEM;
    }
    return status ? gpume_log_nomem(&a->log, "the weights of XPSNR") : GPUME_OK;
}

/* Of the next frame, for which there is room. */
static int weigh_frame(struct gpume_analysis *a, const struct gpume_plane *luma)
{
    if (!a->params.xpsnr) {
        return GPUME_OK;
    }
    if (!a->xpsnr) {
        GPUME_CHECK(open_xpsnr(a, luma->bits));
    }
    gpume_xpsnr_take(a->xpsnr, luma);
    gpume_xpsnr_parts(a->xpsnr, a->xpsnr_weights + a->begun % a->frames_max * a->xpsnr_blocks);
    return GPUME_OK;
}

int gpume_analysis_put(struct gpume_analysis *analysis, const struct gpume_plane *luma)
{
    struct gpume_analysis *a = analysis;
    GPUME_CHECK(wait_for_room(a));
    GPUME_CHECK(weigh_frame(a, luma));
    gpume_lookahead_begin_reading(a->lookahead, luma);
    a->begun++;
    if (a->begun - a->read == gpume_lookahead_readings(a->lookahead)) {
        complete_frame(a);
    }
    return a->decides ? GPUME_OK : go_on(a);
}

int gpume_analysis_finish(struct gpume_analysis *analysis)
{
    struct gpume_analysis *a = analysis;
    while (a->read < a->begun) {
        complete_frame(a);
    }
    if (a->decides) {
        return join_threads(a, &a->finished);
    }
    a->seen = a->put;
    while (is_left(a)) {
        GPUME_CHECK(decide_next_run(a));
    }
    return finish_groups(a);
}
