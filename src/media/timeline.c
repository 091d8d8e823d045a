/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/timeline.h"

#include "base/grow.h"
#include "base/status.h"
#include "media/input.h"
#include "media/packets.h"

#include <stdlib.h>
#include <string.h>

#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <libavutil/mathematics.h>

bool gpume_show_order_begins(struct gpume_show_order *order, const AVPacket *packet)
{
    const bool key = packet->flags & AV_PKT_FLAG_KEY;
    const int64_t old = order->older[order->count % GPUME_SHOW_DELAY_MAX];
    /* What comes before a key packet is shown before it, so a key packet that is not later than all
     * of them begins anew; and so does any other that would be shown before one that came long
     * ago. */
    const bool begins = (order->count > 0 && key && packet->pts <= order->newest) ||
                        (order->count >= GPUME_SHOW_DELAY_MAX && packet->pts <= old);
    if (begins) {
        order->count = 0;
    }
    if (order->count == 0 || packet->pts > order->newest) {
        order->newest = packet->pts;
    }
    order->older[order->count++ % GPUME_SHOW_DELAY_MAX] = order->newest;
    return begins;
}

/* --- key frames */

/*
 * The index of a key frame is the number of packets that are shown before it. Packets without a
 * time, as in raw streams, are shown in the order in which they come, and so are sections of them
 * whose times recur (struct gpume_show_order).
 */

struct shown_packet {
    uint64_t section;
    int64_t time; /* of presentation, in units of the stream */
    uint64_t order;
    bool key;
};

struct shown_packets {
    struct shown_packet *items;
    size_t count, room;
    bool timed; /* all packets have a time */
    struct gpume_show_order shown;
    uint64_t section;
};

static int add_shown(struct shown_packets *list, const AVPacket *packet)
{
    struct shown_packet *items = gpume_grow(list->items, list->count, &list->room, sizeof(*items));
    if (!items) {
        return GPUME_NOMEM;
    }
    list->items = items;
    list->timed = list->timed && packet->pts != AV_NOPTS_VALUE;
    list->section += list->timed && gpume_show_order_begins(&list->shown, packet);
    list->items[list->count] = (struct shown_packet){.section = list->section,
        .time = packet->pts,
        .order = list->count,
        .key = packet->flags & AV_PKT_FLAG_KEY};
    list->count++;
    return GPUME_OK;
}

/* Packets that an edit list cuts away are decoded, but not shown. */
static int read_all_shown(struct shown_packets *list, struct gpume_packets *packets)
{
    int status = GPUME_OK;
    AVPacket *packet = av_packet_alloc();
    if (!packet) {
        return GPUME_NOMEM;
    }
    while ((status = gpume_packets_next(packets, packet)) == GPUME_OK) {
        if (!(packet->flags & AV_PKT_FLAG_DISCARD)) {
            GPUME_TRY(add_shown(list, packet));
        }
    }
    status = status == GPUME_EOF ? GPUME_OK : status;
fail:
    av_packet_free(&packet);
    return status;
}

static int by_time_shown(const void *a, const void *b)
{
    const struct shown_packet *first = a, *second = b;
    if (first->section != second->section) {
        return first->section < second->section ? -1 : 1;
    }
    if (first->time != second->time) {
        return first->time < second->time ? -1 : 1;
    }
    return (first->order > second->order) - (first->order < second->order);
}

static int list_keyframes(struct gpume_keyframes *keyframes, struct shown_packets *list)
{
    uint64_t *at = malloc((list->count + 1) * sizeof(*at));
    if (!at) {
        return GPUME_NOMEM;
    }
    if (list->timed && list->count > 0) {
        qsort(list->items, list->count, sizeof(*list->items), by_time_shown);
    }
    *keyframes = (struct gpume_keyframes){.frames = list->count, .at = at};
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].key) {
            at[keyframes->count++] = i;
        }
    }
    return GPUME_OK;
}

