/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/blocks.h"

#include "base/log.h"
#include "base/status.h"
#include "encode/costs.h"
#include "encode/device.h"
#include "encode/shared.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct gpume_blocks {
    struct gpume_log log;
    const struct gpume_split *split;
    struct gpume_encode_device *device; /* the thread's; NULL: none, or it has failed */
    bool threaded;
    pthread_t thread;
    pthread_mutex_t mutex; /* for all below, and `ready` of what is queued */
    pthread_cond_t changed;
    struct gpume_intra *frames, **frames_end; /* that wait, and where the next one goes */
    struct gpume_match *matches, **matches_end;
    struct gpume_mean *means, **means_end;
    bool stop;
};

/* --- on the processor */

static void predict_rows(struct gpume_intra *intra, uint32_t begin, uint32_t end)
{
    const uint32_t blocks_x = intra->half->width / GPUME_HALF_BLOCK;
    for (uint32_t y = begin; y < end; y++) {
        gpume_intra_costs(intra->half, y, intra->costs + (size_t)y * blocks_x);
    }
}

static void refine_rows(struct gpume_match *match, uint32_t begin, uint32_t end)
{
    const uint32_t blocks_x = match->target->width / GPUME_HALF_BLOCK;
    for (uint32_t y = begin; y < end; y++) {
        const size_t first = (size_t)y * blocks_x;
        gpume_refine(
            match->target, match->reference, y, match->vectors + first, match->costs + first);
    }
}

static void average_rows(const struct gpume_mean *mean, uint32_t begin, uint32_t end)
{
    const struct gpume_half *target = mean->past->target;
    const struct gpume_half *past = mean->past->reference, *future = mean->future->reference;
    for (uint32_t y = begin; y < end; y++) {
        const size_t first = (size_t)y * (target->width / GPUME_HALF_BLOCK);
        const struct gpume_matches in_past = {past, mean->past->vectors + first};
        const struct gpume_matches in_future = {future, mean->future->vectors + first};
        const struct gpume_matches still_past = {past, NULL}, still_future = {future, NULL};
        gpume_mean_costs(target, y, &in_past, &in_future, mean->past_share, mean->both + first);
        gpume_mean_costs(
            target, y, &still_past, &still_future, mean->past_share, mean->still + first);
    }
}

struct part {
    const struct gpume_split *split;
    struct gpume_intra *intra;
    struct gpume_match *match;
};

static void predict_part(void *opaque, uint32_t part)
{
    const struct part *p = opaque;
    predict_rows(p->intra, gpume_split_row(p->split, part), gpume_split_row(p->split, part + 1));
}

static void refine_part(void *opaque, uint32_t part)
{
    const struct part *p = opaque;
    refine_rows(p->match, gpume_split_row(p->split, part), gpume_split_row(p->split, part + 1));
}

/* When all costs are there. */
static void end_intra(struct gpume_intra *intra)
{
    const struct gpume_half *half = intra->half;
    const uint32_t blocks = half->width / GPUME_HALF_BLOCK * (half->height / GPUME_HALF_BLOCK);
    intra->cost = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        intra->cost += intra->costs[i];
    }
}

/* --- the thread */

/* What the thread works on at a time. */
struct batch {
    struct gpume_intra *frames[GPUME_ENCODE_BATCH];
    struct gpume_match *matches[GPUME_ENCODE_BATCH];
    struct gpume_mean *means[GPUME_ENCODE_BATCH];
    uint32_t frame_count, match_count, mean_count;
};

/* Those whose matches are ready, which may come in another order. */
static void take_means(struct gpume_blocks *blocks, struct batch *batch)
{
    struct gpume_mean **link = &blocks->means;
    while (*link) {
        struct gpume_mean *mean = *link;
        if (mean->past->ready && mean->future->ready && batch->mean_count < GPUME_ENCODE_BATCH) {
            batch->means[batch->mean_count++] = mean;
            *link = mean->next;
        } else {
            link = &mean->next;
        }
    }
    blocks->means_end = link;
}

/* The oldest work; matches only when all frames before them are on the device. Needs the mutex. */
static void take_batch(struct gpume_blocks *blocks, struct batch *batch)
{
    batch->frame_count = batch->match_count = batch->mean_count = 0;
    while (blocks->frames && batch->frame_count < GPUME_ENCODE_BATCH) {
        batch->frames[batch->frame_count++] = blocks->frames;
        blocks->frames = blocks->frames->next;
    }
    while (!blocks->frames && blocks->matches && batch->match_count < GPUME_ENCODE_BATCH) {
        batch->matches[batch->match_count++] = blocks->matches;
        blocks->matches = blocks->matches->next;
    }
    take_means(blocks, batch);
    blocks->frames_end = blocks->frames ? blocks->frames_end : &blocks->frames;
    blocks->matches_end = blocks->matches ? blocks->matches_end : &blocks->matches;
}

/* On failure all of it can be repeated: matches are untouched. */
static int work_on_device(struct gpume_encode_device *device, const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        GPUME_CHECK(
            gpume_encode_device_write(device, batch->frames[i]->frame, batch->frames[i]->half));
    }
    if (batch->frame_count > 0) {
        GPUME_CHECK(gpume_encode_device_predict(device, batch->frames, batch->frame_count));
    }
    if (batch->mean_count > 0) {
        GPUME_CHECK(gpume_encode_device_mean(device, batch->means, batch->mean_count));
    }
    return batch->match_count == 0
               ? GPUME_OK
               : gpume_encode_device_refine(device, batch->matches, batch->match_count);
}

