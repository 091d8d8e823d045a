/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame's number is the rank of its time among all packets before it: each shows exactly one
 * frame, all have different times, the numbers in their headers put them in the same order as the
 * times, and none is shown later than the decoder waits.
 *
 * The container is never asked to seek. The times, sizes and even the data of packets may occur
 * again later in the input (files joined by cat, times that wrap), and containers seek by time. So
 * packets are read in their order, and those that the decoder will need are kept.
 */
#include "media/seek.h"

#include "base/grow.h"
#include "base/status.h"
#include "media/coded_picture.h"
#include "media/packets.h"
#include "media/show_order.h"

#include <inttypes.h>
#include <stdlib.h>

#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <libavutil/mathematics.h>

/* Bytes of packets that are kept. In 4K at 100 Mbit/s that is a key frame every 20 seconds. */
#ifndef KEPT_MAX /* a test sets it */
#define KEPT_MAX (UINT64_C(256) << 20)
#endif

struct shown {
    int64_t time; /* of presentation */
    uint64_t order;
    bool key; /* a decoder can start with it */
    struct gpume_coded_picture picture;
};

struct shown_list {
    struct shown *items;
    size_t count, room;
    struct gpume_backlog kept; /* packets since a key packet; numbered by their order */
};

/* What to read for */
struct goal {
    uint64_t frame;
    int64_t time;
    bool keep; /* packets, to decode the frame from a key packet on */
};

static int add(
    struct shown_list *list, const AVPacket *packet, const struct gpume_coded_picture *picture)
{
    struct shown *items = gpume_grow(list->items, list->count, &list->room, sizeof(*items));
    if (!items) {
        return GPUME_NOMEM;
    }
    list->items = items;
    list->items[list->count] = (struct shown){
        .time = packet->pts,
        .order = list->count,
        .key = picture->restarts && (packet->flags & AV_PKT_FLAG_KEY),
        .picture = *picture,
    };
    list->count++;
    return GPUME_OK;
}

int gpume_seek_refuse(const struct gpume_packets *packets, const char *why)
{
    gpume_log_write(&packets->log, GPUME_LOG_INFO,
        "%s: all frames are decoded from the beginning: %s", packets->label, why);
    return GPUME_UNSUPPORTED;
}

static int take_packet(struct shown_list *list, const struct gpume_packets *packets,
    struct gpume_coded_pictures *pictures, const AVPacket *packet)
{
    struct gpume_coded_picture picture;
    if (packet->pts == AV_NOPTS_VALUE) {
        return gpume_seek_refuse(packets, "some packets have no time");
    }
    if (gpume_coded_pictures_take(pictures, packet, &picture) != GPUME_OK) {
        return gpume_seek_refuse(packets,
            "not every packet is known to hold one frame with the parameters of the first");
    }
    return add(list, packet, &picture);
}

/* Keeps the packet. Those before a key packet are dropped once its frame must be shown before the
 * one wanted: the two orders differ by less than GPUME_SHOW_DELAY_MAX. */
static int keep_packet(struct shown_list *list, uint64_t frame, AVPacket *packet)
{
    struct gpume_backlog *kept = &list->kept;
    const uint64_t order = list->count - 1;
    GPUME_CHECK(gpume_backlog_append(kept, packet));
    const bool supersedes = list->items[order].key && order + GPUME_SHOW_DELAY_MAX <= frame;
    if (supersedes || kept->bytes > KEPT_MAX) {
        gpume_backlog_drop(kept, supersedes ? order : kept->end);
    }
    return GPUME_OK;
}

/* Reads packets until all that are shown before the frame must have come, and it, too, or all that
 * are shown before the time. */
static int read_all(struct shown_list *list, struct gpume_packets *packets,
    struct gpume_coded_pictures *pictures, struct goal goal, AVPacket *packet)
{
    int status = gpume_coded_pictures_open(pictures, packets->stream->codecpar);
    if (status == GPUME_UNSUPPORTED) {
        return gpume_seek_refuse(
            packets, "only H.264, HEVC, MPEG-2 and VP9 can be entered at a key frame");
    }
    while (status == GPUME_OK && list->count <= goal.frame + GPUME_SHOW_DELAY_MAX) {
        status = gpume_packets_next(packets, packet);
        if (status == GPUME_OK && packet->pts < goal.time && goal.frame < list->count) {
            goal.frame = list->count;
        }
        status = status == GPUME_OK ? take_packet(list, packets, pictures, packet) : status;
        if (status == GPUME_OK && goal.keep) {
            status = keep_packet(list, goal.frame, packet);
        }
    }
    if (status != GPUME_EOF) {
        return status;
    }
    return gpume_packets_are_cut(packets) ? gpume_seek_refuse(packets, "its end is damaged")
                                          : GPUME_OK;
}

static int read_packets(struct shown_list *list, struct gpume_packets *packets, struct goal goal)
{
    struct gpume_coded_pictures pictures = {0};
    AVPacket *packet = av_packet_alloc();
    const int status = packet ? read_all(list, packets, &pictures, goal, packet) : GPUME_NOMEM;
    gpume_coded_pictures_close(&pictures);
    av_packet_free(&packet);
    return status;
}

static int by_time(const void *a, const void *b)
{
    const struct shown *first = a, *second = b;
    if (first->time != second->time) {
        return first->time < second->time ? -1 : 1;
    }
    return (first->order > second->order) - (first->order < second->order);
}

static bool follows(const struct shown *before, const struct shown *after)
{
    const struct gpume_coded_picture *a = &before->picture, *b = &after->picture;
    return after->time > before->time &&
           (b->section > a->section || (b->section == a->section && b->number > a->number));
}