int gpume_keyframes_find(
    struct gpume_keyframes *keyframes, const struct gpume_source_options *options)
{
    int status;
    atomic_bool cancel;
    struct gpume_packets packets = {0};
    struct shown_packets shown = {.timed = true};
    atomic_init(&cancel, false);
    GPUME_TRY(gpume_packets_open(&packets, options, 0, &cancel));
    GPUME_TRY(read_all_shown(&shown, &packets));
    gpume_packets_warn(&packets, shown.count);
    GPUME_TRY(list_keyframes(keyframes, &shown));
fail:
    if (status == GPUME_NOMEM) {
        (void)gpume_log_nomem(&options->log, gpume_input_label(options->paths[0]));
    }
    gpume_packets_close(&packets);
    free(shown.items);
    return status;
}

/* --- times of frames */

/* Times that wait for earlier ones, which rise */
struct pending {
    int64_t times[GPUME_SHOW_DELAY_MAX + 1];
    size_t count;
    bool begun; /* there was a key packet */
    int64_t first;
};

static void insert_time(struct pending *pending, int64_t time)
{
    size_t at = pending->count++;
    for (; at > 0 && pending->times[at - 1] > time; at--) {
        pending->times[at] = pending->times[at - 1];
    }
    pending->times[at] = time;
}

/* Gives the earliest times, until no more than this many wait. */
static bool give_times(
    struct pending *pending, size_t left, gpume_packet_time_fn take, void *opaque)
{
    bool wanted = true;
    while (wanted && pending->count > left) {
        const int64_t first = pending->times[0];
        memmove(pending->times, pending->times + 1, --pending->count * sizeof(first));
        wanted = take(opaque, first);
    }
    return wanted;
}

/* Whether a frame of it can be decoded, as far as that is known here. */
static bool is_shown(struct pending *pending, const AVPacket *packet)
{
    if (!pending->begun && packet->flags & AV_PKT_FLAG_KEY) {
        pending->begun = true;
        pending->first = packet->pts;
    }
    return pending->begun && packet->pts >= pending->first &&
           !(packet->flags & AV_PKT_FLAG_DISCARD);
}

static int read_times(struct gpume_packets *packets, AVPacket *packet, uint64_t bytes,
    gpume_packet_time_fn take, void *opaque)
{
    int status = GPUME_OK;
    struct pending pending = {.count = 0};
    struct gpume_show_order shown = {.count = 0};
    const AVRational base = packets->stream->time_base;
    bool wanted = base.num > 0 && base.den > 0;
    for (uint64_t read = 0; wanted && read < bytes; read += (uint64_t)packet->size) {
        status = gpume_packets_next(packets, packet);
        if (status != GPUME_OK) {
            break;
        }
        if (packet->pts == AV_NOPTS_VALUE) {
            return GPUME_UNSUPPORTED;
        }
        if (gpume_show_order_begins(&shown, packet)) {
            wanted = give_times(&pending, 0, take, opaque);
        }
        if (is_shown(&pending, packet)) {
            insert_time(&pending, av_rescale_q(packet->pts, base, AV_TIME_BASE_Q));
        }
        wanted = wanted && give_times(&pending, GPUME_SHOW_DELAY_MAX, take, opaque);
    }
    if (status == GPUME_EOF && wanted) {
        (void)give_times(&pending, 0, take, opaque);
    }
    return status == GPUME_EOF ? GPUME_OK : status;
}

int gpume_packet_times_read(const struct gpume_source_options *options, uint64_t bytes,
    gpume_packet_time_fn take, void *opaque)
{
    int status = GPUME_OK;
    atomic_bool cancel;
    AVPacket *packet = NULL;
    struct gpume_packets packets = {0};
    struct gpume_source_options silent = *options;
    silent.log = (struct gpume_log){0};
    if (options->path_count != 1 || !gpume_input_is_file(options->paths[0])) {
        return GPUME_UNSUPPORTED;
    }
    atomic_init(&cancel, false);
    GPUME_TRY(gpume_packets_open(&packets, &silent, 0, &cancel));
    packet = av_packet_alloc();
    GPUME_TRY(packet ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(
        packets.stream->codecpar->codec_id == AV_CODEC_ID_RAWVIDEO ? GPUME_UNSUPPORTED : GPUME_OK);
    GPUME_TRY(read_times(&packets, packet, bytes, take, opaque));
fail:
    av_packet_free(&packet);
    gpume_packets_close(&packets);
    return status;
}
