/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/backlog.h"

#include "base/status.h"

#include <stdlib.h>

#include <libavcodec/packet.h>

#define OWN_BYTES 512u /* of a packet besides its data */

static uint64_t bytes_of(const AVPacket *packet)
{
    return OWN_BYTES + (uint64_t)(packet->size > 0 ? packet->size : 0);
}

static AVPacket **place_of(const struct gpume_backlog *backlog, uint64_t number)
{
    return &backlog->ring[number % backlog->capacity];
}

static int grow(struct gpume_backlog *backlog)
{
    struct gpume_backlog larger = *backlog;
    larger.capacity = backlog->capacity > 0 ? 2 * backlog->capacity : 256;
    larger.ring = calloc((size_t)larger.capacity, sizeof(AVPacket *));
    if (!larger.ring) {
        return GPUME_NOMEM;
    }
    for (uint64_t i = backlog->first; i < backlog->end; i++) {
        *place_of(&larger, i) = *place_of(backlog, i);
        *place_of(backlog, i) = NULL;
    }
    gpume_backlog_finish(backlog);
    *backlog = larger;
    return GPUME_OK;
}

int gpume_backlog_append(struct gpume_backlog *backlog, AVPacket *packet)
{
    GPUME_CHECK(backlog->end - backlog->first == backlog->capacity ? grow(backlog) : GPUME_OK);
    AVPacket **place = place_of(backlog, backlog->end);
    *place = *place ? *place : av_packet_alloc();
    if (!*place) {
        return GPUME_NOMEM;
    }
    backlog->bytes += bytes_of(packet);
    av_packet_move_ref(*place, packet);
    backlog->end++;
    return GPUME_OK;
}

int gpume_backlog_get(const struct gpume_backlog *backlog, uint64_t number, AVPacket *packet)
{
    return av_packet_ref(packet, *place_of(backlog, number)) < 0 ? GPUME_NOMEM : GPUME_OK;
}

void gpume_backlog_drop(struct gpume_backlog *backlog, uint64_t number)
{
    for (; backlog->first < number && backlog->first < backlog->end; backlog->first++) {
        AVPacket *packet = *place_of(backlog, backlog->first);
        backlog->bytes -= bytes_of(packet);
        av_packet_unref(packet);
    }
}

void gpume_backlog_finish(struct gpume_backlog *backlog)
{
    for (uint64_t i = 0; i < backlog->capacity; i++) {
        av_packet_free(&backlog->ring[i]);
    }
    free(backlog->ring);
    *backlog = (struct gpume_backlog){0};
}