/* How many packets come before the one at `rank` that are shown after it. */
static size_t delay_of(const struct shown_list *list, size_t rank)
{
    size_t delay = 0;
    const struct shown *items = list->items;
    for (size_t i = rank + 1; i < list->count && i <= rank + 2 * GPUME_SHOW_DELAY_MAX; i++) {
        delay += items[i].order < items[rank].order;
    }
    return delay;
}

static size_t apart(size_t a, uint64_t b)
{
    return a > b ? a - (size_t)b : (size_t)b - a;
}

/* Puts the packets in the order of presentation, and checks that it is certain. A decoder that
 * waits for fewer packets than it must drops frames. */
static int sort_packets(const struct gpume_packets *packets, const struct shown_list *list)
{
    const int waits = packets->stream->codecpar->video_delay;
    const size_t delay = waits > 0 ? (size_t)waits : 0;
    const struct shown *items = list->items;
    qsort(list->items, list->count, sizeof(*items), by_time);
    bool certain = list->count > 0 && items[0].order == 0 && items[0].picture.restarts;
    for (size_t i = 0; i < list->count && certain; i++) {
        certain = (i == 0 || follows(&items[i - 1], &items[i])) &&
                  apart(i, items[i].order) < GPUME_SHOW_DELAY_MAX && delay_of(list, i) <= delay;
    }
    return certain ? GPUME_OK
                   : gpume_seek_refuse(packets,
                         "the times of its packets leave the order of its frames in doubt");
}

/* The last packet at which a decoder can start to deliver the frame. */
static size_t find_key(const struct shown_list *list, uint64_t frame)
{
    size_t key = (size_t)frame;
    while (key > 0 && !list->items[key].key) {
        key--;
    }
    return key;
}

static int keep_times(struct gpume_seek *seek, const struct shown_list *list)
{
    seek->times = malloc((size_t)seek->count * sizeof(*seek->times));
    for (uint64_t i = 0; seek->times && i < seek->count; i++) {
        seek->times[i] = list->items[seek->first + i].time;
    }
    return seek->times ? GPUME_OK : GPUME_NOMEM;
}

static int find(struct gpume_seek *seek, struct gpume_packets *packets, struct shown_list *list,
    uint64_t frame, int64_t start)
{
    int status = sort_packets(packets, list);
    if (status != GPUME_OK) {
        return status;
    }
    if (frame >= list->count || list->items[0].time != start) {
        return gpume_seek_refuse(packets, "it has no such frame, or starts at another time");
    }
    const struct shown *key = &list->items[find_key(list, frame)];
    seek->first = (uint64_t)(key - list->items);
    seek->count = frame - seek->first + 1;
    if (seek->first == 0) {
        return gpume_seek_refuse(
            packets, "no key frame between the first frame and this one is safe to start at");
    }
    if (key->order < list->kept.first) {
        return gpume_seek_refuse(
            packets, "what follows the key frame to start at takes too much memory");
    }
    status = keep_times(seek, list);
    if (status == GPUME_OK) {
        gpume_packets_repeat(packets, &list->kept, key->order);
    }
    return status;
}

static void finish_list(struct shown_list *list)
{
    gpume_backlog_finish(&list->kept);
    free(list->items);
}

int gpume_seek_find(
    struct gpume_seek *seek, struct gpume_packets *packets, uint64_t frame, int64_t start)
{
    struct shown_list list = {0};
    int status = read_packets(&list, packets, (struct goal){frame, INT64_MIN, true});
    status = status == GPUME_OK ? find(seek, packets, &list, frame, start) : status;
    if (status == GPUME_OK) {
        gpume_log_write(&packets->log, GPUME_LOG_INFO,
            "%s: decoding begins with frame %" PRIu64 ", a key frame", packets->label, seek->first);
    }
    finish_list(&list);
    return status;
}

static int64_t to_us(const struct gpume_packets *packets, int64_t time)
{
    return av_rescale_q(time, packets->stream->time_base, AV_TIME_BASE_Q);
}

/* The first packet at or after the time; UINT64_MAX: none. */
static uint64_t rank_of(
    const struct gpume_packets *packets, const struct shown_list *list, int64_t us)
{
    for (size_t i = 0; i < list->count; i++) {
        if (to_us(packets, list->items[i].time) >= us) {
            return i;
        }
    }
    return UINT64_MAX;
}

int gpume_seek_rank(struct gpume_packets *packets, int64_t first_us, const int64_t *times,
    uint64_t *frames, uint32_t count)
{
    int status = GPUME_OK;
    struct shown_list list = {0};
    const AVRational base = packets->stream->time_base;
    const int64_t last_us = times[count - 1];
    if (base.num <= 0 || base.den <= 0) {
        return gpume_seek_refuse(packets, "it has no unit of time");
    }
    /* One unit more: rounding to microseconds may turn an earlier time into this one. */
    const int64_t last = av_rescale_q_rnd(last_us, AV_TIME_BASE_Q, base, AV_ROUND_UP);
    GPUME_TRY(
        read_packets(&list, packets, (struct goal){0, last < INT64_MAX ? last + 1 : last, false}));
    GPUME_TRY(sort_packets(packets, &list));
    if (to_us(packets, list.items[0].time) != first_us) {
        GPUME_TRY(gpume_seek_refuse(packets, "its first frame has another time than its packet"));
    }
    for (uint32_t i = 0; i < count; i++) {
        frames[i] = rank_of(packets, &list, times[i]);
    }
fail:
    finish_list(&list);
    return status;
}

void gpume_seek_finish(struct gpume_seek *seek)
{
    free(seek->times);
}
