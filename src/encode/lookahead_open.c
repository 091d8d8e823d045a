/* SPDX-License-Identifier: BSD-2-Clause */
/* How a lookahead is opened and closed, and what is said of it. */
#include "base/grid.h"
#include "base/status.h"
#include "encode/lookahead_state.h"

#include <assert.h>
#include <stdlib.h>

/* With blocks on a GPU the processor has only short tasks left. */
#define SPLIT_THREADS 8u
/* Searching is so small a part of the processor's work: one of as many threads. */
#define SEARCH_SHARE 4u
/* Weighted references are searched one at a time. */
#define WEIGHTED_THREADS 8u

static uint32_t threads_of(const struct gpume_lookahead *l)
{
    return l->params.threads ? l->params.threads : gpume_workers_processors();
}

static int open_searches(struct gpume_lookahead *l)
{
    struct gpume_blocks_params params = {
        .blocks_x = l->blocks_x,
        .blocks_y = l->blocks_y,
        .frames = l->params.frames_max,
        .backend = l->params.backend,
        .device = l->params.device,
        .threads = gpume_max_u32(1, threads_of(l) / SEARCH_SHARE),
        .split = &l->split,
        .cache_dir = l->params.cache_dir,
        .log = l->params.log,
        .log_opaque = l->params.log_opaque,
    };
    GPUME_CHECK(gpume_searches_open(&l->searches, &params));
    l->work = gpume_searches_blocks(l->searches);
    l->ahead = threads_of(l) > 1 || gpume_searches_on_gpu(l->searches);
    if (!l->params.weights) {
        return GPUME_OK;
    }
    /* Few pairs need it, one at a time: nothing for a GPU. */
    params.frames = 2;
    params.backend = GPUME_BACKEND_CPU;
    params.device = NULL;
    params.threads = gpume_min_u32(threads_of(l), WEIGHTED_THREADS);
    GPUME_CHECK(gpume_searches_open(&l->weighted_searches, &params));
    l->weighted = gpume_blocks_half(gpume_searches_blocks(l->weighted_searches), 0);
    return GPUME_OK;
}

static int allocate(struct gpume_lookahead *l)
{
    const uint32_t count = l->params.frames_max;
    const bool has_readings = gpume_readings_open(l);
    l->frames = calloc(count, sizeof(*l->frames));
    l->all_intra_costs = calloc((size_t)count * l->blocks, sizeof(*l->all_intra_costs));
    l->all_energies = calloc((size_t)count * l->blocks, sizeof(*l->all_energies));
    l->weighted_costs = calloc((size_t)2 * l->blocks, sizeof(*l->weighted_costs));
    if (!l->frames || !l->all_intra_costs || !l->all_energies || !has_readings ||
        !l->weighted_costs) {
        return gpume_log_nomem(&l->log, "the frames of the lookahead");
    }
    for (uint32_t i = 0; i < count; i++) {
        l->frames[i] = (struct gpume_kept_frame){
            .half = gpume_blocks_half(l->work, i),
            .intra.costs = l->all_intra_costs + (size_t)i * l->blocks,
            .energies = l->all_energies + (size_t)i * l->blocks,
        };
    }
    return GPUME_OK;
}

static int open_split(struct gpume_lookahead *l)
{
    const uint32_t most = gpume_blocks_on_gpu(l->work) ? SPLIT_THREADS : UINT32_MAX;
    return gpume_split_init(&l->split, l->blocks_y, gpume_min_u32(threads_of(l), most), &l->log);
}