static void work_on_processor(const struct gpume_split *split, const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        predict_rows(batch->frames[i], 0, split->rows);
    }
    for (uint32_t i = 0; i < batch->match_count; i++) {
        refine_rows(batch->matches[i], 0, split->rows);
    }
    for (uint32_t i = 0; i < batch->mean_count; i++) {
        average_rows(batch->means[i], 0, split->rows);
    }
}

static void do_batch(struct gpume_blocks *blocks, const struct batch *batch)
{
    if (blocks->device && work_on_device(blocks->device, batch) != GPUME_OK) {
        gpume_log_write(&blocks->log, GPUME_LOG_WARNING,
            "the lookahead's device has failed; the processor does its work from here on");
        gpume_encode_device_close(&blocks->device);
    }
    if (!blocks->device) {
        work_on_processor(blocks->split, batch);
    }
    for (uint32_t i = 0; i < batch->frame_count; i++) {
        end_intra(batch->frames[i]);
    }
}

static void *thread_main(void *opaque)
{
    struct gpume_blocks *blocks = opaque;
    struct batch batch;
    pthread_mutex_lock(&blocks->mutex);
    while (!blocks->stop) {
        take_batch(blocks, &batch);
        if (batch.frame_count + batch.match_count + batch.mean_count == 0) {
            pthread_cond_wait(&blocks->changed, &blocks->mutex);
            continue;
        }
        pthread_mutex_unlock(&blocks->mutex);
        do_batch(blocks, &batch);
        pthread_mutex_lock(&blocks->mutex);
        for (uint32_t i = 0; i < batch.frame_count; i++) {
            batch.frames[i]->ready = true;
        }
        for (uint32_t i = 0; i < batch.match_count; i++) {
            batch.matches[i]->ready = true;
        }
        for (uint32_t i = 0; i < batch.mean_count; i++) {
            batch.means[i]->ready = true;
        }
        pthread_cond_broadcast(&blocks->changed);
    }
    pthread_mutex_unlock(&blocks->mutex);
    return NULL;
}

/* --- open, close */

int gpume_blocks_open(struct gpume_blocks **blocks, const struct gpume_blocks_params *params)
{
    const struct gpume_log log = {params->log, params->log_opaque};
    struct gpume_blocks *b = calloc(1, sizeof(*b));
    if (!b) {
        return gpume_log_nomem(&log, "the lookahead");
    }
    b->log = log;
    b->split = params->split;
    b->frames_end = &b->frames;
    b->matches_end = &b->matches;
    b->means_end = &b->means;
    pthread_mutex_init(&b->mutex, NULL);
    pthread_cond_init(&b->changed, NULL);
    int status = params->gpu ? gpume_encode_device_open(&b->device, params) : GPUME_OK;
    if (status == GPUME_OK && b->device) {
        b->threaded = pthread_create(&b->thread, NULL, thread_main, b) == 0;
        status = b->threaded ? GPUME_OK : gpume_log_no_thread(&log);
    }
    if (status != GPUME_OK) {
        gpume_blocks_close(&b);
        return status;
    }
    *blocks = b;
    return GPUME_OK;
}

void gpume_blocks_close(struct gpume_blocks **blocks)
{
    struct gpume_blocks *b = *blocks;
    if (!b) {
        return;
    }
    if (b->threaded) {
        pthread_mutex_lock(&b->mutex);
        b->stop = true;
        pthread_cond_broadcast(&b->changed);
        pthread_mutex_unlock(&b->mutex);
        pthread_join(b->thread, NULL);
    }
    gpume_encode_device_close(&b->device);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->mutex);
    free(b);
    *blocks = NULL;
}

/* --- work */

void gpume_blocks_add(struct gpume_blocks *blocks, struct gpume_intra *intra)
{
    intra->ready = false;
    intra->next = NULL;
    if (!blocks->threaded) {
        struct part part = {.split = blocks->split, .intra = intra};
        gpume_split_run(blocks->split, predict_part, &part);
        end_intra(intra);
        intra->ready = true;
        return;
    }
    pthread_mutex_lock(&blocks->mutex);
    *blocks->frames_end = intra;
    blocks->frames_end = &intra->next;
    pthread_cond_broadcast(&blocks->changed);
    pthread_mutex_unlock(&blocks->mutex);
}

void gpume_blocks_refine(struct gpume_blocks *blocks, struct gpume_match *match)
{
    match->next = NULL;
    if (!blocks->threaded) {
        struct part part = {.split = blocks->split, .match = match};
        gpume_split_run(blocks->split, refine_part, &part);
        match->ready = true;
        return;
    }
    pthread_mutex_lock(&blocks->mutex);
    *blocks->matches_end = match;
    blocks->matches_end = &match->next;
    pthread_cond_broadcast(&blocks->changed);
    pthread_mutex_unlock(&blocks->mutex);
}

bool gpume_blocks_on_gpu(const struct gpume_blocks *blocks)
{
    return blocks->threaded;
}

void gpume_blocks_mean(struct gpume_blocks *blocks, struct gpume_mean *mean)
{
    assert(blocks->threaded);
    mean->ready = false;
    mean->next = NULL;
    pthread_mutex_lock(&blocks->mutex);
    *blocks->means_end = mean;
    blocks->means_end = &mean->next;
    pthread_cond_broadcast(&blocks->changed);
    pthread_mutex_unlock(&blocks->mutex);
}

void gpume_blocks_wait(struct gpume_blocks *blocks, const bool *ready)
{
    pthread_mutex_lock(&blocks->mutex);
    while (!*ready) {
        pthread_cond_wait(&blocks->changed, &blocks->mutex);
    }
    pthread_mutex_unlock(&blocks->mutex);
}
