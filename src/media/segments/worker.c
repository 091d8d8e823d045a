/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why the frames are those of one decoder: the decoder of the first segment is that one. If it and
 * the next decoder, which began at a picture that needs nothing before it, deliver the same frames
 * from there on without damage, their states are the same in all that later frames can depend on,
 * and the next decoder is that one from then on. It goes on to the end if it meets damage, or
 * frames whose times do not rise, or if the decoder after it fails this test.
 *
 * Nobody waits for ever: the earliest decoder needs no room for its frames other than what is
 * always free, the second can always deliver the few frames that the earliest compares, and the
 * packets between them are all that has to be kept.
 */
#include "media/segments/worker.h"

#include "base/status.h"
#include "media/segments/alike.h"
#include "media/segments/cutter.h"

#include <libavcodec/packet.h>
#include <libavutil/frame.h>

#define OVERLAP GPUME_SEGMENTS_OVERLAP

/* The worker's next packet. */
static int take_packet(struct gpume_worker *worker)
{
    struct gpume_cutter *cutter = worker->cutter;
    while (cutter->at[worker->index] == cutter->backlog.end && !cutter->stop) {
        if (cutter->reading) {
            pthread_cond_wait(&cutter->work, &cutter->mutex);
        } else if (cutter->read_status == GPUME_OK) {
            gpume_cutter_read(cutter);
        } else {
            return cutter->read_status;
        }
    }
    if (cutter->stop) {
        return GPUME_CANCELLED;
    }
    const int status =
        gpume_backlog_get(&cutter->backlog, cutter->at[worker->index], worker->packet);
    cutter->at[worker->index] += status == GPUME_OK;
    gpume_cutter_drop(cutter);
    return status;
}

static int send_packet(struct gpume_worker *worker)
{
    struct gpume_cutter *cutter = worker->cutter;
    int status = take_packet(worker);
    if (status != GPUME_OK && status != GPUME_EOF) {
        return status;
    }
    pthread_mutex_unlock(&cutter->mutex);
    status = gpume_decoding_send(worker->decoding, status == GPUME_EOF ? NULL : worker->packet);
    av_packet_unref(worker->packet);
    pthread_mutex_lock(&cutter->mutex);
    return status;
}

/* How many frames of the segment, which is closed, must be the same. */
static uint32_t overlap_of(const struct gpume_segment *segment)
{
    const uint64_t frames = segment->packets - segment->leading;
    return frames < OVERLAP ? (uint32_t)frames : OVERLAP;
}

/* Adds the worker's frame to those of its segment. */
static void put(struct gpume_worker *worker, struct gpume_segment *segment)
{
    struct gpume_cutter *cutter = worker->cutter;
    const struct gpume_damage damage = gpume_decoding_damage(worker->decoding);
    while (!gpume_cutter_is_beyond(cutter, segment) && !gpume_cutter_has_room(cutter, segment)) {
        pthread_cond_wait(&cutter->work, &cutter->mutex);
    }
    if (gpume_cutter_is_beyond(cutter, segment)) {
        av_frame_unref(worker->frame);
        return;
    }
    gpume_waiting_put(&segment->frames, &cutter->places, worker->frame, &damage);
    cutter->waiting++;
    segment->placed++;
    if (segment->number == cutter->head) {
        pthread_cond_signal(&cutter->frames);
    }
    if (segment->placed <= OVERLAP) {
        pthread_cond_broadcast(&cutter->work); /* the segment before it waits for these */
    }
}

/* The decoder goes on alone, so what it decoded of the next segment is used. */
static void keep_overlap(struct gpume_cutter *cutter, struct gpume_segment *segment)
{
    cutter->waiting += segment->overlap.count;
    segment->placed += segment->overlap.count;
    gpume_waiting_join(&segment->frames, &segment->overlap);
    pthread_cond_signal(&cutter->frames);
}

static bool is_ready(const struct gpume_segment *next)
{
    return next->taken && (next->placed >= overlap_of(next) || next->ended);
}

/* Compares what both decoders made of the next segment's first frames. */
static bool compare(struct gpume_worker *worker, const struct gpume_segment *segment,
    const struct gpume_segment *next)
{
    struct gpume_cutter *cutter = worker->cutter;
    const uint32_t count = overlap_of(next);
    uint32_t got = 0;
    bool same = worker->reached == gpume_segment_frame(cutter, next) && next->placed >= count;
    const struct gpume_waiting_frame *place = next->frames.oldest;
    for (; same && got < count; got++, place = place->next) {
        same = av_frame_ref(worker->others[got], place->frame) >= 0;
    }
    pthread_mutex_unlock(&cutter->mutex);
    place = segment->overlap.oldest; /* the worker's own */
    for (uint32_t i = 0; i < got; i++, place = place->next) {
        same = same && gpume_frames_are_alike(place->frame, worker->others[i]);
    }
    for (uint32_t i = 0; i < OVERLAP; i++) {
        av_frame_unref(worker->others[i]);
    }
    pthread_mutex_lock(&cutter->mutex);
    return same;
}

