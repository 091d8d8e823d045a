/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/analysis.h"

#include "base/grid.h"
#include "base/status.h"
#include "encode/analysis_state.h"
#include "encode/aq.h"

#include <stdlib.h>

/* Frames that are read before the one that is being sent. */
#define READ_AHEAD 2u

/* --- open, close */

static int start_threads(struct gpume_analysis *a);
static int join(struct gpume_analysis *a, bool *why);

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

/* What is asked for of a frame that ends a run, or is a B frame in it. */
static int expect(void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
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
    const struct gpume_types types = {.options = *options, .coding_cost = expect, .opaque = a};
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
            gpume_quality_open(&a->quality, &size, options, gpume_analysis_step, a) != GPUME_OK)) {
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
    gpume_types_init(
        &a->types, &params->options, gpume_analysis_cost, gpume_analysis_coding_cost, a);
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
    (void)join(a, &a->stop);
    gpume_workers_destroy(&a->workers);
    gpume_quality_close(&a->quality);
    gpume_lookahead_close(&a->lookahead);
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

/* Are there frames to decide? */
static bool is_left(const struct gpume_analysis *a)
{
    return a->put > 0 && (a->groups_end == 0 || a->last + 1 < a->put);
}

/* What is to be decided next. Needs the mutex. */
static int (*next_step(struct gpume_analysis *a))(struct gpume_analysis *a)
{
    const bool can_decide = a->costed - a->last > a->window;
    const bool all = a->finished && a->costed == a->read;
    a->seen = a->costed;
    return can_decide || (all && is_left(a))        ? gpume_analysis_decide
           : all && a->groups_begin < a->groups_end ? gpume_analysis_finish_groups
                                                    : NULL;
}

static double seconds(uint64_t ns)
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
        (unsigned long long)a->put, seconds(a->reading.wall_ns), seconds(a->reading.busy_ns),
        seconds(a->sending.wall_ns), seconds(a->sending.busy_ns), seconds(a->costing.wall_ns),
        seconds(a->costing.busy_ns), seconds(a->deciding.wall_ns), seconds(a->deciding.busy_ns),
        seconds(a->walk_wait_ns), seconds(a->walking_ns));
}

/* Does a step of one of the threads, which has the mutex. */
static void do_step(
    struct gpume_analysis *a, struct gpume_stage_time *stage, int (*step)(struct gpume_analysis *a))
{
    pthread_mutex_unlock(&a->mutex);
    gpume_stage_time_begin(stage);
    const int status = step(a);
    gpume_stage_time_end(stage);
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

/* Is there a frame whose costs can be found without waiting long? Needs the mutex. */
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
static int join(struct gpume_analysis *a, bool *why)
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
    gpume_stage_time_begin(&a->reading);
    gpume_lookahead_complete_reading(a->lookahead);
    gpume_stage_time_end(&a->reading);
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
        GPUME_CHECK(gpume_analysis_decide(a));
    }
    return GPUME_OK;
}

int gpume_analysis_put(struct gpume_analysis *analysis, const struct gpume_plane *luma)
{
    struct gpume_analysis *a = analysis;
    GPUME_CHECK(wait_for_room(a));
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
        return join(a, &a->finished);
    }
    a->seen = a->put;
    while (is_left(a)) {
        GPUME_CHECK(gpume_analysis_decide(a));
    }
    return gpume_analysis_finish_groups(a);
}