int gpume_lookahead_open(
    struct gpume_lookahead **lookahead, const struct gpume_lookahead_params *params)
{
    const struct gpume_log log = {params->log, params->log_opaque};
    assert(
        params->distance_max < params->frames_max && params->distance_max < GPUME_HABIT_DISTANCES);
    struct gpume_lookahead *l = calloc(1, sizeof(*l));
    if (!l) {
        return gpume_log_nomem(&log, "the lookahead");
    }
    l->params = *params;
    l->log = log;
    pthread_mutex_init(&l->requests, NULL);
    pthread_mutex_init(&l->weighing, NULL);
    pthread_mutex_init(&l->mutex, NULL);
    l->blocks_x = (uint32_t)gpume_div_up(params->width, GPUME_SQUARE);
    l->blocks_y = (uint32_t)gpume_div_up(params->height, GPUME_SQUARE);
    l->blocks = l->blocks_x * l->blocks_y;
    l->pairs.bytes = sizeof(struct gpume_kept_pair) +
                     l->blocks * (sizeof(struct gpume_vector) + sizeof(uint16_t)) +
                     gpume_coarse_count(l->blocks_x, l->blocks_y) * sizeof(struct gpume_vector);
    l->means.bytes = sizeof(struct gpume_kept_mean) + (size_t)l->blocks * 2 * sizeof(uint16_t);
    l->weighings.bytes =
        sizeof(struct gpume_kept_weighing) + (size_t)l->blocks * 2 * sizeof(uint16_t);
    l->planes.bytes = sizeof(struct gpume_link) + gpume_half_bytes(l->blocks_x, l->blocks_y);
    l->results.bytes =
        sizeof(struct gpume_kept_result) + l->blocks * (sizeof(uint16_t) + sizeof(uint8_t));
    int status;
    GPUME_TRY(open_searches(l));
    GPUME_TRY(open_split(l));
    GPUME_TRY(allocate(l));
    *lookahead = l;
    return GPUME_OK;
fail:
    gpume_lookahead_close(&l);
    return status;
}

void gpume_kept_give_planes(struct gpume_lookahead *lookahead, struct gpume_kept_weighing *weighing)
{
    if (weighing->planes) {
        weighing->planes->next = NULL;
        gpume_pool_give(&lookahead->planes, &weighing->planes);
        lookahead->plane_count--;
    }
}

void gpume_kept_forget(struct gpume_lookahead *lookahead, struct gpume_kept_frame *frame)
{
    for (struct gpume_link *link = frame->weighings; link; link = link->next) {
        gpume_kept_give_planes(lookahead, (struct gpume_kept_weighing *)link);
    }
    gpume_pool_give(&lookahead->pairs, &frame->pairs);
    gpume_pool_give(&lookahead->means, &frame->means);
    gpume_pool_give(&lookahead->weighings, &frame->weighings);
    gpume_pool_give(&lookahead->results, &frame->results);
}

void gpume_lookahead_close(struct gpume_lookahead **lookahead)
{
    struct gpume_lookahead *l = *lookahead;
    if (!l) {
        return;
    }
    if (l->searches) {
        gpume_searches_end(l->searches);
    }
    gpume_split_finish(&l->split); /* no step reads or writes any more */
    gpume_readings_close(l);
    gpume_searches_close(&l->searches);
    gpume_searches_close(&l->weighted_searches);
    for (uint32_t i = 0; l->frames && i < l->params.frames_max; i++) {
        gpume_kept_forget(l, &l->frames[i]);
    }
    gpume_pool_finish(&l->pairs);
    gpume_pool_finish(&l->means);
    gpume_pool_finish(&l->weighings);
    gpume_pool_finish(&l->planes);
    gpume_pool_finish(&l->results);
    free(l->weighted_costs);
    free(l->all_energies);
    free(l->all_intra_costs);
    free(l->frames);
    pthread_mutex_destroy(&l->mutex);
    pthread_mutex_destroy(&l->weighing);
    pthread_mutex_destroy(&l->requests);
    free(l);
    *lookahead = NULL;
}

const char *gpume_lookahead_engine(const struct gpume_lookahead *lookahead)
{
    return gpume_searches_engine(lookahead->searches);
}

uint32_t gpume_lookahead_lag(const struct gpume_lookahead *lookahead)
{
    return lookahead->ahead ? GPUME_LOOKAHEAD_LAG : 0;
}

struct gpume_workers *gpume_lookahead_workers(const struct gpume_lookahead *lookahead)
{
    return lookahead->split.workers;
}

uint32_t gpume_lookahead_blocks_x(const struct gpume_lookahead *lookahead)
{
    return lookahead->blocks_x;
}

uint32_t gpume_lookahead_blocks_y(const struct gpume_lookahead *lookahead)
{
    return lookahead->blocks_y;
}