/* The worker has decoded its segment and the overlap. Whether the next segment's decoder takes the
 * rest. */
static bool hand_over(struct gpume_worker *worker, struct gpume_segment *segment)
{
    struct gpume_cutter *cutter = worker->cutter;
    const struct gpume_segment *next = gpume_segment_at(cutter, segment->number + 1);
    while (cutter->last > segment->number && !cutter->stop && !is_ready(next)) {
        pthread_cond_wait(&cutter->work, &cutter->mutex);
    }
    const bool same =
        !cutter->stop && cutter->last > segment->number && compare(worker, segment, next);
    if (cutter->last > segment->number && !same) {
        gpume_cutter_end_with(cutter, segment->number,
            next->placed > 0 ? "a decoder that begins with the next key frame delivers other frames"
                             : "a decoder that begins with the next key frame delivers none");
    }
    if (gpume_cutter_is_beyond(cutter, segment)) {
        return false;
    }
    if (cutter->last == segment->number) {
        keep_overlap(cutter, segment);
        return false;
    }
    gpume_waiting_clear(&segment->overlap, &cutter->places);
    segment->handed_over = true;
    pthread_cond_broadcast(&cutter->frames);
    return true;
}

/* Damage and the like: frames may depend on where decoding began. */
static void check(struct gpume_worker *worker, const struct gpume_segment *segment)
{
    struct gpume_cutter *cutter = worker->cutter;
    const bool flawed = gpume_decoding_is_flawed(worker->decoding);
    if (flawed || worker->frame->pts <= worker->time) {
        const bool early = segment->number > 0 && segment->placed < overlap_of(segment);
        gpume_cutter_end_with(cutter, segment->number - early,
            !flawed ? "the times of its frames do not rise"
            : early ? "a decoder that begins with the next key frame meets errors"
                    : "it is damaged, and how that is concealed may depend on where decoding "
                      "began");
    }
    worker->time = worker->frame->pts;
}

/* Whether the frame belongs to the next segment, which another decoder has begun. */
static bool is_of_next(
    struct gpume_cutter *cutter, const struct gpume_segment *segment, int64_t time)
{
    const uint64_t next = segment->number + 1;
    return cutter->last > segment->number && cutter->found > next &&
           time >= gpume_segment_at(cutter, next)->start;
}

/* Takes the worker's frame. Whether its work on the segment is done. */
static bool take_frame(struct gpume_worker *worker, struct gpume_segment *segment)
{
    struct gpume_cutter *cutter = worker->cutter;
    check(worker, segment);
    if (gpume_cutter_is_beyond(cutter, segment) ||
        !is_of_next(cutter, segment, worker->frame->pts)) {
        if (segment->overlap.count > 0) {
            keep_overlap(cutter, segment);
        }
        put(worker, segment);
        return false;
    }
    const struct gpume_damage none = {0};
    if (segment->overlap.count == 0) {
        worker->reached = worker->decoding->delivered - 1;
    }
    gpume_waiting_put(&segment->overlap, &cutter->places, worker->frame, &none);
    const struct gpume_segment *next = gpume_segment_at(cutter, segment->number + 1);
    const uint32_t enough = next->closed ? overlap_of(next) : OVERLAP;
    return segment->overlap.count >= enough && hand_over(worker, segment);
}

/* The decoder ends: with the input, within the next segment if that is short, or because of a
 * failure. */
static void end(struct gpume_worker *worker, struct gpume_segment *segment, int status)
{
    struct gpume_cutter *cutter = worker->cutter;
    const struct gpume_segment *next = gpume_segment_at(cutter, segment->number + 1);
    if (status == GPUME_EOF && segment->overlap.count > 0 &&
        segment->overlap.count == overlap_of(next) && hand_over(worker, segment)) {
        return;
    }
    if (segment->number + 1 < cutter->found) {
        gpume_cutter_end_with(cutter, segment->number, "its decoder ends early");
    }
    keep_overlap(cutter, segment);
    segment->damage = gpume_decoding_damage(worker->decoding);
    segment->status = status;
    segment->ended = true;
    pthread_cond_broadcast(&cutter->work);
    pthread_cond_broadcast(&cutter->frames);
}

static void decode_segment(struct gpume_worker *worker, struct gpume_segment *segment)
{
    struct gpume_cutter *cutter = worker->cutter;
    int status = GPUME_OK;
    while (!gpume_cutter_is_beyond(cutter, segment) && status == GPUME_OK) {
        pthread_mutex_unlock(&cutter->mutex);
        status = atomic_load(cutter->options->cancel)
                     ? GPUME_CANCELLED
                     : gpume_decoding_next(worker->decoding, worker->frame);
        pthread_mutex_lock(&cutter->mutex);
        if (status == GPUME_OK && take_frame(worker, segment)) {
            return;
        }
        status = status == GPUME_AGAIN ? send_packet(worker) : status;
    }
    if (gpume_cutter_is_beyond(cutter, segment)) {
        cutter->waiting -= segment->frames.count;
        gpume_waiting_clear(&segment->frames, &cutter->places);
        gpume_waiting_clear(&segment->overlap, &cutter->places);
    } else {
        end(worker, segment, status);
    }
}

