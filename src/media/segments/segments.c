/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/segments/segments.h"

#include "base/status.h"
#include "media/packets.h"
#include "media/segments/cutter.h"
#include "media/segments/worker.h"

#include <inttypes.h>
#include <stdlib.h>

#include <libavutil/frame.h>

struct gpume_segments {
    struct gpume_segments_options options;
    struct gpume_cutter cutter;
    struct gpume_worker *workers;
    uint32_t running; /* of them */
    struct gpume_damage damage;
    uint64_t delivered;
};

static int start(struct gpume_segments *segments)
{
    struct gpume_cutter *cutter = &segments->cutter;
    const uint32_t wanted = segments->options.division.decoders;
    for (; segments->running < wanted; segments->running++) {
        struct gpume_worker *worker = &segments->workers[segments->running];
        if (gpume_worker_open(worker, cutter, segments->running) != GPUME_OK ||
            gpume_worker_start(worker) != GPUME_OK) {
            gpume_worker_close(worker);
            break;
        }
    }
    pthread_mutex_lock(&cutter->mutex);
    for (uint32_t i = segments->running; i < wanted && i > 0; i++) {
        gpume_cutter_lose_decoder(cutter);
    }
    pthread_mutex_unlock(&cutter->mutex);
    return segments->running > 0 ? GPUME_OK : GPUME_AGAIN;
}

int gpume_segments_open(
    struct gpume_segments **result, const struct gpume_segments_options *options)
{
    int status = GPUME_OK;
    struct gpume_segments *segments = calloc(1, sizeof(*segments));
    if (!segments) {
        return GPUME_NOMEM;
    }
    segments->options = *options;
    segments->delivered = options->first->delivered;
    segments->workers = calloc(options->division.decoders, sizeof(*segments->workers));
    GPUME_TRY(gpume_cutter_init(&segments->cutter, &segments->options));
    GPUME_TRY(segments->workers ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(start(segments));
    *result = segments;
    return GPUME_OK;
fail:
    gpume_segments_close(&segments);
    return status == GPUME_AGAIN ? GPUME_OK : status;
}

static int take_waiting(
    struct gpume_segments *segments, struct gpume_segment *segment, AVFrame *frame)
{
    struct gpume_cutter *cutter = &segments->cutter;
    segments->damage = gpume_waiting_take(&segment->frames, &cutter->places, frame);
    segments->delivered++;
    cutter->waiting--;
    pthread_cond_broadcast(&cutter->work);
    return GPUME_OK;
}

static int next(struct gpume_segments *segments, AVFrame *frame)
{
    struct gpume_cutter *cutter = &segments->cutter;
    for (;;) {
        struct gpume_segment *segment = gpume_segment_at(cutter, cutter->head);
        if (atomic_load(segments->options.cancel)) {
            return GPUME_CANCELLED;
        }
        if (segment->frames.count > 0 || segment->ended) {
            gpume_cutter_tell_end(cutter);
        }
        if (segment->frames.count > 0) {
            return take_waiting(segments, segment, frame);
        }
        if (segment->handed_over) {
            cutter->head++;
            pthread_cond_broadcast(&cutter->work);
        } else if (segment->ended) {
            segments->damage = segment->damage;
            return segment->status;
        } else {
            pthread_cond_wait(&cutter->frames, &cutter->mutex);
        }
    }
}

int gpume_segments_next(struct gpume_segments *segments, AVFrame *frame)
{
    pthread_mutex_lock(&segments->cutter.mutex);
    const int status = next(segments, frame);
    pthread_mutex_unlock(&segments->cutter.mutex);
    return status;
}

struct gpume_damage gpume_segments_damage(const struct gpume_segments *segments)
{
    return segments->damage;
}

uint64_t gpume_segments_delivered(const struct gpume_segments *segments)
{
    return segments->delivered;
}

void gpume_segments_close(struct gpume_segments **pointer)
{
    struct gpume_segments *segments = *pointer;
    if (!segments) {
        return;
    }
    *pointer = NULL;
    pthread_mutex_lock(&segments->cutter.mutex);
    segments->cutter.stop = true;
    pthread_cond_broadcast(&segments->cutter.work);
    pthread_mutex_unlock(&segments->cutter.mutex);
    uint32_t used = 0;
    for (uint32_t i = 0; i < segments->running; i++) {
        pthread_join(segments->workers[i].thread, NULL);
        used += segments->workers[i].decoding != NULL;
    }
    gpume_log_write(&segments->options.log, GPUME_LOG_INFO,
        "%s: %" PRIu64 " segments were decoded side by side by %" PRIu32 " decoders",
        segments->options.packets->label, segments->cutter.head + 1, used);
    for (uint32_t i = 0; i < segments->running; i++) {
        gpume_worker_close(&segments->workers[i]);
    }
    gpume_cutter_finish(&segments->cutter);
    free(segments->workers);
    free(segments);
}
