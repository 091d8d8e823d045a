/* SPDX-License-Identifier: BSD-2-Clause */
#include "read_ahead.h"

#include "console.h"

bool gpume_read_ahead_init(struct gpume_read_ahead *ahead, const struct gpume_source_info *info)
{
    bool complete = true;
    for (uint32_t i = 0; i < GPUME_AHEAD_FRAMES && complete; i++) {
        complete = gpume_luma_view_open(&ahead->views[i], info);
    }
    return complete;
}

void gpume_read_ahead_finish(struct gpume_read_ahead *ahead)
{
    for (uint32_t i = 0; i < GPUME_AHEAD_FRAMES; i++) {
        gpume_luma_view_close(&ahead->views[i]);
    }
}

static void *thread_main(void *opaque)
{
    struct gpume_read_ahead *ahead = opaque;
    pthread_mutex_lock(&ahead->mutex);
    while (ahead->status == GPUME_OK && ahead->read < ahead->end && !ahead->stop) {
        if (ahead->read - ahead->returned == GPUME_AHEAD_FRAMES) {
            pthread_cond_wait(&ahead->changed, &ahead->mutex);
            continue;
        }
        const uint64_t slot = ahead->read % GPUME_AHEAD_FRAMES;
        pthread_mutex_unlock(&ahead->mutex);
        const int status =
            gpume_source_view(ahead->source, &ahead->views[slot], &ahead->times_us[slot]);
        pthread_mutex_lock(&ahead->mutex);
        ahead->status = status;
        ahead->read += status == GPUME_OK;
        pthread_cond_broadcast(&ahead->changed);
    }
    ahead->ended = true;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    return NULL;
}

int gpume_read_ahead_start(
    struct gpume_read_ahead *ahead, struct gpume_source *source, uint64_t count)
{
    ahead->source = source;
    ahead->end = count > 0 ? count : UINT64_MAX;
    ahead->read = ahead->taken = ahead->returned = 0;
    ahead->stop = ahead->ended = false;
    ahead->status = GPUME_OK;
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    ahead->running = pthread_create(&ahead->thread, NULL, thread_main, ahead) == 0;
    return ahead->running ? GPUME_OK : gpume_log_no_thread(&gpume_console);
}

bool gpume_read_ahead_next(
    struct gpume_read_ahead *ahead, const struct gpume_plane **plane, int64_t *time_us)
{
    pthread_mutex_lock(&ahead->mutex);
    if (ahead->taken - ahead->returned == GPUME_AHEAD_HELD) {
        ahead->returned++;
        pthread_cond_broadcast(&ahead->changed);
    }
    while (ahead->read == ahead->taken && !ahead->ended) {
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    }
    const bool found = ahead->read > ahead->taken;
    const uint64_t slot = ahead->taken % GPUME_AHEAD_FRAMES;
    ahead->taken += found;
    pthread_mutex_unlock(&ahead->mutex);
    *plane = &ahead->views[slot].plane;
    *time_us = found ? ahead->times_us[slot] : 0;
    return found;
}

int gpume_read_ahead_stop(struct gpume_read_ahead *ahead)
{
    if (!ahead->running) {
        return ahead->status;
    }
    pthread_mutex_lock(&ahead->mutex);
    ahead->stop = true;
    if (!ahead->ended) {
        gpume_source_cancel(ahead->source);
    }
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    pthread_join(ahead->thread, NULL);
    ahead->running = false;
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->mutex);
    return ahead->status;
}
