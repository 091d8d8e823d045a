/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source thread. It waits while the context has no free frame, which keeps the decoder from
 * running ahead. If the source is cancelled, the input ends with the frames sent so far. If reading
 * fails, or the input is shorter than before, the thread cancels the context, which wakes the
 * receiver without delivering further motion fields. The receiver ends this thread by cancelling
 * the context and the source.
 */
#include "estimate/feed.h"

#include "base/clock.h"
#include "base/log.h"
#include "console.h"

/* Counts what reading took since `before`, and checks its result. */
static int note_read(struct gpume_feed *feed, int status, uint64_t before)
{
    struct gpume_source_counts counts;
    gpume_source_get_counts(feed->source, &counts);
    feed->decode_ns += gpume_clock_ns() - before;
    feed->read = counts.delivered;
    if (status == GPUME_EOF && feed->read < feed->known) {
        feed->is_short = true;
        status = GPUME_INVALID;
    }
    feed->source_failed = status != GPUME_OK && status != GPUME_EOF && status != GPUME_CANCELLED;
    return status;
}

static int skip_frames(struct gpume_feed *feed)
{
    const uint64_t before = gpume_clock_ns();
    const int status = note_read(feed, gpume_source_skip(feed->source, feed->skip), before);
    feed->sent = feed->read;
    return status;
}

static int send_frame(struct gpume_feed *feed)
{
    gpume_frame *frame = NULL;
    struct gpume_plane plane;
    int64_t time_us = 0;
    int status = gpume_frame_acquire(feed->ctx, &frame, &plane, GPUME_WAIT);
    if (status != GPUME_OK) {
        return status;
    }
    const uint64_t before = gpume_clock_ns();
    status = note_read(feed, gpume_source_read(feed->source, &plane, &time_us), before);
    if (status != GPUME_OK) {
        gpume_frame_release(&frame);
        return status;
    }
    status = gpume_send(feed->ctx, &frame, time_us);
    feed->sent += status == GPUME_OK;
    return status;
}

static int send_all(struct gpume_feed *feed)
{
    int status = GPUME_OK;
    if (feed->skip > 0) {
        status = skip_frames(feed);
    }
    for (uint64_t i = 0; (feed->count == 0 || i < feed->count) && status == GPUME_OK; i++) {
        status = send_frame(feed);
    }
    if (status == GPUME_OK) {
        gpume_source_warn(feed->source); /* the end of the input was not reached */
    }
    /* A cancelled input has ended, too. */
    return status == GPUME_OK || status == GPUME_EOF || status == GPUME_CANCELLED
               ? gpume_finish(feed->ctx)
               : status;
}

static void *feed_main(void *opaque)
{
    struct gpume_feed *feed = opaque;
    feed->status = send_all(feed);
    if (feed->status != GPUME_OK) {
        gpume_cancel(feed->ctx);
    }
    return NULL;
}

int gpume_feed_start(struct gpume_feed *feed)
{
    if (pthread_create(&feed->thread, NULL, feed_main, feed) != 0) {
        return gpume_log_no_thread(&gpume_console);
    }
    return GPUME_OK;
}

void gpume_feed_join(struct gpume_feed *feed)
{
    pthread_join(feed->thread, NULL);
}
