/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/analysis.h"

#include "base/grid.h"
#include "base/status.h"
#include "encode/analysis_state.h"
#include "encode/aq.h"

#include <stdlib.h>

/* --- open, close */

static void *thread_main(void *opaque);
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
        (tree &&
            gpume_quality_open(&a->quality, &size, options, gpume_analysis_step, a) != GPUME_OK)) {
        return gpume_log_nomem(&a->log, "the offsets of the analysis");
    }
    const int status =
        gpume_workers_create(&a->workers, a->params.lookahead.threads == 1 ? 1 : a->runs_max + 1);
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
    const uint32_t run = params->options.bframes + 1;
    const uint32_t lag = (uint32_t)gpume_max_u64(GPUME_LOOKAHEAD_LAG, run);
    a->window = gpume_types_window(&params->options);
    a->runs_max = GPUME_RUNS_WITHOUT_GPU;
    a->frames_max = a->window + 1 + GPUME_RUNS_WITHOUT_GPU * run;
    if (params->lookahead.backend != GPUME_BACKEND_CPU) { /* may find one */
        a->frames_max += (GPUME_RUNS - GPUME_RUNS_WITHOUT_GPU) * run + 2 * lag;
    }
    gpume_types_init(&a->types, &params->options, gpume_analysis_cost, a);
    int status;
    GPUME_TRY(open_lookahead(a));
    a->ahead = gpume_lookahead_lag(a->lookahead);
    if (gpume_lookahead_on_gpu(a->lookahead)) {
        a->ahead = lag;
        a->runs_max = GPUME_RUNS;
    }
    GPUME_TRY(open_quality(a));
    if (gpume_lookahead_on_gpu(a->lookahead)) {
        a->threaded = pthread_create(&a->thread, NULL, thread_main, a) == 0;
        GPUME_TRY(a->threaded ? GPUME_OK : gpume_log_no_thread(&a->log));
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
    if (a->threaded) {
        (void)join(a, &a->stop);
    }
    gpume_workers_destroy(&a->workers);
    gpume_quality_close(&a->quality);
    gpume_lookahead_close(&a->lookahead);
    free(a->times);
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

static bool is_left(const struct gpume_analysis *a, uint64_t put)
{
    return put > 0 && (!a->started || a->last + 1 < put);
}

/* What the thread is to do next. Needs the mutex. */
static int (*next_step(struct gpume_analysis *a))(struct gpume_analysis *a)
{
    const bool can_decide = a->put - a->last > a->window + a->ahead;
    a->seen = a->put;
    return can_decide || (a->finished && is_left(a, a->put)) ? gpume_analysis_decide
           : a->finished && a->runs_begin < a->runs_end      ? gpume_analysis_finish_runs
                                                             : NULL;
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void log_stages(const struct gpume_analysis *a)
{
    gpume_log_write(&a->log, GPUME_LOG_DEBUG,
        "analysis: %llu frames were put in %.3f s (%.3f s of processor time) and decided in %.3f s "
        "(%.3f s, and %.3f s of waiting for walks, which took %.3f s)",
        (unsigned long long)a->put, seconds(a->putting.wall_ns), seconds(a->putting.busy_ns),
        seconds(a->deciding.wall_ns), seconds(a->deciding.busy_ns), seconds(a->walk_wait_ns),
        seconds(a->walking_ns));
}

static void *thread_main(void *opaque)
{
    struct gpume_analysis *a = opaque;
    pthread_mutex_lock(&a->mutex);
    while (!a->stop && a->status == GPUME_OK) {
        int (*const step)(struct gpume_analysis *) = next_step(a);
        if (step) {
            pthread_mutex_unlock(&a->mutex);
            gpume_stage_time_begin(&a->deciding);
            const int status = step(a);
            gpume_stage_time_end(&a->deciding);
            pthread_mutex_lock(&a->mutex);
            a->status = status;
        } else if (a->finished) {
            break;
        } else {
            pthread_cond_wait(&a->changed, &a->mutex);
        }
    }
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    return NULL;
}

/* Ends the thread when it has done all that it is to do. */
static int join(struct gpume_analysis *a, bool *why)
{
    pthread_mutex_lock(&a->mutex);
    *why = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    pthread_join(a->thread, NULL);
    a->threaded = false;
    log_stages(a);
    return a->status;
}

/* Waits for room among the frames that are kept. */
static int wait_for_room(struct gpume_analysis *a)
{
    pthread_mutex_lock(&a->mutex);
    while (a->threaded && a->put - a->dropped == a->frames_max && a->status == GPUME_OK) {
        pthread_cond_wait(&a->changed, &a->mutex);
    }
    const int status = a->status;
    pthread_mutex_unlock(&a->mutex);
    return status;
}

/* The next frame can be decided with. */
static void add_frame(struct gpume_analysis *a)
{
    pthread_mutex_lock(&a->mutex);
    a->put++;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
}

int gpume_analysis_put(
    struct gpume_analysis *analysis, const struct gpume_plane *luma, int64_t time_us)
{
    struct gpume_analysis *a = analysis;
    gpume_stage_time_begin(&a->putting);
    GPUME_CHECK(wait_for_room(a));
    GPUME_CHECK(gpume_lookahead_put(a->lookahead, luma));
    gpume_stage_time_end(&a->putting);
    a->times[a->put % a->frames_max] = time_us;
    add_frame(a);
    while (!a->threaded && a->put - a->last > a->window + a->ahead) {
        a->seen = a->put;
        GPUME_CHECK(gpume_analysis_decide(a));
    }
    return GPUME_OK;
}

int gpume_analysis_finish(struct gpume_analysis *analysis)
{
    struct gpume_analysis *a = analysis;
    if (a->threaded) {
        return join(a, &a->finished);
    }
    a->seen = a->put;
    while (is_left(a, a->put)) {
        GPUME_CHECK(gpume_analysis_decide(a));
    }
    return gpume_analysis_finish_runs(a);
}
