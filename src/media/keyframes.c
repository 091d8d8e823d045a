/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of a key frame is the number of packets that are shown before it. Packets without a
 * time, as in raw streams, are shown in the order in which they come, and so are sections of them
 * whose times recur (media/show_order.h).
 */
#include "media/keyframes.h"

#include "base/grow.h"
#include "base/status.h"
#include "media/packets.h"
#include "media/show_order.h"

#include <stdlib.h>

#include <libavcodec/packet.h>
#include <libavformat/avformat.h>

struct moment {
    uint64_t section;
    int64_t time; /* of presentation, in units of the stream */
    uint64_t order;
    bool key;
};

struct moments {
    struct moment *items;
    size_t count, room;
    bool timed; /* all packets have a time */
    struct gpume_show_order shown;
    uint64_t section;
};

static int add(struct moments *moments, const AVPacket *packet)
{
    struct moment *items =
        gpume_grow(moments->items, moments->count, &moments->room, sizeof(*items));
    if (!items) {
        return GPUME_NOMEM;
    }
    moments->items = items;
    moments->timed = moments->timed && packet->pts != AV_NOPTS_VALUE;
    moments->section += moments->timed && gpume_show_order_begins(&moments->shown, packet);
    moments->items[moments->count] = (struct moment){.section = moments->section,
        .time = packet->pts,
        .order = moments->count,
        .key = packet->flags & AV_PKT_FLAG_KEY};
    moments->count++;
    return GPUME_OK;
}

/* Packets that an edit list cuts away are decoded, but not shown. */
static int read_all(struct moments *moments, struct gpume_packets *packets)
{
    int status = GPUME_OK;
    AVPacket *packet = av_packet_alloc();
    if (!packet) {
        return GPUME_NOMEM;
    }
    while ((status = gpume_packets_next(packets, packet)) == GPUME_OK) {
        if (!(packet->flags & AV_PKT_FLAG_DISCARD)) {
            GPUME_TRY(add(moments, packet));
        }
    }
    status = status == GPUME_EOF ? GPUME_OK : status;
fail:
    av_packet_free(&packet);
    return status;
}

static int by_time(const void *a, const void *b)
{
    const struct moment *first = a, *second = b;
    if (first->section != second->section) {
        return first->section < second->section ? -1 : 1;
    }
    if (first->time != second->time) {
        return first->time < second->time ? -1 : 1;
    }
    return (first->order > second->order) - (first->order < second->order);
}

static int list(struct gpume_keyframes *keyframes, struct moments *moments)
{
    uint64_t *at = malloc((moments->count + 1) * sizeof(*at));
    if (!at) {
        return GPUME_NOMEM;
    }
    if (moments->timed && moments->count > 0) {
        qsort(moments->items, moments->count, sizeof(*moments->items), by_time);
    }
    *keyframes = (struct gpume_keyframes){.frames = moments->count, .at = at};
    for (size_t i = 0; i < moments->count; i++) {
        if (moments->items[i].key) {
            at[keyframes->count++] = i;
        }
    }
    return GPUME_OK;
}

int gpume_keyframes_find(struct gpume_keyframes *keyframes, const char *path, int stream,
    const struct gpume_trust *trust, const struct gpume_log *log)
{
    struct moments moments = {.timed = true};
    atomic_bool cancel;
    int status;
    atomic_init(&cancel, false);
    struct gpume_packets packets = {0};
    GPUME_TRY(gpume_packets_open(&packets, path, stream, trust, &cancel, log));
    GPUME_TRY(read_all(&moments, &packets));
    gpume_packets_warn(&packets, moments.count);
    GPUME_TRY(list(keyframes, &moments));
fail:
    if (status == GPUME_NOMEM) {
        (void)gpume_log_nomem(log, gpume_input_label(path));
    }
    gpume_packets_close(&packets);
    free(moments.items);
    return status;
}