static int open_decoding(struct gpume_worker *worker)
{
    static const struct gpume_log silent = {0};
    const struct gpume_segments_options *options = worker->cutter->options;
    const struct gpume_decoding *first = options->first;
    worker->own = (struct gpume_decoding){
        .packets = first->packets,
        .label = first->label,
        .trust = first->trust,
        .log = silent, /* there may be fewer decoders */
        .time_base = first->time_base,
        .rate = first->rate,
        .buffers = first->buffers,
    };
    const int status = options->open(options->opaque, &worker->own, options->division.threads);
    worker->own.log = first->log;
    return status;
}

/* Opens the worker's decoder. Other threads may have the mutex meanwhile. */
static bool prepare(struct gpume_worker *worker)
{
    struct gpume_cutter *cutter = worker->cutter;
    pthread_mutex_unlock(&cutter->mutex);
    const bool opened = open_decoding(worker) == GPUME_OK;
    pthread_mutex_lock(&cutter->mutex);
    if (opened) {
        worker->decoding = &worker->own;
    } else {
        gpume_cutter_lose_decoder(cutter);
    }
    return opened;
}

static struct gpume_segment *take(struct gpume_worker *worker)
{
    struct gpume_cutter *cutter = worker->cutter;
    struct gpume_segment *segment = gpume_segment_at(cutter, cutter->taken++);
    segment->taken = true;
    cutter->at[worker->index] = segment->first;
    worker->time = INT64_MIN;
    pthread_cond_broadcast(&cutter->work);
    return segment;
}

/* Waits for the next segment, which must be known to its end. NULL: there will be none, or no
 * decoder for it. */
static struct gpume_segment *take_segment(struct gpume_worker *worker)
{
    struct gpume_cutter *cutter = worker->cutter;
    while (!cutter->stop && cutter->taken <= cutter->last) {
        if (cutter->taken < cutter->found && gpume_segment_at(cutter, cutter->taken)->closed) {
            if (worker->decoding) {
                return take(worker);
            }
            if (!prepare(worker)) {
                return NULL;
            }
        } else if (cutter->taken == cutter->found && cutter->read_status != GPUME_OK) {
            return NULL;
        } else if (gpume_cutter_read_ahead(cutter)) {
            gpume_cutter_read(cutter);
        } else if (cutter->taken <= cutter->last) {
            pthread_cond_wait(&cutter->work, &cutter->mutex);
        }
    }
    return NULL;
}

static void *worker_main(void *opaque)
{
    struct gpume_worker *worker = opaque;
    struct gpume_cutter *cutter = worker->cutter;
    struct gpume_segment *segment;
    pthread_mutex_lock(&cutter->mutex);
    if (worker->index == 0) { /* it has begun with the first segment */
        decode_segment(worker, gpume_segment_at(cutter, 0));
        cutter->at[worker->index] = UINT64_MAX;
    }
    while ((segment = take_segment(worker)) != NULL) {
        const uint64_t frame = gpume_segment_frame(cutter, segment);
        pthread_mutex_unlock(&cutter->mutex);
        gpume_decoding_restart(worker->decoding, frame, segment->start);
        pthread_mutex_lock(&cutter->mutex);
        decode_segment(worker, segment);
        cutter->at[worker->index] = UINT64_MAX;
    }
    pthread_mutex_unlock(&cutter->mutex);
    return NULL;
}

int gpume_worker_open(struct gpume_worker *worker, struct gpume_cutter *cutter, uint32_t index)
{
    worker->cutter = cutter;
    worker->index = index;
    worker->time = INT64_MIN;
    worker->packet = av_packet_alloc();
    worker->frame = av_frame_alloc();
    bool allocated = worker->packet && worker->frame;
    for (uint32_t i = 0; i < OVERLAP; i++) {
        worker->others[i] = av_frame_alloc();
        allocated = allocated && worker->others[i];
    }
    if (!allocated) {
        return GPUME_NOMEM;
    }
    worker->decoding = index == 0 ? cutter->options->first : NULL;
    return GPUME_OK;
}

int gpume_worker_start(struct gpume_worker *worker)
{
    return pthread_create(&worker->thread, NULL, worker_main, worker) == 0 ? GPUME_OK : GPUME_AGAIN;
}

void gpume_worker_close(struct gpume_worker *worker)
{
    gpume_decoding_close(&worker->own);
    av_packet_free(&worker->packet);
    av_frame_free(&worker->frame);
    for (uint32_t i = 0; i < OVERLAP; i++) {
        av_frame_free(&worker->others[i]);
    }
}
